// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "elf/build_id.h"
#include "mappings/mapping_observer.h"

namespace offcpud::test {

// Keeps what an observer is told, by process. Mappings are followed through added and removed, so
// they show whether the changes add up to the state.
class MappingRecord final : public MappingObserver {
 public:
  struct Image {
    ImageId id;
    bool ended = false;
    std::vector<Mapping> mappings;  // by address
  };
  struct Object {
    bool opened = false;
    BuildId build_id;  // read from the file that was handed over
    std::string path;
  };

  void object_found(const std::shared_ptr<const MappedObject>& object, const MappedFile& file,
                    UniqueFd fd) override {
    Object& known = objects[object->id];
    known.path = file.path;
    if (!fd) return;
    known.opened = true;
    known.build_id = read_build_id(fd.get());
  }
  void copy_found(const MappedObject& /*object*/, UniqueFd /*fd*/) override {}
  void object_forgotten(const MappedObject& object) override { objects.erase(object.id); }

  void image_began(const ImageId& image, std::span<const Mapping> inherited) override {
    images[image.tgid].push_back({image, false, {inherited.begin(), inherited.end()}});
  }
  void mapping_added(const ImageId& image, const Mapping& mapping) override {
    auto& mappings = images[image.tgid].back().mappings;
    mappings.insert(
        std::upper_bound(mappings.begin(), mappings.end(), mapping,
                         [](const auto& a, const auto& b) { return a.begin < b.begin; }),
        mapping);
  }
  void mapping_removed(const ImageId& image, const Mapping& mapping) override {
    std::erase(images[image.tgid].back().mappings, mapping);
  }
  void image_ended(const ImageId& image, std::span<const Mapping> /*mappings*/) override {
    images[image.tgid].back().ended = true;
  }

  std::map<std::uint32_t, std::vector<Image>> images;  // of a process, oldest first
  std::map<std::uint64_t, Object> objects;             // by id
};

}  // namespace offcpud::test
