// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace offcpud {

// A thread that gets no signal, so that they reach the event loop that waits for them. `name`: 15
// bytes at most, which ps(1), top(1) and the stacks of the daemon itself show.
std::thread start_thread(const char* name, std::function<void()> body);

// The same, of one that is asked to stop, and waited for, by its destructor.
std::jthread start_thread(const char* name, std::function<void(const std::stop_token& stop)> body);

}  // namespace offcpud
