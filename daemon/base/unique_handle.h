// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <utility>

namespace offcpud {

// Owns a C handle; move-only. Calls Close exactly once for each value other than Invalid.
template <auto Close, auto Invalid>
class UniqueHandle {
 public:
  using Value = decltype(Invalid);

  UniqueHandle() = default;
  explicit UniqueHandle(Value value) : value_(value) {}
  UniqueHandle(UniqueHandle&& other) noexcept : value_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  [[nodiscard]] Value get() const { return value_; }
  [[nodiscard]] Value release() { return std::exchange(value_, Invalid); }
  explicit operator bool() const { return value_ != Invalid; }

  void reset(Value value = Invalid) {
    const Value old = std::exchange(value_, value);
    if (old != Invalid) Close(old);
  }

 private:
  Value value_ = Invalid;
};

using UniqueFd = UniqueHandle<&::close, -1>;
using UniqueDirectory = UniqueHandle<&::closedir, static_cast<DIR*>(nullptr)>;

}  // namespace offcpud
