// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "snapshot/folded_text.h"
#include "snapshot/snapshot.h"

namespace offcpud::test {

// A reader and the writer of a pipe and a sleeper with an interrupt for a waker, as a host has
// them.
Snapshot ordinary_snapshot();

// Names that break formats which take them as they are.
const std::vector<std::string>& hostile_names();

// Every hostile name as comm, cgroup, function and waker.
Snapshot hostile_snapshot();

// `entries` of them over a few dozen frames; the same seed gives the same snapshot. Episodes are
// whole numbers, so their sums are exact in any order.
Snapshot random_snapshot(std::uint32_t seed, std::size_t entries = 40);

std::uint64_t total_ns(const Snapshot& snapshot);
double total_episodes(const Snapshot& snapshot);

// What is comparable of a snapshot whose frames and entries may stand in another order: the amounts
// by everything that tells entries apart.
std::map<std::string, std::pair<std::uint64_t, double>> amounts(const Snapshot& snapshot);

// Reads all of it through a buffer of this size.
std::string read_all(FoldedText text, std::size_t buffer_size = 4'096);

}  // namespace offcpud::test
