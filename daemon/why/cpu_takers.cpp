// SPDX-License-Identifier: Apache-2.0
#include "why/cpu_takers.h"

#include "base/amount_text.h"
#include "base/no_unit.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

constexpr double kLeastShareOfTaker = 0.5;

bool is_somebody(UnitTaker::By by) {
  return by == UnitTaker::By::Unit || by == UnitTaker::By::Same || by == UnitTaker::By::Kernel;
}

}  // namespace

Cause::Kind kind_of(UnitTaker::By by) {
  switch (by) {
    case UnitTaker::By::Unit:
      return Cause::Kind::Unit;
    case UnitTaker::By::Same:
      return Cause::Kind::Self;
    case UnitTaker::By::Kernel:
      return Cause::Kind::Kernel;
    case UnitTaker::By::Idle:
      return Cause::Kind::Nobody;
    case UnitTaker::By::Others:
      return Cause::Kind::Others;
    case UnitTaker::By::Unknown:
      break;
  }
  return Cause::Kind::Unknown;
}

std::optional<CpuTaker> main_taker(const WhyInputs& inputs, const std::string& unit) {
  if (!inputs.takers.known()) return std::nullopt;
  CpuTaker most{.kind = Cause::Kind::Self, .is_limit = true, .name = unit};
  const Rate of_cpus(inputs.cpus.seconds), of_takers(inputs.takers.seconds);
  for (const UnitCpu& cpu : inputs.cpus.of(unit)) {
    most.threads += of_cpus.threads(cpu.throttled_ns);
  }
  double all = most.threads;
  for (const UnitTaker& taker : inputs.takers.of(unit)) {
    const double threads = of_takers.threads(taker.ns);
    all += threads;
    if (!is_somebody(taker.kind) || threads <= most.threads) continue;
    most = {.kind = kind_of(taker.kind),
            .name = taker.kind == UnitTaker::By::Same ? unit : taker.by,
            .threads = threads};
  }
  if (most.threads <= 0 || most.threads < kLeastShareOfTaker * all) return std::nullopt;
  most.share = most.threads / all;
  return most;
}

std::string behind_text(const CpuTaker& taker, const std::string& unit) {
  const std::string whose = verb_of(unit, "its", "their");
  std::string text = "mostly behind ";
  if (taker.is_limit) {
    text = "mostly held back by " + whose + " own limit, cpu.max";
  } else if (taker.kind == Cause::Kind::Unit) {
    text += in_sentence(taker.name);
  } else {
    text += taker.kind == Cause::Kind::Kernel ? "kernel threads" : whose + " own threads";
  }
  return text + " (" + share_text(taker.share) + " of all " + whose +
         " waits for one in this window)";
}

}  // namespace offcpud
