// SPDX-License-Identifier: Apache-2.0
// Programs that are not ours read what we write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "snapshot/folded_text.h"
#include "snapshot/pprof.h"
#include "support/snapshots.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using ::testing::HasSubstr;

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* file) const { ::pclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(::popen(command.c_str(), "re"));
  std::string text;
  std::array<char, 4'096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), n);
  }
  return text;
}

bool exists(const std::string& program) {
  return !output_of("command -v " + program + " 2>/dev/null").empty();
}

// Of Debian's golang-*-go, wherever that puts it.
std::string pprof_program() {
  return output_of("ls -1 /usr/lib/go*/pkg/tool/*/pprof 2>/dev/null | tail -n 1 | tr -d '\\n'");
}

struct PerlReading {
  std::uint64_t lines = 0, ignored = 0, differences = 0, sum = 0, earlier = 0;
};

PerlReading read_with_perl(FoldedText text) {
  TempTree tree;
  tree.put({{"folded", test::read_all(std::move(text))}});
  std::istringstream out(output_of("perl " OFFCPUD_SOURCE_DIR
                                   "/tests/unit/snapshot/read_folded.pl <" +
                                   (tree.root() / "folded").native()));
  PerlReading reading;
  out >> reading.lines >> reading.ignored >> reading.differences >> reading.sum >> reading.earlier;
  EXPECT_TRUE(out);
  return reading;
}

class ExternalReaders : public ::testing::Test {
 protected:
  std::string write_profile(const Snapshot& snapshot) {
    const auto bytes = pprof_of(snapshot);
    EXPECT_TRUE(bytes);
    tree_.put({{"profile.pb.gz", *bytes}});
    return (tree_.root() / "profile.pb.gz").native();
  }

  TempTree tree_;
};

TEST_F(ExternalReaders, FlameGraphRulesIgnoreNothingAndSeeNoDifference) {
  if (!exists("perl")) GTEST_SKIP() << "no perl here";
  const Snapshot s = test::hostile_snapshot();
  for (const bool wakers : {false, true}) {
    for (const bool annotate : {false, true}) {
      const PerlReading reading =
          read_with_perl(FoldedText(s, {.wakers = wakers, .annotate_kernel = annotate}));
      EXPECT_GT(reading.lines, 60U);
      EXPECT_EQ(reading.ignored, 0U);
      EXPECT_EQ(reading.differences, 0U);
      EXPECT_EQ(reading.sum, test::total_ns(s) / 1'000);
    }
  }
}

TEST_F(ExternalReaders, FlameGraphRulesReadADifference) {
  if (!exists("perl")) GTEST_SKIP() << "no perl here";
  const Snapshot before = test::hostile_snapshot(), after = test::random_snapshot(2);
  const PerlReading reading =
      read_with_perl(FoldedText(difference_of(before, after, Normalize::No), {}));
  EXPECT_EQ(reading.ignored, 0U);
  EXPECT_EQ(reading.differences, reading.lines);
  EXPECT_EQ(reading.sum, test::total_ns(after) / 1'000);
  EXPECT_EQ(reading.earlier, test::total_ns(before) / 1'000);
}

TEST_F(ExternalReaders, GoToolPprofShowsTotalsFramesAndLabels) {
  const std::string pprof = pprof_program();
  if (pprof.empty()) GTEST_SKIP() << "no golang here";
  const std::string run =
      "PPROF_TMPDIR=" + tree_.root().native() + " " + pprof + " -symbolize=none ";
  const std::string file = write_profile(test::ordinary_snapshot());
  EXPECT_THAT(output_of(run + "-raw " + file + " 2>&1"),
              AllOf(HasSubstr("off_cpu/nanoseconds[dflt] episodes/count"),
                    HasSubstr("87092400       1200: 1 2 3 4 5 6 7"), HasSubstr("reason:[pipe]"),
                    HasSubstr("cgroup:[/system.slice/pp.service]"), HasSubstr("waker:[[irq]]"),
                    HasSubstr("6196744a316dbd57c0fc8968df1680aac482cef4")));
  EXPECT_THAT(
      output_of(run + "-top " + file + " 2>&1"),
      AllOf(HasSubstr("Type: off_cpu"), HasSubstr("Duration: 60s, Total samples = 61086.30ms"),
            HasSubstr("100%  schedule")));
}

TEST_F(ExternalReaders, ProtobufReadsHostileNamesAsText) {
  if (!exists("protoc")) GTEST_SKIP() << "no protoc here";
  const std::string file = write_profile(test::hostile_snapshot());
  const std::string text = output_of("gzip -dc " + file + " | protoc --decode_raw 2>&1");
  EXPECT_THAT(text, HasSubstr("6: \"off_cpu\"\n6: \"nanoseconds\"\n"));
  EXPECT_THAT(text, HasSubstr("6: \"<script>alert(1)</script>\"\n"));
}

}  // namespace
}  // namespace offcpud
