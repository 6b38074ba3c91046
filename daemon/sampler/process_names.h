// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "jit/jit_codes.h"
#include "stacks/sampled_snapshot.h"
#include "symbols/elf_symbols.h"
#include "symbols/perf_maps.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// What naming keeps from one snapshot to the next, besides symbols of objects. Owned by the thread
// that looks up names.
struct RuntimeNames {
  PerfMaps perf_maps;
  std::optional<ElfSymbols> vdso;           // nothing: the kernel has none
  std::shared_ptr<const JitCodeBoard> jit;  // null: no code made at run time is read from memory
};

// Names functions of programs: in objects by their symbols; in code made at run time by the perf
// map that the program writes, or else by what was read from its memory. Valid during one job of
// the thread that owns the names.
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
