// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <future>
#include <string>
#include <utility>
#include <variant>

#include "http/http_message.h"

namespace offcpud::test {

// The response, waited for as the server does when it comes later.
inline Response resolved(Response response) {
  const auto* const later = std::get_if<Later>(&response.body);
  if (later == nullptr) return response;
  auto promise = std::make_shared<std::promise<Later::Make>>();
  later->start([promise](Later::Make make) { promise->set_value(std::move(make)); });
  return promise->get_future().get()();
}

inline std::string body_of(const Response& response) {
  if (const auto* text = std::get_if<std::string>(&response.body)) return *text;
  auto stream = std::get<BodyStream>(response.body);
  std::string body;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = stream(buffer)) body.append(buffer.data(), n);
  return body;
}

}  // namespace offcpud::test
