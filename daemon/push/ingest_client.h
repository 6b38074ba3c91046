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

// By the status of an answer: 2xx is Accepted; 408, 422, 429 and 5xx may be tried again, 401 and
// 403 with what is in the file of the secret by then; the rest (with redirects, which are not
// followed) never. `body` may be anything; of it, printable characters and not more than a line are
// kept.
//
// 422 because Pyroscope's /ingest answers so when its own distributor fails, at its limits of
// rates, or while no ingester is there (pkg/ingester/pyroscope/ingest_handler.go).
IngestOutcome outcome_of_answer(long status, std::string_view body,
                                std::optional<std::chrono::seconds> retry_after);

// Sends profiles to Pyroscope's /ingest as a form of two files, `profile` and `sample_type_config`;
// the latter makes their type `block`, which else would be process_cpu, for off_cpu has "cpu" in
// its name (metricName in pkg/og/convert/pprof/profile.go of github.com/grafana/pyroscope).
// Connections are kept for the next time.
class IngestClient final : public PushClient {
 public:
  IngestClient();

  IngestOutcome send(const PushTarget& target, const PushItem& item) override;
  void interrupt() override;
  void rearm() override { interrupted_ = false; }

 private:
  using Multi = UniqueHandle<&curl_multi_cleanup, static_cast<CURLM*>(nullptr)>;

  // nullopt: interrupted
  std::optional<CURLcode> perform();

  std::atomic<bool> interrupted_ = false;
  Multi multi_;  // keeps the connections
  CurlHandle easy_;
};

}  // namespace offcpud
