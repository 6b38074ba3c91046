// SPDX-License-Identifier: Apache-2.0
#include "stacks/kernel_frame.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "base/text.h"

namespace offcpud {
namespace {

// Function, object and offset.
using Shown = std::tuple<std::string, std::string, std::uint64_t>;

Shown shown(std::string_view text) {
  const StackFrame frame = kernel_frame(text);
  EXPECT_TRUE(frame.kernel);
  EXPECT_EQ(frame.build_id, "");
  return {frame.function, frame.object, frame.address};
}

Shown frame(const char* function, const char* object, std::uint64_t offset = 0) {
  return {function, object, offset};
}

// Texts as lib/vsprintf.c and kernel/kallsyms.c make them for %pB.
TEST(KernelFrame, ReadsWhatTheKernelCallsAnAddress) {
  const struct {
    const char* text;
    Shown expected;
  } kCases[] = {
      {"schedule+0x2a/0x90", frame("schedule", "[kernel]", 0x2a)},
      {"__schedule+0x0/0x1234", frame("__schedule", "[kernel]")},
      {"nf_hook_slow+0x3c/0xa0 [nf_tables]", frame("nf_hook_slow", "[nf_tables]", 0x3c)},
      {"ext4_map_blocks.part.0+0x1f/0x80 [ext4]", frame("ext4_map_blocks.part.0", "[ext4]", 0x1f)},
      // With CONFIG_STACKTRACE_BUILD_ID the module's build-id may follow.
      {"f+0x1/0x2 [ext4 27c1d4f1a3b5]", frame("f", "[ext4]", 1)},
      {"bpf_prog_6deef7357e7b4530_sd_fw_ingress+0x15/0x40",
       frame("bpf_prog_6deef7357e7b4530_sd_fw_ingress", "[kernel]", 0x15)},
      {"bpf_prog_6deef7357e7b4530_x+0x15/0x40 [bpf]",
       frame("bpf_prog_6deef7357e7b4530_x", "[bpf]", 0x15)},
      {"entry_SYSCALL_64_after_hwframe", frame("entry_SYSCALL_64_after_hwframe", "[kernel]")},
  };
  for (const auto& [text, expected] : kCases) EXPECT_EQ(shown(text), expected) << text;
}

TEST(KernelFrame, SaysThatAnAddressWithoutANameIsUnknown) {
  EXPECT_EQ(shown("0xffffffffc0123456"), frame("[unknown]", "[kernel]"));
  EXPECT_EQ(shown(""), frame("[unknown]", "[kernel]"));
}

// Names are cut after OFFCPUD_NAME_BYTES, wherever that is.
TEST(KernelFrame, ReadsACutText) {
  EXPECT_EQ(shown("f+0x1f/0x80 [nf_ta"), frame("f", "[nf_ta]", 0x1f));
  EXPECT_EQ(shown("f+0x1f/0x80 ["), frame("f", "[kernel]", 0x1f));
  EXPECT_EQ(shown("f+0x1f/0"), frame("f", "[kernel]", 0x1f));
  EXPECT_EQ(shown("f+0x"), frame("f", "[kernel]"));
  EXPECT_EQ(shown("f+"), frame("f", "[kernel]"));
}

// Whoever loads a BPF program or a module chooses its name.
TEST(KernelFrame, MakesTextOfAnyBytes) {
  const std::string texts[] = {
      "\xff\xfe+0x1/0x2",
      "a\xc3 [\xc3\x28]",
      std::string("a\0b+0x3/0x4", 11),
      "+0x1/0x2",
      " [",
      " []",
      "[]",
      "f+0xzz/0x1",
      "f+0xffffffffffffffffff/0x1",
      "a;b c\n+0x1/0x2 [",
      std::string(4096, '['),
      std::string(4096, '+'),
  };
  for (const std::string& text : texts) {
    const StackFrame read = kernel_frame(text);
    EXPECT_FALSE(read.function.empty()) << text;
    EXPECT_TRUE(read.object.starts_with('[') && read.object.ends_with(']')) << text;
    EXPECT_GT(read.object.size(), 2U) << text;
    EXPECT_EQ(read.function, to_valid_utf8(read.function)) << text;
    EXPECT_EQ(read.object, to_valid_utf8(read.object)) << text;
  }
}

}  // namespace
}  // namespace offcpud
