// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/unique_handle.h"
#include "mappings/mapped_file.h"

namespace offcpud {

// Identifies what a process executes between two execs. Serial numbers rise in the order in which
// images become known, and distinguish processes that had the same number one after the other.
struct ImageId {
  std::uint32_t tgid = 0;
  std::uint64_t serial = 0;

  bool operator==(const ImageId&) const = default;
};

// Receives changes of mappings. Called by the thread that applies the events; arguments passed by
// reference or span are valid during the call.
class MappingObserver {
 public:
  virtual ~MappingObserver() = default;

  // An object is mapped for the first time. `fd` is its open file, to be kept or closed, or empty
  // if it could not be opened; then the call is repeated when a later mapping makes it possible.
  // Called before mapping_added().
  virtual void object_found(const std::shared_ptr<const MappedObject>& object,
                            const MappedFile& file, UniqueFd fd) = 0;
  // Another file with the same contents was opened, for instance that of another container.
  virtual void copy_found(const MappedObject& object, UniqueFd fd) = 0;
  // Nothing refers to the object any more. If it is mapped again, object_found() is called again.
  virtual void object_forgotten(const MappedObject& object) = 0;

  // An image begins: after fork with the mappings of the parent, otherwise with none.
  virtual void image_began(const ImageId& image, std::span<const Mapping> inherited) = 0;
  virtual void mapping_added(const ImageId& image, const Mapping& mapping) = 0;
  virtual void mapping_removed(const ImageId& image, const Mapping& mapping) = 0;
  // An image ended: its process ended or called exec. All its mappings go with it.
  virtual void image_ended(const ImageId& image, std::span<const Mapping> mappings) = 0;
};

}  // namespace offcpud
