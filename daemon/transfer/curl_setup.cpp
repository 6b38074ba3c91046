// SPDX-License-Identifier: Apache-2.0
#include "transfer/curl_setup.h"

#include <system_error>

#include "base/printable.h"

namespace offcpud {
namespace {

// Many builds of libcurl have a built-in folder of authorities, to which a file alone would only
// add.
bool trust_only(CURL* curl, const std::string& ca_file) {
  return set_option(curl, CURLOPT_CAINFO, ca_file.c_str()) &&
         set_option(curl, CURLOPT_CAPATH, nullptr);
}

}  // namespace

bool set_up_transfer(CURL* curl, const char* schemes, std::chrono::seconds limit,
                     const std::string& ca_file, CurlDetail& detail) {
  return set_option(curl, CURLOPT_PROTOCOLS_STR, schemes) &&
         set_option(curl, CURLOPT_TIMEOUT, static_cast<long>(limit.count())) &&
         set_option(curl, CURLOPT_NOSIGNAL, 1L) &&
         set_option(curl, CURLOPT_ERRORBUFFER, detail.data()) &&
         (ca_file.empty() || trust_only(curl, ca_file));
}

int os_error_of(CURL* curl) {
  long error = 0;
  curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
  return static_cast<int>(error);
}

std::string failure_text(CURL* curl, CURLcode code, const CurlDetail& detail) {
  const int os_error = os_error_of(curl);
  if (code == CURLE_COULDNT_CONNECT && os_error != 0) {
    return std::generic_category().message(os_error);
  }
  return printable(detail[0] != '\0' ? detail.data() : curl_easy_strerror(code));
}

}  // namespace offcpud
