// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "mappings/file_opener.h"
#include "mappings/proc_maps.h"
#include "reader/process_memory.h"
#include "reader/reader_client.h"
#include "symbols/perf_map_finder.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// These classes let a reader process do, with a deadline, what others do directly: no call here
// waits long for another process or a server. The objects of one thread share its client, which
// must outlive them.

class DeadlineFileOpener final : public FileOpener {
 public:
  explicit DeadlineFileOpener(ReaderClient& client) : client_(client) {}
  OpenedFile open(const FileRequest& request) override;
  RootId root_of(std::uint32_t tgid) override;
  void ask_roots(std::span<const std::uint32_t> tgids) override;
  OpenedFile open_root(std::uint32_t tgid) override;
  std::optional<OriginalFile> original_of(int fd) override {
    return client_.copies().original_of(fd);
  }
  void refresh() override {
    client_.refresh();
    roots_.clear();
  }

 private:
  static constexpr std::size_t kRootsAtOnce = 256;

  std::unordered_map<std::uint32_t, RootId> roots_;  // since the last refresh()
  ReaderClient& client_;
};

// Errors of other kinds than Permission mean that there was no answer this time.
class DeadlineProcessReader final : public ProcessReader {
 public:
  explicit DeadlineProcessReader(ReaderClient& client) : client_(client) {}
  Result<std::vector<std::uint32_t>> processes() override;
  Result<std::optional<Process>> read(std::uint32_t tgid) override;
  // Reads directly: /proc/PID/status takes no lock of the process's memory, so no process can block
  // it.
  std::optional<std::uint32_t> user_of(std::uint32_t tgid) override { return real_uid_of(tgid); }

 private:
  ReaderClient& client_;
};

class DeadlineProcessMemory final : public ProcessMemory {
 public:
  explicit DeadlineProcessMemory(ReaderClient& client) : client_(client) {}
  void read(std::span<MemoryPiece> pieces) override;

 private:
  std::size_t read_some(std::span<MemoryPiece*> pieces);
  ReaderClient& client_;
};

class DeadlineFilesBelow final : public FilesBelow {
 public:
  explicit DeadlineFilesBelow(ReaderClient& client) : client_(client) {}
  Result<UniqueFd> open_below(int directory, std::uint32_t process, const std::string& path,
                              LastLink last_link) override;
  std::optional<FileRights> rights_of_original(int fd) override;

 private:
  ReaderClient& client_;
};

class DeadlinePerfMapFinder final : public PerfMapFinder {
 public:
  explicit DeadlinePerfMapFinder(ReaderClient& client) : client_(client) {}
  Result<FoundPerfMap> find(const PerfMapProcess& process) override;

 private:
  ReaderClient& client_;
};

}  // namespace offcpud
