// SPDX-License-Identifier: Apache-2.0
// What the shipped rules say of goroutines, by stacks as Go 1.19 and 1.22 have them.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "offcpud.h"
#include "sites/wait_classifier.h"
#include "support/rules_of.h"
#include "unit/sites/labelled_stacks.h"

namespace offcpud {
namespace {

struct GoroutineCase {
  const char* reason;
  std::vector<std::string> functions;  // innermost first
  WaitFor wait_for;
  const char* site;  // "": no rule

  friend std::ostream& operator<<(std::ostream& out, const GoroutineCase& each) {
    return out << each.reason << " " << each.site;
  }
};

WaitClass class_of(WaitClassifier& classifier, const GoroutineCase& each) {
  std::vector<FrameKind> frames;
  for (auto name = each.functions.rbegin(); name != each.functions.rend(); ++name) {
    frames.push_back(classifier.user_frame({.function = *name, .object = {}}));
  }
  return classifier.classify({.exe = classifier.executable("shop"),
                              .reason = std::nullopt,
                              .goroutine = classifier.goroutine_reason(each.reason),
                              .user = frames,
                              .kernel = {}});
}

class GoroutineRules : public testing::TestWithParam<GoroutineCase> {};

TEST_P(GoroutineRules, Take) {
  WaitClassifier classifier(shipped_rules());
  const WaitClass found = class_of(classifier, GetParam());
  EXPECT_EQ(found.site, GetParam().site);
  EXPECT_EQ(name_of(found.wait_for), name_of(GetParam().wait_for));
}

const char* const kPark = "runtime.gopark";
const char* const kMain = "main.main";

INSTANTIATE_TEST_SUITE_P(
    OfTheLanguage, GoroutineRules,
    testing::Values(
        GoroutineCase{
            "semacquire",
            {kPark, "runtime.goparkunlock", "runtime.semacquire1", "sync.runtime_SemacquireMutex",
             "sync.(*Mutex).lockSlow", "main.pay", "runtime.goexit"},
            WaitFor::Lock,
            "goroutine-mutex"},
        GoroutineCase{"sync.Mutex.Lock", {}, WaitFor::Lock, "goroutine-mutex"},
        GoroutineCase{"semacquire",
                      {kPark, "runtime.semacquire1", "sync.runtime_Semacquire",
                       "sync.(*WaitGroup).Wait", kMain, "runtime.main", "runtime.goexit"},
                      WaitFor::Work,
                      "goroutine-main"},
        GoroutineCase{"semacquire",
                      {kPark, "runtime.semacquire1", "sync.runtime_Semacquire",
                       "sync.(*WaitGroup).Wait", "main.gather", "runtime.goexit"},
                      WaitFor::Unknown,
                      ""},
        GoroutineCase{"chan send",
                      {kPark, "runtime.chansend", "main.put"},
                      WaitFor::Answer,
                      "goroutine-sends"},
        GoroutineCase{"chan receive",
                      {kPark, "runtime.chanrecv", "main.take"},
                      WaitFor::Work,
                      "goroutine-worker"},
        GoroutineCase{
            "select", {kPark, "runtime.selectgo", "main.take"}, WaitFor::Work, "goroutine-worker"},
        GoroutineCase{
            "chan receive (nil chan)", {kPark, "main.rest"}, WaitFor::Work, "goroutine-for-ever"},
        GoroutineCase{
            "sleep", {kPark, "time.Sleep", "main.nap"}, WaitFor::Timer, "goroutine-sleep"},
        GoroutineCase{
            "GC assist wait", {kPark, "main.make"}, WaitFor::Memory, "goroutine-collector"},
        GoroutineCase{"IO wait", {kPark, "net.(*netFD).Read", "main.read"}, WaitFor::Unknown, ""}));

INSTANTIATE_TEST_SUITE_P(
    OfLibraries, GoroutineRules,
    testing::Values(
        GoroutineCase{"IO wait",
                      {kPark, "internal/poll.(*FD).Accept", "net.(*netFD).accept", "main.serve"},
                      WaitFor::Work,
                      "goroutine-accept"},
        GoroutineCase{"IO wait",
                      {kPark, "net.(*conn).Read", "net/http.(*connReader).Read",
                       "bufio.(*Reader).Peek", "net/http.(*conn).serve"},
                      WaitFor::Work,
                      "goroutine-server-reads"},
        GoroutineCase{"select",
                      {kPark, "runtime.selectgo", "net/http.(*persistConn).roundTrip",
                       "net/http.(*Transport).roundTrip", "main.ask"},
                      WaitFor::Answer,
                      "goroutine-http-answer"},
        GoroutineCase{"IO wait",
                      {kPark, "net.(*conn).Read", "net/http.(*persistConn).Read",
                       "bufio.(*Reader).Peek", "net/http.(*persistConn).readLoop"},
                      WaitFor::Work,
                      "goroutine-connection-loop"},
        GoroutineCase{"select",
                      {kPark, "runtime.selectgo", "database/sql.(*DB).conn",
                       "database/sql.(*DB).query", "main.load"},
                      WaitFor::Lock,
                      "goroutine-sql-pool"},
        GoroutineCase{"IO wait",
                      {kPark, "net.(*conn).Read", "github.com/lib/pq.(*conn).recv",
                       "database/sql.(*DB).queryDC", "main.load"},
                      WaitFor::Answer,
                      "goroutine-sql-answer"},
        GoroutineCase{"chan receive",
                      {kPark, "runtime.chanrecv", "main.result", "net/http.HandlerFunc.ServeHTTP",
                       "net/http.serverHandler.ServeHTTP", "net/http.(*conn).serve"},
                      WaitFor::Answer,
                      "goroutine-in-request"}));

constexpr const char* kOfBoth =
    "sites:\n"
    "  - name: of-threads\n"
    "    for: lock\n"
    "    match: '... < main.pay'\n"
    "  - name: of-goroutines\n"
    "    for: work\n"
    "    goroutine: chan receive | select\n"
    "    match: '... < main.pay'\n";

TEST(GoroutineRulesAndThreads, TakeTheirOwnOnly) {
  WaitClassifier classifier(test::rules_of(kOfBoth));
  const std::vector<SiteFrame> user{{"main.pay", {}}};
  EXPECT_EQ(classifier.classify("shop", OFFCPUD_BLOCKED_LOCK, user, {}).site, "of-threads");
  EXPECT_EQ(class_of(classifier, {"select", {"main.pay"}, {}, {}}).site, "of-goroutines");
  EXPECT_EQ(class_of(classifier, {"sleep", {"main.pay"}, {}, {}}).site, "");
}

}  // namespace
}  // namespace offcpud
