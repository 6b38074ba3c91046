// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http/http_message.h"

namespace offcpud {

// The body as one gzip member (RFC 1952), compressed while it is read: some 330 KiB of memory,
// whatever its length. Fast rather than small, as a scraper waits for it. Used by one thread at a
// time; throws std::runtime_error when there is no memory, and whatever `plain` throws.
BodyStream gzip_stream(BodyStream plain);

}  // namespace offcpud
