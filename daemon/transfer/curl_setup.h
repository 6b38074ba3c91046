// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <string>

#include "base/unique_handle.h"

namespace offcpud {

using CurlHandle = UniqueHandle<&curl_easy_cleanup, static_cast<CURL*>(nullptr)>;

// Curl's message about a failed transfer. Must outlive the transfer.
using CurlDetail = std::array<char, CURL_ERROR_SIZE>;

// False: this libcurl lacks the option, or is out of memory.
template <class Value>
bool set_option(CURL* curl, CURLoption option, Value value) {
  return curl_easy_setopt(curl, option, value) == CURLE_OK;
}

// Settings that every transfer needs: allowed schemes ("http,https"), a time limit, no signals, and
// `detail` for errors. `ca_file`: the only trusted authority; empty: those of the host.
bool set_up_transfer(CURL* curl, const char* schemes, std::chrono::seconds limit,
                     const std::string& ca_file, CurlDetail& detail);

// The errno of a connection that could not be made; 0: curl knows none.
int os_error_of(CURL* curl);

// Why a transfer failed, in one printable line. For a refused connection it gives the system's
// reason, which says more than curl's.
std::string failure_text(CURL* curl, CURLcode code, const CurlDetail& detail);

}  // namespace offcpud
