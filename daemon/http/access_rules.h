// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/web_config.h"
#include "http/access_control.h"
#include "http/listener.h"

namespace offcpud {

// Who may see what: docs/security.md has the table. An error: nobody could ever log in.
Result<AccessRules> access_rules(const Config::Web& options, const WebConfig& web, Reach reach,
                                 const TrustedPeers& trusted = {});

// What an operator should know about who sees what, as sentences; none where all is as usual.
std::vector<std::string> access_warnings(const AccessRules& rules, const WebConfig& web,
                                         Reach reach, const std::string& listen);

}  // namespace offcpud
