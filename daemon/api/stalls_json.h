// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "api/address_names.h"
#include "base/result.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"

namespace offcpud {

// What one reader of the stalls gets to see.
struct StallSight {
  // Addresses, words of memory and paths, which /proc shows to nobody but the user of the process
  // and root. Without it they are left out.
  bool addresses = false;
  const AddressNames* names = nullptr;  // of futexes; null: they have none
};

// The body of /api/v1/stalls: docs/http.md. `query`: the parameters of the request, decoded. An
// error (ErrorKind::Usage) is the request's: status 400. Any thread.
Result<std::string> stalls_json(const View& view,
                                const std::multimap<std::string, std::string>& query,
                                const StallSight& sight);

}  // namespace offcpud
