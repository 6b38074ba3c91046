// SPDX-License-Identifier: Apache-2.0
#include "push/ingest_client.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "base/version.h"
#include "transfer/curl_setup.h"

namespace offcpud {
namespace {

using Form = UniqueHandle<&curl_mime_free, static_cast<curl_mime*>(nullptr)>;
using Headers = UniqueHandle<&curl_slist_free_all, static_cast<curl_slist*>(nullptr)>;
using Kind = IngestOutcome::Kind;

constexpr std::size_t kMostOfAnswer = 200;           // part of the answer that is shown
constexpr std::size_t kLongestAnswer = 64UL * 1024;  // bytes that are read
constexpr int kPollMilliseconds = 1000;              // curl asks for less when it needs to

// Pyroscope's own units and names for Go's profile of blocked time.
constexpr std::string_view kSampleTypes =
    R"({"off_cpu": {"units": "lock_nanoseconds", "display-name": "block_duration", )"
    R"("aggregation": "sum", "cumulative": false, "sampled": false}, )"
    R"("episodes": {"units": "lock_samples", "display-name": "block_count", )"
    R"("aggregation": "sum", "cumulative": false, "sampled": false}})";

struct Answer {
  std::string begin;
  std::size_t length = 0;
};

std::size_t take_answer(const char* data, std::size_t size, std::size_t count, void* target) {
  auto& answer = *static_cast<Answer*>(target);
  const std::size_t bytes = size * count;
  answer.length += bytes;
  if (answer.length > kLongestAnswer) return 0;  // makes curl stop; the status has arrived before
  answer.begin.append(data, std::min(bytes, kMostOfAnswer - answer.begin.size()));
  return bytes;
}

// `field` and `file` are Pyroscope's names; it ignores a part without a file name.
bool add_file(curl_mime* form, const char* field, const char* file, const char* type,
              std::string_view content) {
  curl_mimepart* const part = curl_mime_addpart(form);
  return part != nullptr && curl_mime_name(part, field) == CURLE_OK &&
         curl_mime_filename(part, file) == CURLE_OK && curl_mime_type(part, type) == CURLE_OK &&
         curl_mime_data(part, content.data(), content.size()) == CURLE_OK;
}

Form form_of(CURL* curl, const PushItem& item) {
  Form form(curl_mime_init(curl));
  const bool complete =
      form &&
      add_file(form.get(), "profile", "profile.pprof", "application/octet-stream", item.pprof) &&
      add_file(form.get(), "sample_type_config", "sample_type_config.json", "application/json",
               kSampleTypes);
  if (!complete) form.reset();
  return form;
}

bool add_header(Headers& headers, const std::string& line) {
  curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)headers.release();
  headers.reset(longer);
  return true;
}

// Passes no pointer that must outlive the call: curl copies texts.
bool set_up(CURL* curl, const PushTarget& target, const PushItem& item, CurlDetail& detail) {
  const std::string url = ingest_url(target, item.begin, item.end);
  const std::string agent = std::string("offcpud/") + kVersion;
  return set_option(curl, CURLOPT_URL, url.c_str()) &&
         set_option(curl, CURLOPT_USERAGENT, agent.c_str()) &&
         set_up_transfer(curl, "http,https", target.timeout, target.ca_file, detail) &&
         set_option(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
         set_option(curl, CURLOPT_FOLLOWLOCATION, 0L) &&
         // Without this, a name server that does not answer would delay a reload or the end of the
         // daemon.
         set_option(curl, CURLOPT_QUICK_EXIT, 1L);
}

// curl keeps a copy until the handle is reset; ours is wiped.
Result<bool> set_secret(CURL* curl, CURLoption option, const std::string& file) {
  auto secret = read_secret(file);
  if (!secret) return std::move(secret).error();
  std::string& text = *secret;
  const bool done = set_option(curl, option, text.c_str());
  ::explicit_bzero(text.data(), text.size());
  return done;
}

// Sets the credentials, reading the secret from its file. False: curl lacks an option.
Result<bool> log_in(CURL* curl, const PushTarget& target) {
  if (!target.token_file.empty()) {
    TRY(const bool done, set_secret(curl, CURLOPT_XOAUTH2_BEARER, target.token_file));
    return done && set_option(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
  }
  if (!target.username.empty()) {
    TRY(const bool done, set_secret(curl, CURLOPT_PASSWORD, target.password_file));
    return done && set_option(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC)) &&
           set_option(curl, CURLOPT_USERNAME, target.username.c_str());
  }
  return true;
}

PushFailure cause_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return PushFailure::Resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
      return PushFailure::Connect;
    case CURLE_OPERATION_TIMEDOUT:
      return PushFailure::Timeout;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
      return PushFailure::Tls;
    default:
      return PushFailure::Other;
  }
}

std::string transfer_error(CURL* curl, CURLcode code, const CurlDetail& detail) {
  const bool refused = code == CURLE_COULDNT_CONNECT && os_error_of(curl) != 0;
  return (refused ? "no connection: " : "") + failure_text(curl, code, detail);
}

IngestOutcome try_again(PushFailure cause, const std::string& sentence) {
  return {.kind = Kind::TryAgain, .cause = cause, .sentence = sentence, .retry_after = {}};
}

// A connection attempt may time out too, but that does not depend on the profile.
bool was_being_sent(CURL* curl) {
  curl_off_t begun = 0;
  curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &begun);
  return begun > 0;
}

}  // namespace

IngestOutcome outcome_of_answer(long status, std::string_view body,
                                std::optional<std::chrono::seconds> retry_after) {
  if (status >= 200 && status < 300) return {};
  IngestOutcome outcome{.kind = Kind::Refused, .cause = PushFailure::Refused};
  if (status == 408 || status == 422 || status >= 500) {
    outcome.cause = PushFailure::ServerError;
  } else if (status == 429) {
    outcome.cause = PushFailure::RateLimited;
  } else if (status == 401 || status == 403) {
    outcome.cause = PushFailure::Secret;
  }
  if (outcome.cause != PushFailure::Refused) {
    outcome.kind = Kind::TryAgain;
    outcome.retry_after = retry_after;
    outcome.may_be_the_profile = outcome.cause != PushFailure::Secret;
  }
  while (!body.empty() && (body.back() == '\n' || body.back() == '\r')) body.remove_suffix(1);
  outcome.sentence = "the server answered " + std::to_string(status);
  if (status >= 300 && status < 400) outcome.sentence += ", a redirect, which is not followed";
  if (!body.empty()) outcome.sentence += ": " + printable(body.substr(0, kMostOfAnswer));
  return outcome;
}

IngestClient::IngestClient() : multi_(curl_multi_init()), easy_(curl_easy_init()) {}

void IngestClient::interrupt() {
  interrupted_ = true;
  if (multi_) curl_multi_wakeup(multi_.get());
}

std::optional<CURLcode> IngestClient::perform() {
  if (curl_multi_add_handle(multi_.get(), easy_.get()) != CURLM_OK) return CURLE_FAILED_INIT;
  int running = 1;
  CURLMcode state = CURLM_OK;
  while (running != 0 && state == CURLM_OK && !interrupted_) {
    state = curl_multi_perform(multi_.get(), &running);
    if (state == CURLM_OK && running != 0) {
      state = curl_multi_poll(multi_.get(), nullptr, 0, kPollMilliseconds, nullptr);
    }
  }
  std::optional<CURLcode> code;
  if (state != CURLM_OK) code = CURLE_FAILED_INIT;
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  curl_multi_remove_handle(multi_.get(), easy_.get());
  return code;
}

IngestOutcome IngestClient::send(const PushTarget& target, const PushItem& item) {
  CURL* const curl = easy_.get();
  if (!multi_ || curl == nullptr) return try_again(PushFailure::Other, "libcurl does not start");
  curl_easy_reset(curl);
  const auto logged_in = log_in(curl, target);
  if (!logged_in) return try_again(PushFailure::Secret, logged_in.error().message());

  Answer answer;
  CurlDetail detail{};
  const Form form = form_of(curl, item);
  Headers headers;
  bool ready = *logged_in && form && set_up(curl, target, item, detail) &&
               add_header(headers, "Expect:") &&
               (target.tenant.empty() || add_header(headers, "X-Scope-OrgID: " + target.tenant));
  ready = ready && set_option(curl, CURLOPT_HTTPHEADER, headers.get()) &&
          set_option(curl, CURLOPT_MIMEPOST, form.get()) &&
          set_option(curl, CURLOPT_WRITEFUNCTION, &take_answer) &&
          set_option(curl, CURLOPT_WRITEDATA, &answer);
  if (!ready) return try_again(PushFailure::Other, "libcurl lacks an option, or memory is short");

  const auto code = perform();
  long status = 0;
  curl_off_t asked = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &asked);
  const std::string failure =
      code.value_or(CURLE_OK) == CURLE_OK ? "" : transfer_error(curl, *code, detail);
  const bool unanswered = code == CURLE_OPERATION_TIMEDOUT && was_being_sent(curl);
  curl_easy_reset(curl);  // forgets all options
  if (!code) return {.kind = Kind::Interrupted};
  if (*code == CURLE_OK || (*code == CURLE_WRITE_ERROR && status != 0)) {
    std::optional<std::chrono::seconds> retry_after;
    if (asked > 0) retry_after = std::chrono::seconds(asked);
    return outcome_of_answer(status, answer.begin, retry_after);
  }
  IngestOutcome outcome = try_again(cause_of(*code), failure);
  outcome.may_be_the_profile = unanswered;
  return outcome;
}

}  // namespace offcpud
