// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unit/golang/fake_go.h"
#include "unit/golang/files_in_memory.h"
#include "unit/mappings/fakes.h"

namespace offcpud::testing_go {

// The program of process FakeGo::kTgid is the file /srv/shop, mapped where FakeGo has its code.
inline void map_program(const FakeGo& go, test::FakeReader& reader, test::FilesInMemory& files) {
  constexpr const char* kPath = "/srv/shop";
  reader.existing[FakeGo::kTgid].maps = {{.begin = FakeGo::kCode + FakeGo::kBias,
                                          .end = FakeGo::kCode + FakeGo::kBias + 0x1000,
                                          .offset = FakeGo::kCodeOffset,
                                          .executable = true,
                                          .inode = {},
                                          .path = kPath}};
  files.files[kPath] = go.image();
}

}  // namespace offcpud::testing_go
