// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/listen_address.h"

namespace offcpud {

struct HttpAnswer {
  long status = 0;
  std::string body;
};

// One GET of `path` from the daemon at `server`, without proxies and redirects, within five
// seconds. A server that cannot be reached is ErrorKind::Unsupported; the message says what to do.
Result<HttpAnswer> http_get(const ListenAddress& server, const std::string& path);

}  // namespace offcpud
