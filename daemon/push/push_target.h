// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"

namespace offcpud {

// Where profiles go, and as whose. Files are named here and read for each attempt, so that a new
// password needs no signal. Nothing keeps what is secret between attempts, but the memory of curl's
// copy, and of one that was moved, is given back without being wiped.
struct PushTarget {
  std::string url;     // with /ingest, without query
  std::string series;  // "offcpud{instance=web1,env=prod}"
  std::string tenant, username, password_file, token_file, ca_file;  // empty: none
  std::chrono::seconds timeout{10};

  friend bool operator==(const PushTarget&, const PushTarget&) = default;
};

// nullopt where nothing is to be sent. `host` is the name of this host.
std::optional<PushTarget> push_target(const Config::Push& push, std::string_view host);

// The name of this host; empty when it has none.
std::string own_host_name();

// Whether the files that are named can be read, and are a secret or certificates.
Status check_push_files(const Config::Push& push);

// The one line that a file with a password or token holds. The error names the file, never a part
// of what is in it.
Result<std::string> read_secret(const std::string& file);

// Address of a request for a profile of this time. Parameters of Pyroscope's /ingest are name, from
// and until in Unix seconds; there is no format, as with format=pprof the server takes the whole
// body for the profile, and finds the parts of a form by its Content-Type alone:
// https://grafana.com/docs/pyroscope/latest/configure-server/about-server-api/ (of version 1) and
// pkg/ingester/pyroscope/ingest_handler.go, api/model/labelset in github.com/grafana/pyroscope.
std::string ingest_url(const PushTarget& target, WallTime begin, WallTime end);

}  // namespace offcpud
