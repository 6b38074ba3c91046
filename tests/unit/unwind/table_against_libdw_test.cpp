// SPDX-License-Identifier: Apache-2.0
// Compiled tables of what every stack on a Debian host goes through, against libdw. The same over
// all files of a host: compare_unwind_tables.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "libdw_oracle.h"

namespace offcpud {
namespace {

class TableAgainstLibdw : public ::testing::TestWithParam<const char*> {};

TEST_P(TableAgainstLibdw, SaysTheSameAtTheBeginningAndEndOfEveryRow) {
  const UniqueFd file(::open(GetParam(), O_RDONLY | O_CLOEXEC));
  if (!file) GTEST_SKIP() << GetParam() << " is not installed";
  const auto object = read_elf_object(file.get());
  ASSERT_TRUE(object) << object.error().message();
  const auto table = compile_unwind_table(*object);
  ASSERT_TRUE(table) << table.error().message();
  const LibdwOracle oracle(file.get());
  ASSERT_TRUE(oracle.has_cfi());

  const Comparison comparison = compare(*table, oracle);
  EXPECT_EQ(comparison.mismatches, 0U) << comparison.first_mismatch;
  EXPECT_EQ(table->broken, 0U);
  EXPECT_GT(table->functions, 20U);
  EXPECT_GE(comparison.addresses, table->rows.size());
  // Hand-written assembly; 0.4 % in libcrypto, which has the most.
  EXPECT_LT(comparison.invalid * 50, comparison.addresses);
}

INSTANTIATE_TEST_SUITE_P(Files, TableAgainstLibdw,
                         ::testing::Values("/lib/x86_64-linux-gnu/libc.so.6",
                                           "/lib64/ld-linux-x86-64.so.2",
                                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                           "/usr/bin/python3", "/bin/bash", "/proc/self/exe"));

}  // namespace
}  // namespace offcpud
