// SPDX-License-Identifier: Apache-2.0
#include "sites/frame_pattern.h"

#include <gtest/gtest.h>

#include "sites/pattern_index.h"

namespace offcpud {
namespace {

FramePattern frame_pattern(std::string_view text, PatternKind kind = PatternKind::User) {
  auto parsed = FramePattern::parse(text, kind);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : FramePattern{};
}

bool fits(std::string_view text, std::string_view function, std::string_view object = "prog",
          PatternKind kind = PatternKind::User) {
  const FramePattern parsed = frame_pattern(text, kind);
  PatternIndex index;
  const PatternNumber number = index.add(parsed);
  std::uint64_t globs = 0;
  const bool by_index = contains(index.find(kind, function, object, globs), number);
  EXPECT_EQ(by_index, parsed.first_fit(function, object) != nullptr) << text << " " << function;
  return by_index;
}

TEST(FramePattern, AlternativesAreFunctionsAndTheirObjects) {
  const FramePattern parsed = frame_pattern("  poll@libc.so* |ProcSleep|  *@libpq.so*  ");
  EXPECT_EQ(parsed.text, "poll@libc.so* | ProcSleep | *@libpq.so*");
  EXPECT_EQ(parsed.alternatives, (std::vector<FramePattern::Alternative>{
                                     {"poll", "libc.so*"}, {"ProcSleep", ""}, {"*", "libpq.so*"}}));
}

TEST(FramePattern, FitsFunctionAndObject) {
  EXPECT_TRUE(fits("ProcSleep", "ProcSleep"));
  EXPECT_TRUE(fits("ProcSleep", "ProcSleep", ""));  // the object does not matter
  EXPECT_TRUE(fits("poll@libc.so*", "poll", "libc.so.6"));
  EXPECT_FALSE(fits("poll@libc.so*", "poll", "libpq.so.5"));
  EXPECT_FALSE(fits("poll@libc.so*", "poll", ""));  // nor does one that nobody knows fit
  EXPECT_TRUE(fits("LWLock* | ProcSleep", "LWLockAcquire"));
}

TEST(FramePattern, PlacesWithoutANameFitObjectsOnly) {
  EXPECT_FALSE(fits("fn_* | lib* | *fn_3c04f", "libc.so.6!fn_3c04f", "libc.so.6"));
  EXPECT_FALSE(fits("jit* | *jit*", "[jit]", "[jit]"));
  EXPECT_FALSE(fits("*unknown*", "[unknown]", ""));
  EXPECT_TRUE(fits("*", "[jit]", "[jit]"));
  EXPECT_TRUE(fits("*@libpq.so*", "libpq.so.5!fn_11900", "libpq.so.5"));
  EXPECT_TRUE(fits("*@libpq.so*", "libpq.so.5!fn_11900", ""));  // the place says the object
}

TEST(FramePattern, FunctionsWithoutASymbolAreNotThoseOfAnObjectThatWasNotRead) {
  EXPECT_TRUE(fits("!fn@libglib*", "libglib-2.0.so.0!fn_a8970", "libglib-2.0.so.0"));
  EXPECT_TRUE(fits("!fn@libglib*", "libglib-2.0.so.0!fn_a8970", ""));
  EXPECT_FALSE(fits("!fn@libglib*", "libpq.so.5!fn_11900", "libpq.so.5"));
  EXPECT_FALSE(fits("!fn@libglib*", "[libglib-2.0.so.0+0xa957e]", "libglib-2.0.so.0"));
  EXPECT_FALSE(fits("!fn@libglib*", "g_cond_wait", "libglib-2.0.so.0"));
  EXPECT_TRUE(frame_pattern("*@libglib*").covers(frame_pattern("!fn@libglib-2.0*")));
}

TEST(FramePattern, SuffixesOfCompilersDoNotMatter) {
  EXPECT_TRUE(fits("do_poll", "do_poll.constprop.0", "", PatternKind::Kernel));
  EXPECT_TRUE(fits("pthread_once", "pthread_once.tailcall", ""));
  EXPECT_TRUE(fits("do_poll", "do_poll.isra.0.cold", "", PatternKind::Kernel));
  EXPECT_TRUE(fits("runtime.futex", "runtime.futex.abi0"));
  EXPECT_TRUE(fits("x::y", "x::y [clone .cold]"));
  EXPECT_EQ(without_compiler_suffix("f.part.12"), "f");
  EXPECT_EQ(without_compiler_suffix("f.llvm.1234567"), "f");
  EXPECT_EQ(without_compiler_suffix("main.func1"), "main.func1");
  EXPECT_EQ(without_compiler_suffix("net/http.(*conn).serve"), "net/http.(*conn).serve");
  EXPECT_EQ(without_compiler_suffix(".cold"), ".cold");
  EXPECT_EQ(without_compiler_suffix("f."), "f.");
  EXPECT_EQ(without_compiler_suffix("f.0"), "f.0");
  EXPECT_FALSE(FramePattern::parse("do_poll.constprop.0", PatternKind::Kernel));  // never seen
}

TEST(FramePattern, NamesOfProcessesAreCut) {
  EXPECT_TRUE(fits("systemd-journald", "systemd-journald", "", PatternKind::Exe));
  EXPECT_TRUE(fits("systemd-journald", "systemd-journal", "", PatternKind::Exe));
  EXPECT_FALSE(fits("systemd-journald", "systemd-journ", "", PatternKind::Exe));
  EXPECT_FALSE(fits("mariadbd | mysqld", "mysql", "", PatternKind::Exe));
  EXPECT_TRUE(fits("containerd-shim*", "containerd-shim", "", PatternKind::Exe));
}

TEST(FramePattern, HostileNamesFitNothing) {
  EXPECT_FALSE(fits("f*", "f" + std::string(kLongestFrameName, 'x')));
  EXPECT_TRUE(fits("f*", "f" + std::string(kLongestFrameName - 1, 'x')));
  EXPECT_TRUE(fits("*", std::string(10'000, 'x')));
  EXPECT_TRUE(fits("a*z", std::string_view("a\0;\n\x1bz", 6)));
  EXPECT_FALSE(fits("x*", ""));
}

TEST(FramePattern, ShortNamesNeedAnObject) {
  EXPECT_NE(frame_pattern("worker").first_short_name(), nullptr);
  EXPECT_NE(frame_pattern("worker@*").first_short_name(), nullptr);
  EXPECT_NE(frame_pattern("ProcessQueue | worker").first_short_name(), nullptr);
  EXPECT_NE(frame_pattern("*a*b*c*d*e*f*g*").first_short_name(), nullptr);  // stars say nothing
  EXPECT_EQ(frame_pattern("worker@node").first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("a::b | runtime.mcall").first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("ProcessQueue").first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("main").first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("*").first_short_name(), nullptr);
}

// Their object is their file, and no compiler has put anything behind them.
TEST(FramePattern, InterpretedFunctionsHaveFiles) {
  constexpr PatternKind kKind = PatternKind::Interpreted;
  EXPECT_TRUE(fits("Shop.pay@shop/*.py", "Shop.pay", "shop/till.py", kKind));
  EXPECT_FALSE(fits("Shop.pay@shop/*.py", "Shop.pay", "", kKind));
  EXPECT_TRUE(fits("Freezer.cold", "Freezer.cold", "shop/till.py", kKind));
  EXPECT_FALSE(fits("Freezer", "Freezer.cold", "shop/till.py", kKind));
  EXPECT_TRUE(fits("<module> | main@a.py", "<module>", "b.py", kKind));
  EXPECT_TRUE(fits("f.<locals>.<lambda>@*", "f.<locals>.<lambda>", "b.py", kKind));
  EXPECT_FALSE(fits("more* | *more*", "[more functions of Python than are kept]", "", kKind));
  EXPECT_TRUE(fits("*", "[more functions of Python than are kept]", "", kKind));
  EXPECT_NE(frame_pattern("Client.get", kKind).first_short_name(), nullptr) << "of many programs";
  EXPECT_NE(frame_pattern("main", kKind).first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("<module>", kKind).first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("Client.get@redis/client.py", kKind).first_short_name(), nullptr);
  EXPECT_EQ(frame_pattern("Shop.pay_by_card", kKind).first_short_name(), nullptr);
}

TEST(FramePattern, CoversNarrowerOnes) {
  EXPECT_TRUE(frame_pattern("read* | write").covers(frame_pattern("readv | write")));
  EXPECT_FALSE(frame_pattern("read*").covers(frame_pattern("readv | write")));
  EXPECT_TRUE(frame_pattern("read").covers(frame_pattern("read@libc.so.6")));
  EXPECT_FALSE(frame_pattern("read@libc.so.6").covers(frame_pattern("read")));
  EXPECT_TRUE(frame_pattern("*@lib*").covers(frame_pattern("read@libc.so.6")));
}

TEST(Objects, ThoseOfTheCLibraryArePassedOver) {
  for (const char* object :
       {"libc.so.6", "libc-2.31.so", "libpthread.so.0", "libpthread-2.31.so", "libstdc++.so.6.0.30",
        "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", "libc++.so.1"}) {
    EXPECT_TRUE(is_passed_over(object)) << object;
  }
  for (const char* object :
       {"libcurl.so.4", "libcrypto.so.3", "libc", "postgres", "", "libcap-ng.so.0", "-2.so"}) {
    EXPECT_FALSE(is_passed_over(object)) << object;
  }
}

}  // namespace
}  // namespace offcpud
