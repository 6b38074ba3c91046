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

// Owns the file of a bound unix socket. Removes it, unless another socket has replaced it.
class SocketFile {
 public:
  // `folder`: a directory created for the socket; removed with it if it is empty then. Empty: none.
  explicit SocketFile(std::string path, std::string folder = {});
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  // False: another socket has replaced it, or it is gone.
  [[nodiscard]] bool is_there() const;

 private:
  std::string path_;
  std::string folder_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// From where a listener can be reached.
struct Reach {
  bool local = true;         // a loopback address or a unix socket
  bool unix_socket = false;  // no browser reaches it
};

// A bound, non-blocking socket. A client that connects before listen() is refused at once, so it
// need not wait while the program starts. Move-only.
class Listener {
 public:
  Listener(UniqueFd fd, ListenAddress address, std::unique_ptr<SocketFile> file = nullptr)
      : fd_(std::move(fd)), address_(std::move(address)), file_(std::move(file)) {}

  // From now on the kernel accepts connections. If several sockets are bound to one address, the
  // first that listens has it. Does nothing if the socket listens already.
  [[nodiscard]] Status listen() const;

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Has the port that the kernel chose if 0 was asked for.
  [[nodiscard]] const ListenAddress& address() const { return address_; }

  [[nodiscard]] Reach reach() const;

 private:
  UniqueFd fd_;
  ListenAddress address_;
  std::unique_ptr<SocketFile> file_;
};

// Binds; `text` as for parse_listen_address(). Uses the first address of a name that works. A unix
// socket gets mode 0660; this changes the umask of the process for a moment, so call it before
// other threads start. Replaces a unix socket that nobody answers; any other file with that path is
// an error. `socket_group`: group of a unix socket; empty: that of the process.
Result<Listener> open_listener(std::string_view text, const std::string& socket_group = {});

// Binds a unix socket to which everybody on this host may connect; PeerCredentials tell who did.
// Otherwise as open_listener(). Creates the directory of `path` if it is missing, and removes it
// with the socket.
Result<Listener> open_local_listener(const std::string& path);

// The id of a group. The error names web.socket_group.
Result<gid_t> group_id(const std::string& name);

// Takes over a listening stream socket that another program has bound, such as the service manager.
// Does not remove a unix socket's file.
Result<Listener> adopt_listener(UniqueFd fd);

}  // namespace offcpud
