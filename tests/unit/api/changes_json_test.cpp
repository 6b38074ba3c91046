// SPDX-License-Identifier: Apache-2.0
#include "api/changes_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/changes/minutes.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kEpoch;
using test::minute;
using test::waits;

TEST(ChangesJson, HasBothRangesAndEachRow) {
  ChangesScope scope;
  RangeSums before(scope, true), after(scope, true);
  before.add(minute(kEpoch, {}));
  after.add(minute(kEpoch + 60min, {waits("/s/db.service", WaitFor::Lock, "row", {30, 0.3})}));
  Changes changes = changes_between(before, after, scope);
  changes.asked = {kEpoch + 60min, kEpoch + 61min};
  changes.asked_base = {kEpoch, kEpoch + 1min};
  const json answer = json::parse(changes_json(changes));
  EXPECT_EQ(answer["begin"], "2026-11-20T13:00:00.000Z");
  EXPECT_EQ(answer["base"]["asked_end"], "2026-11-20T12:01:00.000Z");
  const json& row = answer["rows"][0];
  EXPECT_EQ(row["unit"], "db.service");
  EXPECT_EQ(row["for"], "lock");
  EXPECT_EQ(row["new"], true);
  EXPECT_EQ(row["significant"], true);
  EXPECT_NEAR(row["change"].get<double>(), 0.5, 1e-9);
  EXPECT_EQ(answer["left_out"]["work"]["after"], 0);
}

}  // namespace
}  // namespace offcpud
