// SPDX-License-Identifier: Apache-2.0
#include "ctl/stacks_total.h"

#include <exception>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "ctl/answer_columns.h"
#include "ctl/sampling_bound.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

std::string origin_of(const Json& answer) {
  return answer.at("begin").get<std::string>() + " to " + answer.at("end").get<std::string>() +
         ", " + answer.at("snapshots").dump() + " snapshots";
}

}  // namespace

Result<StacksTotal> stacks_total(const std::string& json) {
  try {
    const Json answer = Json::parse(json);
    const AnswerColumns columns(answer);
    const bool is_difference = columns.has("before_ns");
    StacksTotal total;
    for (const Json& row : answer.at("rows")) {
      total.ns += columns.number(row, "ns");
      if (is_difference) total.before_ns += columns.number(row, "before_ns");
    }
    total.origin = origin_of(answer);
    total.bound = sampling_bound(answer);
    if (is_difference) total.origin += "; compared with " + origin_of(answer.at("base"));
    return total;
  } catch (const std::exception& error) {
    return Error("this is not an answer of offcpud about stacks: " + printable(error.what()));
  }
}

}  // namespace offcpud
