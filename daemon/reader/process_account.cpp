// SPDX-License-Identifier: Apache-2.0
#include "reader/process_account.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/unique_handle.h"
#include "mappings/fair_share.h"

namespace offcpud {
namespace {

constexpr int kDeepest = 33;  // levels of nested user namespaces (create_user_ns)

ino_t number_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

std::optional<Account> account_of(std::uint32_t tgid) {
  const std::string process = "/proc/" + std::to_string(tgid);
  // Not the effective user: programs that a user starts through newgrp are root's for a moment.
  const auto user = real_uid_of(tgid);
  if (!user) return std::nullopt;
  Account account = *user;
  const UniqueFd own(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  UniqueFd space(::open((process + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  const ino_t here = own ? number_of(own.get()) : 0;
  for (int depth = 0; space && depth < kDeepest && number_of(space.get()) != here; ++depth) {
    uid_t owner = 0;
    if (::ioctl(space.get(), NS_GET_OWNER_UID, &owner) == 0) account = owner;
    space.reset(::ioctl(space.get(), NS_GET_PARENT));
  }
  return account;
}

}  // namespace offcpud
