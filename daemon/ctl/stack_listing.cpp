// SPDX-License-Identifier: Apache-2.0
#include "ctl/stack_listing.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/duration_text.h"
#include "base/printable.h"
#include "ctl/answer_columns.h"
#include "ctl/whole_number.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

// Throws if the answer is not as docs/http.md describes it.
class Listing {
 public:
  Listing(const Json& answer, bool delimited)
      : answer_(answer), delimited_(delimited), columns_(answer) {}

  std::string text() const {
    // Sums rows that differ only in what is not shown, such as the waker.
    std::map<std::vector<std::uint64_t>, Block> sums;
    for (const Json& row : answer_.at("rows")) {
      std::vector<std::uint64_t> shown;
      for (const char* column : {"stack", "comm", "pid", "for", "site"}) {
        if (columns_.has(column)) shown.push_back(columns_.number(row, column));
      }
      Block& sum = sums[std::move(shown)];
      if (sum.row == nullptr) sum.row = &row;
      sum.ns += columns_.number(row, "ns");
    }
    std::vector<Block> blocks;
    blocks.reserve(sums.size());
    for (const auto& [shown, sum] : sums) blocks.push_back(sum);
    std::ranges::stable_sort(blocks, {}, &Block::ns);
    std::string out;
    for (const Block& block : blocks) add(out, *block.row, block.ns);
    return out;
  }

 private:
  struct Block {
    const Json* row = nullptr;  // the first of the rows
    std::uint64_t ns = 0;
  };

  [[nodiscard]] std::string string(const Json& index) const {
    return printable(columns_.string(index));
  }

  void add(std::string& out, const Json& row, std::uint64_t ns) const {
    const Json& stack = columns_.stack(row);
    bool in_kernel = false;
    for (std::size_t i = stack.size(); i > 0; --i) {
      const Json& frame = columns_.entry("frames", stack[i - 1]);
      const bool kernel = whole_number<int>(frame.at(2)) != 0;
      if (delimited_ && in_kernel && !kernel) out += "    --\n";
      in_kernel = kernel;
      out += "    " + string(frame.at(0)) + "\n";
    }
    out += "    -                " + string(columns_.cell(row, "comm")) + " (" +
           std::to_string(columns_.number(row, "pid")) + ")" + purpose(row) + "\n";
    const std::chrono::nanoseconds time(static_cast<std::int64_t>(ns));
    out += "        " + duration_text(time) + "\n\n";
  }

  // "  lock: postgresql-heavyweight-lock"; nothing where the daemon is too old to say it.
  [[nodiscard]] std::string purpose(const Json& row) const {
    if (!columns_.has("for") || !columns_.has("site")) return {};
    const std::string site = string(columns_.cell(row, "site"));
    return "  " + string(columns_.cell(row, "for")) + (site.empty() ? "" : ": " + site);
  }

  const Json& answer_;
  bool delimited_;
  AnswerColumns columns_;
};

}  // namespace

Result<std::string> stack_listing(const std::string& json, bool delimited) {
  try {
    const Json answer = Json::parse(json);
    return Listing(answer, delimited).text();
  } catch (const std::exception&) {
    return Error("the answer is not a snapshot of offcpud");
  }
}

std::string without_delimiters(const std::string& folded) {
  constexpr std::string_view kDelimiter = ";-;";
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = folded.find(kDelimiter); at != std::string::npos;
       at = folded.find(kDelimiter, begin)) {
    out.append(folded, begin, at - begin).append(1, ';');
    begin = at + kDelimiter.size();
  }
  return out.append(folded, begin);
}

}  // namespace offcpud
