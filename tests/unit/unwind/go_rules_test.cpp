// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/elf/cfi_bytes.h"
#include "unit/elf/go_table_bytes.h"
#include "unwind/unwind_table.h"

namespace offcpud {
namespace {

ElfObject program(const GoTableBytes& go) {
  ElfObject object;
  object.segments = {{.file_offset = 0, .address = 0x1000, .size = 0x1000}};
  object.go_table = go.bytes();
  return object;
}

UnwindTable compiled(const ElfObject& object) {
  auto table = compile_unwind_table(object);
  EXPECT_TRUE(table) << table.error().message();
  return std::move(*table);
}

TEST(GoRules, FollowTheDepthOfTheStack) {
  GoTableBytes go;
  go.functions = {{0x10, "main.wait", {{0, 4}, {0x38, 0x20}, {-8, 2}}}, {0x40, "main.blank", {}}};
  go.end = 0x60;
  const UnwindTable table = compiled(program(go));
  EXPECT_EQ(table.functions, 2U);
  EXPECT_EQ(table.find(0x100f).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(table.find(0x1010).kind, OFFCPUD_UNWIND_RSP);
  EXPECT_EQ(table.find(0x1010).cfa_offset, 8);
  EXPECT_EQ(table.find(0x1010).rbp, OFFCPUD_UNWIND_RBP_SAME);
  EXPECT_EQ(table.find(0x1014).cfa_offset, 0x40);
  EXPECT_EQ(table.find(0x1014).rbp, OFFCPUD_UNWIND_RBP_AT_CFA);
  EXPECT_EQ(table.find(0x1014).rbp_offset, -16);
  EXPECT_EQ(table.find(0x1034).kind, OFFCPUD_UNWIND_RBP);     // the return address is off the stack
  EXPECT_EQ(table.find(0x1036).kind, OFFCPUD_UNWIND_NO_FDE);  // behind the last depth
  EXPECT_EQ(table.find(0x1050).kind, OFFCPUD_UNWIND_NO_FDE);  // without any
}

TEST(GoRules, EndWhereTheRuntimeBegins) {
  GoTableBytes go;
  const std::pair<const char*, offcpud_unwind_kind> known[] = {
      {"runtime.goexit", OFFCPUD_UNWIND_END},
      {"runtime.mcall", OFFCPUD_UNWIND_END},
      {"runtime.mstart", OFFCPUD_UNWIND_END},
      {"runtime.morestack", OFFCPUD_UNWIND_END},
      {"runtime.rt0_go", OFFCPUD_UNWIND_END},
      {"runtime.systemstack", OFFCPUD_UNWIND_RBP},
      {"runtime.asmcgocall", OFFCPUD_UNWIND_RBP},
      {"runtime.sigreturn__sigaction", OFFCPUD_UNWIND_SIGNAL},
      {"runtime.mcallers", OFFCPUD_UNWIND_RSP},
      {"main.goexit", OFFCPUD_UNWIND_RSP}};
  for (const auto& [name, kind] : known) go.functions.push_back({go.end, name, {{0, 0x10}}});
  for (std::size_t i = 0; i < std::size(known); ++i) go.functions[i].begin = 0x10 * i;
  go.end = 0x10 * std::size(known);
  const UnwindTable table = compiled(program(go));
  for (std::size_t i = 0; i < std::size(known); ++i) {
    EXPECT_EQ(table.find(0x1000 + 0x10 * i).kind, known[i].second) << known[i].first;
  }
}

TEST(GoRules, StandBesideThoseOfC) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x1800, 0x40, {0x0e, 24});
  ElfObject object = cfi.object();
  GoTableBytes go;
  go.functions = {{0, "main.main", {{0x18, 0x80}}}};
  go.end = 0x80;
  object.segments = program(go).segments;
  object.go_table = go.bytes();
  const UnwindTable table = compiled(object);
  EXPECT_EQ(table.find(0x1000).cfa_offset, 0x20);
  EXPECT_EQ(table.find(0x1080).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(table.find(0x1800).cfa_offset, 24);
  EXPECT_EQ(table.find(0x1840).kind, OFFCPUD_UNWIND_NO_FDE);
}

}  // namespace
}  // namespace offcpud
