// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "holders/lock_holder.h"
#include "integration/locks/contended_program.h"
#include "kernel/block_samples.h"
#include "kernel/bpf_session.h"
#include "reader/process_memory.h"
#include "sampler/holder_finder.h"

namespace offcpud::test {

// What looks at a lock have said, beside what its threads said before and after each.
struct LookScore {
  int compared = 0;  // it named a holder, and the same thread had the lock all the time
  int wrong = 0;     // of these: another one; or the waiter waits for no lock
  int changing = 0;  // it named a holder, but the lock changed hands, so nobody can tell
  int silent = 0;    // one thread had the lock all the time, others waited, and it named nobody
  std::set<std::uint32_t> holders;  // that were compared
  std::vector<std::string> mistakes;
};

// Looks for the holder of a program's lock as the daemon does: a walk over the blocked threads of
// the real programs in this kernel, the memory of the program, and a walk for the threads that it
// names. Needs root.
class LockLooks {
 public:
  // `kind`: what the program's lock is. Both must outlive the object.
  static Result<std::unique_ptr<LockLooks>> open(const ContendedProgram& program, LockKind kind);

  // One look of HolderFinder at the program's blocked threads.
  Status look();

  // So many readings of the lock's memory, for which its owner is told by futex_owner(). Of a
  // program whose threads have been looked at.
  void read_often(int times);

  [[nodiscard]] const LookScore& of_finder() const { return finder_score_; }
  [[nodiscard]] const LookScore& of_memory() const { return memory_score_; }

 private:
  struct Named {
    LockKind kind = LockKind::Mutex;
    std::uint32_t tid = 0;
    friend bool operator==(const Named&, const Named&) = default;
  };

  LockLooks(BpfSession session, const ContendedProgram& program, LockKind kind)
      : session_(std::move(session)), program_(program), kind_(kind) {}
  Status walk();
  [[nodiscard]] std::uint32_t outer_tid(std::uint32_t inner);
  static void judge(LookScore& score, const std::vector<Named>& named, const Named& truth,
                    bool is_known);

  BpfSession session_;
  std::unique_ptr<BlockSamples> samples_;
  const ContendedProgram& program_;
  LockKind kind_;
  DirectProcessMemory memory_;
  HolderFinder finder_{memory_};
  std::vector<offcpud_blocked_record> blocked_;  // threads of the program, at the last look
  std::map<std::uint32_t, std::uint32_t> outer_;
  LookScore finder_score_, memory_score_;
};

}  // namespace offcpud::test
