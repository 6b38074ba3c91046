// SPDX-License-Identifier: Apache-2.0
// The store against a hostile disk: full, read-only, unwritable, and killed in the middle.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <thread>
#include <variant>

#include "snapshot/pprof.h"
#include "snapshot/snapshot_directory.h"
#include "snapshot/snapshot_store.h"
#include "unit/snapshot/store_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SnapshotDiskTest : public test::StoreTest {
 protected:
  void TearDown() override {
    if (mounted_) ::umount2(disk().c_str(), MNT_DETACH);
  }

  std::filesystem::path disk() const { return tree_.root() / "disk"; }

  // A file system of its own; false: that takes root.
  bool mount_disk(const char* options, unsigned long flags = 0) {
    std::filesystem::create_directories(disk());
    mounted_ = ::mount("tmpfs", disk().c_str(), "tmpfs", flags, options) == 0;
    return mounted_;
  }

  void fill_disk() {
    std::ofstream file(disk() / "filler");
    const std::string block(4'096, 'x');
    while (file << block << std::flush) {
    }
  }

  bool mounted_ = false;
};

TEST_F(SnapshotDiskTest, OnAFullDiskTheOldestGoAndThenTheNewOneIsGivenUp) {
  if (!mount_disk("size=256k")) GTEST_SKIP() << "mounting a small disk takes root";
  const auto store = make_store_in(disk() / "snapshots");
  for (int i = 0; i < 100; ++i) pass_and_put(*store);
  EXPECT_EQ(written_, 100);
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_EQ(sequences(*store).back(), 100U);
  EXPECT_GT(sequences(*store).size(), 5U);
  EXPECT_LT(sequences(*store).size(), 80U);

  // Somebody else takes what we free: not the whole history goes for one snapshot.
  fill_disk();
  const std::size_t kept = sequences(*store).size();
  pass_and_put(*store);
  EXPECT_EQ(written_, 101);
  EXPECT_GT(sequences(*store).size() + 5, kept);

  for (const StoredSnapshot& stored : store->list()) {
    std::filesystem::remove(disk() / "snapshots" / stored.name.text());
    (void)store->load(stored.name.sequence);
  }
  std::ofstream(disk() / "filler2") << std::string(300'000, 'x');
  pass_and_put(*store);
  EXPECT_EQ(written_, 101);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].cause, SnapshotFailure::DiskFull);
  EXPECT_THAT(files_in(disk() / "snapshots"), IsEmpty()) << "no temporary file stays";

  std::filesystem::remove(disk() / "filler2");
  std::filesystem::remove(disk() / "filler");
  pass_and_put(*store);
  EXPECT_EQ(written_, 102);
}

TEST_F(SnapshotDiskTest, WithoutInodesTheOldestGo) {
  if (!mount_disk("size=4m,nr_inodes=12")) GTEST_SKIP() << "mounting a small disk takes root";
  const auto store = make_store_in(disk() / "snapshots");
  for (int i = 0; i < 30; ++i) pass_and_put(*store);
  EXPECT_EQ(written_, 30);
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(SnapshotDiskTest, AReadOnlyDiskIsCounted) {
  if (!mount_disk("size=1m")) GTEST_SKIP() << "mounting a disk takes root";
  const auto store = make_store_in(disk() / "snapshots");
  pass_and_put(*store);
  ASSERT_EQ(::mount(nullptr, disk().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  pass_and_put(*store);
  EXPECT_THAT(failures_, ElementsAre(Field(&Failure::cause, SnapshotFailure::ReadOnly)));
  EXPECT_THAT(sequences(*store), SizeIs(1)) << "what is there can still be read";
  EXPECT_TRUE(store->load(1));

  const auto elsewhere = make_store_in(disk() / "new/snapshots");
  elsewhere->put(snapshot_now());
  EXPECT_EQ(failures_.back().cause, SnapshotFailure::ReadOnly);
}

TEST_F(SnapshotDiskTest, AnUnwritableDirectoryIsCounted) {
  constexpr uid_t kNobody = 65'534;
  std::filesystem::create_directory(directory());
  tree_.set_mode("snapshots", 0555);
  tree_.set_mode("", 0755);
  const uid_t self = ::geteuid();
  ASSERT_EQ(::seteuid(self == 0 ? kNobody : self), 0);  // root may write anywhere
  const auto store = make_store();
  pass_and_put(*store);
  const auto above = make_store_in(tree_.root() / "new/snapshots");
  if (self != 0) tree_.set_mode("", 0555);
  above->put(snapshot_now());
  ASSERT_EQ(::seteuid(self), 0);
  ASSERT_THAT(failures_, SizeIs(2));
  EXPECT_THAT(failures_, Each(Field(&Failure::cause, SnapshotFailure::Permission)));
  EXPECT_NE(failures_[0].sentence.find(directory().native()), std::string::npos);
}

// What a process that is killed at any moment leaves: whole snapshots, and at most one temporary
// file, which the next one removes.
TEST_F(SnapshotDiskTest, KilledWhileItWritesItLeavesNoHalfSnapshot) {
  const Snapshot snapshot = test::random_snapshot(1, 20'000);
  const auto bytes = pprof_of(snapshot);
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(make_store({})->open());  // makes the directory before any kill
  std::mt19937 random(1);
  int half_written = 0;
  std::size_t whole = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto opened = SnapshotDirectory::open(directory());
      auto& target = std::get<SnapshotDirectory>(opened);
      SnapshotName name = SnapshotName::of(snapshot);
      for (;; ++name.sequence) (void)target.write(name.text(), *bytes);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1'000 + random() % 10'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (const std::string& file : files()) half_written += is_temporary_name(file) ? 1 : 0;

    const auto store = make_store({.keep_for = 20'000 * 24h});
    ASSERT_TRUE(store->open());
    EXPECT_EQ(store->foreign_files(), 0U);
    EXPECT_THAT(files(), SizeIs(store->list().size()));
    for (const StoredSnapshot& stored : store->list()) EXPECT_EQ(stored.bytes, bytes->size());
    if (store->list().empty()) continue;
    const auto loaded = store->load(store->list().back().name.sequence);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ((*loaded)->entries.size(), 20'000U);
    ++whole;
  }
  EXPECT_GT(whole, 0U);
  EXPECT_GT(half_written, 0) << "no kill came in the middle: the test shows nothing";
}

}  // namespace
}  // namespace offcpud
