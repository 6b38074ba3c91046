// SPDX-License-Identifier: Apache-2.0
// What the log says of stalls: one line, whatever the names hold.
#include "attribution/subject.h"
#include "base/text.h"
#include "fuzz.h"
#include "kernel/wait_text.h"
#include "runtime/journal.h"
#include "stall_journal.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  const auto flags = in.take<std::uint8_t>();
  Stall stall;
  stall.tid = stall.local_tid = in.take<std::uint32_t>();
  stall.kind = in.take<std::uint8_t>() % std::size_t{OFFCPUD_BLOCKED_KINDS};
  stall.duration_ns = in.take<std::uint64_t>();
  stall.comm = take_text(in);
  stall.process_comm = take_text(in);
  stall.waker_comm = take_text(in);
  stall.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(take_text(in)));
  if ((flags & 1U) != 0) {
    std::map<BlockId, WaitDetail> details;
    WaitDetail& detail = details[{1, 1}];
    add_wait_text("thread 1 1\n" + std::string(take_text(in)), details);
    add_file_text(take_text(in), detail);
    detail.owner_comm = stall.comm;
    stall.detail = detail;
  }
  stall.ended = (flags & 2U) != 0;
  if ((flags & 4U) != 0) stall.ended_at = WallTime();
  if ((flags & 8U) != 0) {
    stall.woken_from = static_cast<offcpud_waker>(flags / 16U % OFFCPUD_WAKERS);
    stall.waker_tid = 7;
  }
  for (const StallEntry& entry : {stall_begun_entry(stall), stall_ended_entry(stall)}) {
    require(is_printable(entry.message), "a message is one line of text");
    for (const LogField& field : entry.fields) {
      require(is_printable(field.value), "so is each of its fields");
    }
    for (const std::string& field : journal_entry(4, entry.message, entry.fields)) {
      const std::size_t equals = field.find('=');
      require(equals != std::string::npos && equals > 0 && equals <= 64, "a field has a name");
      require(field.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
                  std::string::npos,
              "that the journal takes");
    }
  }
}

std::vector<std::string> seeds() {
  const std::string head("\x0f\x01\0\0\0\3\0\0\0\0\1\0\0\0", 14);
  return {head + as_input({"worker", "server", "w\x1b[2J", "/a.service",
                           "syscall 202 10 80\nframe a+0x1/0x2\nowner 7\n",
                           "file socket\nsocket 2 1 6 1 80 443 0a000001 0a000002\n"}),
          head + as_input({"a\nb", "\xff", "", "/evil\n\x1b", "compat 1\nframe \xff\x1b\n",
                           "file /a\x1b\xff\ndevice 8388609 sda1\n"})};
}

}  // namespace offcpud::fuzz
