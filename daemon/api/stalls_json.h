// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "api/address_names.h"
#include "base/result.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"

namespace offcpud {

// How much of the stalls one client may see.
struct StallSight {
  // Addresses, words of memory and paths, which /proc shows only to root and to the user of the
  // process. False: they are left out.
  bool addresses = false;
  const AddressNames* names = nullptr;  // of futexes; null: none
};

// The body of /api/v1/stalls (docs/http.md). `query`: the decoded parameters of the request. Error
// (ErrorKind::Usage): they are wrong, status 400. Any thread.
Result<std::string> stalls_json(const View& view,
                                const std::multimap<std::string, std::string>& query,
                                const StallSight& sight);

}  // namespace offcpud
