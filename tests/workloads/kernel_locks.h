// SPDX-License-Identifier: Apache-2.0
// Locks of the kernel that a program can hold for long, by name: pipe and pty (mutexes), rwsem
// (held by a writer), rwsem_readers.
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "workload.h"

namespace workload {

// A page that comes when come() is called: whoever touches it before waits (userfaultfd(2)).
class LatePage {
 public:
  LatePage() : faults_(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC))) {
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    if (faults_ < 0 || ::ioctl(faults_, UFFDIO_API, &api) != 0) ::_exit(77);
    page_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uffdio_register range{};
    range.range = {.start = reinterpret_cast<std::uint64_t>(page_), .len = kBytes};
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (::ioctl(faults_, UFFDIO_REGISTER, &range) != 0) ::_exit(77);
  }
  void come() {
    uffdio_zeropage zero{};
    zero.range = {.start = reinterpret_cast<std::uint64_t>(page_), .len = kBytes};
    if (::ioctl(faults_, UFFDIO_ZEROPAGE, &zero) != 0) fail("UFFDIO_ZEROPAGE");
  }
  [[nodiscard]] void* memory() const { return page_; }

  static constexpr std::size_t kBytes = 4096;

 private:
  int faults_;
  void* page_ = nullptr;
};

// hold() takes the lock, and returns after end(); want() waits for it meanwhile.
struct KernelLock {
  std::function<void()> hold, want, end;
};

inline void read_byte(int file, void* to) {
  if (::read(file, to, 1) != 1) fail("read");
}

// The kernel copies what it has read with the pipe's mutex held (fs/pipe.c, pipe_read).
inline KernelLock mutex_of_pipe() {
  const auto page = std::make_shared<LatePage>();
  int ends[2];
  if (::pipe(ends) != 0 || ::write(ends[1], "xx", 2) != 2) fail("pipe");
  const int reading = ends[0];
  return {.hold = [=] { read_byte(reading, page->memory()); },
          .want =
              [=] {
                char byte = 0;
                read_byte(reading, &byte);
              },
          .end = [=] { page->come(); }};
}

// Whoever reads a terminal has its mutex until there is input (drivers/tty/n_tty.c, n_tty_read).
inline KernelLock mutex_of_terminal() {
  const int user = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (user < 0 || ::grantpt(user) != 0 || ::unlockpt(user) != 0) ::_exit(77);
  const int terminal = ::open(::ptsname(user), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) fail("open a terminal");
  const auto read = [=] {
    char byte = 0;
    read_byte(terminal, &byte);
  };
  const auto type = [=] {
    if (::write(user, "x\n", 2) != 2) fail("write to a terminal");  // a byte for each reader
  };
  return {.hold = read, .want = read, .end = type};
}

// Whoever writes a file copies its data with the file's semaphore held (mm/filemap.c).
inline KernelLock semaphore_of_file() {
  const auto page = std::make_shared<LatePage>();
  const int file = ::memfd_create("held", MFD_CLOEXEC);
  if (file < 0) fail("memfd_create");
  const auto write = [=](const void* from) {
    if (::pwrite(file, from, 1, 0) != 1) fail("pwrite");  // not write(), which takes a mutex before
  };
  return {.hold = [=] { write(page->memory()); },
          .want = [=] { write("x"); },
          .end = [=] { page->come(); }};
}

// Whoever lists a directory is one of the readers of its semaphore (fs/readdir.c, iterate_dir), for
// which whoever makes a file in it waits.
inline KernelLock readers_of_directory(const std::string& path) {
  const auto page = std::make_shared<LatePage>();
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail(path);
  return {.hold =
              [=] {
                if (::syscall(SYS_getdents64, folder, page->memory(), LatePage::kBytes) <= 0) {
                  fail("getdents64");
                }
              },
          .want =
              [=] {
                if (::mkdirat(folder, "made", S_IRWXU) != 0) fail("mkdirat");
              },
          .end = [=] { page->come(); }};
}

inline bool is_of_kernel(const std::string& kind) {
  return kind == "pipe" || kind == "pty" || kind == "rwsem" || kind == "rwsem_readers";
}

// `path`: of a directory, for rwsem_readers.
inline KernelLock kernel_lock_of_kind(const std::string& kind, const std::string& path) {
  if (kind == "pty") return mutex_of_terminal();
  if (kind == "rwsem") return semaphore_of_file();
  if (kind == "rwsem_readers") return readers_of_directory(path);
  return mutex_of_pipe();
}

}  // namespace workload
