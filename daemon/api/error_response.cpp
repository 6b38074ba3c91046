// SPDX-License-Identifier: Apache-2.0
#include "api/error_response.h"

#include <nlohmann/json.hpp>

namespace offcpud {

Response error(unsigned status, const std::string& sentence) {
  using Json = nlohmann::ordered_json;
  const Json body = {{"error", sentence}};
  return {.status = status,
          .content_type = kJson,
          .body = body.dump(2, ' ', true, Json::error_handler_t::replace) + '\n'};
}

}  // namespace offcpud
