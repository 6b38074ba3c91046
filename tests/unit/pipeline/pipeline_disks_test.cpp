// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/pipeline.h"
#include "support/fake_clock.h"
#include "support/fake_reading_source.h"
#include "support/temp_tree.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kSleep;

class PipelineDisksTest : public testing::Test {
 protected:
  PipelineDisksTest() { EXPECT_TRUE(pipeline_.start()); }

  Result<std::shared_ptr<const View>> pass() {
    TRY(const KernelReading sample, pipeline_.read());
    return pipeline_.attribute(sample);
  }

  TempTree tree_{{"system.slice/nginx.service/"}, {"user.slice/"}};
  FakeClock clock_;
  FakeReadingSource kernel_;
  const PipelineOptions options_{.linger = 60s, .max_series = 100};
  CgroupDirectory cgroups_{tree_.root()};
  Pipeline pipeline_{kernel_, cgroups_, clock_, options_};
};

TEST_F(PipelineDisksTest, TellsWhichCgroupsLoadADisk) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  kernel_.charge(nginx, kSleep, 1000);
  kernel_.load_disk("vda", nginx, {.bytes = {0, 7, 0}});
  kernel_.load_disk("vda", OFFCPUD_LOADER_KERNEL, {.bytes = {0, 8, 0}});
  kernel_.load_disk("vda", OFFCPUD_LOADER_UNKNOWN, {.bytes = {0, 9, 0}});
  kernel_.load_disk("vda", tree_.inode("user.slice"), {.bytes = {0, 5, 0}});
  auto view = pass();
  ASSERT_TRUE(view && (*view)->disk_loads);
  std::map<std::string, std::uint64_t> bytes;
  for (const DiskLoadRow& row : *(*view)->disk_loads) {
    EXPECT_EQ(row.disk, "vda");
    bytes[row.by->cgroup] += row.load.bytes[OFFCPUD_DISK_WRITE];
  }
  EXPECT_EQ(
      bytes,
      (std::map<std::string, std::uint64_t>{
          {"/system.slice/nginx.service", 7}, {"(kernel)", 8}, {"(unknown)", 9}, {"(other)", 5}}))
      << "a cgroup without series is one of the others";
  EXPECT_TRUE((*view)->times_disk_requests);
  kernel_.count_no_disk_loads();
  EXPECT_FALSE((*pass())->disk_loads) << "nobody counts";
}

// Files of thousands of cgroups are read only while somebody may ask who loads a disk.
TEST_F(PipelineDisksTest, IoStatIsReadWhileThreadsWaitForStorage) {
  kernel_.count_no_disk_loads();
  kernel_.charge(tree_.inode("system.slice/nginx.service"), kSleep, 1000);
  PipelineOptions options = options_;
  options.io_stat =
      std::make_shared<IoStat>(tree_.root(), [](std::uint32_t) { return std::string("vda"); });
  pipeline_.set_options(options);
  const auto next = [&](std::uint64_t bytes, bool storage) {
    tree_.put({{"system.slice/nginx.service/io.stat",
                "254:0 rbytes=" + std::to_string(bytes) + " rios=1\n"}});
    clock_.advance(10s);
    if (storage) {
      auto window = std::make_shared<WaitWindow>();
      window->begin_at = clock_.now() - 10s;
      window->end_at = clock_.now();
      window->peers = {{.cgroup = "/system.slice/nginx.service",
                        .wait_for = WaitFor::Storage,
                        .on = "device:vda1",
                        .time = {.ns = 1e9}}};
      window->disks = {{"vda1", {"vda"}}};
      pipeline_.add_waits(window);
    }
    const auto view = pass();
    EXPECT_TRUE(view && (*view)->disk_loads);
    EXPECT_FALSE((*view)->times_disk_requests);
    std::uint64_t sum = 0;
    for (const DiskLoadRow& row : *(*view)->disk_loads) sum += row.load.bytes[OFFCPUD_DISK_READ];
    return std::pair(sum, (*view)->disks->size());
  };
  EXPECT_EQ(next(100, false), std::pair(std::uint64_t{0}, std::size_t{0}));
  EXPECT_EQ(next(200, true), std::pair(std::uint64_t{0}, std::size_t{1})) << "the base";
  EXPECT_EQ(next(300, true).first, 100U);
  clock_.advance(120s);
  EXPECT_EQ(next(900, false).first, 100U) << "nobody waits any more";
  EXPECT_EQ(next(1000, true).first, 100U) << "a base again";
  EXPECT_EQ(next(1001, true).first, 101U);
}

}  // namespace
}  // namespace offcpud
