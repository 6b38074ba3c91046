// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud::test {

// Writes records as perf_event_open(2) describes them, field by field.
class PerfRecordBytes {
 public:
  PerfRecordBytes& mapped_with_build_id(std::uint64_t time, std::uint32_t tgid, std::uint64_t begin,
                                        std::uint64_t length, std::uint64_t offset,
                                        std::uint8_t id_size, std::uint8_t id_byte,
                                        std::string_view path) {
    start();
    map_fields(tgid, begin, length, offset);
    put<std::uint8_t>(id_size);
    put<std::uint8_t>(0);
    put<std::uint16_t>(0);
    for (int i = 0; i < 20; ++i) put<std::uint8_t>(i < id_size ? id_byte : std::uint8_t{0});
    put<std::uint32_t>(5);  // PROT_READ | PROT_EXEC
    put<std::uint32_t>(2);  // MAP_PRIVATE
    put_name(path);
    return finish(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, time);
  }

  PerfRecordBytes& mapped(std::uint64_t time, std::uint32_t tgid, std::uint64_t begin,
                          std::uint64_t length, std::uint64_t offset, std::uint32_t major,
                          std::uint32_t minor, std::uint64_t inode, std::string_view path) {
    start();
    map_fields(tgid, begin, length, offset);
    put(major);
    put(minor);
    put(inode);
    put<std::uint64_t>(1);  // generation of the inode
    put<std::uint32_t>(5);
    put<std::uint32_t>(2);
    put_name(path);
    return finish(PERF_RECORD_MMAP2, 0, time);
  }

  PerfRecordBytes& task(std::uint32_t type, std::uint64_t time, std::uint32_t tgid,
                        std::uint32_t parent, std::uint32_t tid) {
    start();
    put(tgid);
    put(parent);
    put(tid);
    put(parent);
    put(time);
    return finish(type, 0, time);
  }

  PerfRecordBytes& comm(std::uint64_t time, std::uint32_t tgid, bool exec, std::string_view name) {
    start();
    put(tgid);
    put(tgid);
    put_name(name);
    return finish(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, time);
  }

  PerfRecordBytes& lost(std::uint64_t time, std::uint64_t count) {
    start();
    put<std::uint64_t>(77);  // id of the event
    put(count);
    return finish(PERF_RECORD_LOST, 0, time);
  }

  PerfRecordBytes& of_type(std::uint32_t type, std::uint64_t time) {
    start();
    put<std::uint64_t>(0);
    return finish(type, 0, time);
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void start() {
    begin_ = bytes_.size();
    bytes_.resize(begin_ + sizeof(perf_event_header));
  }

  template <class T>
  void put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  void map_fields(std::uint32_t tgid, std::uint64_t begin, std::uint64_t length,
                  std::uint64_t offset) {
    put(tgid);
    put(tgid);
    put(begin);
    put(length);
    put(offset);
  }

  // Terminated and filled up to a multiple of 8 bytes, as the kernel does it.
  void put_name(std::string_view name) {
    for (const char c : name) put(c);
    do {
      put('\0');
    } while (bytes_.size() % 8 != 0);
  }

  PerfRecordBytes& finish(std::uint32_t type, std::uint32_t misc, std::uint64_t time) {
    put(time);
    perf_event_header header{};
    header.type = type;
    header.misc = static_cast<std::uint16_t>(misc);
    header.size = static_cast<std::uint16_t>(bytes_.size() - begin_);
    std::memcpy(bytes_.data() + begin_, &header, sizeof header);
    return *this;
  }

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

}  // namespace offcpud::test
