// SPDX-License-Identifier: Apache-2.0
// MemoryMax= of the unit against all that the daemon may keep at once with default settings:
// docs/decisions/0027-memory-limit.md.
#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "api/why_rows.h"
#include "config/config.h"
#include "golang/goroutine_groups.h"
#include "goroutines/goroutine_sampler.h"
#include "http/connection_table.h"
#include "jit/jit_codes.h"
#include "listeners.h"
#include "mappings/process_mappings.h"
#include "peers/seen_peers.h"
#include "peers/socket_table.h"
#include "pipeline/cpu_history.h"
#include "pipeline/site_history.h"
#include "pipeline/stall_log.h"
#include "pipeline/view.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"
#include "reader/copy_room.h"
#include "reader/hung_readers.h"
#include "sampler/chain_sums.h"
#include "sampler/gil_looks.h"
#include "sampler/place_pasts.h"
#include "sampler/process_owners.h"
#include "sampler/python_stacks.h"
#include "sampler/sample_windows.h"
#include "sampler/sampler_reports.h"
#include "sampler/sleeper_stacks.h"
#include "sampler/wait_counting.h"
#include "sampler/wait_examiner.h"
#include "sites/place_classes.h"
#include "sites/site_matcher.h"
#include "sites/wait_classifier.h"
#include "sites/waker_evidence.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stack_table.h"
#include "symbols/perf_maps.h"
#include "symbols/symbol_cache.h"

namespace offcpud {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

struct Part {
  const char* what;
  std::size_t bytes;
};

// What one entry of a table takes, where its type is private: reckoned from its members, with keys,
// nodes and strings. A stack has 1.5 KiB, an object 320 bytes by measurement (decision 0016).
constexpr std::size_t kStackEntry = 1'536, kObject = 320, kImage = 256, kSocket = 200, kPeer = 160,
                      kOwner = 80, kEvidence = 224, kPlace = 256, kStall = 3 * kKiB, kBlock = 48,
                      kPiece = 48, kKernelFrame = 128, kCgroupTotals = 18 * kKiB, kGoPlace = 48,
                      kChain = 512, kWhyRow = 5 * kKiB, kGoroutine = 160,
                      kGoStack = 2 * GoStack::kMostFrames * 4 + 128, kGoRow = 400, kProcess = 256;

// One for each thread of the HTTP server. A row of `kWhyRow` is one of each source of why, with its
// nodes of trees: WhyOfAThousandUnits measures less.
constexpr std::size_t kAnswersAtOnce = 3;

std::vector<Part> stacks() {
  const Config config;
  const std::size_t snapshot = SamplerOptions().stacks * kStackEntry;
  return {
      {"stacks that are summed up, of snapshots and profiles", SampleWindows::kMostBytes},
      {"stacks that are summed up, by what waits are for", WaitCounting::kMostBytes},
      {"stacks of blocked threads", SleeperStacks::kMostBytes},
      {"their Python", PythonStacks::kMostBytes},
      {"who waits for its GIL, at a look, at the end of a window and while it is examined",
       3 * GilLooks::kMostOfAll * sizeof(GilWait) + GilLooks::kMost * kProcess},
      {"what waits are for, by stack", WaitExaminer::kMostBytes},
      {"stacks and names that rules took",
       WaitClassifier::kMostStackBytes + WaitClassifier::kMostNameBytes + SiteMatcher::kMostBytes},
      {"evidence of wakers, pasts of places, their classes",
       WakerEvidence::kMost * kEvidence + (PlacePasts::kMost + PlaceClasses::kMost) * kPlace +
           PlacePasts::kMost * sizeof(AnswerPast)},
      {"pieces of chains", ChainSums::kMostPieces * kPiece},
      {"snapshots that wait for the disk", (SnapshotWriter::kMostWaiting + 1) * snapshot},
      {"a snapshot that is made ready to be pushed", snapshot},
      {"snapshots that wait to be pushed", config.push.queue_bytes},
      {"stacks that a request adds up", StackTable::kMostEntries * kStackEntry},
  };
}

std::vector<Part> names_and_tables() {
  const SymbolCache::Limits symbols;
  return {
      {"names of functions", symbols.bytes + symbols.shown_bytes + symbols.remembered_bytes},
      {"objects", symbols.objects * kObject},
      {"names in perf maps, and those of compiled Java",
       PerfMaps::Limits().bytes + JitCodes::kMostBytes},
      {"functions of the kernel", std::size_t{16'384} * kKernelFrame},
      {"a file whose names are read", 84 * kMiB},
      {"a file whose unwind table is made", 80 * kMiB},
      {"copies of files", CopyRoom::kMost},
      {"readers, 12 of which hang", (HungReaders::kMost + 5) * 6 * kMiB},
      {"what a reader tells", 4 * 3 * kMiB},
      {"functions of a Go program, with their table",
       kMaxGoTable + GoFunctions::kMostNameBytes + GoFunctions::kMostPlaces * kGoPlace},
      {"its goroutines, their stacks and the answer",
       GoroutineLimits().goroutines * kGoroutine + GoroutineLimits().stacks * kGoStack +
           GoroutineReader::kAtOnce * GoStack::kMostBytes +
           2 * GoroutineReader::kMostAddresses * sizeof(std::uint64_t) +
           4 * GoroutineGroups::kMostBytes},
      {"functions of Go programs that are looked at always",
       GoroutineSampler::kMostTableBytes + kMaxGoTable +
           GoProcesses::kMostPrograms * (WatchedProgram::kFunctions.name_bytes +
                                         WatchedProgram::kFunctions.places * kGoPlace)},
      {"their goroutines, stacks and places",
       GoProcesses::kMostPrograms *
               (WatchedProgram::kLimits.goroutines * kGoroutine +
                WatchedProgram::kLimits.stacks * kGoStack + WatchedProgram::kMostRows * kGoRow) +
           GoroutineReader::kAtOnce * GoStack::kMostBytes +
           2 * GoroutineReader::kMostAddresses * sizeof(std::uint64_t)},
      {"what they wait for, and processes that may be such programs",
       GoroutineBook::kMostBytes + 4 * GoroutineWindow::kMostRows * kGoRow +
           WaitClassifier::kMostStackBytes + WaitClassifier::kMostNameBytes +
           GoProcesses::kMost * kProcess},
      {"mappings", ProcessMappings::Limits().mappings * sizeof(Mapping) +
                       ProcessMappings::Limits().images * kImage},
  };
}

std::vector<Part> totals() {
  const Config config;
  const std::size_t views = 7;  // one a pass of 10 s, as long as a response may take
  return {
      {"totals of cgroups, as they are read", config.max_cgroups * kCgroupTotals},
      {"views that responses hold", views * config.max_cgroups * sizeof(SubjectSeries)},
      {"what others did while processes waited, in these",
       views * ChainSums::kMostOfProcesses * kChain},
      {"the last ten minutes, and an hour of CPUs",
       HistoryLimits().bytes + SiteHistory::kMostBytes + PeerHistory::kMostBytes +
           CpuHistoryLimits().bytes},
      {"whom cgroups waited on", WaitedOnStore::kMost * kPlace},
      {"sockets, twice while they are read", 2 * SocketTable::kMost * kSocket},
      {"peers and owners of processes", SeenPeers::kMost * kPeer + ProcessOwners::kMost * kOwner},
      {"answers to why", kAnswersAtOnce * kMostSourceRows * kWhyRow},
      {"stalls", (StallLog::kMaxInProgress + StallLog::kMaxUntold) * kStall +
                     StallLog::kMaxExamined * kBlock},
      {"connections", (ConnectionLimits().total + kLocalLimits.connections.total) * 3 / 2 *
                          HttpLimits().connection_memory},
      {"programs, libraries and stacks of threads", 40 * kMiB},
  };
}

std::vector<Part> kernel_maps() {
  return {{"kernel maps", 79 * kMiB}};
}

std::size_t memory_max() {
  std::ifstream file(OFFCPUD_SOURCE_DIR "/systemd/offcpud.service.in");
  std::stringstream text;
  text << file.rdbuf();
  const std::string unit = text.str();
  std::smatch found;
  if (!std::regex_search(unit, found, std::regex("\nMemoryMax=(\\d+)M\n"))) return 0;
  return std::stoul(found[1]) * kMiB;
}

TEST(MemoryLimit, AllThatMayBeKeptAtOnceFits) {
  std::size_t sum = 0;
  for (const auto& part_list : {stacks(), names_and_tables(), totals(), kernel_maps()}) {
    for (const Part& part : part_list) {
      sum += part.bytes;
      std::cout << std::setw(8) << std::fixed << std::setprecision(1)
                << static_cast<double>(part.bytes) / kMiB << " MiB  " << part.what << '\n';
    }
  }
  std::cout << std::setw(8) << static_cast<double>(sum) / kMiB << " MiB  in all\n";
  EXPECT_LE(sum, memory_max());
}

}  // namespace
}  // namespace offcpud
