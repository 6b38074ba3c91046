// SPDX-License-Identifier: Apache-2.0
#include "reader/packet_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_io.h"
#include "base/memory_file.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostInline = std::size_t{32} << 10;
// Limit of one message. The largest one describes a process: 2 MiB of paths (proc_maps.h), and 16
// MiB of numbers for the most threads that a process can have.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::size_t kMostFds = 3;  // the last one may be that of a large message

struct Header {
  std::uint32_t fds = 0;    // descriptors passed by the caller
  std::uint32_t large = 0;  // 1: the message is in the memory file of one more descriptor
};

Status send_message(int socket, std::string_view bytes, std::span<const int> fds) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return Error::from_errno(errno, "send a request");
  }
  return {};
}

void take_descriptors(msghdr& message, std::vector<UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

Result<std::string> read_memory_file(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error::from_errno(errno, "stat", "an answer");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > kMostBytes) return Error("receive an answer: it is too large");
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got <= 0) return Error::from_errno(errno, "read", "an answer");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

std::string take_text(ByteReader& reader) {
  const auto bytes = reader.take_bytes(reader.take<std::uint32_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::pair<UniqueFd, UniqueFd>> packet_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error::from_errno(errno, "make a pair of sockets");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status send_packet(int socket, std::string_view bytes, std::span<const int> fds) {
  std::vector<int> sent(fds.begin(), fds.end());
  Header header;
  header.fds = static_cast<std::uint32_t>(fds.size());
  UniqueFd large;
  if (bytes.size() > kMostInline) {
    if (bytes.size() > kMostBytes) return Error("send a message: it is too large");
    TRY(large, memory_file("offcpud-answer"));
    if (const int error = write_all(large.get(), bytes); error != 0) {
      return Error::from_errno(error, "write a large message");
    }
    header.large = 1;
    sent.push_back(large.get());
  }
  std::string message(reinterpret_cast<const char*>(&header), sizeof header);
  if (!large) message += bytes;
  return send_message(socket, message, sent);
}

Result<std::optional<Packet>> receive_packet(int socket, std::chrono::milliseconds patience) {
  pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(patience.count()));
  if (ready == 0 || (ready < 0 && errno == EINTR)) return std::optional<Packet>();
  if (ready < 0) return Error::from_errno(errno, "wait for an answer");
  std::string bytes(sizeof(Header) + kMostInline, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return Error::from_errno(errno, "receive an answer");
  std::vector<UniqueFd> fds;
  take_descriptors(message, fds);
  if (static_cast<std::size_t>(got) < sizeof(Header)) return Error("the other end is closed");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (fds.size() != header.fds + header.large || header.fds > 2 || header.large > 1) {
    return Error("receive an answer: descriptors are missing");
  }
  Packet packet;
  if (header.large != 0) {
    TRY(packet.bytes, read_memory_file(fds.back().get()));
  } else {
    packet.bytes = bytes.substr(sizeof(Header), static_cast<std::size_t>(got) - sizeof(Header));
  }
  for (std::size_t i = 0; i < header.fds; ++i) packet.fds.at(i) = std::move(fds.at(i));
  return std::optional(std::move(packet));
}

}  // namespace offcpud
