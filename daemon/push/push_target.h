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

// The server for profiles, and the credentials. Files are only named here and are read for each
// attempt, so a new password needs no signal. No secret is kept between attempts, but memory that
// curl or a move copied it to is freed without being wiped.
struct PushTarget {
  std::string url;     // including /ingest, without query
  std::string series;  // "offcpud{instance=web1,env=prod}"
  std::string tenant, username, password_file, token_file, ca_file;  // empty: none
  std::chrono::seconds timeout{10};

  friend bool operator==(const PushTarget&, const PushTarget&) = default;
};

// nullopt: nothing is to be sent. `host`: the name of this host.
std::optional<PushTarget> push_target(const Config::Push& push, std::string_view host);

// The name of this host; empty: it has none.
std::string own_host_name();

// Checks that the configured files can be read and contain a secret or certificates.
Status check_push_files(const Config::Push& push);

// The single line in a file with a password or token. Errors name the file and never contain a part
// of its contents.
Result<std::string> read_secret(const std::string& file);

// The address of a request for a profile of this time. Pyroscope's /ingest takes the parameters
// name, and from and until in Unix seconds. There is no format: with format=pprof the server would
// take the whole body for the profile; without it, it recognizes a form by its Content-Type.
// Sources: https://grafana.com/docs/pyroscope/latest/configure-server/about-server-api/ (of version
// 1); pkg/ingester/pyroscope/ingest_handler.go and api/model/labelset in
// github.com/grafana/pyroscope.
std::string ingest_url(const PushTarget& target, WallTime begin, WallTime end);

}  // namespace offcpud
