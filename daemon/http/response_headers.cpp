// SPDX-License-Identifier: Apache-2.0
#include "http/response_headers.h"

#include <strings.h>

#include <algorithm>

namespace offcpud {
namespace {

// Browsers draw only our pages, and none of them inside other pages. A page brings its own policy.
const HeaderList& for_every_response() {
  static const HeaderList headers = {
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "deny"},
      {"Content-Security-Policy",
       "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return headers;
}

void put(HeaderList& headers, const std::string& name, const std::string& value) {
  std::erase_if(headers, [&](const auto& header) {
    return ::strcasecmp(header.first.c_str(), name.c_str()) == 0;
  });
  if (!value.empty()) headers.emplace_back(name, value);
}

}  // namespace

HeaderList headers_of(const Response& response, const HeaderList& configured) {
  HeaderList headers = for_every_response();
  put(headers, "Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) put(headers, name, value);
  for (const auto& [name, value] : configured) put(headers, name, value);
  return headers;
}

}  // namespace offcpud
