// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/byte_reader.h"
#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// Serializes values for ByteReader. Both ends are the same program.
class PacketWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

std::string take_text(ByteReader& reader);
inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// One message between two processes, with up to two descriptors.
struct Packet {
  std::string bytes;
  std::array<UniqueFd, 2> fds;
};

// A pair of connected sockets that preserve message boundaries.
Result<std::pair<UniqueFd, UniqueFd>> packet_sockets();

// Sends one message. Does not wait, because the other end handles one message at a time. A large
// message is passed in a memory file.
Status send_packet(int socket, std::string_view bytes, std::span<const int> fds = {});

// Nothing: no message came within `patience` (negative: no limit). Error: the other end is closed.
Result<std::optional<Packet>> receive_packet(int socket, std::chrono::milliseconds patience);

}  // namespace offcpud
