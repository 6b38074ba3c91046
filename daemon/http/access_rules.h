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

// The rules that follow from the options: docs/security.md has the table. Error: nobody could log
// in.
Result<AccessRules> access_rules(const Config::Web& options, const WebConfig& web, Reach reach,
                                 const TrustedPeers& trusted = {});

// Sentences that tell the operator who sees what; empty if there is nothing unusual.
std::vector<std::string> access_warnings(const AccessRules& rules, const WebConfig& web,
                                         Reach reach, const std::string& listen);

}  // namespace offcpud
