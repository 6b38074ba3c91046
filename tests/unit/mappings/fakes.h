// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mappings/file_opener.h"
#include "mappings/mapping_observer.h"
#include "mappings/proc_maps.h"

namespace offcpud::test {

inline BuildId build_id(std::uint8_t byte) {
  return BuildId::from(std::vector(BuildId::kKernelMaxSize, byte));
}

// Files by path; what is not there is gone.
class FakeOpener final : public FileOpener {
 public:
  OpenedFile open(const FileRequest& request) override {
    requests.push_back(request);
    OpenedFile opened;
    const auto found = files.find(request.path);
    if (found == files.end()) return opened;
    opened.outcome = found->second.first;
    opened.build_id = found->second.second;
    if (opened.outcome == OpenedFile::Outcome::Opened) {
      opened.fd.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!by_path.contains(request.path)) opened.mapped_by = user;
    }
    return opened;
  }

  RootId root_of(std::uint32_t tgid) override {
    const auto found = roots.find(tgid);
    return found == roots.end() ? RootId() : found->second;
  }
  OpenedFile open_root(std::uint32_t /*tgid*/) override { return {}; }

  std::map<std::string, std::pair<OpenedFile::Outcome, BuildId>> files;
  std::set<std::string> by_path;  // of `files`: those that nobody maps any more
  std::uint32_t user = 0;         // who maps them
  std::map<std::uint32_t, RootId> roots;
  std::vector<FileRequest> requests;
};

class FakeReader final : public ProcessReader {
 public:
  Result<std::vector<std::uint32_t>> processes() override {
    if (fails) return Error("open '/proc': broken");
    std::vector<std::uint32_t> tgids;
    for (const auto& [tgid, process] : existing) tgids.push_back(tgid);
    return tgids;
  }
  Result<std::optional<Process>> read(std::uint32_t tgid) override {
    ++reads;
    asked.push_back(tgid);
    if (late.contains(tgid)) return Error("read: no answer in time");
    if (denied == tgid) return Error("open: denied", ErrorKind::Permission);
    const auto found = existing.find(tgid);
    return found == existing.end() ? std::optional<Process>() : std::optional(found->second);
  }

  std::optional<std::uint32_t> user_of(std::uint32_t tgid) override {
    const auto found = users.find(tgid);
    return found == users.end() ? 0 : found->second;
  }

  std::map<std::uint32_t, Process> existing;
  std::map<std::uint32_t, std::uint32_t> users;  // 0 for others
  std::uint32_t denied = 0;
  std::set<std::uint32_t> late;      // whose reads have no answer
  std::vector<std::uint32_t> asked;  // to be read, in that order
  bool fails = false;
  int reads = 0;
};

// What was told, as one word after the other.
class ObserverLog final : public MappingObserver {
 public:
  void object_found(const std::shared_ptr<const MappedObject>& object, const MappedFile& file,
                    UniqueFd fd) override {
    log.push_back("object " + std::to_string(object->id) + " " + file.path +
                  (fd ? " open" : " closed"));
  }
  void copy_found(const MappedObject& object, UniqueFd /*fd*/) override {
    log.push_back("copy of " + std::to_string(object.id));
  }
  void object_forgotten(const MappedObject& object) override {
    log.push_back("forgotten " + std::to_string(object.id));
  }
  void image_began(const ImageId& image, std::span<const Mapping> inherited) override {
    log.push_back("began " + name(image) + " with " + std::to_string(inherited.size()));
  }
  void mapping_added(const ImageId& image, const Mapping& mapping) override {
    log.push_back("added " + name(image) + " " + mapping.file->path);
  }
  void mapping_removed(const ImageId& image, const Mapping& mapping) override {
    log.push_back("removed " + name(image) + " " + mapping.file->path);
  }
  void image_ended(const ImageId& image, std::span<const Mapping> mappings) override {
    log.push_back("ended " + name(image) + " with " + std::to_string(mappings.size()));
  }
  std::vector<std::string> take() { return std::exchange(log, {}); }

  std::vector<std::string> log;

 private:
  static std::string name(const ImageId& image) {
    return std::to_string(image.tgid) + "#" + std::to_string(image.serial);
  }
};

}  // namespace offcpud::test
