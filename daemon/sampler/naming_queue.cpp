// SPDX-License-Identifier: Apache-2.0
#include "sampler/naming_queue.h"

#include <algorithm>
#include <future>
#include <unordered_set>
#include <vector>

#include "sampler/kernel_room.h"
#include "sampler/site_classes.h"

namespace offcpud {

void NamingQueue::name(SampledInterval interval, std::chrono::milliseconds patience, Done done) {
  const SymbolWorker::After after{.loads = loads_of(interval), .patience = patience};
  ++*waiting_;
  // By pointer, because std::function would copy the interval.
  const auto sampled = std::make_shared<const SampledInterval>(std::move(interval));
  symbols_.post(
      [sampled, runtime = runtime_, sites = sites_, classifier = classifier_, evidence = evidence_,
       places = places_, owners = owners_, examiner = examiner_, dropped = evidence_dropped_,
       waiting = waiting_, done = std::move(done), now = clock_.now()](SymbolCache& objects) {
        ProcessNames names(objects, *runtime, now);
        classifier->use(sites->rules());
        const bool is_snapshot = sampled->capture != nullptr;
        SiteClasses classes(*classifier, {.evidence = *evidence,
                                          .places = *places,
                                          .owners = *owners,
                                          .learns = is_snapshot,
                                          .now = sampled->ended});
        done(snapshot_of(*sampled, names, classes));
        *dropped = evidence->dropped() + examiner->places_dropped();
        --*waiting;
      },
      "naming the functions of a snapshot", after);
}

void NamingQueue::examine(WaitInterval interval, std::chrono::milliseconds patience,
                          Examined done) {
  const SymbolWorker::After after{
      .loads = loads_of(interval), .patience = patience, .line = SymbolWorker::After::Line::Second};
  ++*examining_;
  const auto sampled = std::make_shared<const WaitInterval>(std::move(interval));
  symbols_.post(
      [sampled, runtime = runtime_, sites = sites_, classifier = classifier_, examiner = examiner_,
       evidence = evidence_, places = places_, owners = owners_, strata = strata_,
       left_out = names_left_out_, examining = examining_, done = std::move(done),
       now = clock_.now()](SymbolCache& objects) {
        ProcessNames names(objects, *runtime, now);
        StratumTimes times;
        done(examiner->examine(*sampled, {.names = names,
                                          .classifier = *classifier,
                                          .evidence = *evidence,
                                          .places = *places,
                                          .owners = *owners,
                                          .strata = times,
                                          .rules = sites->rules(),
                                          .now = now}));
        strata->add(times);
        *left_out = examiner->names_left_out();
        --*examining;
      },
      "saying what threads wait for", after);
}

std::vector<ObjectId> NamingQueue::loads_of(const SampledInterval& interval) const {
  std::unordered_set<ObjectId> found;
  for (const BlockSum& sum : interval.stacks.sums) {
    for (const auto* frames : {&sum.user, &sum.waker_user}) {
      for (const LocatedFrame& frame : *frames) found.insert(frame.object);
    }
    add_runtime(found, sum.sample);
  }
  return {found.begin(), found.end()};
}

std::vector<ObjectId> NamingQueue::loads_of(const WaitInterval& interval) const {
  std::unordered_set<ObjectId> found;
  for (const WaitSum& sum : interval.waits.sums) {
    for (const LocatedFrame& frame : sum.user) found.insert(frame.object);
    add_runtime(found, sum.sample);
  }
  return {found.begin(), found.end()};
}

void NamingQueue::add_runtime(std::unordered_set<ObjectId>& loads,
                              const offcpud_sample& sample) const {
  const auto runtime = runtime_loads_.find({sample.local_tgid, sample.process_start_ns});
  if (runtime != runtime_loads_.end()) loads.insert(runtime->second);
}

void NamingQueue::read_runtime_names(const BlockSum& sum) {
  const auto is_runtime = [](const LocatedFrame& frame) {
    return frame.file && frame.file->kind == MappedFile::Kind::Anonymous;
  };
  if (std::ranges::none_of(sum.user, is_runtime)) return;
  if (*waiting_ > 1) return;  // the thread hangs or is behind
  const PerfMaps::Process process{sum.sample.local_tgid, sum.sample.process_start_ns};
  const auto [load, is_new] = runtime_loads_.try_emplace({process.tgid, process.start_ns});
  if (!is_new) return;
  load->second =
      symbols_.prepare([runtime = runtime_, process, now = clock_.now()](
                           SymbolCache& /*objects*/) { runtime->perf_maps.capture(process, now); },
                       "reading names of code made at run time", real_uid_of(process.tgid));
}

void NamingQueue::finish(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<std::future<void>> ends;
  for (const auto line : {SymbolWorker::After::Line::First, SymbolWorker::After::Line::Second}) {
    auto named = std::make_shared<std::promise<void>>();
    auto all_named = named->get_future();
    const SymbolWorker::After after{
        .loads = std::vector<ObjectId>(), .patience = patience / 2, .line = line};
    if (symbols_.post([named](SymbolCache& /*objects*/) { named->set_value(); },
                      "naming the functions of the last snapshot", after)) {
      ends.push_back(std::move(all_named));
    }
  }
  for (const std::future<void>& end : ends) (void)end.wait_until(until);
}

}  // namespace offcpud
