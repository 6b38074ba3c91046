// SPDX-License-Identifier: Apache-2.0
#include "golang/go_file.h"

#include <gmock/gmock.h>

#include "unit/golang/fake_go.h"
#include "unit/golang/files_in_memory.h"

namespace offcpud {
namespace {

using test::file_with;
using testing_go::FakeGo;

TEST(GoFile, SaysWhereTheTableAndTheVariablesAre) {
  const FakeGo go;
  const auto file = read_go_file(file_with(go.image()).get());
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->table.bytes, go.file().table.bytes);
  EXPECT_EQ((*file)->table.address, go.file().table.address);
  EXPECT_EQ((*file)->build_info.start, go.file().build_info.start);
  EXPECT_EQ((*file)->data.start, go.file().data.start);
  EXPECT_EQ((*file)->data.end, go.file().data.end);
  ASSERT_EQ((*file)->writable.size(), 1);
  EXPECT_EQ((*file)->writable[0].start, go.file().writable[0].start);
  EXPECT_EQ((*file)->writable[0].end, go.file().writable[0].end);
}

TEST(GoFile, FindsATableWithinOtherData) {
  const FakeGo go({.is_among_data = true});
  const auto file = read_go_file(file_with(go.image()).get());
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->table.bytes, go.file().table.bytes);
  EXPECT_EQ((*file)->table.address, go.file().table.address);
}

TEST(GoFile, IsNoProgramOfGoWithoutATableOfFunctions) {
  std::string image = FakeGo().image();
  image.replace(image.find(".gopclntab"), 10, ".otherpart");
  const auto file = read_go_file(file_with(image).get());
  ASSERT_TRUE(file);
  EXPECT_FALSE(*file);
}

TEST(GoFile, IsNoProgramOfGoForOtherMachines) {
  std::string image = FakeGo().image();
  image[18] = '\xb7';  // EM_AARCH64
  const auto file = read_go_file(file_with(image).get());
  ASSERT_TRUE(file);
  EXPECT_FALSE(*file);
}

TEST(GoFile, WhatIsNoElfFileIsAnError) {
  EXPECT_FALSE(read_go_file(file_with("#!/bin/sh\n").get()));
}

TEST(GoFile, AddressesInAProcessFollowFromAMapping) {
  GoFile file;
  file.segments = {
      {.offset = 0, .address = 0x400000, .file_size = 0x5000, .memory_size = 0x5000},
      {.offset = 0x5040, .address = 0x606040, .file_size = 0x800, .memory_size = 0x900}};
  EXPECT_EQ(file.bias(0x400000, 0), 0);
  EXPECT_EQ(file.bias(0x7f0000402000, 0x2000), 0x7f0000000000);
  EXPECT_EQ(file.bias(0x7f0000606000, 0x5000), 0x7f0000000000) << "a mapping begins with a page";
  EXPECT_EQ(file.bias(0x7f0000000000, 0x9000), std::nullopt);
}

}  // namespace
}  // namespace offcpud
