// SPDX-License-Identifier: Apache-2.0
// usage: fuse_server MOUNT_POINT FILE NAME. A FUSE file system with one executable file, NAME,
// whose content is that of FILE. It is mounted here in the initial user namespace and belongs to
// uid 65534, who is served: as where the setuid fusermount3 mounts it for an unprivileged user.
// Says "mounted". From SIGUSR1 on it never answers reads; from SIGUSR2 on it never answers what a
// process or thread asks whose name begins with "offcpud". Reads of what is cached need no answer.
// Ends, and the mount with it, when standard input does.
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "workload.h"

namespace {

constexpr uid_t kOwner = 65534;
constexpr std::uint64_t kFile = 2;
constexpr std::uint64_t kValidSeconds = 3600;

std::atomic<bool> mute_reads{false};
std::atomic<bool> mute_daemon{false};

bool is_from_daemon(std::uint32_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  return std::getline(comm, name) && name.starts_with("offcpud");
}

class Server {
 public:
  Server(int device, int file, std::string name)
      : device_(device), file_(file), name_(std::move(name)) {
    struct stat info {};
    if (::fstat(file_, &info) != 0) workload::fail("stat");
    size_ = static_cast<std::uint64_t>(info.st_size);
  }

  // One request; false: the file system was unmounted.
  bool serve() {
    std::vector<char> buffer(std::size_t{256} << 10);
    const ssize_t got = ::read(device_, buffer.data(), buffer.size());
    if (got < 0) return errno == EINTR || errno == ENOENT || errno == EAGAIN;
    std::memcpy(&request_, buffer.data(), sizeof(request_));
    body_ = std::string_view(buffer.data(), static_cast<std::size_t>(got)).substr(sizeof(request_));
    if (mute_daemon && is_from_daemon(request_.pid)) return true;
    if (mute_reads && request_.opcode == FUSE_READ) return true;
    answer();
    return true;
  }

 private:
  template <class T>
  [[nodiscard]] T input() const {
    T in{};
    std::memcpy(&in, body_.data(), std::min(sizeof(in), body_.size()));
    return in;
  }

  void reply(int error, std::string_view data = {}) const {
    fuse_out_header header{};
    header.len = static_cast<std::uint32_t>(sizeof(header) + data.size());
    header.error = -error;
    header.unique = request_.unique;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes += data;
    (void)!::write(device_, bytes.data(), bytes.size());
  }

  template <class T>
  void reply_with(const T& out) const {
    reply(0, std::string_view(reinterpret_cast<const char*>(&out), sizeof(out)));
  }

  [[nodiscard]] fuse_attr attributes(std::uint64_t node) const {
    fuse_attr attr{};
    attr.ino = node;
    attr.mode = node == kFile ? S_IFREG | 0755 : S_IFDIR | 0755;
    attr.nlink = 1;
    attr.size = node == kFile ? size_ : 0;
    attr.uid = attr.gid = kOwner;
    attr.blksize = 4096;
    return attr;
  }

  void look_up() const {
    fuse_entry_out out{};
    out.entry_valid = kValidSeconds;
    // Not found: without a limit, so that each look-up asks again.
    if (body_.substr(0, body_.find('\0')) != name_) return reply(ENOENT);
    out.nodeid = kFile;
    out.attr_valid = kValidSeconds;
    out.attr = attributes(kFile);
    reply_with(out);
  }

  void read_file() const {
    const auto in = input<fuse_read_in>();
    std::string bytes(in.size, '\0');
    const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(in.offset));
    if (got < 0) return reply(EIO);
    reply(0, std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
  }

  void start() const {
    fuse_init_out out{};
    out.major = FUSE_KERNEL_VERSION;
    out.minor = FUSE_KERNEL_MINOR_VERSION;
    out.max_readahead = 4096;
    out.max_write = 4096;
    reply_with(out);
  }

  void answer() const {
    switch (request_.opcode) {
      case FUSE_INIT:
        return start();
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;  // want no answer
      case FUSE_LOOKUP:
        return look_up();
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr_valid = kValidSeconds;
        out.attr = attributes(request_.nodeid);
        return reply_with(out);
      }
      case FUSE_OPEN:
      case FUSE_OPENDIR:
        return reply_with(fuse_open_out{});
      case FUSE_READ:
        return read_file();
      case FUSE_READDIR:
      case FUSE_RELEASE:
      case FUSE_RELEASEDIR:
      case FUSE_FLUSH:
        return reply(0);
      case FUSE_STATFS:
        return reply_with(fuse_statfs_out{});
      case FUSE_GETXATTR:
      case FUSE_LISTXATTR:
        return reply(ENODATA);
      default:
        return reply(ENOSYS);
    }
  }

  int device_;
  int file_;
  std::string name_;
  std::uint64_t size_ = 0;
  fuse_in_header request_{};
  std::string_view body_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) workload::fail("usage: fuse_server MOUNT_POINT FILE NAME");
  (void)::signal(SIGUSR1, [](int) { mute_reads = true; });
  (void)::signal(SIGUSR2, [](int) { mute_daemon = true; });
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  const int file = ::open(argv[2], O_RDONLY | O_CLOEXEC);
  if (device < 0 || file < 0) return 77;
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40000,user_id=65534" + ",group_id=65534";
  if (::mount("offcpud-test", argv[1], "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return 77;
  }
  Server server(device, file, argv[3]);
  (void)std::puts("mounted");
  (void)std::fflush(stdout);
  pollfd wanted[] = {{.fd = device, .events = POLLIN, .revents = 0},
                     {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(wanted, 2, -1) < 0) continue;  // a signal
    if (wanted[1].revents != 0) break;
    if (wanted[0].revents != 0 && !server.serve()) break;
  }
  (void)::umount2(argv[1], MNT_DETACH);
}
