// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "hooks_object.h"

namespace offcpud {

// A case with programs of its own. A SetUp() of a subclass calls this one first, and returns if
// that has skipped the case.
class HooksCase : public ::testing::Test {
 protected:
  explicit HooksCase(HooksObject::Disks disks = HooksObject::Disks::Ignored) : disks_(disks) {}

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "loading BPF programs takes root";
    auto object = HooksObject::load(disks_);
    ASSERT_TRUE(object) << object.error().message();
    object_.emplace(std::move(*object));
  }
  HooksObject& hooks() { return *object_; }

 private:
  const HooksObject::Disks disks_;
  std::optional<HooksObject> object_;
};

}  // namespace offcpud
