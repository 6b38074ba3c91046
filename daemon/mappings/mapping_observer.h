// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/unique_handle.h"
#include "mappings/mapped_file.h"

namespace offcpud {

// A process between two execs. Serial numbers ascend in the order in which images are learnt of and
// tell apart processes that have the same number one after the other.
struct ImageId {
  std::uint32_t tgid = 0;
  std::uint64_t serial = 0;

  bool operator==(const ImageId&) const = default;
};

// Whoever wants to know how mappings change. Called by the thread that applies the events; what is
// passed by reference or span is valid during the call.
class MappingObserver {
 public:
  virtual ~MappingObserver() = default;

  // An object is mapped for the first time: its open file, to be kept or closed. Without a file if
  // it could not be opened; then called again when a later mapping makes it possible. Comes before
  // the mapping.
  virtual void object_found(const std::shared_ptr<const MappedObject>& object,
                            const MappedFile& file, UniqueFd fd) = 0;
  // Another file with the same contents, as one container has it and another one, too: open.
  virtual void copy_found(const MappedObject& object, UniqueFd fd) = 0;
  // Nothing refers to it any more; when it is mapped again, it is found again.
  virtual void object_forgotten(const MappedObject& object) = 0;

  // A process begins, with the mappings of its parent if by fork and with none if by exec.
  virtual void image_began(const ImageId& image, std::span<const Mapping> inherited) = 0;
  virtual void mapping_added(const ImageId& image, const Mapping& mapping) = 0;
  virtual void mapping_removed(const ImageId& image, const Mapping& mapping) = 0;
  // By exit, or by exec before the next one begins. All its mappings are removed with it.
  virtual void image_ended(const ImageId& image, std::span<const Mapping> mappings) = 0;
};

}  // namespace offcpud
