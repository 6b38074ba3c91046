// SPDX-License-Identifier: Apache-2.0
#include "kernel/unwind_map_handles.h"

#include "offcpud.skel.h"

namespace offcpud {

UnwindMapHandles unwind_map_handles(const BpfSession& session) {
  const auto& maps = session.skeleton().maps;
  return {.mappings = maps.unwind_mappings,
          .pages = maps.unwind_pages,
          .chunks = maps.unwind_chunks,
          .rules = maps.unwind_rules,
          .files = maps.unwind_files};
}

}  // namespace offcpud
