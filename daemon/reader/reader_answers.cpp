// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_answers.h"

#include <cerrno>
#include <chrono>

#include "reader/process_account.h"
#include "reader/process_memory.h"
#include "reader/reader_process.h"
#include "symbols/perf_map_file.h"
#include "symbols/perf_map_finder.h"
#include "symbols/rooted_path.h"

namespace offcpud {
namespace {

enum class ProcessState : std::uint8_t { Gone, There, Unreadable };

template <class T>
ReaderAnswers::Answer with(const T& value) {
  PacketWriter writer;
  writer.put(value);
  return {writer.take(), {}};
}

BuildId take_build_id(ByteReader& reader) {
  const auto raw = reader.take<BuildId>();
  if (raw.size > BuildId::kMaxSize) {
    reader.refuse();
    return {};
  }
  return BuildId::from(std::span(raw.bytes).first(raw.size));
}

}  // namespace

RootId take_root(ByteReader& reader) {
  RootId root;
  root.device = reader.take<std::uint64_t>();
  root.inode = reader.take<std::uint64_t>();
  root.user = reader.take<std::uint32_t>();
  root.user_is = reader.take_enum(RootId::UserIs::Own);
  return reader.ok() ? root : RootId();
}

void put_file_request(PacketWriter& writer, const FileRequest& request) {
  writer.put(request.tgid);
  writer.put(request.parent_tgid);
  writer.put(request.begin);
  writer.put(request.end);
  writer.put(request.deleted);
  writer.put(request.build_id);
  writer.put(request.inode);
  writer.put(request.root);
  writer.put_text(request.path);
}

FileRequest take_file_request(ByteReader& reader) {
  FileRequest request;
  request.tgid = reader.take<std::uint32_t>();
  request.parent_tgid = reader.take<std::uint32_t>();
  request.begin = reader.take<std::uint64_t>();
  request.end = reader.take<std::uint64_t>();
  request.deleted = reader.take_bool();
  request.build_id = take_build_id(reader);
  request.inode = reader.take<InodeId>();
  request.root = take_root(reader);
  request.path = take_text(reader);
  return request;
}

void put_opened_file(PacketWriter& writer, const OpenedFile& file) {
  writer.put(file.outcome);
  writer.put(file.build_id);
  writer.put(file.copied);
  writer.put(file.original.has_value());
  writer.put(file.original.value_or(OriginalFile()));
  writer.put(file.mapped_by.has_value());
  writer.put(file.mapped_by.value_or(0));
}

OpenedFile take_opened_file(ByteReader& reader) {
  OpenedFile file;
  file.outcome = reader.take_enum(OpenedFile::Outcome::Refused);
  file.build_id = take_build_id(reader);
  file.copied = reader.take<std::uint64_t>();
  const bool is_copy = reader.take_bool();
  const auto original = reader.take<OriginalFile>();
  if (is_copy) file.original = original;
  const bool is_mapped = reader.take_bool();
  const auto mapped_by = reader.take<std::uint32_t>();
  if (is_mapped) file.mapped_by = mapped_by;
  return file;
}

void put_process(PacketWriter& writer,
                 const Result<std::optional<ProcessReader::Process>>& process) {
  if (!process) {
    writer.put(ProcessState::Unreadable);
    writer.put(process.error().kind());
    return writer.put_text(process.error().message());
  }
  writer.put(*process ? ProcessState::There : ProcessState::Gone);
  if (!*process) return;
  writer.put(static_cast<std::uint32_t>((*process)->maps.size()));
  for (const MapsLine& line : (*process)->maps) {
    writer.put(line.begin);
    writer.put(line.end);
    writer.put(line.offset);
    writer.put(line.executable);
    writer.put(line.inode);
    writer.put_text(line.path);
  }
  writer.put((*process)->left_out);
  writer.put(static_cast<std::uint32_t>((*process)->threads.size()));
  for (const std::uint32_t thread : (*process)->threads) writer.put(thread);
}

Result<std::optional<ProcessReader::Process>> take_process(ByteReader& reader) {
  const Error malformed("read a process: the answer is cut short");
  const auto state = reader.take_enum(ProcessState::Unreadable);
  if (state == ProcessState::Unreadable) {
    const auto kind = reader.take_enum(ErrorKind::Output);
    const std::string message = take_text(reader);
    return reader.ok() ? Error(message, kind) : malformed;
  }
  if (!reader.ok()) return malformed;
  if (state == ProcessState::Gone) return std::optional<ProcessReader::Process>();
  ProcessReader::Process process;
  for (auto lines = reader.take<std::uint32_t>(); lines > 0 && reader.ok(); --lines) {
    MapsLine line;
    line.begin = reader.take<std::uint64_t>();
    line.end = reader.take<std::uint64_t>();
    line.offset = reader.take<std::uint64_t>();
    line.executable = reader.take_bool();
    line.inode = reader.take<InodeId>();
    line.path = take_text(reader);
    process.maps.push_back(std::move(line));
  }
  process.left_out = reader.take<std::uint64_t>();
  for (auto threads = reader.take<std::uint32_t>(); threads > 0 && reader.ok(); --threads) {
    process.threads.push_back(reader.take<std::uint32_t>());
  }
  if (!reader.ok()) return malformed;
  return std::optional(std::move(process));
}

ReaderAnswers::ReaderAnswers(ReaderPage& page)
    : page_(page), files_([this](std::uint64_t mount) { return may_touch(mount); }) {}

// What is written here is read by the client if it gives this process up.
bool ReaderAnswers::may_touch(std::uint64_t mount) {
  for (const auto& shunned : page_.shunned) {
    if (shunned == mount && mount != 0) return false;
  }
  page_.mount = mount;
  ++page_.progress;
  return true;
}

ReaderAnswers::Answer ReaderAnswers::answer(Packet request) {
  ByteReader reader(bytes_of(request.bytes));
  const auto task = reader.take_enum(ReaderTask::AccountOf);
  if (reader.take_bool()) files_.refresh();
  take_copy_room(request, reader.take<std::uint64_t>());
  page_.mount = 0;
  switch (task) {
    case ReaderTask::OpenMapped:
      return open_mapped(reader);
    case ReaderTask::RootsOf:
      return roots_of(reader);
    case ReaderTask::OpenRoot:
      return opened(opener_.open_root(reader.take<std::uint32_t>()));
    case ReaderTask::ListProcesses:
      return list_processes();
    case ReaderTask::ReadProcess: {
      PacketWriter writer;
      put_process(writer, processes_.read(reader.take<std::uint32_t>()));
      return {writer.take(), {}};
    }
    case ReaderTask::ReadMemory:
      read_memory(reader);
      return {};
    case ReaderTask::OpenBelow:
      return open_below(reader, std::move(request.fds[0]));
    case ReaderTask::FindPerfMap:
      return find_perf_map(reader);
    case ReaderTask::AccountOf: {
      const auto account = account_of(reader.take<std::uint32_t>());
      return account ? with(*account) : Answer();
    }
  }
  return {};
}

// The copy room is the last descriptor of a request that has one.
void ReaderAnswers::take_copy_room(Packet& request, std::uint64_t bytes) {
  UniqueFd& last = request.fds[request.fds[1] ? 1 : 0];
  files_.set_copy_room(bytes > 0 ? std::move(last) : UniqueFd(), bytes);
}

ReaderAnswers::Answer ReaderAnswers::opened(OpenedFile file) {
  PacketWriter writer;
  put_opened_file(writer, file);
  return {writer.take(), std::move(file.fd)};
}

ReaderAnswers::Answer ReaderAnswers::roots_of(ByteReader& request) {
  PacketWriter writer;
  const auto count = request.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && request.ok(); ++i) {
    page_.piece = i;
    ++page_.progress;
    writer.put(opener_.root_of(request.take<std::uint32_t>()));
  }
  return {writer.take(), {}};
}

ReaderAnswers::Answer ReaderAnswers::open_mapped(ByteReader& request) {
  return opened(opener_.open(take_file_request(request)));
}

ReaderAnswers::Answer ReaderAnswers::open_below(ByteReader& request, UniqueFd directory) {
  const auto process = request.take<std::uint32_t>();
  const auto last_link = request.take_enum(LastLink::Refuse);
  const std::string path = take_text(request);
  UniqueFd handle = find_below(directory.get(), path, last_link);
  if (!handle) return opened(not_opened(outcome_of_errno(errno)));
  return opened(files_.hand_out(
      files_.open(std::move(handle), process == 0 ? "self" : std::to_string(process))));
}

ReaderAnswers::Answer ReaderAnswers::find_perf_map(ByteReader& request) {
  const auto process = request.take<PerfMapProcess>();
  const auto place = offcpud::find_perf_map("/proc", process);
  if (!place) return opened(not_opened(OpenedFile::Outcome::Gone));
  UniqueFd handle = find_below(place->root.descriptor(), place->path, LastLink::Refuse);
  if (!handle) return opened(not_opened(outcome_of_errno(errno)));
  auto opening = files_.open(std::move(handle), std::to_string(process.tgid));
  if (opening.outcome == OpenedFile::Outcome::Opened &&
      !check_owner(*place, opening.info.stx_uid)) {
    return opened(not_opened(OpenedFile::Outcome::Denied));
  }
  const struct statx& info = opening.info;
  const PerfMapVersion version{info.stx_mtime.tv_sec * 1'000'000'000 + info.stx_mtime.tv_nsec,
                               info.stx_ino, info.stx_size};
  Answer answer = opened(files_.hand_out(std::move(opening), PerfMapFile::kMaxText));
  PacketWriter writer;
  writer.put(version);
  answer.bytes += writer.take();
  return answer;
}

ReaderAnswers::Answer ReaderAnswers::list_processes() {
  const auto processes = processes_.processes();
  PacketWriter writer;
  writer.put(static_cast<bool>(processes));
  if (processes) {
    for (const std::uint32_t tgid : *processes) writer.put(tgid);
  } else {
    writer.put(processes.error().kind());
    writer.put_text(processes.error().message());
  }
  return {writer.take(), {}};
}

void ReaderAnswers::read_memory(ByteReader& request) {
  std::size_t at = 0;
  std::chrono::nanoseconds longest{};
  const auto count = request.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && i < ReaderPage::kMostPieces; ++i) {
    const auto wanted = request.take<WantedMemory>();
    if (!request.ok() || wanted.size > page_.data.size() - at) return;
    page_.piece = i;
    ++page_.progress;
    const auto begin = std::chrono::steady_clock::now();
    page_.got.at(i) = static_cast<std::uint32_t>(read_process_memory(
        wanted.tid, wanted.address, std::span(page_.data).subspan(at, wanted.size)));
    at += wanted.size;
    const auto took = std::chrono::steady_clock::now() - begin;
    if (took <= longest) continue;
    longest = took;
    page_.slowest = i;
  }
}

}  // namespace offcpud
