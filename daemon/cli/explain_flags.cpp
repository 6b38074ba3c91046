// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_flags.h"

#include <CLI/CLI.hpp>

namespace offcpud {

void add_explain(CLI::App& command, ExplainRequest& request) {
  command
      .add_option("file", request.file,
                  "Folded text, or an answer in JSON, which also knows objects and reasons; "
                  "without it, or with -, standard input")
      ->type_name("FILE");
  command
      .add_option("--rules", request.rules,
                  "Rules of this folder instead of those of this host; may be repeated, and the "
                  "first folder's rules come first")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_flag("--unmatched", request.unmatched,
                   "Only stacks that no rule takes, or but a fallback");
  command.add_flag("-v,--verbose", request.verbose,
                   "Also the rules that lack one condition to take the stack");
}

}  // namespace offcpud
