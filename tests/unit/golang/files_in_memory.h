// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "mappings/file_opener.h"

namespace offcpud::test {

inline UniqueFd file_with(const std::string& bytes) {
  UniqueFd file(::memfd_create("file", MFD_CLOEXEC));
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("a file in memory cannot be written");
  }
  return file;
}

// Files by path.
class FilesInMemory final : public FileOpener {
 public:
  OpenedFile open(const FileRequest& request) override {
    requests.push_back(request);
    OpenedFile opened;
    const auto found = files.find(request.path);
    if (found == files.end()) return opened;
    opened.outcome = OpenedFile::Outcome::Opened;
    opened.fd = file_with(found->second);
    return opened;
  }
  RootId root_of(std::uint32_t /*tgid*/) override { return {}; }
  OpenedFile open_root(std::uint32_t /*tgid*/) override { return {}; }

  std::map<std::string, std::string> files;
  std::vector<FileRequest> requests;
};

}  // namespace offcpud::test
