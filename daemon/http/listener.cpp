// SPDX-License-Identifier: Apache-2.0
#include "http/listener.h"

#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

namespace offcpud {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kAllButGroupMode = 0117;  // umask that leaves 0660
constexpr mode_t kAllButOpenMode = 0111;   // umask that leaves 0666
constexpr mode_t kFolderMode = 0755;

// What chooses the address of the server, and of the socket beside it.
constexpr const char* kListenFlag = "--listen";
constexpr const char* kLocalSocketFlag = "--set web.local_socket=PATH";

Error listen_error(int code, const ListenAddress& address, const char* flag = kListenFlag) {
  const std::string text = address.text();
  if (code == EADDRINUSE) {
    return Error("another process listens on " + text + "; stop it or choose another with " + flag);
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

bool is_listening(int fd) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

void set_option(int fd, int level, int option, int value) {
  // Errors are ignored here: bind() then fails, with a better message.
  (void)::setsockopt(fd, level, option, &value, sizeof(value));
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

// Returns 0 or an errno. Two programs with SO_REUSEADDR can bind one port as long as neither
// listens, so it is set only for the moment of binding, and only if connections of a program that
// has ended may still occupy the port.
int bind_tcp(int fd, const addrinfo& info) {
  if (::bind(fd, info.ai_addr, info.ai_addrlen) == 0) return 0;
  if (errno != EADDRINUSE) return errno;
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  const int code = ::bind(fd, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 0);
  return code;
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
    // [::] also accepts IPv4, whatever net.ipv6.bindv6only is.
    if (info->ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    code = bind_tcp(fd.get(), *info);
    if (code != 0) continue;
    address.port = bound_port(fd.get());
    return Listener(std::move(fd), std::move(address));
  }
  return listen_error(code, address);
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());  // the parser checked the length
  return address;
}

// Removes a socket that nobody answers.
Status clear_path(const ListenAddress& address, const char* flag = kListenFlag) {
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
  // EAGAIN: the backlog is full, so somebody listens.
  if (::connect(probe.get(), raw, sizeof(name)) == 0 || errno == EAGAIN) {
    return listen_error(EADDRINUSE, address, flag);
  }
  if (errno != ECONNREFUSED) return listen_error(errno, address);
  if (::unlink(address.unix_path.c_str()) != 0 && errno != ENOENT)
    return listen_error(errno, address);
  return {};
}

// Binds under its own umask, so that the file has its mode from the start, whatever the umask of
// the service is. The umask belongs to the process, so no other thread may run yet. Returns 0 or an
// errno.
int bind_with_mode(int fd, const sockaddr_un& name, mode_t without) {
  const mode_t before = ::umask(without);
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  const int code = bound ? 0 : errno;
  ::umask(before);
  return code;
}

}  // namespace

Result<gid_t> group_id(const std::string& name) {
  constexpr std::size_t kBuffer = 64UL * 1024;  // enough for a group of thousands of members
  std::vector<char> buffer(kBuffer);
  group entry{};
  group* found = nullptr;
  const int code = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (code != 0) return Error::from_errno(code, "look up the group", name);
  if (found == nullptr) {
    return Error("web.socket_group: there is no group '" + name + "'", ErrorKind::Configuration);
  }
  return entry.gr_gid;
}

namespace {

Result<Listener> listen_unix(const ListenAddress& address, const std::string& socket_group) {
  std::optional<gid_t> owner;
  if (!socket_group.empty()) {
    TRY(owner, group_id(socket_group));
  }
  TRY_VOID(clear_path(address));
  UniqueFd fd = make_socket(AF_UNIX);
  if (!fd) return listen_error(errno, address);
  const int code = bind_with_mode(fd.get(), unix_address(address.unix_path), kAllButGroupMode);
  if (code != 0) return listen_error(code, address);
  Listener listener(std::move(fd), address, std::make_unique<SocketFile>(address.unix_path));
  if (owner && ::lchown(address.unix_path.c_str(), static_cast<uid_t>(-1), *owner) != 0) {
    return Error("give " + address.unix_path + " to the group " + socket_group + ": " +
                     std::generic_category().message(errno) +
                     "; the user of the daemon must be a member (SupplementaryGroups=)",
                 ErrorKind::Configuration);
  }
  return listener;
}

// The address that a socket is bound to, as users write it.
Result<ListenAddress> bound_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  auto* const raw = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, raw, &length) != 0) return Error::from_errno(errno, "getsockname");
  if (storage.ss_family == AF_UNIX) {
    const auto& name = reinterpret_cast<const sockaddr_un&>(storage);
    return ListenAddress{.host = {}, .port = 0, .unix_path = name.sun_path};
  }
  std::array<char, NI_MAXHOST> host{};
  const int code = ::getnameinfo(raw, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  if (code != 0) return Error(std::string("getnameinfo: ") + ::gai_strerror(code));
  return ListenAddress{.host = host.data(), .port = bound_port(fd), .unix_path = {}};
}

bool is_loopback(const sockaddr_storage& storage) {
  constexpr std::uint32_t kLoopbackNet = 127;
  const auto is_loopback_v4 = [](in_addr address) {
    return ntohl(address.s_addr) >> 24U == kLoopbackNet;
  };
  if (storage.ss_family == AF_INET) {
    return is_loopback_v4(reinterpret_cast<const sockaddr_in&>(storage).sin_addr);
  }
  if (storage.ss_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&v6)) return IN6_IS_ADDR_LOOPBACK(&v6);
  in_addr v4{};
  std::memcpy(&v4, &v6.s6_addr[12], sizeof(v4));
  return is_loopback_v4(v4);
}

}  // namespace

SocketFile::SocketFile(std::string path, std::string folder)
    : path_(std::move(path)), folder_(std::move(folder)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

bool SocketFile::is_there() const {
  struct stat info {};
  return ::lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

SocketFile::~SocketFile() {
  if (is_there()) (void)::unlink(path_.c_str());
  if (!folder_.empty()) (void)::rmdir(folder_.c_str());
}

Status Listener::listen() const {
  if (is_listening(fd_.get())) return {};  // the service manager's, with a backlog of its own
  // Another program took the path: it found a socket that nobody answered.
  if (file_ && !file_->is_there()) return listen_error(EADDRINUSE, address_);
  // Connections inherit it: when this program has ended, they must not keep the next one out.
  if (!address_.is_unix()) set_option(fd_.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::listen(fd_.get(), kBacklog) != 0) return listen_error(errno, address_);
  return {};
}

Reach Listener::reach() const {
  if (address_.is_unix()) return {.local = true, .unix_socket = true};
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  const bool known = ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&storage), &length) == 0;
  return {.local = known && is_loopback(storage), .unix_socket = false};
}

Result<Listener> adopt_listener(UniqueFd fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return Error::from_errno(errno, "take over a listening socket");
  }
  TRY(auto address, bound_address(fd.get()));
  return Listener(std::move(fd), std::move(address));
}

Result<Listener> open_local_listener(const std::string& path) {
  auto address = parse_listen_address("unix:" + path);
  if (!address) return std::move(address).error().with("web.local_socket");
  std::string folder = path.substr(0, path.find_last_of('/'));
  // Creates the directory if the daemon is not a service with RuntimeDirectory=.
  const bool made = !folder.empty() && ::mkdir(folder.c_str(), kFolderMode) == 0;
  if (!made) folder.clear();
  // chmod: the umask would decide otherwise. The path is no link, as mkdir would have failed.
  if (made && ::chmod(folder.c_str(), kFolderMode) != 0) return listen_error(errno, *address);
  TRY_VOID(clear_path(*address, kLocalSocketFlag));
  UniqueFd fd = make_socket(AF_UNIX);
  if (!fd) return listen_error(errno, *address);
  const int code = bind_with_mode(fd.get(), unix_address(address->unix_path), kAllButOpenMode);
  if (code != 0) return listen_error(code, *address, kLocalSocketFlag);
  return Listener(std::move(fd), *address, std::make_unique<SocketFile>(path, std::move(folder)));
}

Result<Listener> open_listener(std::string_view text, const std::string& socket_group) {
  auto address = parse_listen_address(text);
  if (!address) return std::move(address).error().with("listen");
  return address->is_unix() ? listen_unix(*address, socket_group) : listen_tcp(*address);
}

}  // namespace offcpud
