// SPDX-License-Identifier: Apache-2.0
#include "golang/go_runtime.h"

#include <gmock/gmock.h>

#include "unit/golang/fake_go.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_go::FakeGo;

void expect_refused(FakeGo& go, GoRefusal refusal, const std::string& why) {
  const FoundGo found = go.find();
  EXPECT_FALSE(found.runtime);
  EXPECT_EQ(found.refusal, refusal);
  EXPECT_THAT(found.why, HasSubstr(why));
}

TEST(GoRuntime, IsFoundInEachKnownVersion) {
  for (std::uint32_t minor = 16; minor <= 26; ++minor) {
    FakeGo go({.minor = minor});
    go.add({.id = 1});
    const FoundGo found = go.find();
    ASSERT_TRUE(found.runtime) << minor << ": " << found.why;
    EXPECT_EQ(found.runtime->version, "go1." + std::to_string(minor) + ".3");
    EXPECT_EQ(found.runtime->layout->status, go.layout().status);
    EXPECT_EQ(found.runtime->all, go.all());
    EXPECT_EQ(found.runtime->counter, go.counter()) << minor;
    EXPECT_THAT(found.runtime->reasons,
                ElementsAre("", "GC assist marking", "IO wait", "chan receive", "sleep"));
  }
}

TEST(GoRuntime, OfAnUnknownVersionIsRefused) {
  FakeGo next({.minor = 27});
  next.add({});
  expect_refused(next, GoRefusal::Version, "go1.27.3, is not known");
  FakeGo before({.minor = 15});
  before.add({});
  expect_refused(before, GoRefusal::Version, "go1.15.3, is not known");
}

TEST(GoRuntime, OfADevelopmentVersionIsRefused) {
  for (const char* version : {"devel go1.22-0f1a2b3", "go1.22beta1", "go2.0", "go1."}) {
    FakeGo go({.version = version});
    go.add({});
    expect_refused(go, GoRefusal::Version, "is no release");
  }
}

TEST(GoRuntime, OfAVersionWithASuffixIsARelease) {
  for (const char* version : {"go1.22rc2", "go1.19.8 X:boringcrypto", "go1.19-shop", "go1.19"}) {
    FakeGo go({.version = version});
    go.add({});
    EXPECT_TRUE(go.find().runtime) << version;
  }
}

TEST(GoRuntime, WithoutAVersionIsRefused) {
  FakeGo go;
  go.add({});
  go.set(go.file().build_info.start + FakeGo::kBias, std::uint64_t{0});
  expect_refused(go, GoRefusal::Version, "nothing says");
}

TEST(GoRuntime, WhoseMemoryCannotBeReadIsRefused) {
  FakeGo go;
  go.add({});
  const FoundGo found = find_go(MemoryWords(go, FakeGo::kTgid), go.file(), go.table(), 0);
  EXPECT_FALSE(found.runtime);
  EXPECT_EQ(found.refusal, GoRefusal::Memory);
  EXPECT_EQ(found.why, "its memory could not be read");
}

// As if the table of layouts were wrong for the version.
TEST(GoRuntime, WhoseCodeHasOtherGoroutinesIsRefused) {
  FakeGo go({.status = 152});
  go.add({});
  expect_refused(go, GoRefusal::Memory, "its code has other goroutines than go1.19.3 has");
}

TEST(GoRuntime, WhoseGoroutinesLookLikeNoneIsRefused) {
  FakeGo status;
  status.add({.status = 10});
  expect_refused(status, GoRefusal::Memory, "were not found");
  FakeGo id;
  id.add({});
  id.add({.id = std::uint64_t{1} << 60});
  expect_refused(id, GoRefusal::Memory, "were not found");
  FakeGo stack;
  const std::uint64_t goroutine = stack.add({});
  stack.set(goroutine + kGoStackHigh, std::uint64_t{1});
  expect_refused(stack, GoRefusal::Memory, "were not found");
  FakeGo gone;
  gone.add({});
  gone.set(gone.list(), std::uint64_t{0x1234});
  expect_refused(gone, GoRefusal::Memory, "were not found");
  FakeGo none;
  expect_refused(none, GoRefusal::Memory, "were not found");
}

TEST(GoRuntime, WithoutReasonsIsRefused) {
  FakeGo go({.reasons = {"", "GC assist walking", "IO wait"}});
  go.add({});
  expect_refused(go, GoRefusal::Memory, "its reasons of waits (go1.19.3) were not found");
}

TEST(GoRuntime, HasNoCounterIfItsCodeDoesNotCount) {
  FakeGo go({.has_counter = false});
  go.add({});
  const FoundGo found = go.find();
  ASSERT_TRUE(found.runtime);
  EXPECT_EQ(found.runtime->counter, 0);
}

TEST(GoRuntime, TakesFewReads) {
  FakeGo go;
  for (std::uint64_t id = 1; id <= 1'000; ++id) go.add({.id = id});
  go.reads = 0;
  ASSERT_TRUE(go.find().runtime);
  EXPECT_LE(go.reads, 120);  // 64 of them are goroutines
}

}  // namespace
}  // namespace offcpud
