// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "unit/snapshot/store_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::StoreTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SnapshotStoreTest : public StoreTest {};

TEST_F(SnapshotStoreTest, KeepsWhatItIsGiven) {
  const auto store = make_store();
  const Snapshot first = snapshot_now(1), second = snapshot_now(2);
  store->put(Snapshot(first));
  clock_.advance(60s);
  store->put(Snapshot(second));
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_EQ(written_, 2);
  EXPECT_EQ(kept_bytes_, store->bytes());
  EXPECT_THAT(sequences(*store), ElementsAre(1, 2));
  const auto loaded = store->load(2);
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ(test::amounts(**loaded), test::amounts(second));
  EXPECT_EQ((*loaded)->begin, second.begin);
  EXPECT_EQ((*loaded)->sequence, 2U);
  const auto missing = store->load(3);
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
}

TEST_F(SnapshotStoreTest, OnlyItsUserMayReadTheFiles) {
  make_store()->put(snapshot_now());
  struct stat info {};
  ASSERT_EQ(::stat(directory().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
  ASSERT_THAT(files(), SizeIs(1));
  ASSERT_EQ(::stat((directory() / files()[0]).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(SnapshotStoreTest, SequencesGoOnAfterARestart) {
  auto store = make_store();
  pass_and_put(*store);
  pass_and_put(*store);
  store = nullptr;
  store = make_store();
  ASSERT_TRUE(store->open());
  EXPECT_THAT(sequences(*store), ElementsAre(1, 2));
  EXPECT_EQ(kept_bytes_, store->bytes());
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(1, 2, 3));
}

TEST_F(SnapshotStoreTest, RemovesWhatIsTooOld) {
  const auto store = make_store({.keep_for = 150s});
  for (int i = 0; i < 5; ++i) pass_and_put(*store);
  // Put at 60, 120, .. 300 s; at 300 s those of before 150 s are too old.
  EXPECT_THAT(sequences(*store), ElementsAre(3, 4, 5));
  EXPECT_THAT(files(), SizeIs(3));
}

TEST_F(SnapshotStoreTest, ForgetsWhatGotTooOldWhileTheDaemonWasDown) {
  auto store = make_store();
  pass_and_put(*store);
  store = nullptr;
  clock_.advance(24h + 1s);
  store = make_store();
  ASSERT_TRUE(store->open());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(SnapshotStoreTest, KeepsNoMoreBytesThanAllowed) {
  auto store = make_store();
  pass_and_put(*store);
  const std::uint64_t one = store->bytes();
  store->set_limits({.keep_bytes = 3 * one + one / 2});
  for (int i = 0; i < 10; ++i) {
    pass_and_put(*store);
    EXPECT_LE(store->bytes(), 3 * one + one / 2);
  }
  EXPECT_THAT(sequences(*store), ElementsAre(9, 10, 11));
  store->set_limits({.keep_bytes = one / 2});
  pass_and_put(*store);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].cause, SnapshotFailure::TooLarge);
  EXPECT_THAT(sequences(*store), ElementsAre(9, 10, 11)) << "nothing is given up for it";
}

TEST_F(SnapshotStoreTest, AStepForwardOfTheClockRemovesNothing) {
  const auto store = make_store();
  pass_and_put(*store);
  clock_.step_wall(365 * 24h);
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(1, 2));
}

TEST_F(SnapshotStoreTest, AStepBackOfTheClockKeepsTheOrderAndTheRetention) {
  clock_.step_wall(20'000 * 24h);
  auto store = make_store({.keep_for = 150s});
  pass_and_put(*store);
  clock_.step_wall(-24h);
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(1, 2));
  EXPECT_GT(store->list()[0].name.begin, store->list()[1].name.begin);
  pass_and_put(*store);
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(2, 3, 4)) << "the oldest is the one made first";
  store = nullptr;
  clock_.step_wall(-24h);  // all files are from the future now
  store = make_store({.keep_for = 150s});
  for (int i = 0; i < 4; ++i) pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(6, 7, 8)) << "they do not stay for ever";
}

TEST_F(SnapshotStoreTest, RemovesWhatACrashLeftAndNothingElse) {
  auto store = make_store();
  pass_and_put(*store);
  store = nullptr;
  const std::string name = files()[0];
  tree_.put({{"snapshots/." + name + ".tmp", "half"},
             {"snapshots/notes.txt", "mine"},
             {"snapshots/.other.tmp", "mine"},
             {"snapshots/core.1", "mine"}});
  store = make_store();
  ASSERT_TRUE(store->open());
  EXPECT_THAT(files(), ElementsAre(".other.tmp", name, "core.1", "notes.txt"));
  EXPECT_EQ(store->foreign_files(), 3U);
  EXPECT_THAT(sequences(*store), ElementsAre(1));
}

TEST_F(SnapshotStoreTest, ADamagedFileIsReportedOnceAndLeftAlone) {
  const auto store = make_store();
  pass_and_put(*store);
  pass_and_put(*store);
  const std::string name = store->list()[0].name.text();
  std::ofstream(directory() / name) << "damaged";
  for (int i = 0; i < 2; ++i) {
    const auto loaded = store->load(1);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message(), HasSubstr(name));
  }
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].cause, SnapshotFailure::Unreadable);
  EXPECT_TRUE(store->list()[0].unreadable);
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(SnapshotStoreTest, WhatSomebodyRemovedIsGone) {
  const auto store = make_store();
  pass_and_put(*store);
  std::filesystem::remove(directory() / files()[0]);
  const auto loaded = store->load(1);
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(*loaded);
  EXPECT_THAT(store->list(), IsEmpty());
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(SnapshotStoreTest, LinksAreNotFollowed) {
  tree_.put({{"elsewhere/"}});
  tree_.put_link("snapshots", "elsewhere");
  std::filesystem::create_directory(tree_.root() / "elsewhere");
  auto store = make_store();
  pass_and_put(*store);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].cause, SnapshotFailure::Directory);
  EXPECT_THAT(failures_[0].sentence, HasSubstr("links are not followed"));
  EXPECT_THAT(files_in(tree_.root() / "elsewhere"), IsEmpty());

  std::filesystem::remove(directory());
  pass_and_put(*store);
  const std::string name = store->list()[0].name.text();
  std::filesystem::rename(directory() / name, tree_.root() / "stolen");
  std::filesystem::create_symlink(tree_.root() / "stolen", directory() / name);
  EXPECT_FALSE(store->load(store->list()[0].name.sequence));
}

// As systemd makes /var/lib/offcpud one with DynamicUser=.
TEST_F(SnapshotStoreTest, TheStateDirectoryItselfMayBeALink) {
  std::filesystem::create_directory(tree_.root() / "private");
  tree_.put_link("state", "private");
  const auto store = make_store_in(tree_.root() / "state/snapshots");
  pass_and_put(*store);
  EXPECT_THAT(files_in(tree_.root() / "private/snapshots"), SizeIs(1));
}

TEST_F(SnapshotStoreTest, MakesTheDirectoryAgainWhenItIsGoneOrReplaced) {
  const auto store = make_store();
  pass_and_put(*store);
  std::filesystem::remove_all(directory());
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(2));
  std::filesystem::rename(directory(), tree_.root() / "moved");
  pass_and_put(*store);
  EXPECT_THAT(sequences(*store), ElementsAre(3));
  EXPECT_THAT(files(), SizeIs(1));
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(SnapshotStoreTest, TwoDaemonsDoNotShareADirectory) {
  const auto first = make_store();
  pass_and_put(*first);
  const auto second = make_store();
  pass_and_put(*second);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].cause, SnapshotFailure::InUse);
}

TEST_F(SnapshotStoreTest, ACauseIsNewOnceUntilItWorksAgain) {
  tree_.put({{"snapshots", "a file"}});
  const auto store = make_store();
  for (int i = 0; i < 3; ++i) pass_and_put(*store);
  ASSERT_THAT(failures_, SizeIs(3));
  EXPECT_TRUE(failures_[0].first);
  EXPECT_FALSE(failures_[1].first);
  EXPECT_FALSE(failures_[2].first);
  std::filesystem::remove(directory());
  pass_and_put(*store);
  EXPECT_EQ(written_, 1);
  std::filesystem::remove_all(directory());
  tree_.put({{"snapshots", "a file"}});
  pass_and_put(*store);
  EXPECT_TRUE(failures_.back().first);
}

}  // namespace
}  // namespace offcpud
