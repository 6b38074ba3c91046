// SPDX-License-Identifier: Apache-2.0
// Names of any bytes, as logs, terminals, folded lines and messages show them.
#include <clocale>

#include "base/printable.h"
#include "base/text.h"
#include "cli/query_path.h"
#include "config/yaml_settings.h"
#include "ctl/terminal_text.h"
#include "fuzz.h"
#include "snapshot/folded_name.h"
#include "stacks/kernel_frame.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

void require_folded_name(std::string_view input) {
  const std::string name = folded_name(input);
  require(is_printable(name) && !name.empty(), "a frame is text");
  require(name.find(';') == std::string::npos, "of one line and one frame");
  require(name.size() <= kMostFoldedNameBytes, "and of bounded length");
  require(name != "-" && name != "--", "and no separator");
  require(!name.starts_with(' ') && !name.ends_with(' '), "and begins and ends with something");
  require(folded_name(name) == name, "and stays as it is");
}

}  // namespace

void test(std::string_view input) {
  static const bool utf8 = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  require(utf8, "this host has the locale C.UTF-8");

  const std::string valid = to_valid_utf8(input);
  require(is_utf8(valid), "it becomes UTF-8");
  require(to_valid_utf8(valid) == valid, "once");
  if (is_utf8(input)) require(valid == input, "and stays what it was");

  require(is_printable(printable(input)), "a line of a log is one line");
  require(is_printable(quotation(input)) && quotation(input).size() < 512, "so is an excerpt");
  require(find_text_defect(input).has_value() ==
              (!is_utf8(input) || has_control_bytes(input, "\t\n\r")),
          "files hold text");

  const std::string shown = terminal_text(input);
  require(is_printable(shown), "a terminal has nothing to obey");
  require(shown.find("\u009b") == std::string::npos, "nor in C1");
  for (const Align align : {Align::Left, Align::Right}) {
    require(terminal_width(fitted(shown, 20, align)) == 20, "a cell has its width");
  }
  require_folded_name(input);

  const StackFrame frame = kernel_frame(input);
  require(frame.kernel, "a function of the kernel is one");
  require(!has_control_bytes(query_path("/x", {{"a", std::string(input)}})), "a path is one line");
  if (!find_text_defect(input) && !has_control_bytes(input)) {
    const auto again = parse_yaml_value(yaml_scalar(std::string(input)));
    require(again && again->kind == YamlKind::Value && again->value == input,
            "YAML reads back what was quoted");
  }
}

std::vector<std::string> seeds() {
  return {"nginx",
          "a;b c 3",
          "line\nfeed \x1b[2J",
          "\xff\xfe half \xe2\x82",
          "v 1.5",
          "nbsp\u00a05",
          "rtl\u202egnp",
          "-",
          "--",
          "x\u009b2J\u0085y",
          "schedule+0x2a/0x90",
          "nf_hook+0x3c/0xa0 [nf_tables]",
          "[::1]:80",
          "~",
          "a: b # c",
          "'\"\\",
          "\u0e01\u0e33",
          "\U0001f468\u200d\U0001f469",
          std::string(1'100, 'y')};
}

}  // namespace offcpud::fuzz
