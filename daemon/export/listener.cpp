// SPDX-License-Identifier: Apache-2.0
#include "export/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace offcpud {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kAllButSocketMode = 0117;  // of 0777: leaves 0660

Error listen_error(int code, const ListenAddress& address) {
  const std::string text = address.text();
  if (code == EADDRINUSE) {
    return Error("another process listens on " + text +
                 "; stop it or choose another with --listen");
  }
  if (code == EADDRNOTAVAIL) {
    return Error("listen on '" + text + "': no network interface of this host has that address",
                 ErrorKind::Configuration);
  }
  return Error::from_errno(code, "listen on", text);
}

UniqueFd make_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set_option(int fd, int level, int option, int value) {
  // Failure shows as a failed bind, which says more.
  (void)::setsockopt(fd, level, option, &value, sizeof(value));
}

// 0 or errno.
int bind_and_listen(int fd, const sockaddr* address, socklen_t length) {
  if (::bind(fd, address, length) != 0) return errno;
  return ::listen(fd, kBacklog) != 0 ? errno : 0;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> resolve(const ListenAddress& address, const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) {
    return Error("listen on '" + address.text() + "': " + ::gai_strerror(code),
                 ErrorKind::Configuration);
  }
  return AddressList(found, &::freeaddrinfo);
}

Result<Listener> listen_tcp(ListenAddress address) {
  TRY(const AddressList found, resolve(address, address.host));
  int code = EADDRNOTAVAIL;
  for (const addrinfo* info = found.get(); info != nullptr; info = info->ai_next) {
    UniqueFd fd = make_socket(info->ai_family);
    if (!fd) {
      code = errno;
      continue;
    }
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    // [::] takes IPv4 as well, whatever net.ipv6.bindv6only says.
    if (info->ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    code = bind_and_listen(fd.get(), info->ai_addr, info->ai_addrlen);
    if (code != 0) continue;
    address.port = bound_port(fd.get());
    return Listener(std::move(fd), std::move(address));
  }
  return listen_error(code, address);
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());  // length checked by the parser
  return address;
}

// Removes a socket that nobody answers.
Status clear_path(const ListenAddress& address) {
  struct stat info {};
  if (::lstat(address.unix_path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return listen_error(errno, address);
  }
  if (!S_ISSOCK(info.st_mode)) {
    return Error("listen on '" + address.text() + "': the path exists and is not a socket",
                 ErrorKind::Configuration);
  }
  const UniqueFd probe = make_socket(AF_UNIX);
  if (!probe) return listen_error(errno, address);
  const sockaddr_un name = unix_address(address.unix_path);
  const auto* raw = reinterpret_cast<const sockaddr*>(&name);
  // EAGAIN: the backlog is full, so somebody does listen.
  if (::connect(probe.get(), raw, sizeof(name)) == 0 || errno == EAGAIN) {
    return listen_error(EADDRINUSE, address);
  }
  if (errno != ECONNREFUSED) return listen_error(errno, address);
  if (::unlink(address.unix_path.c_str()) != 0 && errno != ENOENT)
    return listen_error(errno, address);
  return {};
}

// Bound under a umask of its own, so that the file has its mode from the first moment on, whatever
// the umask of the service is. A umask belongs to the process: no other thread runs yet.
int bind_and_listen_with_mode(int fd, const sockaddr_un& name) {
  const mode_t before = ::umask(kAllButSocketMode);
  const int code = bind_and_listen(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  ::umask(before);
  return code;
}

Result<Listener> listen_unix(const ListenAddress& address) {
  TRY_VOID(clear_path(address));
  UniqueFd fd = make_socket(AF_UNIX);
  if (!fd) return listen_error(errno, address);
  const int code = bind_and_listen_with_mode(fd.get(), unix_address(address.unix_path));
  if (code != 0) return listen_error(code, address);
  return Listener(std::move(fd), address, std::make_unique<SocketFile>(address.unix_path));
}

}  // namespace

SocketFile::SocketFile(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

SocketFile::~SocketFile() {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return;
  if (info.st_dev == device_ && info.st_ino == inode_) (void)::unlink(path_.c_str());
}

Result<Listener> open_listener(std::string_view text) {
  auto address = parse_listen_address(text);
  if (!address) return std::move(address).error().with("listen");
  return address->is_unix() ? listen_unix(*address) : listen_tcp(*address);
}

}  // namespace offcpud
