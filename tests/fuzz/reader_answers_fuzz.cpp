// SPDX-License-Identifier: Apache-2.0
// What the daemon takes from the processes that read what belongs to others.
#include "fuzz.h"
#include "reader/reader_answers.h"

namespace offcpud::fuzz {
namespace {

template <class T>
std::string written(void (*put)(PacketWriter&, const T&), const T& value) {
  PacketWriter writer;
  put(writer, value);
  return writer.take();
}

template <class T>
void require_written_as_taken(T (*take)(ByteReader&), void (*put)(PacketWriter&, const T&),
                              const T& value) {
  const std::string once = written(put, value);
  ByteReader again(bytes_of(once));
  require(written(put, take(again)) == once, "it is taken as it is written");
}

void require_build_id(const BuildId& id) {
  require(id.hex().size() <= 2 * BuildId::kMaxSize, "a build-id has 64 bytes at most");
}

void require_file(std::string_view input) {
  ByteReader reader(bytes_of(input));
  const OpenedFile file = take_opened_file(reader);
  if (!reader.ok()) return;
  require(file.outcome <= OpenedFile::Outcome::Refused, "the outcome is one of those there are");
  require_build_id(file.build_id);
  require_written_as_taken(take_opened_file, put_opened_file, file);
}

void require_request(std::string_view input) {
  ByteReader reader(bytes_of(input));
  const FileRequest request = take_file_request(reader);
  if (!reader.ok()) return;
  require_build_id(request.build_id);
  require(request.root.user_is <= RootId::UserIs::Own, "a user is known in one of three ways");
  require_written_as_taken(take_file_request, put_file_request, request);
}

void require_process(std::string_view input) {
  ByteReader reader(bytes_of(input));
  const auto process = take_process(reader);
  if (!reader.ok()) return require(!process, "what is refused is no process");
  if (!process) return require(process.error().kind() <= ErrorKind::Output, "errors have a kind");
  require(written(put_process, process) == std::string(input.substr(0, reader.position())),
          "what is accepted is what is written of it");
}

}  // namespace

void test(std::string_view input) {
  require_file(input);
  require_request(input);
  require_process(input);
}

std::vector<std::string> seeds() {
  OpenedFile copy = not_opened(OpenedFile::Outcome::Refused);
  copy.build_id = BuildId::from(bytes_of("0123456789abcdefghij"));
  copy.copied = 4096;
  copy.original = OriginalFile();
  copy.mapped_by = 1000;
  FileRequest request;
  request.path = "/usr/lib/libc.so.6";
  request.root = {.device = 1, .inode = 2, .user = 3, .user_is = RootId::UserIs::Own};
  ProcessReader::Process process;
  process.maps.push_back(
      {.begin = 4096, .end = 8192, .offset = 0, .executable = true, .path = "/x"});
  process.threads = {1, 2};
  using Read = Result<std::optional<ProcessReader::Process>>;
  return {written(put_opened_file, copy), written(put_file_request, request),
          written(put_process, Read(std::optional(process))),
          written(put_process, Read(std::optional<ProcessReader::Process>())),
          written(put_process, Read(Error("open '/proc/1': none", ErrorKind::Permission)))};
}

}  // namespace offcpud::fuzz
