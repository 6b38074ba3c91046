// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace offcpud {

// Starts a thread that receives no signals, so that the event loop gets them all. `name`: at most
// 15 bytes; ps(1), top(1) and the stacks of the daemon itself show it.
std::thread start_thread(const char* name, std::function<void()> body);

// The same; the destructor asks the thread to stop and waits for it.
std::jthread start_thread(const char* name, std::function<void(const std::stop_token& stop)> body);

}  // namespace offcpud
