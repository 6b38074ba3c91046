// SPDX-License-Identifier: Apache-2.0
// What becomes of requests to disks for whose cgroups the table of loads has no room.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/unique_handle.h"
#include "disk.h"
#include "hooks.skel.h"
#include "hooks_case.h"
#include "hooks_object.h"
#include "kernel/map_view.h"

namespace offcpud {
namespace {

using Load = std::pair<offcpud_disk_loader, offcpud_disk_load>;

constexpr std::uint64_t kNobody = std::uint64_t{1} << 62;  // and beyond: no cgroup has such an id

bool is_nobodys(const Load& load) {
  return load.first.cgroup_id >= kNobody && load.first.cgroup_id != OFFCPUD_LOADER_UNKNOWN;
}

std::uint64_t requests_of(const Load& load) {
  std::uint64_t sum = 0;
  for (const std::uint64_t requests : load.second.requests) sum += requests;
  return sum;
}

class DiskHooks : public HooksCase {
 protected:
  DiskHooks() : HooksCase(HooksObject::Disks::Counted) {}

  void SetUp() override {
    HooksCase::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    file_ = UniqueFd(::open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0 || major(status.st_dev) == 0) {
      GTEST_SKIP() << "/var/tmp is on no disk";
    }
  }

  // Loaders who are nobody on this host, and stay in the table.
  void fill() {
    for (std::uint64_t i = 0; i < HooksObject::kDiskLoaders; ++i) {
      const offcpud_disk_loader nobody{.cgroup_id = kNobody + i, .major = 0, .minor = 0};
      const offcpud_disk_load none{};
      ASSERT_EQ(bpf_map_update_elem(table(), &nobody, &none, BPF_NOEXIST), 0);
    }
  }
  void remove_half() {
    for (std::uint64_t i = 0; i < HooksObject::kDiskLoaders / 2; ++i) {
      const offcpud_disk_loader nobody{.cgroup_id = kNobody + i, .major = 0, .minor = 0};
      ASSERT_EQ(bpf_map_delete_elem(table(), &nobody), 0);
    }
  }

  // Makes at least one request, which is done when it returns, while the programs run.
  void write_to_disk() {
    const auto& programs = hooks()->progs;
    const Link begins = attach(programs.on_block_getrq);
    const Link ends = attach(programs.on_block_rq_complete);
    ASSERT_TRUE(begins && ends);
    std::array<char, 4096> block{};
    block.fill(static_cast<char>('a' + written_));
    const auto bytes = static_cast<ssize_t>(block.size());
    ASSERT_EQ(::pwrite(file_.get(), block.data(), block.size(), written_++ * bytes), bytes);
    ASSERT_EQ(::fdatasync(file_.get()), 0);
  }

  std::vector<Load> loads() {
    auto pass = read_hash<offcpud_disk_loader, offcpud_disk_load>(hooks()->maps.disk_loads);
    EXPECT_TRUE(pass) << pass.error().message();
    return pass ? std::move(pass->entries) : std::vector<Load>();
  }
  std::uint64_t lost() { return hooks().lost(OFFCPUD_LOSS_DISK_LOADS_FULL); }

 private:
  using Link = std::unique_ptr<bpf_link, int (*)(bpf_link*)>;
  static Link attach(const bpf_program* program) {
    return {bpf_program__attach(program), &bpf_link__destroy};
  }
  int table() { return bpf_map__fd(hooks()->maps.disk_loads); }

  UniqueFd file_;
  int written_ = 0;
};

// Whoever has a place keeps it, and nobody gets what others did.
TEST_F(DiskHooks, WhatHasNoRoomIsCountedAsLostAndAddedToNobody) {
  fill();
  write_to_disk();
  EXPECT_GE(lost(), 1U);
  const std::vector<Load> full = loads();
  EXPECT_EQ(full.size(), HooksObject::kDiskLoaders);
  EXPECT_TRUE(std::ranges::all_of(full, is_nobodys));
  for (const Load& load : full) EXPECT_EQ(requests_of(load), 0U) << load.first.cgroup_id;

  remove_half();
  const std::uint64_t lost_before = lost();
  write_to_disk();
  EXPECT_EQ(lost(), lost_before);
  std::uint64_t requests = 0;
  for (const Load& load : loads()) {
    if (is_nobodys(load)) {
      EXPECT_EQ(requests_of(load), 0U) << load.first.cgroup_id;
    } else {
      requests += requests_of(load);
    }
  }
  EXPECT_GE(requests, 1U);
}

}  // namespace
}  // namespace offcpud
