// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

using BpfLink = UniqueHandle<&bpf_link__destroy, static_cast<bpf_link*>(nullptr)>;

// Starts a run of the iterator of `link`; reading the descriptor drives it. `what` names the run in
// errors: "walk the threads". Needs CAP_BPF.
Result<UniqueFd> begin_iteration(const BpfLink& link, const char* what);

// Reads the next bytes that the program wrote; 0 at the end.
Result<std::size_t> read_iteration(const UniqueFd& run, std::span<std::byte> to, const char* what);

}  // namespace offcpud
