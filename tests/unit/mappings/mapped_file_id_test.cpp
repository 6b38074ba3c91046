// SPDX-License-Identifier: Apache-2.0
#include "mappings/mapped_file_id.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>

#include "base/unique_handle.h"

namespace offcpud {
namespace {

constexpr std::string_view kMaps =
    "55d0c0a00000-55d0c0a01000 r--p 00000000 fe:01 1573245                    /usr/bin/cat\n"
    "7f0000000000-7f0000001000 r--p 00001000 00:2a 257                        /a b\n"
    "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n";

TEST(MappedFileId, IsInTheLineOfItsMapping) {
  EXPECT_EQ(find_in_maps(kMaps, 0x7f0000000000), (InodeId{0, 0x2a, 257}));
  EXPECT_EQ(find_in_maps(kMaps, 0x55d0c0a00000), (InodeId{0xfe, 1, 1573245}));
  EXPECT_EQ(find_in_maps(kMaps, 0x7f0000000800), std::nullopt);  // not where it begins
  EXPECT_EQ(find_in_maps("", 0), std::nullopt);
}

// On a plain file system, and where the file cannot be mapped;
// tests/integration/file_systems_test.py has the others.
TEST(MappedFileId, IsThatOfStat) {
  const UniqueFd file(::memfd_create("plain", MFD_CLOEXEC));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reads(ends[0]), writes(ends[1]);
  for (const int fd : {file.get(), reads.get()}) {
    struct stat status {};
    ASSERT_EQ(::fstat(fd, &status), 0);
    EXPECT_EQ(mapped_file_id(fd, status),
              (InodeId{gnu_dev_major(status.st_dev), gnu_dev_minor(status.st_dev), status.st_ino}));
  }
}

}  // namespace
}  // namespace offcpud
