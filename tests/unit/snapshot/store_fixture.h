// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "snapshot/snapshot_store.h"
#include "support/fake_clock.h"
#include "support/snapshots.h"
#include "support/temp_tree.h"

namespace offcpud::test {

// A store in a directory of its own, and what it told.
class StoreTest : public ::testing::Test {
 protected:
  struct Failure {
    SnapshotFailure cause;
    std::string sentence;
    bool first;
  };

  [[nodiscard]] std::filesystem::path directory() const { return tree_.root() / "snapshots"; }

  std::unique_ptr<SnapshotStore> make_store(SnapshotLimits limits = {}) {
    return make_store_in(directory(), limits);
  }

  std::unique_ptr<SnapshotStore> make_store_in(const std::filesystem::path& path,
                                               SnapshotLimits limits = {}) {
    SnapshotReports reports;
    reports.written = [this](const StoredSnapshot&) { ++written_; };
    reports.kept = [this](std::uint64_t bytes) { kept_bytes_ = bytes; };
    reports.failed = [this](SnapshotFailure cause, const std::string& sentence, bool first) {
      failures_.push_back({cause, sentence, first});
    };
    return std::make_unique<SnapshotStore>(path, limits, clock_, std::move(reports));
  }

  // One of the minute up to now.
  Snapshot snapshot_now(std::uint32_t seed = 1) {
    Snapshot s = random_snapshot(seed);
    s.duration = std::chrono::seconds(60);
    s.end = clock_.wall();
    s.begin = s.end - s.duration;
    return s;
  }

  void pass_and_put(SnapshotStore& store,
                    std::chrono::seconds interval = std::chrono::seconds(60)) {
    clock_.advance(interval);
    const int written = written_;
    const bool kept = store.put(snapshot_now());
    EXPECT_EQ(kept, written_ == written + 1) << "it answers what it reports";
  }

  static std::vector<std::uint64_t> sequences(const SnapshotLibrary& library) {
    std::vector<std::uint64_t> all;
    for (const StoredSnapshot& stored : library.list()) all.push_back(stored.name.sequence);
    return all;
  }

  static std::vector<std::string> files_in(const std::filesystem::path& path) {
    std::vector<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(path)) {
      names.push_back(item.path().filename().native());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::vector<std::string> files() const { return files_in(directory()); }

  TempTree tree_;
  FakeClock clock_;
  int written_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::vector<Failure> failures_;
};

}  // namespace offcpud::test
