// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temp_tree.h"
#include "symbols/demangle.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

using std::filesystem::path;
using testing::ElementsAre;

constexpr const char* kTemplate = "_ZNK3app4PoolISt6vectorIiSaIiEEE4waitIlEEiT_";

std::string name(SymbolCache& cache, ObjectId id, std::uint64_t offset) {
  const auto frame = cache.resolve_offset(id, offset);
  return frame ? frame->name : "nothing";
}

struct SymbolCacheTest : testing::Test {
  path copy(const std::string& from, const std::string& to) const {
    copy_file(symbol_fixture(from), tree.root() / to);
    return tree.root() / to;
  }

  TempTree tree;
  std::uint64_t c_function = fixture_address("c_function");
};

TEST_F(SymbolCacheTest, ShowsSourceNamesFrameNamesAndOffsets) {
  SymbolCache cache({});
  cache.load(1, object_file(symbol_fixture("symbols_plain")));
  cache.load(2, object_file(symbol_fixture("symbols_stripped")));
  const std::uint64_t pool = fixture_address(kTemplate);
  ASSERT_NE(pool, 0U);
  EXPECT_EQ(cache.resolve_offset(1, pool),
            (FrameName{"app::Pool<std::vector<int, std::allocator<int> > >::wait<long>",
                       NameSource::Symbol}));
  char expected[64];
  (void)std::snprintf(expected, sizeof(expected), "symbols_stripped!fn_%lx", c_function);
  EXPECT_EQ(cache.resolve_offset(2, c_function + 2), (FrameName{expected, NameSource::Frame}));
  EXPECT_EQ(cache.resolve_offset(2, 0x12),
            (FrameName{"[symbols_stripped+0x12]", NameSource::Offset}));
  EXPECT_EQ(cache.resolve_offset(3, 0x12), std::nullopt);
}

TEST_F(SymbolCacheTest, ShowsOffsetsOfWhatIsNoElfFile) {
  tree.put({{"lib/data.bin (deleted)", "no ELF file"}});
  SymbolCache cache({});
  cache.load(1, object_file(tree.root() / "lib/data.bin (deleted)"));
  EXPECT_EQ(name(cache, 1, 0xabc), "[data.bin+0xabc]");
  EXPECT_EQ(cache.failures(), 1U);
  EXPECT_TRUE(cache.take_missed().empty());
}

TEST_F(SymbolCacheTest, KeepsOneCopyOfTheSameFunctions) {
  SymbolCache cache({});
  cache.load(1, object_file(copy("symbols_plain", "a")));
  const std::size_t bytes = cache.bytes();
  cache.load(2, object_file(copy("symbols_plain", "b")));
  EXPECT_EQ(cache.bytes(), bytes);
  cache.load(3, object_file(symbol_fixture("symbols_other")));
  EXPECT_GT(cache.bytes(), bytes);
  EXPECT_EQ(name(cache, 2, c_function), "c_function");
}

// A container must not choose the names of another container's functions.
TEST_F(SymbolCacheTest, DoesNotBelieveABuildIdAlone) {
  std::string forged = file_content(symbol_fixture("symbols_plain"));
  for (std::size_t at = 0; (at = forged.find("c_function", at)) != std::string::npos;) {
    forged[at] = 'x';
  }
  std::ofstream(tree.root() / "forged", std::ios::binary) << forged;
  SymbolCache cache({});
  cache.load(1, object_file(tree.root() / "forged"));
  cache.load(2, object_file(symbol_fixture("symbols_plain")));
  EXPECT_EQ(name(cache, 1, c_function), "x_function");
  EXPECT_EQ(name(cache, 2, c_function), "c_function");
}

TEST_F(SymbolCacheTest, ForgetsWhatWasNotAskedForTheLongest) {
  const std::size_t one = [] {
    SymbolCache cache({});
    cache.load(1, object_file(symbol_fixture("symbols_plain")));
    return cache.bytes();
  }();
  SymbolCache cache({.bytes = 4 * one});
  cache.load(1, object_file(symbol_fixture("symbols_plain")));
  cache.load(2, object_file(symbol_fixture("symbols_other")));
  EXPECT_EQ(name(cache, 1, c_function), "c_function");
  EXPECT_TRUE(cache.take_forgotten().empty());
  cache.load(3, object_file("/proc/self/exe"));  // far larger than the rest
  EXPECT_THAT(cache.take_forgotten(), ElementsAre(2, 1));

  EXPECT_EQ(cache.resolve_offset(1, 0x10)->source, NameSource::Offset);
  EXPECT_EQ(name(cache, 2, c_function), place_name("symbols_other", c_function))
      << "never asked for";
  EXPECT_EQ(cache.resolve_offset(1, c_function), (FrameName{"c_function", NameSource::Symbol}))
      << "asked for before";
  EXPECT_THAT(cache.take_missed(), ElementsAre(1, 2));
  EXPECT_TRUE(cache.take_missed().empty());
  cache.load(1, object_file(symbol_fixture("symbols_plain")));
  EXPECT_EQ(name(cache, 1, c_function), "c_function");
  EXPECT_TRUE(cache.take_missed().empty());
}

TEST_F(SymbolCacheTest, ForgetsTheOldestObjects) {
  SymbolCache one({});
  one.load(1, object_file(symbol_fixture("symbols_plain")));
  SymbolCache cache({.objects = 2});
  for (const ObjectId id : {1, 2, 3}) cache.load(id, object_file(symbol_fixture("symbols_plain")));
  EXPECT_EQ(name(cache, 1, c_function), "nothing");
  EXPECT_EQ(name(cache, 2, c_function), "c_function");
  EXPECT_EQ(name(cache, 3, c_function), "c_function");
  EXPECT_EQ(cache.bytes(), one.bytes());
}

// What the daemon does: take the mapping while the process lives, and ask when it is gone.
TEST_F(SymbolCacheTest, NamesFunctionsOfAProcessThatHasExitedAndAFileThatIsGone) {
  const path program = copy("symbols_plain", "program");
  const std::string binary = program.native();
  std::vector<char*> arguments{const_cast<char*>(binary.c_str()), const_cast<char*>("60"), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(::posix_spawn(&pid, binary.c_str(), nullptr, nullptr, arguments.data(), nullptr), 0);
  const std::string process = "/proc/" + std::to_string(pid);
  std::optional<CodeMapping> mapping;
  ObjectFile file;
  for (int attempt = 0; attempt < 200 && !file.fd; ++attempt) {
    ::usleep(10'000);
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(binary) == std::string::npos) continue;
      mapping = code_mapping(line);
      if (!mapping) continue;
      const std::string range = line.substr(0, line.find(' '));
      file = object_file(process + "/map_files/" + range);
      if (!file.fd) file = object_file(process + "/exe");  // map_files takes a capability
      file.path = binary;
      break;
    }
  }
  std::filesystem::remove(program);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_TRUE(file.fd && mapping);

  SymbolCache cache({});
  cache.load(1, file);
  file = {};
  const auto frame =
      cache.resolve_offset(1, mapping->offset + (c_function - (c_function & ~0xfffULL)));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->name, "c_function");
}

TEST(RememberedNames, StaysWithinItsBytesAndForgetsWhatIsNotAskedFor) {
  RememberedNames names(20'000);
  const FrameName wait{"wait_for_it", NameSource::Symbol};
  names.put(1, 0x10, wait);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    names.put(2, i, {"place " + std::to_string(i), NameSource::Frame});
    ASSERT_LE(names.bytes(), 20'000U);
    ASSERT_NE(names.find(1, 0x10), nullptr) << i;
  }
  EXPECT_EQ(*names.find(1, 0x10), wait);
  EXPECT_EQ(names.find(1, 0x11), nullptr);
  EXPECT_EQ(names.find(2, 0), nullptr);
  EXPECT_EQ(names.find(2, 9'999)->name, "place 9999");
}

TEST(DemangleCache, StaysWithinItsBytesAndForgetsWhatIsNotAskedFor) {
  DemangleCache cache(20'000);
  for (int i = 0; i < 10'000; ++i) {
    const std::string symbol = "_ZN3app" + std::to_string(4 + i % 3) + "name" +
                               std::string(static_cast<std::size_t>(i % 3), 'x') + "Ev";
    EXPECT_EQ(cache.shown(symbol), demangle(symbol));
    const std::string other = "f" + std::to_string(i);
    EXPECT_EQ(cache.shown(other), other);
    EXPECT_LE(cache.bytes(), 20'000U);
  }
}

}  // namespace
}  // namespace offcpud
