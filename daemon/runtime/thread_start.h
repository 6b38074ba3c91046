// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace offcpud {

// A thread that gets no signal, so that they reach the event loop that waits for them. `name`: 15
// bytes at most.
std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace offcpud
