// SPDX-License-Identifier: Apache-2.0
#include "api/releasers_json.h"

#include <utility>

#include "api/json_or_null.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

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
