// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ctl/terminal_text.h"
#include "unit/ctl/top_fixture.h"

namespace offcpud {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::size_t kPage = 10;

class TopStateTest : public ::testing::Test {
 protected:
  TopEffect press(Key::Kind kind) { return state_.press({kind}, kPage); }
  TopEffect press(const std::string& letter) { return state_.press({Key::Text, letter}, kPage); }
  void type(const std::string& text) {
    for (const char c : text) press(std::string(1, c));
  }
  [[nodiscard]] TopRequest request() const { return state_.request(kPage); }
  [[nodiscard]] std::string bottom() const { return state_.screen("here", 20, 200).back().text; }
  void answer(std::size_t matching) {
    auto answer = parse_top_answer(test::kProcessesJson);
    ASSERT_TRUE(answer);
    answer->matching = matching;
    while (answer->rows.size() < matching) answer->rows.push_back(answer->rows[0]);
    state_.take(*std::move(answer));
  }

  const test::WithLocale utf8_{"C.UTF-8"};
  TopState state_{TopRequest{}};
};

TEST_F(TopStateTest, SortKeysGoRoundAndBack) {
  EXPECT_EQ(press("s"), TopEffect::Ask);
  EXPECT_EQ(request().sort, "runqueue");
  press("S");
  EXPECT_EQ(request().sort, "waiting");
  press("S");
  EXPECT_EQ(request().sort, "pid");
  press("s");
  EXPECT_EQ(request().sort, "waiting");
  press("o");
  EXPECT_EQ(request().sort, "oldest");
  EXPECT_THAT(bottom(), StartsWith("processes by oldest"));
  press("r");
  EXPECT_TRUE(request().reverse);
}

TEST_F(TopStateTest, ReasonsComeBackWithAKey) {
  EXPECT_THAT(bottom(), StartsWith("processes by waiting"));
  press("u");
  EXPECT_EQ(press("w"), TopEffect::Ask);
  EXPECT_TRUE(request().by_reason);
  EXPECT_EQ(request().sort, "");
  EXPECT_THAT(bottom(), StartsWith("processes by actionable"));
  press("a");
  EXPECT_EQ(request().sort, "actionable");
  press("w");
  EXPECT_FALSE(request().by_reason);
}

TEST_F(TopStateTest, ThreadsAndPinnedOnes) {
  press("p");
  EXPECT_TRUE(request().threads && request().pinned);
  EXPECT_THAT(bottom(), StartsWith("pinned threads by waiting"));
  press("p");
  EXPECT_TRUE(request().threads && !request().pinned);
  press("t");
  EXPECT_FALSE(request().threads);
}

TEST_F(TopStateTest, LeavingThreadsDropsAKeyThatOnlyTheyHave) {
  press("t");
  press("s");
  press("s");
  EXPECT_EQ(request().sort, "kept_off");
  press("t");
  EXPECT_EQ(request().sort, "");
}

TEST_F(TopStateTest, AFilterIsTypedAndTakenBack) {
  press("/");
  type("qs");  // no commands while typing
  EXPECT_THAT(bottom(), HasSubstr("qs_"));
  press(Key::Backspace);
  type("\xc3\xbc");
  press(Key::Backspace);
  EXPECT_EQ(request().filter, "");
  EXPECT_EQ(press(Key::Enter), TopEffect::Ask);
  EXPECT_EQ(request().filter, "q");
  EXPECT_THAT(bottom(), HasSubstr("with \"q\""));
  press("/");
  type("x");
  press(Key::Escape);
  EXPECT_EQ(request().filter, "q");
  EXPECT_EQ(press(Key::Escape), TopEffect::Ask);
  EXPECT_EQ(request().filter, "");
}

TEST_F(TopStateTest, ScrollsWithinWhatMatches) {
  EXPECT_EQ(press(Key::Down), TopEffect::None);  // nothing there yet
  answer(35);
  EXPECT_EQ(press(Key::Up), TopEffect::None);
  press(Key::PageDown);
  press(Key::Down);
  EXPECT_THAT(bottom(), HasSubstr("from row 12"));
  EXPECT_EQ(request().limit, 31U);
  press(Key::End);
  EXPECT_THAT(bottom(), HasSubstr("from row 26"));
  press(Key::Home);
  EXPECT_EQ(request().limit, 20U);
  press(Key::End);
  answer(3);  // there are fewer by now
  EXPECT_THAT(bottom(), HasSubstr("from row 3"));
}

TEST_F(TopStateTest, AGivenLimitHolds) {
  const TopState state(TopRequest{.limit = 5});
  EXPECT_EQ(state.request(kPage).limit, 5U);
}

TEST_F(TopStateTest, TheScreenIsFullAndNoLargerThanTheTerminal) {
  answer(35);
  for (const bool help : {false, true}) {
    if (help) press("h");
    for (std::size_t lines = 1; lines < 45; ++lines) {
      const auto screen = state_.screen("here", lines, 40);
      EXPECT_LE(screen.size(), lines);
      if (!help) {
        EXPECT_THAT(screen, SizeIs(lines));
      }
      for (const auto& line : screen) EXPECT_LE(terminal_width(line.text), 40U);
    }
  }
  press("x");  // any key leaves the help
  const auto screen = state_.screen("here", 24, 120);
  EXPECT_THAT(screen[0].text,
              StartsWith("offcpud at here, 12:19:40Z: 35 processes, of 214; waits over 10 s"));
  EXPECT_EQ(screen[3].style, TopState::Line::Title);
  EXPECT_THAT(screen[4].text, HasSubstr("postgres"));
}

TEST_F(TopStateTest, AnErrorIsShownBesideTheLastRowsUntilItIsOver) {
  EXPECT_THAT(state_.screen("here", 5, 80)[0].text, HasSubstr("waiting for an answer"));
  answer(3);
  state_.take(Error("no offcpud answers at here\x1b"));
  const auto screen = state_.screen("here", 20, 120);
  EXPECT_EQ(screen.back().style, TopState::Line::Alert);
  EXPECT_EQ(screen.back().text, "Trying again: no offcpud answers at here\\x1b");
  EXPECT_THAT(screen[4].text, HasSubstr("postgres"));
  answer(3);
  EXPECT_THAT(bottom(), StartsWith("processes by waiting"));
}

TEST_F(TopStateTest, IdleThreadsHaveAKey) {
  EXPECT_EQ(press("i"), TopEffect::Ask);
  EXPECT_EQ(request().sort, "idle");
  press("t");
  EXPECT_EQ(press("i"), TopEffect::None) << "of threads nobody counts them";
  press("t");
  press("w");
  EXPECT_EQ(press("i"), TopEffect::None) << "nor by reason";
}

TEST_F(TopStateTest, EnterShowsTheStacksOfTheFirstRowOnTheScreen) {
  answer(3);
  EXPECT_EQ(press(Key::Enter), TopEffect::AskForStacks);
  EXPECT_TRUE(state_.shows_stacks());
  EXPECT_EQ(state_.path_of_stacks(),
            "/api/v1/snapshots/merge?from=-10min&pid=4711&"
            "for=lock%2Canswer%2Cstorage%2Cmemory%2Cstopped%2Cunknown");
  const auto line = [this](std::size_t at) { return state_.screen("here", 6, 60).at(at).text; };
  EXPECT_THAT(line(0), StartsWith("Where postgres (pid 4711) of postgresql.service waited in"));
  EXPECT_EQ(line(1), "asking the daemon");
  state_.take(StackLines{"2.5 s  lock: mutex  pthread_mutex_lock < ma\x1bin", "b", "c", "d", "e"});
  EXPECT_EQ(line(1), "2.5 s  lock: mutex  pthread_mutex_lock < ma\\x1bin");
  EXPECT_EQ(line(4), "d") << "as many as have room";
  EXPECT_THAT(line(5), StartsWith("Any key goes back; offcpuctl flame --pid 4711 "));
  for (std::size_t lines = 1; lines < 20; ++lines) {
    const auto screen = state_.screen("here", lines, 30);
    EXPECT_LE(screen.size(), lines);
    for (const auto& each : screen) EXPECT_LE(terminal_width(each.text), 30U);
  }
  EXPECT_EQ(press("q"), TopEffect::Ask);
  EXPECT_FALSE(state_.shows_stacks());
  EXPECT_THAT(state_.screen("here", 20, 120)[4].text, HasSubstr("postgres"));
}

TEST_F(TopStateTest, StacksThatAreNotThereSayWhy) {
  answer(3);
  press(Key::Enter);
  state_.take(StackLines{});
  EXPECT_THAT(state_.screen("here", 6, 90)[1].text, HasSubstr("offcpuctl snapshot 10 --pid 4711"));
  state_.take(Error("this client may not see stacks"));
  EXPECT_EQ(state_.screen("here", 6, 90)[1].text, "this client may not see stacks");
  press("x");
  EXPECT_THAT(bottom(), StartsWith("processes by waiting")) << "it was not about the table";
}

// Of what the table is sorted by, or about.
TEST_F(TopStateTest, TheStacksAreThoseOfWhatIsAskedFor) {
  press("i");
  answer(3);
  press(Key::Enter);
  EXPECT_EQ(state_.path_of_stacks(), "/api/v1/snapshots/merge?from=-10min&pid=4711");
  TopState locks(TopRequest{.wait_for = "lock"});
  EXPECT_EQ(locks.path_of_stacks(), "/api/v1/snapshots/merge?from=-10min&pid=0&for=lock");
}

TEST_F(TopStateTest, QuitsAndIgnoresWhatItDoesNotKnow) {
  EXPECT_EQ(press("q"), TopEffect::Quit);
  EXPECT_EQ(press("z"), TopEffect::None);
  EXPECT_EQ(press(Key::Enter), TopEffect::None);
  EXPECT_EQ(press(Key::Escape), TopEffect::None);
}

}  // namespace
}  // namespace offcpud
