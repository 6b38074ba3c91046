// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace offcpud {

// Refuses a map whose key or value has a different size in the daemon.
inline Status check_layout(const bpf_map* map, std::size_t key_size, std::size_t value_size) {
  if (bpf_map__key_size(map) == key_size && bpf_map__value_size(map) == value_size) return {};
  return Error(std::string("map '") + bpf_map__name(map) +
               "' has another layout than this program");
}

// The entries of a hash map that programs change meanwhile. The iteration ends after twice as many
// steps as the map can have entries, because the removal of the current key restarts it.
// `complete`: every key was seen. Key and Value are trivially copyable.
template <class Key, class Value>
struct MapPass {
  std::vector<std::pair<Key, Value>> entries;
  bool complete = false;
};

template <class Key, class Value>
Result<MapPass<Key, Value>> read_hash(const bpf_map* map) {
  TRY_VOID(check_layout(map, sizeof(Key), sizeof(Value)));
  const int fd = bpf_map__fd(map);
  MapPass<Key, Value> pass;
  Key key{};
  const Key* cursor = nullptr;
  for (std::uint64_t step = 0; step < 2 * std::uint64_t{bpf_map__max_entries(map)} + 2; ++step) {
    Key next{};
    const int end = bpf_map_get_next_key(fd, cursor, &next);
    if (end == -ENOENT) {
      pass.complete = true;
      break;
    }
    if (end != 0) return Error::from_errno(-end, "next key of map", bpf_map__name(map));
    Value value{};
    const int found = bpf_map_lookup_elem(fd, &next, &value);
    if (found == 0) {
      pass.entries.emplace_back(next, value);
    } else if (found != -ENOENT) {  // an entry may have been removed since
      return Error::from_errno(-found, "look up in map", bpf_map__name(map));
    }
    key = next;
    cursor = &key;
  }
  return pass;
}

// Replaces the keys of a hash map that only this thread changes. Its values, of one byte, mean
// nothing.
template <class Key>
Status refill_keys(const bpf_map* map, std::span<const Key> keys) {
  TRY_VOID(check_layout(map, sizeof(Key), sizeof(std::uint8_t)));
  const int fd = bpf_map__fd(map);
  Key old{}, next{};
  bool has_old = bpf_map_get_next_key(fd, nullptr, &old) == 0;
  while (has_old) {
    has_old = bpf_map_get_next_key(fd, &old, &next) == 0;
    if (bpf_map_delete_elem(fd, &old) != 0) break;
    old = next;
  }
  const std::uint8_t nothing = 0;
  for (const Key& key : keys) {
    if (const int error = bpf_map_update_elem(fd, &key, &nothing, BPF_ANY); error != 0) {
      return Error::from_errno(-error, "fill map", bpf_map__name(map));
    }
  }
  return {};
}

// One element of a per-CPU array, for all possible CPUs.
template <class Value>
Result<std::vector<Value>> read_percpu(const bpf_map* map, std::uint32_t index) {
  static_assert(sizeof(Value) % 8 == 0);  // the kernel rounds each value up
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return Error::from_errno(-cpus, "count the possible CPUs");
  std::vector<Value> values(static_cast<std::size_t>(cpus));
  if (const int error = bpf_map_lookup_elem(bpf_map__fd(map), &index, values.data()); error != 0) {
    return Error::from_errno(-error, "look up in map", bpf_map__name(map));
  }
  return values;
}

inline Result<std::uint64_t> sum_percpu(const bpf_map* map, std::uint32_t index) {
  TRY(const auto values, read_percpu<std::uint64_t>(map, index));
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value;
  return sum;
}

// An array map (BPF_F_MMAPABLE) as memory: reading it costs no system call. The kernel writes it at
// the same time; 8-byte fields are read whole.
template <class Value>
class MappedArray {
 public:
  static Result<MappedArray> map(const bpf_map* map, bool writable) {
    TRY_VOID(check_layout(map, sizeof(std::uint32_t), sizeof(Value)));
    static_assert(sizeof(Value) % 4 == 0);
    // The kernel rounds each value up to 8 bytes (kernel/bpf/arraymap.c).
    const std::size_t stride = (sizeof(Value) + 7) / 8 * 8;
    const std::size_t bytes = stride * bpf_map__max_entries(map);
    void* memory = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                          bpf_map__fd(map), 0);
    if (memory == MAP_FAILED) return Error::from_errno(errno, "mmap map", bpf_map__name(map));
    MappedArray array;
    array.memory_ = static_cast<std::byte*>(memory);
    array.stride_ = stride;
    array.size_ = bpf_map__max_entries(map);
    return array;
  }

  MappedArray(MappedArray&& other) noexcept { *this = std::move(other); }
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(stride_, other.stride_);
    std::swap(size_, other.size_);
    return *this;
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;
  ~MappedArray() {
    if (memory_) ::munmap(memory_, stride_ * size_);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  Value& operator[](std::size_t index) const {
    return *reinterpret_cast<Value*>(memory_ + index * stride_);
  }

 private:
  MappedArray() = default;
  std::byte* memory_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t size_ = 0;
};

}  // namespace offcpud
