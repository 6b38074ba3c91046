// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "http/http_message.h"

namespace offcpud {

// Limits how many bodies are compressed at a time: a client that does not read keeps its body for a
// minute, and there may be many such clients. Thread-safe.
class GzipSlots {
 public:
  explicit GzipSlots(unsigned most) : free_(std::make_shared<std::atomic<unsigned>>(most)) {}

  // Taken until the last copy of the pointer is gone; that may outlive the object. Null: none is
  // free.
  [[nodiscard]] std::shared_ptr<const void> take() const;

 private:
  std::shared_ptr<std::atomic<unsigned>> free_;
};

// The body as one gzip member (RFC 1952), compressed while it is read. Takes some 330 KiB of memory
// for any length. Prefers speed to size, as a scraper waits. Used by one thread at a time; throws
// std::runtime_error without memory, and whatever `plain` throws.
BodyStream gzip_stream(BodyStream plain);

}  // namespace offcpud
