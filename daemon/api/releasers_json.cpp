// SPDX-License-Identifier: Apache-2.0
#include "api/releasers_json.h"

#include <cstdint>
#include <string>
#include <utility>

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json number_or_null(std::uint32_t number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

}  // namespace

Json releasers_json(const std::shared_ptr<const LockReleasers>& released) {
  if (!released) return nullptr;
  Json by = Json::array();
  for (const LockReleasers::By& one : released->by) {
    by.push_back({{"unit", one.unit},
                  {"process", text_or_null(one.process)},
                  {"pid", number_or_null(one.pid)},
                  {"thread", text_or_null(one.thread)},
                  {"tid", number_or_null(one.tid)},
                  {"threads", one.threads},
                  {"own", one.own},
                  {"share", one.share},
                  {"error", one.error}});
  }
  return {{"seen", released->seen}, {"nobody", released->nobody}, {"by", std::move(by)}};
}

}  // namespace offcpud
