// SPDX-License-Identifier: Apache-2.0
// The BPF objects that exist in the guest, seen as the kernel lists them.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstddef>
#include <cstdint>

#include "kernel/bpf_session.h"
#include "offcpud.skel.h"
#include "report.h"

namespace offcpud::test {

// How many programs, links and maps there are. The kernel frees them some time after the last user
// is gone.
struct BpfObjects {
  std::size_t programs, links, maps;
  friend bool operator==(const BpfObjects&, const BpfObjects&) = default;
};
BpfObjects bpf_objects();

// Calls body(name, info) for each program that the session has loaded.
template <class Body>
void for_each_program(const BpfSession& session, Body body) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, session.skeleton().obj) {
    if (!bpf_program__autoload(program)) continue;
    bpf_prog_info info{};
    std::uint32_t size = sizeof(info);
    must(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0, "program info");
    body(bpf_program__name(program), info);
  }
}

// The kernel refuses no program of an optional feature, either; the daemon would do without it.
bool check_all_accepted(const BpfSession& session);

}  // namespace offcpud::test
