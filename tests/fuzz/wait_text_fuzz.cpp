// SPDX-License-Identifier: Apache-2.0
// What the kernel's programs write of waits, with paths and names that any user chooses.
#include "fuzz.h"
#include "kernel/wait_text.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  std::map<BlockId, WaitDetail> details;
  add_wait_text(input, details);
  std::size_t frames = 0, arguments = 0;
  for (auto& [id, detail] : details) {
    frames += detail.stack.size();
    arguments += detail.arguments.size();
    add_file_text(input, detail);
    if (detail.path) detail.file = file_of(*detail.path);
    require(is_utf8(detail.file) && is_utf8(detail.device) && is_utf8(detail.socket),
            "paths and devices are UTF-8");
  }
  require(details.size() + frames + arguments <= input.size(), "everything takes bytes");
}

std::vector<std::string> seeds() {
  return {
      "thread 110 12345\nframe futex_wait+0x1/0x2\nframe do_syscall_64\nsyscall 202 10 80 0\n"
      "owner 7\nthread 111 1\ncompat 240 1\n",
      "thread 1 1\nfile /srv/a b\ndevice 8388609 sda1\n",
      "thread 1 1\nfile socket\nsocket 2 1 6 1 33110 443 0a000001 0a000002\n",
      "thread 1 1\npath -100 4096\nname 612f 0 0 0\npart ff 0\npart 61 0\nroot\nfilesystem 38\n"
      "type 65737566 0 0 0\nsubtype 61 0 0 0\n",
      "thread 1 1\nsocket 10 2 17 7 53 0 20010db8000000000000000000000001 0\n"
      "socket 1 1 0 0 0 0\nsocket 99\nthread -1 2\nframe lost\n"};
}

}  // namespace offcpud::fuzz
