// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pprof.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/text.h"
#include "snapshot/gzip.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

constexpr std::size_t kLimit = 1 << 26;

std::string profile_of(const Snapshot& snapshot) {
  auto bytes = pprof_of(snapshot);
  EXPECT_TRUE(bytes) << bytes.error().message();
  return bytes ? *std::move(bytes) : "";
}

void make_text_valid(Snapshot& snapshot) {
  for (StackFrame& frame : snapshot.frames) {
    for (std::string* text : {&frame.function, &frame.object, &frame.build_id}) {
      *text = to_valid_utf8(*text);
    }
  }
  for (StackEntry& entry : snapshot.entries) {
    for (std::string* text :
         {&entry.comm, &entry.thread_comm, &entry.cgroup, &entry.site, &entry.waker_comm}) {
      *text = to_valid_utf8(*text);
    }
  }
}

TEST(Pprof, ReadBackIsTheSameSnapshot) {
  std::vector<Snapshot> snapshots = {Snapshot{}, test::ordinary_snapshot(),
                                     test::hostile_snapshot()};
  snapshots[1].partial = true;
  for (std::uint32_t seed = 0; seed < 50; ++seed) snapshots.push_back(test::random_snapshot(seed));
  for (Snapshot& snapshot : snapshots) {
    const auto read = snapshot_of_pprof(profile_of(snapshot));
    ASSERT_TRUE(read) << read.error().message();
    make_text_valid(snapshot);
    EXPECT_EQ(*read, snapshot);
  }
}

TEST(Pprof, TheSameSnapshotIsTheSameBytes) {
  EXPECT_EQ(profile_of(test::random_snapshot(4)), profile_of(test::random_snapshot(4)));
}

TEST(Pprof, IsRefusedWhenItIsCutAnywhere) {
  const std::string bytes = profile_of(test::ordinary_snapshot());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(snapshot_of_pprof(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(snapshot_of_pprof(bytes + "x"));
}

// Whatever the bytes: an answer, no crash, and every frame of a stack exists.
TEST(Pprof, DamagedInsideIsAnErrorOrASnapshot) {
  const auto plain = gunzip(profile_of(test::random_snapshot(1)), kLimit);
  ASSERT_TRUE(plain);
  std::mt19937 random(1);
  for (int round = 0; round < 3'000; ++round) {
    std::string damaged = *plain;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto bytes = gzip(damaged);
    ASSERT_TRUE(bytes);
    const auto read = snapshot_of_pprof(*bytes);
    if (!read) continue;
    for (const StackEntry& entry : read->entries) {
      EXPECT_LT(entry.reason, static_cast<std::size_t>(OFFCPUD_HIST_KINDS));
      for (const auto* ids : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
        for (const std::uint32_t id : *ids) EXPECT_LT(id, read->frames.size());
      }
    }
  }
}

TEST(Pprof, ASmallFileCannotTakeAllMemory) {
  const auto bomb = gzip(std::string(kMostPprofBytes + 1, '\0'));
  ASSERT_TRUE(bomb);
  EXPECT_LT(bomb->size(), 100'000U);
  const auto read = snapshot_of_pprof(*bomb);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("larger than the limit"), std::string::npos);
}

// Fields of protobuf, as its documents describe the encoding.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}
std::string double_field(unsigned field, double value) {
  return varint(field << 3U | 1U) +
         std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
Result<Snapshot> read_profile(const std::string& fields) {
  return snapshot_of_pprof(*gzip(bytes_field(6, "") + fields));
}
const std::string kSampleTime = bytes_field(2, varint(1) + varint(1));

// A profile with one sample that has the label `key`.
Result<Snapshot> read_labelled(const std::string& key, const std::string& text) {
  const std::string label = bytes_field(3, number_field(1, 1) + number_field(2, 2));
  return read_profile(bytes_field(6, key) + bytes_field(6, text) +
                      bytes_field(2, kSampleTime + label));
}

TEST(Pprof, AFileOfAnEarlierDaemonDoesNotSayWhatWaitsAreFor) {
  const auto read = read_labelled("reason", "lock");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->entries.size(), 1U);
  EXPECT_EQ(read->entries[0].reason, OFFCPUD_BLOCKED_LOCK);
  EXPECT_EQ(read->entries[0].wait_for, WaitFor::Unknown);
  EXPECT_EQ(read->entries[0].site, "");
}

TEST(Pprof, WhatWaitsAreForIsOneOfTheKnown) {
  for (const std::string_view name : kWaitForNames) {
    const auto read = read_labelled("for", std::string(name));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(name_of(read->entries.at(0).wait_for), name);
  }
  const auto refused = read_labelled("for", "godot");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "not a snapshot: what a wait is for is not known");
}

// 2 MB of locations that share one name of 1 MB would be 200 GB.
TEST(Pprof, NamesThatManySharesDoNotTakeAllMemory) {
  std::string fields = bytes_field(6, std::string(1 << 20, 'x'));
  fields +=
      bytes_field(3, number_field(1, 1)) + bytes_field(5, number_field(1, 1) + number_field(2, 1));
  const std::string line = bytes_field(4, number_field(1, 1));
  for (std::uint64_t id = 1; id <= 200'000; ++id) {
    fields += bytes_field(4, number_field(1, id) + number_field(2, 1) + line);
  }
  const auto read = read_profile(fields);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "not a snapshot: names that are too long");
}

TEST(Pprof, RowsOfAFewBytesDoNotTakeAllMemory) {
  std::string samples, functions;
  for (int i = 0; i < 300'000; ++i) samples += bytes_field(2, kSampleTime);
  for (std::uint64_t i = 0; i < 800'000; ++i) functions += bytes_field(5, number_field(1, i));
  const auto many_samples = read_profile(samples), many_functions = read_profile(functions);
  ASSERT_FALSE(many_samples);
  EXPECT_EQ(many_samples.error().message(), "not a snapshot: too many samples");
  ASSERT_FALSE(many_functions);
  EXPECT_EQ(many_functions.error().message(), "not a snapshot: tables that are too long");
}

TEST(Pprof, AmountsAndTimesAreOnesThatCanBeAddedUp) {
  EXPECT_TRUE(read_profile(bytes_field(2, kSampleTime + double_field(103, 0.5))));
  for (const double value : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(read_profile(bytes_field(2, kSampleTime + double_field(103, value)))) << value;
    EXPECT_FALSE(read_profile(bytes_field(2, kSampleTime + double_field(104, value)))) << value;
  }
  constexpr std::uint64_t kNegative = ~std::uint64_t{0};
  for (const unsigned field : {9U, 10U, 102U}) {
    EXPECT_TRUE(read_profile(number_field(field, 1))) << field;
    EXPECT_FALSE(read_profile(number_field(field, kNegative))) << field;
  }
}

// AddressSanitizer's suite sees numbers that do not fit.
TEST(Pprof, HugeAmountsAreCutOff) {
  const auto huge = read_profile(bytes_field(2, kSampleTime + double_field(103, 1e300)));
  ASSERT_TRUE(huge);
  EXPECT_TRUE(snapshot_of_pprof(profile_of(*huge)));
}

TEST(Gzip, RoundTripsAndHonoursItsLimit) {
  for (const std::size_t size : {0U, 1U, 1'000U, 300'000U}) {
    std::string bytes(size, 'a');
    std::mt19937 random(7);
    for (char& c : bytes) c = static_cast<char>(random());
    const auto compressed = gzip(bytes);
    ASSERT_TRUE(compressed);
    const auto back = gunzip(*compressed, size);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, bytes);
    if (size > 0) {
      EXPECT_FALSE(gunzip(*compressed, size - 1));
    }
  }
}

}  // namespace
}  // namespace offcpud
