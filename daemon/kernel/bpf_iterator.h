// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

using BpfLink = UniqueHandle<&bpf_link__destroy, static_cast<bpf_link*>(nullptr)>;

// Starts a run of the iterator of `link`; reading the descriptor drives it. `what` names the run in
// errors: "walk the threads". Needs CAP_BPF.
Result<UniqueFd> begin_iteration(const BpfLink& link, const char* what);

// Reads the next bytes that the program wrote; 0 at the end.
Result<std::size_t> read_iteration(const UniqueFd& run, std::span<std::byte> to, const char* what);

// Runs the iterator of `link` and passes each record that its program wrote to `take`.
template <class Record, class Take>
Status read_records(const BpfLink& link, const char* what, const Take& take) {
  TRY(const UniqueFd run, begin_iteration(link, what));
  // A read must be smaller than the kernel's buffer of 32 KiB by more than one record. The kernel
  // drops a record that does not fit and runs the program for that thread again, although the
  // program may have accounted it already (bpf_iter.c).
  constexpr std::size_t kAsk = std::size_t{16} << 10;
  std::vector<std::byte> buffer(kAsk + sizeof(Record));
  std::size_t kept = 0;  // bytes of an incomplete record
  for (;;) {
    TRY(const std::size_t got, read_iteration(run, std::span(buffer).subspan(kept, kAsk), what));
    if (got == 0) return {};
    std::span<const std::byte> bytes = std::span(buffer).first(kept + got);
    for (; bytes.size() >= sizeof(Record); bytes = bytes.subspan(sizeof(Record))) {
      Record record{};
      std::memcpy(&record, bytes.data(), sizeof(record));
      take(record);
    }
    kept = bytes.size();
    std::memmove(buffer.data(), bytes.data(), kept);
  }
}

}  // namespace offcpud
