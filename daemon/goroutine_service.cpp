// SPDX-License-Identifier: Apache-2.0
#include "goroutine_service.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "reader/reader_requests.h"

namespace offcpud {
namespace {

// False: a stop was requested.
bool pause(std::chrono::milliseconds length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  (void)changed.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

Result<GoroutineReport> GoroutineService::goroutines_of(std::uint32_t pid, std::size_t groups,
                                                        const std::stop_token& stop) {
  const auto readers = readers_();
  if (!readers) return Error("offcpud is stopping");
  ReaderClient client(readers);
  DeadlineProcessReader processes(client);
  DeadlineFileOpener files(client);
  DeadlineProcessMemory memory(client);
  return read_goroutines({processes, files, memory}, clock_, pid, groups,
                         [&stop](std::chrono::milliseconds length) { return pause(length, stop); });
}

}  // namespace offcpud
