// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "stacks/sampled_snapshot.h"
#include "symbols/elf_symbols.h"
#include "symbols/perf_maps.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// What outlives the look-up of one snapshot's names, besides the names of objects. Owned by the
// thread that looks them up.
struct RuntimeNames {
  PerfMaps perf_maps;
  std::optional<ElfSymbols> vdso;  // none: the kernel has none
};

// Names of functions in programs: in objects by their symbols, in code made at run time by what the
// program says of it. Valid during one job of the thread that owns the names.
class ProcessNames final : public FunctionNames {
 public:
  ProcessNames(SymbolCache& objects, RuntimeNames& runtime, MonotonicTime now)
      : objects_(objects), runtime_(runtime), now_(now) {}

  StackFrame name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) override;

 private:
  [[nodiscard]] StackFrame in_object(const LocatedFrame& frame);
  [[nodiscard]] std::string in_runtime(const offcpud_sample& sample, const LocatedFrame& frame,
                                       bool waker);
  [[nodiscard]] std::string in_vdso(const LocatedFrame& frame) const;

  SymbolCache& objects_;
  RuntimeNames& runtime_;
  MonotonicTime now_;
};

}  // namespace offcpud
