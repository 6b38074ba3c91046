// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace offcpud {

// Which function of a goroutine's stack people know it by: the innermost one that is not of Go's
// standard library, such as "main.pay" that called sync.(*Mutex).Lock. If all are, the innermost
// one that is not of the runtime and what it is called by to wait. `functions`: innermost first.
// Empty: there is none.
std::string_view waiting_function(std::span<const std::string_view> functions);

// Whether a function is of Go's standard library: "net/http.(*conn).serve".
bool is_of_go_library(std::string_view function);

}  // namespace offcpud
