// SPDX-License-Identifier: Apache-2.0
#include "golang/go_program.h"

#include <gmock/gmock.h>

#include "unit/golang/fake_go.h"
#include "unit/golang/files_in_memory.h"
#include "unit/mappings/fakes.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing_go::FakeGo;

class GoProgramTest : public testing::Test {
 public:
  explicit GoProgramTest(const FakeGo::Build& build = {}) : go_(build) {
    go_.add({});
    map(FakeGo::kCode + FakeGo::kBias, "/srv/shop", FakeGo::kCodeOffset);
    files_.files["/srv/shop"] = go_.image();
  }
  void map(std::uint64_t begin, const std::string& path, std::uint64_t offset = 0) {
    reader_.existing[FakeGo::kTgid].maps.push_back({.begin = begin,
                                                    .end = begin + 0x1000,
                                                    .offset = offset,
                                                    .executable = true,
                                                    .inode = {},
                                                    .path = path});
  }
  Result<std::unique_ptr<GoProgram>> open(std::uint32_t tgid = FakeGo::kTgid) {
    return GoProgram::open({reader_, files_, go_}, tgid);
  }
  void expect_error(ErrorKind kind, const std::string& text) {
    const auto program = open();
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind(), kind);
    EXPECT_THAT(program.error().message(), HasSubstr(text));
  }

  FakeGo go_;
  test::FakeReader reader_;
  test::FilesInMemory files_;
};

TEST_F(GoProgramTest, IsFoundByTheFilesThatTheProcessExecutes) {
  const auto program = open();
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ((*program)->name(), "shop");
  EXPECT_EQ((*program)->runtime().version, "go1.19.3");
  EXPECT_EQ((*program)->runtime().all, go_.all());
  const auto place =
      (*program)->functions().find(FakeGo::kCode + FakeGo::kBias + FakeGo::kServe + 1);
  EXPECT_EQ((*program)->functions().name(place.function), "main.serve");
}

TEST_F(GoProgramTest, MayBeBehindOtherFiles) {
  auto& maps = reader_.existing[FakeGo::kTgid].maps;
  map(0x7f0000000000, "/lib/ld.so");
  std::swap(maps[0], maps[1]);
  files_.files["/lib/ld.so"] = "no ELF file";
  EXPECT_TRUE(open());
}

TEST_F(GoProgramTest, MayBeDeleted) {
  reader_.existing[FakeGo::kTgid].maps[0].path = "/srv/shop (deleted)";
  EXPECT_TRUE(open());
  ASSERT_FALSE(files_.requests.empty());
  EXPECT_TRUE(files_.requests[0].deleted);
  EXPECT_EQ(files_.requests[0].path, "/srv/shop");
}

TEST_F(GoProgramTest, WhoIsGoneIsNotFound) {
  reader_.existing.clear();
  expect_error(ErrorKind::NotFound, "process 7 does not exist, or has no program");
}

TEST_F(GoProgramTest, OfAnotherLanguageIsNotFound) {
  std::string image = go_.image();
  image.replace(image.find(".gopclntab"), 10, ".otherpart");
  files_.files["/srv/shop"] = image;
  expect_error(ErrorKind::NotFound, "process 7 runs no Go program");
}

TEST_F(GoProgramTest, WithoutAFileThatCanBeReadSaysSo) {
  files_.files.clear();
  expect_error(ErrorKind::Internal, "has a program that cannot be read");
}

TEST_F(GoProgramTest, ThatIsRefusedSaysWhy) {
  go_.set(go_.all(), 0ULL);
  expect_error(ErrorKind::Unsupported,
               "process 7 (shop) has goroutines that cannot be read: "
               "its goroutines (go1.19.3) were not found");
}

class RelocatedGoProgram : public GoProgramTest {
 public:
  RelocatedGoProgram() : GoProgramTest({.is_among_data = true, .is_relocated = true}) {}
};

TEST_F(RelocatedGoProgram, KnowsOnlyInMemoryWhereItsCodeIs) {
  ASSERT_FALSE(GoFunctionTable::open(go_.file().table.bytes, {.text = FakeGo::kCode}));
  const auto program = open();
  ASSERT_TRUE(program) << program.error().message();
  const auto place =
      (*program)->functions().find(FakeGo::kCode + FakeGo::kBias + FakeGo::kServe + 1);
  EXPECT_EQ((*program)->functions().name(place.function), "main.serve");
}

}  // namespace
}  // namespace offcpud
