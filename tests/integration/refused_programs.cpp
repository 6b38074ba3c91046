// SPDX-License-Identifier: Apache-2.0
// Preloaded into a daemon: the kernel refuses the programs that $OFFCPUD_TEST_REFUSED names, one
// after the other with blanks in between, as one without a helper function that they call. Their
// first instruction becomes a call of a function that no kernel has; so the refusal is the kernel's
// own, with its words.
#include <bpf/bpf.h>
#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool is_refused(const char* program) {
  const char* const names = std::getenv("OFFCPUD_TEST_REFUSED");
  if (names == nullptr || program == nullptr) return false;
  std::istringstream refused(names);
  for (std::string name; refused >> name;) {
    if (name == program) return true;
  }
  return false;
}

}  // namespace

extern "C" int bpf_prog_load(bpf_prog_type type, const char* name, const char* license,
                             const bpf_insn* instructions, std::size_t count,
                             const bpf_prog_load_opts* options) {
  using Load = int(bpf_prog_type, const char*, const char*, const bpf_insn*, std::size_t,
                   const bpf_prog_load_opts*);
  static auto* const real = reinterpret_cast<Load*>(::dlsym(RTLD_NEXT, "bpf_prog_load"));
  if (!is_refused(name)) return real(type, name, license, instructions, count, options);
  std::vector<bpf_insn> changed(instructions, instructions + count);
  changed.front() = {.code = BPF_JMP | BPF_CALL, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 9999};
  return real(type, name, license, changed.data(), count, options);
}
