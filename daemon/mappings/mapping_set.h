// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mappings/mapped_file.h"

namespace offcpud {

// The executable mappings of one address space, ordered, without overlap. Adds its size to `total`,
// which must outlive it; copies count too. Used by one thread.
class MappingSet {
 public:
  explicit MappingSet(std::size_t& total) : total_(&total) {}
  MappingSet(const MappingSet& other) : total_(other.total_), mappings_(other.mappings_) {
    *total_ += mappings_.size();
  }
  MappingSet& operator=(const MappingSet&) = delete;
  ~MappingSet() { *total_ -= mappings_.size(); }

  // The mappings that a change removed and added.
  struct Change {
    std::vector<Mapping> removed;
    std::vector<Mapping> added;
  };

  // Inserts `mapping` and removes the parts of others that it overlaps. No change if it was there
  // already.
  Change put(const Mapping& mapping);

  [[nodiscard]] bool contains(const Mapping& mapping) const;

  // Null: no executable mapping is known there.
  [[nodiscard]] const Mapping* at(std::uint64_t address) const;

  [[nodiscard]] std::span<const Mapping> all() const { return mappings_; }
  [[nodiscard]] std::size_t size() const { return mappings_.size(); }

 private:
  std::size_t* total_;
  std::vector<Mapping> mappings_;
};

}  // namespace offcpud
