// SPDX-License-Identifier: Apache-2.0
#include "http/body_stream.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace offcpud {

BodyStream stream_of_part(std::string_view text) {
  return [text](std::span<char> buffer) mutable {
    const std::size_t n = std::min(buffer.size(), text.size());
    std::memcpy(buffer.data(), text.data(), n);
    text.remove_prefix(n);
    return n;
  };
}

BodyStream stream_of(std::string text) {
  auto shared = std::make_shared<const std::string>(std::move(text));
  return [shared, rest = stream_of_part(*shared)](std::span<char> buffer) { return rest(buffer); };
}

}  // namespace offcpud
