// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http/http_message.h"

namespace offcpud {

// The body as one gzip member (RFC 1952), compressed while it is read. Takes some 330 KiB of memory
// for any length. Prefers speed to size, as a scraper waits. Used by one thread at a time; throws
// std::runtime_error without memory, and whatever `plain` throws.
BodyStream gzip_stream(BodyStream plain);

}  // namespace offcpud
