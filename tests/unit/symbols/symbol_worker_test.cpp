// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "support/temp_tree.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

using std::filesystem::path;

// What the worker answers, once it has done all before.
std::string name(SymbolWorker& worker, ObjectId id, std::uint64_t address) {
  const auto answer = std::make_shared<std::promise<std::string>>();
  auto future = answer->get_future();
  EXPECT_TRUE(worker.post([=](SymbolCache& cache) {
    const auto frame = cache.resolve_address(id, address);
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
  SymbolWorker worker({.waiting = 3});
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
