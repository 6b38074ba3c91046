// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_handle.h"
#include "push/push_client.h"
#include "transfer/curl_setup.h"

namespace offcpud {

// Decides by the status of an answer. 2xx: Accepted. 408, 422, 429 and 5xx: try again; 401 and 403
// too, since the file with the secret may change. All others, redirects included (they are not
// followed): Refused. `body` may be anything; the sentence keeps at most a line of printable
// characters of it.
//
// 422 is retried because Pyroscope's /ingest answers it when its own distributor fails, at its rate
// limits, or while it has no ingester (pkg/ingester/pyroscope/ingest_handler.go).
IngestOutcome outcome_of_answer(long status, std::string_view body,
                                std::optional<std::chrono::seconds> retry_after);

// Sends profiles to Pyroscope's /ingest as a form with two files, `profile` and
// `sample_type_config`. The latter sets their type to `block`; by default it would be process_cpu,
// because off_cpu contains "cpu" (metricName in pkg/og/convert/pprof/profile.go of
// github.com/grafana/pyroscope). Keeps connections for reuse.
class IngestClient final : public PushClient {
 public:
  IngestClient();

  IngestOutcome send(const PushTarget& target, const PushItem& item) override;
  void interrupt() override;
  void rearm() override { interrupted_ = false; }

 private:
  using Multi = UniqueHandle<&curl_multi_cleanup, static_cast<CURLM*>(nullptr)>;

  // nullopt: it was interrupted.
  std::optional<CURLcode> perform();

  std::atomic<bool> interrupted_ = false;
  Multi multi_;  // keeps the connections
  CurlHandle easy_;
};

}  // namespace offcpud
