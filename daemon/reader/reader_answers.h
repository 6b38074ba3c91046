// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/unique_handle.h"
#include "mappings/file_opener.h"
#include "mappings/local_files.h"
#include "mappings/proc_maps.h"
#include "reader/packet_socket.h"
#include "reader/reader_page.h"

namespace offcpud {

// The format of requests and answers that both ends must know.
void put_file_request(PacketWriter& writer, const FileRequest& request);
FileRequest take_file_request(ByteReader& reader);
// Each take_ function refuses bytes that no put_ function writes (ByteReader::ok()).
RootId take_root(ByteReader& reader);
// The descriptor is sent separately.
void put_opened_file(PacketWriter& writer, const OpenedFile& file);
OpenedFile take_opened_file(ByteReader& reader);
void put_process(PacketWriter& writer,
                 const Result<std::optional<ProcessReader::Process>>& process);
Result<std::optional<ProcessReader::Process>> take_process(ByteReader& reader);

// Answers requests in a reader process. Owned by its only thread.
class ReaderAnswers {
 public:
  struct Answer {
    std::string bytes;
    UniqueFd fd;
  };

  explicit ReaderAnswers(ReaderPage& page);
  ReaderAnswers(const ReaderAnswers&) = delete;
  ReaderAnswers& operator=(const ReaderAnswers&) = delete;

  Answer answer(Packet request);

 private:
  bool may_touch(std::uint64_t mount);
  void take_copy_room(Packet& request, std::uint64_t bytes);
  Answer opened(OpenedFile file);
  Answer roots_of(ByteReader& request);
  Answer open_mapped(ByteReader& request);
  Answer open_below(ByteReader& request, UniqueFd directory);
  Answer find_perf_map(ByteReader& request);
  Answer list_processes();
  void read_memory(ByteReader& request);

  ReaderPage& page_;
  LocalFiles files_;
  ProcFileOpener opener_{files_};
  ProcProcessReader processes_;
};

}  // namespace offcpud
