// SPDX-License-Identifier: Apache-2.0
#include "kernel/wait_text.h"

#include <arpa/inet.h>
#include <asm/unistd_64.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "base/text.h"

namespace offcpud {
namespace {

std::string_view next_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

template <class Number>
std::optional<Number> next_number(std::string_view& rest, int base = 10) {
  const std::string_view word = next_word(rest);
  Number number{};
  const auto [end, error] = std::from_chars(word.begin(), word.end(), number, base);
  if (error != std::errc() || end != word.end()) return std::nullopt;
  return number;
}

template <class Line>
void each_line(std::string_view text, Line line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view keyword = next_word(rest);
    line(keyword, rest);
  }
}

void add_call(std::string_view rest, bool compat, WaitDetail& detail) {
  const auto number = next_number<std::uint32_t>(rest);
  if (!number) return;
  detail.syscall = *number;
  detail.compat = compat;
  detail.arguments.clear();
  while (const auto argument = next_number<std::uint64_t>(rest, 16)) {
    detail.arguments.push_back(*argument);
  }
}

// As in include/net/tcp_states.h.
constexpr std::array<const char*, 13> kTcpStates = {
    "",      "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",   "TIME_WAIT",
    "CLOSE", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",   "NEW_SYN_RECV"};

std::string protocol_name(unsigned type, unsigned protocol) {
  if (protocol == IPPROTO_TCP) return "tcp";
  if (protocol == IPPROTO_UDP) return "udp";
  if (type == SOCK_RAW) return "raw";
  return "protocol " + std::to_string(protocol);
}

// `digits`: 8 or 32 hexadecimal digits in network order.
std::string address_text(int family, std::string_view digits, unsigned port) {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size() && 2 * i + 1 < digits.size(); ++i) {
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, bytes[i], 16);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!::inet_ntop(family, bytes.data(), text.data(), text.size())) return "?";
  const std::string address = text.data();
  return (family == AF_INET6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string family_name(unsigned family) {
  if (family == AF_UNIX) return "unix";
  if (family == AF_NETLINK) return "netlink";
  if (family == AF_VSOCK) return "vsock";
  return "family " + std::to_string(family);
}

std::string socket_text(std::string_view rest) {
  std::array<unsigned, 6> numbers{};  // family, type, protocol, state, local and remote port
  for (unsigned& number : numbers) number = next_number<unsigned>(rest).value_or(0);
  const auto [family, type, protocol, state, local_port, remote_port] = numbers;
  if (family != AF_INET && family != AF_INET6) return family_name(family);
  const std::string_view local = next_word(rest), remote = next_word(rest);
  std::string text = protocol_name(type, protocol) + " " +
                     address_text(static_cast<int>(family), local, local_port);
  if (remote_port != 0) {
    text += " -> " + address_text(static_cast<int>(family), remote, remote_port);
  }
  if (protocol == IPPROTO_TCP && state < kTcpStates.size() && state != 0) {
    text += std::string(" ") + kTcpStates.at(state);
  }
  return text;
}

// Decodes the kernel's own device numbers, include/linux/kdev_t.h.
std::string device_text(std::string_view rest) {
  const auto device = next_number<std::uint32_t>(rest);
  if (!device || *device == 0) return {};
  std::string text = std::to_string(*device >> 20) + ":" + std::to_string(*device & 0xfffff);
  if (!rest.empty()) text += " " + to_valid_utf8(rest);
  return text;
}

// A text that came as numbers, with the host's order of bytes: PRINT_TEXT (bpf/describe.bpf.c).
std::string packed_text(std::string_view rest) {
  std::string text;
  while (const auto word = next_number<std::uint64_t>(rest, 16)) {
    text.append(reinterpret_cast<const char*>(&*word), sizeof(*word));
  }
  return text.substr(0, text.find('\0'));
}

void add_path(std::string_view rest, WaitDetail& detail) {
  const auto fd = next_number<std::int32_t>(rest);
  const auto type = next_number<std::uint32_t>(rest);
  if (!fd || !type) return;
  detail.path = {.directory_fd = *fd, .is_fifo = S_ISFIFO(*type), .name = {}, .directory = {}};
}

void add_part(const std::string& name, CallPath& path) {
  constexpr std::size_t kMost = 63;  // longer ones are cut: PART_BYTES (bpf/path.bpf.h)
  path.directory.insert(0, "/" + name + (name.size() >= kMost ? "..." : ""));
}

// What describe_path wrote.
void add_to_path(std::string_view keyword, std::string_view rest, WaitDetail& detail) {
  if (keyword == "path") {
    add_path(rest, detail);
  } else if (keyword == "name" && detail.path) {
    detail.path->name += packed_text(rest);
  } else if (keyword == "part" && detail.path) {
    add_part(packed_text(rest), *detail.path);
  } else if (keyword == "root" && detail.path) {
    detail.path->is_whole = true;
    if (detail.path->directory.empty()) detail.path->directory = "/";
  } else if (keyword == "filesystem") {
    detail.device = device_text(rest);
  } else if (keyword == "type" || keyword == "subtype") {
    const std::string name = to_valid_utf8(packed_text(rest));
    if (!name.empty()) detail.device += (keyword == "type" ? " " : ".") + name;
  }
}

}  // namespace

std::string file_of(const CallPath& path) {
  std::string name = path.name;
  if (name.size() >= CallPath::kMost) name += "...";
  if (path.is_relative() && !path.directory.empty()) {
    name.insert(0, (path.is_whole ? "" : "...") + path.directory +
                       (path.directory.ends_with('/') ? "" : "/"));
  }
  return to_valid_utf8(name);
}

std::string fifo_end_of(const WaitDetail& detail) {
  const auto argument = [&](std::size_t i) {
    return !detail.compat && i < detail.arguments.size() ? std::optional(detail.arguments[i])
                                                         : std::nullopt;
  };
  std::optional<std::uint64_t> flags;
  if (detail.syscall == __NR_open) flags = argument(1);
  if (detail.syscall == __NR_openat) flags = argument(2);
  if (detail.syscall == __NR_creat && !detail.compat) flags = O_WRONLY;
  if (!flags) return "other end";
  return (*flags & O_ACCMODE) == O_RDONLY ? "writer" : "reader";
}

void add_wait_text(std::string_view text, std::map<BlockId, WaitDetail>& details) {
  WaitDetail* detail = nullptr;
  each_line(text, [&](std::string_view keyword, std::string_view rest) {
    if (keyword == "thread") {
      const auto tid = next_number<std::uint32_t>(rest);
      const auto since_ns = next_number<std::uint64_t>(rest);
      detail = tid && since_ns ? &details[{*tid, *since_ns}] : nullptr;
    } else if (!detail) {
      return;
    } else if (keyword == "frame") {
      detail->stack.emplace_back(rest);
    } else if (keyword == "syscall" || keyword == "compat") {
      add_call(rest, keyword == "compat", *detail);
    } else if (keyword == "owner") {
      detail->owner_tid = next_number<std::uint32_t>(rest);
    } else {
      add_to_path(keyword, rest, *detail);
    }
  });
}

void add_file_text(std::string_view text, WaitDetail& detail) {
  each_line(text, [&](std::string_view keyword, std::string_view rest) {
    if (keyword == "file") {
      detail.file = to_valid_utf8(rest);
    } else if (keyword == "device") {
      detail.device = device_text(rest);
    } else if (keyword == "socket") {
      detail.socket = socket_text(rest);
    }
  });
}

}  // namespace offcpud
