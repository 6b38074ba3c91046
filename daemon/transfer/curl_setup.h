// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <string>

#include "base/unique_handle.h"

namespace offcpud {

using CurlHandle = UniqueHandle<&curl_easy_cleanup, static_cast<CURL*>(nullptr)>;

// What curl says of a transfer that fails; must outlive the transfer.
using CurlDetail = std::array<char, CURL_ERROR_SIZE>;

// False: this libcurl has no such option, or memory is short.
template <class Value>
bool set_option(CURL* curl, CURLoption option, Value value) {
  return curl_easy_setopt(curl, option, value) == CURLE_OK;
}

// What every transfer has: only these schemes ("http,https"), a limit of time, no signals, and a
// place for what goes wrong. `ca_file`: the only authority that is trusted; empty: the host's.
bool set_up_transfer(CURL* curl, const char* schemes, std::chrono::seconds limit,
                     const std::string& ca_file, CurlDetail& detail);

// The system's error of a connection that did not come about; 0: curl knows of none.
int os_error_of(CURL* curl);

// Why a transfer failed, in one printable line: the system's reason for a refused connection, which
// says more than curl's.
std::string failure_text(CURL* curl, CURLcode code, const CurlDetail& detail);

}  // namespace offcpud
