// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "http/http_message.h"

namespace offcpud {

// How many bodies are compressed at a time: a client that does not read keeps its body for a
// minute, and there may be many such clients. Thread-safe.
class GzipSlots {
 public:
  explicit GzipSlots(unsigned most) : free_(std::make_shared<std::atomic<unsigned>>(most)) {}

  // Taken as long as somebody has it, which may be longer than this object is there. Null: there is
  // none.
  [[nodiscard]] std::shared_ptr<const void> take() const;

 private:
  std::shared_ptr<std::atomic<unsigned>> free_;
};

// The body as one gzip member (RFC 1952), compressed while it is read: some 330 KiB of memory,
// whatever its length. Fast rather than small, as a scraper waits for it. Used by one thread at a
// time; throws std::runtime_error when there is no memory, and whatever `plain` throws.
BodyStream gzip_stream(BodyStream plain);

}  // namespace offcpud
