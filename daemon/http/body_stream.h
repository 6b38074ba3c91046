// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "http/http_message.h"

namespace offcpud {

// A body of this text, which the server does not copy again. stream_of_part() does not keep the
// text, which must outlive the stream; a literal does.
BodyStream stream_of_part(std::string_view text);
BodyStream stream_of(std::string text);

}  // namespace offcpud
