// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace offcpud {

// What `offcpuctl explain-stack` is asked.
struct ExplainRequest {
  std::vector<std::string> rules;  // folders; none: those of this host
  std::string file;                // "" or "-": standard input
  bool unmatched = false;          // only stacks that no rule but a fallback takes
  bool verbose = false;            // also rules that lack one condition
};

// Both must outlive the parsing.
void add_explain(CLI::App& command, ExplainRequest& request);

}  // namespace offcpud
