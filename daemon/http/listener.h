// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_handle.h"
#include "config/listen_address.h"

namespace offcpud {

// The name of a bound unix socket; removed with it unless somebody else has put another one there.
class SocketFile {
 public:
  // `folder`: what was made for it and goes with it, unless there is something else in it; empty:
  // nothing.
  explicit SocketFile(std::string path, std::string folder = {});
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  std::string path_;
  std::string folder_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Who can reach a listener.
struct Reach {
  bool local = true;         // a loopback address or a unix socket
  bool unix_socket = false;  // no browser reaches it
};

// A socket that listens, non-blocking. Move-only.
class Listener {
 public:
  Listener(UniqueFd fd, ListenAddress address, std::unique_ptr<SocketFile> file = nullptr)
      : fd_(std::move(fd)), address_(std::move(address)), file_(std::move(file)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  // With the port that the kernel chose where 0 was asked for.
  [[nodiscard]] const ListenAddress& address() const { return address_; }

  [[nodiscard]] Reach reach() const;

 private:
  UniqueFd fd_;
  ListenAddress address_;
  std::unique_ptr<SocketFile> file_;
};

// Binds and listens; `text` as for parse_listen_address. A name is bound at the first of its
// addresses that works. A unix socket gets mode 0660, for which the umask of the process is
// changed meanwhile: call it before other threads start. One that nobody answers is replaced, any
// other file in its place is an error. `socket_group` is the group of a unix socket; empty: that
// of the process.
Result<Listener> open_listener(std::string_view text, const std::string& socket_group = {});

// Listens on a unix socket that everybody on this host may connect to: PeerCredentials say who it
// is. As open_listener otherwise. The folder of `path` is made if it is missing, and removed with
// the socket.
Result<Listener> open_local_listener(const std::string& path);

// The number of a group; an error names web.socket_group.
Result<gid_t> group_id(const std::string& name);

// Takes over a listening stream socket that somebody else has bound, such as the service manager.
// A unix socket's file stays theirs.
Result<Listener> adopt_listener(UniqueFd fd);

}  // namespace offcpud
