// SPDX-License-Identifier: Apache-2.0
#include "ctl/http_get.h"

#include <curl/curl.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/summary_header.h"
#include "ctl/status_text.h"
#include "transfer/curl_setup.h"

namespace offcpud {
namespace {

struct BoundedBody {
  std::string& text;
  std::size_t limit;
};

std::size_t append_body(const char* data, std::size_t size, std::size_t count, void* target) {
  const auto& body = *static_cast<const BoundedBody*>(target);
  const std::size_t bytes = size * count;
  if (body.text.size() + bytes > body.limit) return 0;  // curl then stops
  body.text.append(data, bytes);
  return bytes;
}

// The error for a failed transfer. For a refused connection, errno says more than curl.
Error transfer_error(CURL* curl, CURLcode code, const std::string& address,
                     const CurlDetail& detail, const AnswerLimits& limits) {
  const int os_error = os_error_of(curl);
  const std::string why = failure_text(curl, code, detail);
  if (os_error == EACCES || os_error == EPERM) {
    return Error("connecting to " + address +
                     " is not permitted; run as a user who may use the "
                     "socket",
                 ErrorKind::Permission);
  }
  if (code == CURLE_COULDNT_CONNECT) {
    return Error("no offcpud answers at " + address + ": " + why +
                     "; start it (systemctl start offcpud), or give its address with --server",
                 ErrorKind::Unsupported);
  }
  if (code == CURLE_COULDNT_RESOLVE_HOST) {
    return Error("no answer from " + address + ": " + why +
                     "; check the name, or give the address as a number with --server",
                 ErrorKind::Unsupported);
  }
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    return Error("the certificate of " + address + " is not trusted: " + why +
                     "; give its authority with --ca-file",
                 ErrorKind::Permission);
  }
  if (code == CURLE_WRITE_ERROR) {
    return Error("the answer of " + address + " is longer than " +
                     std::to_string(limits.bytes >> 20U) + " MiB",
                 ErrorKind::Unsupported);
  }
  const char* const hint =
      code == CURLE_GOT_NOTHING ? "; if it speaks TLS, use --server https://HOST:PORT" : "";
  return Error("no answer from " + address + ": " + why + hint, ErrorKind::Unsupported);
}

// curl calls this about once a second, and whenever data arrive.
int is_stopped(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

// Sets the user's password and certificates.
bool identify(CURL* curl, const Server& server) {
  const auto set_file = [&](CURLoption option, const std::string& file) {
    return file.empty() || set_option(curl, option, file.c_str());
  };
  const long netrc = server.netrc_file.empty() ? CURL_NETRC_IGNORED : CURL_NETRC_REQUIRED;
  return set_file(CURLOPT_SSLCERT, server.cert_file) && set_file(CURLOPT_SSLKEY, server.key_file) &&
         set_file(CURLOPT_NETRC_FILE, server.netrc_file) &&
         set_option(curl, CURLOPT_NETRC, netrc) &&
         set_option(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
}

}  // namespace

Error refused(const std::string& server_text, const HttpAnswer& answer) {
  const std::string sentence = error_sentence(answer.body);
  if (answer.status == 401 || answer.status == 403) {
    return Error(
        server_text + " answered " + std::to_string(answer.status) + ": " + sentence +
            (answer.status == 401 ? "; with --netrc-file, name a file that has both for this host"
                                  : ""),
        ErrorKind::Permission);
  }
  // Other programs at that address send no sentence of this form.
  const ErrorKind kind = sentence.empty()       ? ErrorKind::Unsupported
                         : answer.status == 400 ? ErrorKind::Usage
                         : answer.status == 404 ? ErrorKind::NotFound
                                                : ErrorKind::Unsupported;
  return Error(server_text + " answered " + std::to_string(answer.status) +
                   (sentence.empty() ? "; is it offcpud?" : ": " + sentence),
               kind);
}

Result<HttpAnswer> http_get(const Server& server, const std::string& path,
                            const std::stop_token& stop, const AnswerLimits& limits) {
  const std::string address = server.address.text();
  const char* const scheme = server.tls ? "https" : "http";
  const std::string url =
      std::string(scheme) + "://" + (server.address.is_unix() ? "localhost" : address) + path;
  const CurlHandle handle(curl_easy_init());
  CURL* const curl = handle.get();
  if (curl == nullptr) return Error("libcurl cannot be initialised");

  HttpAnswer answer;
  BoundedBody body{answer.body, limits.bytes};
  CurlDetail detail{};
  bool ready = set_option(curl, CURLOPT_URL, url.c_str()) && set_option(curl, CURLOPT_PROXY, "") &&
               set_up_transfer(curl, scheme, limits.time, server.ca_file, detail) &&
               set_option(curl, CURLOPT_WRITEFUNCTION, &append_body) &&
               set_option(curl, CURLOPT_WRITEDATA, &body);
  ready = ready && set_option(curl, CURLOPT_NOPROGRESS, 0L) &&
          set_option(curl, CURLOPT_XFERINFOFUNCTION, &is_stopped) &&
          set_option(curl, CURLOPT_XFERINFODATA, &stop);
  ready = ready && identify(curl, server);
  if (ready && server.address.is_unix()) {
    ready = set_option(curl, CURLOPT_UNIX_SOCKET_PATH, server.address.unix_path.c_str());
  }
  if (!ready) return Error("this libcurl lacks an option that offcpuctl needs");

  CURLcode code = curl_easy_perform(curl);
  // Without ca-certificates, the host trusts no authority.
  if (code == CURLE_SSL_CACERT_BADFILE && server.ca_file.empty()) {
    code = CURLE_PEER_FAILED_VERIFICATION;
  }
  if (code != CURLE_OK) return transfer_error(curl, code, address, detail, limits);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_header* summary = nullptr;
  if (curl_easy_header(curl, kSummaryHeader, 0, CURLH_HEADER, -1, &summary) == CURLHE_OK) {
    answer.summary = summary->value;
  }
  return answer;
}

}  // namespace offcpud
