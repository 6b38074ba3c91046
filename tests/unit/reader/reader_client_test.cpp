// SPDX-License-Identifier: Apache-2.0
// Against readers that do what the test says, in processes of their own.
#include "reader/reader_client.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "reader/own_time.h"
#include "reader/reader_requests.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using State = ReaderClient::Reply::State;

constexpr std::uint32_t kHangs = 666, kEnds = 667, kIsSlow = 668;
constexpr std::uint32_t kHangsAndIsGone = 70'000;  // and all above

// Answers RootsOf with the number of each process, and what the list says otherwise.
void serve(UniqueFd socket, SharedReaderPage page) {
  OwnTime time;
  for (;;) {
    auto packet = receive_packet(socket.get(), -1ms);
    if (!packet) return;
    if (!*packet) continue;
    time.begin();
    ByteReader reader(bytes_of((*packet)->bytes));
    const auto task = reader.take_enum(ReaderTask::AccountOf);
    (void)reader.take_bool();
    (void)reader.take<std::uint64_t>();
    PacketWriter writer;
    if (task == ReaderTask::AccountOf) {
      const auto tgid = reader.take<std::uint32_t>();
      if (tgid < kHangsAndIsGone) writer.put(Account{1000} + tgid);
    } else if (task == ReaderTask::ReadMemory) {
      const auto count = reader.take<std::uint32_t>();
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto wanted = reader.take<WantedMemory>();
        page->piece = i;
        if (wanted.tid == kHangs) ::pause();
        page->got.at(i) = wanted.size;
        page->data.at(i) = static_cast<std::byte>(wanted.address);
      }
    } else {
      const auto count = reader.take<std::uint32_t>();
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto tgid = reader.take<std::uint32_t>();
        page->piece = page->slowest = i;
        if (tgid == kHangs || tgid >= kHangsAndIsGone) ::pause();
        if (tgid == kEnds) ::_exit(1);
        if (tgid == kIsSlow) std::this_thread::sleep_for(60ms);
        writer.put(RootId{1, tgid});
      }
      page->blocked_ns = static_cast<std::uint64_t>(time.blocked().count());
    }
    (void)send_packet(socket.get(), writer.take());
  }
}

struct ReaderClientTest : testing::Test {
  ReaderClientTest() {
    auto started = ReaderSpawner::start(serve);
    if (!started) std::abort();
    spawner = *std::move(started);
    share = std::make_shared<ReaderShare>(
        spawner, ReaderReports{.hung = [this](ReadOf /*what*/, std::uint32_t tgid,
                                              std::string_view /*path*/) { hung.push_back(tgid); },
                               .refused = [this](Refusal cause) { refused.push_back(cause); },
                               .stuck = {},
                               .spent = {}});
    client = std::make_unique<ReaderClient>(share);
  }
  std::uint64_t root_of(std::uint32_t tgid) {
    return DeadlineFileOpener(*client).root_of(tgid).inode;
  }

  SystemClock clock;
  std::shared_ptr<ReaderSpawner> spawner;
  std::shared_ptr<ReaderShare> share;
  std::unique_ptr<ReaderClient> client;
  std::vector<std::uint32_t> hung;
  std::vector<Refusal> refused;
};

TEST_F(ReaderClientTest, GoesOnWithAnotherReaderWhenOneHangs) {
  EXPECT_EQ(root_of(7), 7U);
  const auto begin = clock.now();
  EXPECT_EQ(root_of(kHangs), 0U);
  EXPECT_LT(clock.now() - begin, 5s);
  EXPECT_EQ(hung, std::vector{kHangs});
  EXPECT_EQ(root_of(8), 8U);
}

TEST_F(ReaderClientTest, DoesNotAskTwiceAboutAProcessThatHung) {
  EXPECT_EQ(root_of(kHangs), 0U);
  EXPECT_EQ(root_of(kHangs), 0U);
  EXPECT_EQ(hung.size(), 1U);
  EXPECT_EQ(refused, std::vector{Refusal::Process});
}

// A program knows when it is read, from the file system that it serves, and ends at once.
TEST_F(ReaderClientTest, WhoIsGoneWhenTheBillComesPaysAsOneUser) {
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(root_of(kHangsAndIsGone + i), 0U);
  EXPECT_EQ(hung.size(), 2U);
  EXPECT_EQ(refused, (std::vector{Refusal::User, Refusal::User, Refusal::User}));
  EXPECT_EQ(root_of(7), 7U);
}

TEST_F(ReaderClientTest, GoesOnWhenAReaderEnds) {
  EXPECT_EQ(root_of(kEnds), 0U);
  EXPECT_EQ(hung, std::vector{kEnds});
  EXPECT_EQ(root_of(9), 9U);
}

TEST_F(ReaderClientTest, ChargesWhatComesLateToItsUser) {
  for (int i = 0; i < 8; ++i) (void)root_of(kIsSlow);
  EXPECT_TRUE(hung.empty());
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(refused.front(), Refusal::User);
  EXPECT_EQ(root_of(9), 9U);
}

TEST_F(ReaderClientTest, OfABatchOnlyThePieceThatHungIsMissing) {
  std::vector<std::byte> bytes(5);
  std::vector<MemoryPiece> pieces;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const std::uint32_t tid = i == 2 ? kHangs : 10 + i;
    pieces.push_back({tid, tid, 40 + i, std::span(bytes).subspan(i, 1)});
  }
  DeadlineProcessMemory(*client).read(pieces);
  EXPECT_EQ(hung, std::vector{kHangs});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(pieces[i].got, i == 2 ? 0U : 1U) << i;
  EXPECT_EQ(bytes, (std::vector{std::byte{40}, std::byte{41}, std::byte{0}, std::byte{43},
                                std::byte{44}}));
}

TEST_F(ReaderClientTest, WhatWasGivenUpIsEndedAndCollected) {
  (void)root_of(kHangs);
  const auto some_hang = [this] {
    return !spawner->hung().value_or(std::vector<pid_t>(1)).empty();
  };
  for (int i = 0; i < 1000 && some_hang(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(some_hang());
}

TEST_F(ReaderClientTest, WaitsForNothingWhenTheDaemonStops) {
  share->stopping = true;
  EXPECT_EQ(root_of(kHangs), 0U);
  EXPECT_EQ(root_of(7), 0U);
  EXPECT_TRUE(hung.empty());
}

// The thread that names functions may hang beyond the end of all that the reports use.
TEST_F(ReaderClientTest, SaysNothingWhenTheDaemonStops) {
  EXPECT_EQ(root_of(kHangs), 0U);
  share->stopping = true;
  EXPECT_EQ(root_of(kHangs), 0U);
  client = std::make_unique<ReaderClient>(share);
  EXPECT_FALSE(client->has_reader());
  EXPECT_TRUE(refused.empty());
}

TEST_F(ReaderClientTest, NeedsNobodyElseToKeepTheSpawner) {
  spawner.reset();
  EXPECT_EQ(root_of(7), 7U);
}

TEST_F(ReaderClientTest, SaysThatThereIsNoReader) {
  ASSERT_EQ(::kill(spawner->pid(), SIGKILL), 0);
  EXPECT_EQ(root_of(7), 0U);
  EXPECT_EQ(refused, std::vector{Refusal::Readers});
}

// Neither a socket to answer scrapes on nor a kernel program stays open in what reads.
TEST_F(ReaderClientTest, ReadersHaveNoDescriptorsOfTheDaemon) {
  const std::string process = "/proc/" + std::to_string(spawner->pid());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(spawner->spawn());
    int others = 0;
    for (const auto& entry : std::filesystem::directory_iterator(process + "/fd")) {
      const std::string number = entry.path().filename();
      if (std::stoi(number) > 2) ++others;
    }
    ASSERT_EQ(others, 1) << "besides the socket of the spawner, after reader " << i;
  }
}

// Whoever reads what the daemon says to its end would wait for a reader that hangs.
TEST_F(ReaderClientTest, ReadersHoldNoOutputOfTheDaemonOpen) {
  const auto reader = spawner->spawn();
  ASSERT_TRUE(reader);
  const std::string folder = "/proc/" + std::to_string(reader->pid) + "/fd/";
  std::error_code error;
  const auto is_nothing = [&](const char* number) {
    return std::filesystem::read_symlink(folder + number, error) == "/dev/null";
  };
  for (int i = 0; i < 1000 && !is_nothing("2"); ++i) std::this_thread::sleep_for(10ms);
  for (const char* number : {"0", "1", "2"}) EXPECT_TRUE(is_nothing(number)) << number;
}

}  // namespace
}  // namespace offcpud
