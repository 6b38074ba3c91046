// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/unique_handle.h"

namespace offcpud::test {

// Connects to an address as HttpServer::address() writes it: a literal v4 or [v6] address with a
// port, or unix:PATH. An invalid handle: nobody listens.
UniqueFd connect_to(const std::string& address);

bool send_text(int fd, const std::string& text);

// Something has arrived, if only the end; false: nothing did within the time.
bool is_readable_within(int fd, std::chrono::milliseconds patience);

// Everything until the peer closes or nothing arrives for the time.
std::string receive_all(int fd, std::chrono::milliseconds patience = std::chrono::seconds(20));

// One request on a connection of its own: "GET /metrics".
std::string fetch(const std::string& address, const std::string& method_and_path);

// Waits until the peer has closed the connection; false: it did not within the time.
bool is_closed_within(int fd, std::chrono::milliseconds patience);

// The body of a response in chunked encoding.
std::string unchunk(const std::string& response);

}  // namespace offcpud::test
