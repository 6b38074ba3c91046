// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace offcpud {

// Checks the fields that say how long a request is and for which host. If a proxy in front read
// them differently, it would take the end of one request for the start of the next (request
// smuggling; RFC 9112, sections 6.3, 11.2 and 3.2).
class RequestFraming {
 public:
  void add(std::string_view name, std::string_view value);

  enum class Verdict { NoBody, Body, Ambiguous };
  [[nodiscard]] Verdict verdict() const;

 private:
  std::size_t lengths_ = 0;  // number of Content-Length fields
  std::size_t codings_ = 0;
  std::size_t hosts_ = 0;
  bool canonical_ = true;
  bool empty_ = true;
};

}  // namespace offcpud
