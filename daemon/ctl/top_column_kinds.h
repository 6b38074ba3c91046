// SPDX-License-Identifier: Apache-2.0
// Columns of both kinds of tables: by reason, and by what waits are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ctl/top_answer.h"
#include "ctl/top_columns.h"

namespace offcpud {

inline constexpr std::size_t kPidWidth = 7;

// The seconds under this name; 0: there are none.
double seconds_of(const SecondsByName& seconds, const std::string& name);
// Seconds waited for a CPU: held back by cpu.max, and all others.
double throttled_of(const TopRow& row);
double queued_of(const TopRow& row);

TopColumn share_column(std::string title, unsigned rank, std::optional<double> interval,
                       std::function<double(const TopRow&)> seconds);
TopColumn time_column(std::string title, unsigned rank, double TopRow::*seconds);
TopColumn number_column(std::string title, std::size_t width, unsigned rank,
                        std::uint64_t TopRow::*number);
TopColumn name_column(std::string title, unsigned rank, std::string TopRow::*name);
TopColumn where_column(unsigned rank);  // the unit, or else the cgroup
TopColumn age_column(unsigned rank);    // of a thread's state
TopColumn cpu_column(unsigned rank);
TopColumn state_column(unsigned rank);
void add_takers(std::vector<TopColumn>& columns, const TopAnswer& answer, unsigned rank);

}  // namespace offcpud
