// SPDX-License-Identifier: Apache-2.0
#include "api/why_notes.h"

#include <algorithm>
#include <chrono>

#include "api/why_query.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "config/duration.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostDependents = 3;

std::string dependents_text(const WhyAnswer& answer) {
  std::string text;
  const std::size_t shown = std::min(answer.dependents.size(), kMostDependents);
  for (std::size_t i = 0; i < shown; ++i) {
    const Dependent& each = answer.dependents[i];
    const std::string command = evidence_for({}, {.kind = Cause::Kind::Unit, .name = each.unit});
    text += printable(sentence_of(each) + (command.empty() ? "" : " (" + command + ")")) + "\n";
  }
  if (const std::size_t more = answer.dependents.size() - shown; more > 0) {
    text += "and " + counted(more, "more wait", "more waits") + " of others: offcpuctl why\n";
  }
  return text;
}

std::string no_chains_text(const WhyAnswer& answer) {
  if (!answer.inputs.no_room_for_chains) return {};
  const std::string& unit = answer.inputs.unit_of_process;
  const std::string command = evidence_for({}, {.kind = Cause::Kind::Unit, .name = unit});
  return "what others did during these waits is not kept, because too many processes waited "
         "longer" +
         printable(command.empty() ? "" : "; of its unit: " + command) + "\n";
}

std::string no_room_text(const WhyAnswer& answer) {
  std::string text;
  if (answer.unnamed >= kLeastThreads) {
    text +=
        threads_text(answer.unnamed) +
        " threads wait in cgroups, or at places, that found no room of their own (\"(other)\"); "
        "units may wait more than is said of them\n";
  }
  const WhyInputs& inputs = answer.inputs;
  const std::size_t left_out = inputs.sites.left_out + inputs.peers.left_out +
                               inputs.takers.left_out + inputs.chains.left_out;
  if (left_out > 0) {
    text += counted(left_out, "amount") +
            " found no room in so long a time, and count as of others; shorter: --window 1min\n";
  }
  return text;
}

std::string more_units_text(const WhyAnswer& answer) {
  if (answer.more_units == 0) return {};
  std::string text = counted(answer.more_units, "more unit");
  if (!answer.whole_host) return text + " (--limit)\n";
  text += ": offcpuctl why";
  const std::size_t all = std::min(answer.all_verdicts, WhyQuery::kMostLimit);
  if (all > WhyQuery{}.limit) text += " --limit " + std::to_string(all);
  return text + "\n";
}

std::string not_kept_text(const WhyAnswer& answer) {
  const auto& sites = answer.inputs.sites;
  const std::chrono::duration<double> kept(sites.known() ? sites.seconds
                                                         : answer.inputs.cpus.seconds);
  const bool is_short = kept + std::chrono::seconds(1) < answer.asked;
  if (!is_short || answer.asked <= WhyQuery{}.window || kept.count() <= 0) return {};
  return "of the " + duration_text(std::chrono::duration<double>(answer.asked)) +
         " asked for, only the last " + duration_text(kept) +
         " are kept here; longer ago: offcpuctl flame --last " + format_duration(answer.asked) +
         " -o waits.html\n";
}

}  // namespace

std::string notes_text(const WhyAnswer& answer) {
  return dependents_text(answer) + no_chains_text(answer) + no_room_text(answer) +
         more_units_text(answer) + not_kept_text(answer);
}

}  // namespace offcpud
