// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_tree.h"
#include "support/users.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

using std::filesystem::path;
using test::kHog;
using test::kOther;

// What the worker answers, once it has done all before.
std::string name(SymbolWorker& worker, ObjectId id, std::uint64_t offset) {
  const auto answer = std::make_shared<std::promise<std::string>>();
  auto future = answer->get_future();
  EXPECT_TRUE(worker.post([=](SymbolCache& cache) {
    const auto frame = cache.resolve_offset(id, offset);
    answer->set_value(frame ? frame->name : "nothing");
  }));
  if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready) return "no answer";
  return future.get();
}

// Holds the worker in a job, as a file system that hangs would, until it is destroyed.
class Blockade {
 public:
  explicit Blockade(SymbolWorker& worker) {
    std::promise<void> entered;
    auto inside = entered.get_future();
    worker.post([entered = std::make_shared<std::promise<void>>(std::move(entered)),
                 released = released_.get_future().share()](SymbolCache&) {
      entered->set_value();
      released.wait();
    });
    inside.wait();
  }
  ~Blockade() { released_.set_value(); }

 private:
  std::promise<void> released_;
};

struct SymbolWorkerTest : testing::Test {
  path copy(const std::string& to) const {
    copy_file(symbol_fixture("symbols_plain"), tree.root() / to);
    return tree.root() / to;
  }

  TempTree tree;
  std::uint64_t c_function = fixture_address("c_function");
};

TEST_F(SymbolWorkerTest, GivesAFileOneNumberAndReadsItOnce) {
  SymbolWorker worker({});
  const path file = copy("a");
  const auto id = worker.offer(object_file(file));
  ASSERT_TRUE(id);
  EXPECT_EQ(name(worker, *id, c_function), "c_function");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker.offer(object_file(file)), id);
  EXPECT_EQ(name(worker, *id, c_function), "c_function");
  EXPECT_EQ(worker.counts().loaded, 1U);
  EXPECT_NE(worker.offer(object_file(copy("b"))), id);
}

TEST_F(SymbolWorkerTest, ANewFileInTheSamePlaceIsAnotherObject) {
  SymbolWorker worker({});
  const path file = copy("a");
  const auto before = worker.offer(object_file(file));
  std::filesystem::remove(file);
  copy_file(symbol_fixture("symbols_stripped"), file);
  const auto after = worker.offer(object_file(file));
  ASSERT_TRUE(before && after);
  EXPECT_NE(before, after);
  EXPECT_EQ(name(worker, *before, c_function), "c_function");
  EXPECT_NE(name(worker, *after, c_function), "c_function");
}

TEST_F(SymbolWorkerTest, TakesRegularFilesOnly) {
  SymbolWorker worker({});
  EXPECT_FALSE(worker.offer(object_file(tree.root())));
  EXPECT_FALSE(worker.offer(object_file("/dev/zero")));
  EXPECT_FALSE(worker.offer(object_file("/nowhere")));
}

TEST_F(SymbolWorkerTest, DoesNotMakeAnyoneWaitForAFileThatHangs) {
  SymbolWorker worker({.loads = {.waiting = 3}});
  std::vector<ObjectId> ids;
  {
    const Blockade blockade(worker);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i) {
      const auto id = worker.offer(object_file(copy(std::to_string(i))));
      ASSERT_TRUE(id);
      ids.push_back(*id);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(worker.counts().waiting, 3U);
    EXPECT_EQ(worker.counts().refused, 5U);
  }
  EXPECT_EQ(name(worker, ids[2], c_function), "c_function");
  EXPECT_EQ(name(worker, ids[3], c_function), "nothing");
  EXPECT_EQ(name(worker, ids[0], c_function), "c_function");
  EXPECT_THAT(worker.take_wanted(), testing::ElementsAre(ids[3]));
  EXPECT_EQ(worker.offer(object_file(tree.root() / "3")), ids[3]);
  EXPECT_EQ(name(worker, ids[3], c_function), "c_function");
  EXPECT_TRUE(worker.take_wanted().empty());
}

// Which objects were read, and which jobs ran, in their order.
struct Order {
  std::mutex mutex;
  std::vector<int> seen;
  SymbolWorker::Job note(int what, std::chrono::milliseconds takes = {}) {
    return [this, what, takes](SymbolCache&) {
      std::this_thread::sleep_for(takes);
      const std::lock_guard lock(mutex);
      seen.push_back(what);
    };
  }
};
constexpr std::chrono::milliseconds kLong{60'000};
const std::vector<ObjectId> kNone;

TEST_F(SymbolWorkerTest, NamesAfterWhatItTakesAndBeforeTheRest) {
  Order order;
  SymbolWorker worker({});
  {
    const Blockade blockade(worker);
    for (int i = 0; i < 20; ++i) EXPECT_NE(worker.prepare(order.note(i), "hog", kHog), 0U);
    const ObjectId needed = worker.prepare(order.note(100), "other", kOther);
    const ObjectId last = worker.prepare(order.note(101), "hog", kHog);
    worker.post(order.note(200), "naming", {.loads = std::vector{needed, last}, .patience = kLong});
    worker.post(order.note(201), "naming", {.loads = kNone, .patience = kLong});
  }
  (void)name(worker, 0, 0);
  ASSERT_EQ(order.seen.size(), 24U);
  std::ranges::sort(order.seen.begin(), order.seen.begin() + 2);
  EXPECT_THAT(std::vector(order.seen.begin(), order.seen.begin() + 4),
              testing::ElementsAre(100, 101, 200, 201));
}

// 100 objects of one user that take a quarter of a second each delayed everybody's names by 25 s.
TEST_F(SymbolWorkerTest, NobodysObjectsDelayTheNamesOfOthers) {
  Order order;
  SymbolWorker worker({});
  std::vector<ObjectId> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(worker.prepare(order.note(i, std::chrono::milliseconds(250)), "hog", kHog));
  }
  const auto id = worker.offer(object_file(copy("a")), kOther);
  ASSERT_TRUE(id);
  all.push_back(*id);
  const auto named = std::make_shared<std::promise<std::string>>();
  const auto start = std::chrono::steady_clock::now();
  worker.post(
      [=, this](SymbolCache& cache) {
        const auto frame = cache.resolve_offset(*id, c_function);
        named->set_value(frame ? frame->name : "nothing");
      },
      "naming", {.loads = all, .patience = std::chrono::milliseconds(1500)});
  EXPECT_EQ(named->get_future().get(), "c_function");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  const std::lock_guard lock(order.mutex);
  EXPECT_LT(order.seen.size(), 50U);
  EXPECT_GT(order.seen.size(), 1U);  // which it waited for, as it was told to
}

TEST_F(SymbolWorkerTest, AJobThatIsPatientDoesNotDelayOneThatIsNot) {
  Order order;
  SymbolWorker worker({});
  const ObjectId endless =
      worker.prepare(order.note(1, std::chrono::milliseconds(200)), "hog", kHog);
  const ObjectId after = worker.prepare(order.note(2), "hog", kHog);
  worker.post(order.note(3), "naming", {.loads = std::vector{endless, after}, .patience = kLong});
  const auto done = std::make_shared<std::promise<std::vector<int>>>();
  worker.post([done, &order](SymbolCache&) { done->set_value(order.seen); }, "naming",
              {.loads = kNone, .patience = std::chrono::milliseconds(0)});
  const std::vector<int> seen = done->get_future().get();
  EXPECT_EQ(seen.back(), 3);
  EXPECT_THAT(seen, testing::Not(testing::Contains(2)));
}

// Windows of waits end every few seconds, snapshots far more seldom.
TEST_F(SymbolWorkerTest, AnImpatientJobOfTheOtherLineDoesNotHurryAPatientOne) {
  using Line = SymbolWorker::After::Line;
  Order order;
  SymbolWorker worker({});
  const auto seen = std::make_shared<std::promise<std::vector<int>>>();
  {
    const Blockade blockade(worker);
    const ObjectId first =
        worker.prepare(order.note(1, std::chrono::milliseconds(100)), "slow", kHog);
    const ObjectId slow = worker.prepare(order.note(2), "slow", kHog);
    worker.post(order.note(3), "naming", {.loads = std::vector{first, slow}, .patience = kLong});
    worker.post(order.note(4), "waits",
                {.loads = std::vector{slow}, .patience = {}, .line = Line::Second});
    worker.post([seen, &order](SymbolCache&) { seen->set_value(order.seen); }, "naming",
                {.loads = kNone, .patience = kLong});
  }
  EXPECT_THAT(seen->get_future().get(), testing::ElementsAre(4, 1, 2, 3));
}

// Jobs without end.
TEST_F(SymbolWorkerTest, LoadsGoOnWhateverTheJobs) {
  const auto loaded = std::make_shared<std::promise<void>>();
  std::atomic<bool> stop = false;
  std::function<void()> again;
  SymbolWorker worker({});
  again = [&] {
    if (stop) return;
    worker.post([&](SymbolCache&) { again(); }, "naming", {.loads = kNone, .patience = kLong});
  };
  for (int i = 0; i < 3; ++i) again();
  EXPECT_NE(worker.prepare([loaded](SymbolCache&) { loaded->set_value(); }, "load", kOther), 0U);
  EXPECT_EQ(loaded->get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  stop = true;
  (void)name(worker, 0, 0);
}

TEST_F(SymbolWorkerTest, AFullQueueIsNotFullForOthers) {
  SymbolWorker worker({.loads = {.waiting = 4}});
  std::vector<ObjectId> ids;
  {
    const Blockade blockade(worker);
    for (int i = 0; i < 6; ++i) {
      ids.push_back(*worker.offer(object_file(copy(std::to_string(i))), kHog));
    }
    ids.push_back(*worker.offer(object_file(copy("other")), kOther));
    EXPECT_EQ(worker.counts().refused, 3U);
    EXPECT_EQ(worker.counts().waiting, 4U);
  }
  EXPECT_EQ(name(worker, ids[6], c_function), "c_function");
  EXPECT_EQ(name(worker, ids[2], c_function), "c_function");
  EXPECT_EQ(name(worker, ids[3], c_function), "nothing");
  EXPECT_EQ(worker.offer(object_file(tree.root() / "3"), kHog), ids[3]);
  EXPECT_EQ(name(worker, ids[3], c_function), "c_function");
}

TEST_F(SymbolWorkerTest, ReadsAgainWhatItHadToForget) {
  SymbolWorker worker({.cache = {.bytes = 1}});
  const path plain = copy("a");
  const auto first = worker.offer(object_file(plain));
  const auto second = worker.offer(object_file(symbol_fixture("symbols_other")));
  ASSERT_TRUE(first && second);
  EXPECT_NE(name(worker, *first, c_function), "c_function");
  (void)name(worker, *first, c_function);  // what the first job missed is known after it
  EXPECT_THAT(worker.take_wanted(), testing::ElementsAre(*first));
  EXPECT_EQ(worker.offer(object_file(plain)), first);
  EXPECT_EQ(name(worker, *first, c_function), "c_function");
  EXPECT_GE(worker.counts().forgotten, 1U);
}

TEST_F(SymbolWorkerTest, StopsSoonEvenWhileAFileHangs) {
  auto worker = std::make_unique<SymbolWorker>(SymbolWorker::Limits{});
  const Blockade blockade(*worker);
  const auto dropped = std::make_shared<int>(1);
  EXPECT_TRUE(worker->post([dropped](SymbolCache&) { ADD_FAILURE() << "it was to be dropped"; }));
  const auto start = std::chrono::steady_clock::now();
  worker.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, SymbolWorker::kGrace * 3);
  EXPECT_EQ(dropped.use_count(), 1);
}

}  // namespace
}  // namespace offcpud
