// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/unique_handle.h"
#include "reader/reader_page.h"

namespace offcpud {

// The requests to a reader, and their answers.
enum class ReaderTask : std::uint32_t {
  OpenMapped,     // FileRequest -> OpenedFile
  RootsOf,        // tgids -> RootIds
  OpenRoot,       // tgid -> descriptor
  ListProcesses,  // -> numbers
  ReadProcess,    // tgid -> ProcessReader::Process
  ReadMemory,     // pieces -> ReaderPage
  OpenBelow,      // directory, process, path -> OpenedFile
  FindPerfMap,    // PerfMapProcess -> FoundPerfMap
  AccountOf,      // tgid -> Account
};

struct WantedMemory {
  std::uint32_t tid = 0;
  std::uint32_t size = 0;
  std::uint64_t address = 0;
};

// The main function of a reader: answers one request after the other until the socket is closed.
// Any request may hang for ever; then the process is killed and another one continues.
void answer_requests(UniqueFd socket, SharedReaderPage page);

}  // namespace offcpud
