// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_requests.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "reader/reader_answers.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;
using State = ReaderClient::Reply::State;

OpenedFile not_answered(State state) {
  return not_opened(state == State::Hung ? Outcome::Slow : Outcome::Refused);
}

struct FileAnswer {
  OpenedFile file;
  std::string rest;  // the rest of the answer
};

FileAnswer file_answer(ReaderClient::Reply reply) {
  FileAnswer answer;
  OpenedFile& file = answer.file;
  if (!reply.answered()) {
    file = not_answered(reply.state);
    return answer;
  }
  ByteReader bytes(bytes_of(reply.bytes));
  file = take_opened_file(bytes);
  file.fd = std::move(reply.fd);
  const bool is_copy = file.copied > 0 || file.original;
  const bool lacks_file = file.outcome == Outcome::Opened && !file.fd && !is_copy;
  if (!bytes.ok() || lacks_file) file = not_opened(Outcome::Failed);
  answer.rest = reply.bytes.substr(bytes.position());
  return answer;
}

// Counts what the reader refuses, except for lack of room for a copy.
FileAnswer ask_once(ReaderClient& client, const ReaderClient::Request& request) {
  ReaderClient::Reply reply = client.ask(request);
  const bool answered = reply.answered();
  FileAnswer answer = file_answer(std::move(reply));
  if (!answered) return answer;
  const OpenedFile& file = answer.file;
  if (file.outcome == Outcome::TooLarge) client.count_refusal(Refusal::Size);
  const bool is_left_alone = file.outcome == Outcome::Refused && file.copied == 0;
  if (is_left_alone) client.count_refusal(Refusal::Mount);
  return answer;
}

bool wants_room(const OpenedFile& file) {
  return file.outcome == Outcome::Refused && file.copied > 0;
}

// If the file needs a copy, the reader first answers so, with its size. Then this process makes and
// counts the memory, which thus exists only for real copies. A file that has grown since does not
// fit.
FileAnswer ask_for_file(ReaderClient& client, ReaderClient::Request request) {
  FileAnswer answer = ask_once(client, request);
  if (!wants_room(answer.file)) return answer;
  auto place = client.copies().reserve(answer.file.copied, client.owner_of(request));
  if (place) {
    request.place = &*place;
    answer = ask_once(client, request);
  }
  OpenedFile& file = answer.file;
  if (wants_room(file)) client.count_refusal(Refusal::Copies);
  if (file.outcome != Outcome::Opened || file.fd) return answer;
  if (auto copy = place->keep(file.copied, file.original)) {
    file.fd = *std::move(copy);
  } else {
    file = not_opened(Outcome::Failed);
  }
  return answer;
}

std::string bytes_with(std::uint32_t tgid) {
  PacketWriter writer;
  writer.put(tgid);
  return writer.take();
}

Error not_read(std::string_view what, Outcome outcome) {
  switch (outcome) {
    case Outcome::Slow:
      return Error("open '" + std::string(what) + "': no answer in time");
    case Outcome::Refused:
      return Error("open '" + std::string(what) + "': not tried, others like it did not answer");
    case Outcome::TooLarge:
      return Error("open '" + std::string(what) +
                   "': too large to be copied, as its file system is not known to answer");
    default:
      return Error("open '" + std::string(what) + "': it is not there, or on another host");
  }
}

}  // namespace

OpenedFile DeadlineFileOpener::open(const FileRequest& request) {
  PacketWriter writer;
  put_file_request(writer, request);
  return ask_for_file(client_, {.task = ReaderTask::OpenMapped,
                                .what = ReadOf::File,
                                .tgid = request.tgid,
                                .parent_tgid = request.parent_tgid,
                                .path = request.path,
                                .bytes = writer.take()})
      .file;
}

RootId DeadlineFileOpener::root_of(std::uint32_t tgid) {
  if (!roots_.contains(tgid)) ask_roots({&tgid, 1});
  const auto known = roots_.find(tgid);
  return known == roots_.end() ? RootId() : known->second;
}

// In one request: a round trip for each process would be slower than a host can start programs.
void DeadlineFileOpener::ask_roots(std::span<const std::uint32_t> tgids) {
  std::vector<std::uint32_t> left;
  for (const std::uint32_t tgid : tgids) {
    client_.forget_account(tgid);  // it executes something else now
    if (roots_.try_emplace(tgid).second && client_.may_ask(tgid)) left.push_back(tgid);
  }
  for (std::span<const std::uint32_t> rest(left); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kRootsAtOnce));
    rest = rest.subspan(some.size());
    if (!client_.has_reader()) return;
    PacketWriter writer;
    writer.put(static_cast<std::uint32_t>(some.size()));
    for (const std::uint32_t tgid : some) writer.put(tgid);
    const auto reply =
        client_.ask_pieces(ReaderTask::RootsOf, ReadOf::File, writer.take(),
                           [some](std::size_t at) { return some[std::min(at, some.size() - 1)]; });
    ByteReader reader(bytes_of(reply.bytes));
    for (const std::uint32_t tgid : some) roots_[tgid] = take_root(reader);
  }
}

OpenedFile DeadlineFileOpener::open_root(std::uint32_t tgid) {
  return file_answer(client_.ask({.task = ReaderTask::OpenRoot,
                                  .what = ReadOf::File,
                                  .tgid = tgid,
                                  .path = "/",
                                  .bytes = bytes_with(tgid)}))
      .file;
}

Result<std::vector<std::uint32_t>> DeadlineProcessReader::processes() {
  const auto reply = client_.ask(
      {.task = ReaderTask::ListProcesses, .what = ReadOf::Mappings, .path = {}, .bytes = {}});
  if (reply.state == State::Refused) return Error("list '/proc': no reader can be started");
  if (!reply.answered()) return Error("list '/proc': no answer in time");
  ByteReader reader(bytes_of(reply.bytes));
  const Error malformed("list '/proc': the answer is cut short");
  if (!reader.take_bool()) {
    const auto kind = reader.take_enum(ErrorKind::Output);
    const std::string message = take_text(reader);
    return reader.ok() ? Error(message, kind) : malformed;
  }
  std::vector<std::uint32_t> tgids;
  while (!reader.at_end()) tgids.push_back(reader.take<std::uint32_t>());
  if (!reader.ok()) return malformed;
  return tgids;
}

Result<std::optional<ProcessReader::Process>> DeadlineProcessReader::read(std::uint32_t tgid) {
  const auto reply = client_.ask({.task = ReaderTask::ReadProcess,
                                  .what = ReadOf::Mappings,
                                  .tgid = tgid,
                                  .path = {},
                                  .bytes = bytes_with(tgid)});
  if (!reply.answered()) {
    return Error("read '/proc/" + std::to_string(tgid) + "/maps': no answer in time");
  }
  ByteReader reader(bytes_of(reply.bytes));
  return take_process(reader);
}

void DeadlineProcessMemory::read(std::span<MemoryPiece> pieces) {
  std::vector<MemoryPiece*> left;
  for (MemoryPiece& piece : pieces) {
    piece.got = 0;
    if (piece.to.size() <= ReaderPage::kDataBytes) left.push_back(&piece);
  }
  while (!left.empty()) {
    std::erase_if(left, [this](const MemoryPiece* piece) { return !client_.may_ask(piece->tgid); });
    if (left.empty()) return;
    const std::size_t done = read_some(left);
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

// Reads as many pieces as fit into one request. Returns how many are settled; the last of
// them may have hung.
std::size_t DeadlineProcessMemory::read_some(std::span<MemoryPiece*> pieces) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < std::min(pieces.size(), ReaderPage::kMostPieces) &&
         bytes + pieces[count]->to.size() <= ReaderPage::kDataBytes) {
    bytes += pieces[count++]->to.size();
  }
  if (!client_.has_reader()) return pieces.size();
  PacketWriter writer;
  writer.put(static_cast<std::uint32_t>(count));
  for (const MemoryPiece* piece : pieces.first(count)) {
    writer.put(
        WantedMemory{piece->tid, static_cast<std::uint32_t>(piece->to.size()), piece->address});
  }
  std::size_t whole = 0;
  const auto take = [&](std::size_t settled) {
    std::size_t at = 0;
    for (; whole < settled; ++whole) {
      MemoryPiece& piece = *pieces[whole];
      piece.got = std::min<std::size_t>(client_.page()->got.at(whole), piece.to.size());
      std::memcpy(piece.to.data(), client_.page()->data.data() + at, piece.got);
      at += piece.to.size();
    }
  };
  const auto reply = client_.ask_pieces(ReaderTask::ReadMemory, ReadOf::Memory, writer.take(),
                                        [&](std::size_t piece) {
                                          const std::size_t hung = std::min(piece, count - 1);
                                          take(hung);  // while the reader's page exists
                                          return pieces[hung]->tgid;
                                        });
  if (!reply.answered()) return std::min(whole + 1, count);
  // The reader was given up meanwhile.
  if (client_.page() == nullptr) return std::max<std::size_t>(whole, 1);
  whole = 0;
  take(count);
  return count;
}

Result<UniqueFd> DeadlineFilesBelow::open_below(int directory, std::uint32_t process,
                                                const std::string& path, LastLink last_link) {
  PacketWriter writer;
  writer.put(process);
  writer.put(last_link);
  writer.put_text(path);
  OpenedFile file = ask_for_file(client_, {.task = ReaderTask::OpenBelow,
                                           .what = ReadOf::DebugFile,
                                           .tgid = process,
                                           .path = path,
                                           .bytes = writer.take(),
                                           .fd = directory})
                        .file;
  if (file.outcome != Outcome::Opened) return not_read(path, file.outcome);
  return std::move(file.fd);
}

std::optional<FileRights> DeadlineFilesBelow::rights_of_original(int fd) {
  const auto original = client_.copies().original_of(fd);
  if (!original) return std::nullopt;
  return original->rights;
}

Result<FoundPerfMap> DeadlinePerfMapFinder::find(const PerfMapProcess& process) {
  const std::string path = "/tmp/perf-" + std::to_string(process.tgid) + ".map";
  PacketWriter writer;
  writer.put(process);
  FileAnswer answer = ask_for_file(client_, {.task = ReaderTask::FindPerfMap,
                                             .what = ReadOf::PerfMap,
                                             .tgid = process.tgid,
                                             .path = path,
                                             .bytes = writer.take()});
  if (answer.file.outcome != Outcome::Opened) return not_read(path, answer.file.outcome);
  ByteReader rest(bytes_of(answer.rest));
  FoundPerfMap found;
  found.version = rest.take<PerfMapVersion>();
  if (!rest.ok()) return not_read(path, Outcome::Failed);
  found.file = std::move(answer.file.fd);
  return found;
}

}  // namespace offcpud
