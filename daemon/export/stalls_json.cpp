// SPDX-License-Identifier: Apache-2.0
#include "export/stalls_json.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "export/labels_json.h"
#include "export/rfc3339.h"
#include "export/stall_query.h"
#include "export/syscall_names.h"
#include "histogram/hist_kind.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanoseconds = 1e9;

// JSON numbers are doubles to most readers; addresses do not fit into one.
std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json id_or_null(std::uint32_t id) {
  return id == 0 ? Json(nullptr) : Json(id);
}

Json syscall_json(const WaitDetail& detail) {
  if (!detail.syscall) return nullptr;
  Json arguments = Json::array();
  for (const std::uint64_t argument : detail.arguments) arguments.push_back(hexadecimal(argument));
  Json json = {{"number", *detail.syscall},
               {"name", text_or_null(syscall_name(*detail.syscall, detail.compat))},
               {"arguments", std::move(arguments)}};
  if (detail.compat) json["compat"] = true;
  return json;
}

Json futex_json(const WaitDetail& detail) {
  Json futex = {{"address", hexadecimal(*detail.futex_address)}};
  if (detail.futex_word) futex["word"] = hexadecimal(*detail.futex_word);
  if (detail.owner_tid) {
    futex["owner"] = {{"tid", *detail.owner_tid}, {"comm", text_or_null(detail.owner_comm)}};
  }
  return futex;
}

Json file_json(const WaitDetail& detail) {
  Json file = Json::object();
  if (detail.fd) file["fd"] = *detail.fd;
  if (!detail.file.empty()) file["path"] = detail.file;
  if (!detail.device.empty()) file["device"] = detail.device;
  return file;
}

Json waits_for_json(const WaitDetail& detail) {
  Json waits_for = Json::object();
  if (detail.futex_address) waits_for["futex"] = futex_json(detail);
  if (Json file = file_json(detail); !file.empty()) waits_for["file"] = std::move(file);
  if (!detail.socket.empty()) waits_for["socket"] = detail.socket;
  return waits_for;
}

Json woken_by_json(const Stall& stall) {
  if (!stall.woken_from) return nullptr;
  return {{"from", kWakerNames[*stall.woken_from]},
          {"tid", id_or_null(stall.waker_tid)},
          {"comm", text_or_null(stall.waker_comm)}};
}

Json stall_json(const Stall& stall) {
  Json json = {{"state", stall.ended ? "ended" : "in_progress"},
               {"since", rfc3339(stall.since)},
               {"duration_seconds", static_cast<double>(stall.duration_ns) / kNanoseconds},
               {"estimated", stall.estimated},
               {"pid", id_or_null(stall.local_tgid)},
               {"tid", id_or_null(stall.local_tid)},
               {"comm", stall.comm},
               {"process", text_or_null(stall.process_comm)}};
  append_labels(json, *stall.labels);
  json["reason"] = kHistKindNames[stall.kind];
  json["examined"] = stall.detail.has_value();
  const WaitDetail detail = stall.detail.value_or(WaitDetail{});
  json["syscall"] = syscall_json(detail);
  json["waits_for"] = waits_for_json(detail);
  json["stack"] = detail.stack;
  json["ended_at"] = stall.ended_at ? Json(rfc3339(*stall.ended_at)) : Json(nullptr);
  json["woken_by"] = woken_by_json(stall);
  return json;
}

}  // namespace

Result<std::string> stalls_json(const View& view,
                                const std::multimap<std::string, std::string>& query) {
  TRY(const StallQuery wanted, StallQuery::parse(query));
  Json list = Json::array();
  std::size_t matching = 0;
  std::uint64_t dropped = 0;
  if (view.stalls) {
    dropped = view.stalls->dropped;
    for (const auto& stall : view.stalls->stalls) {
      if (!wanted.admits(*stall)) continue;
      if (++matching <= wanted.limit) list.push_back(stall_json(*stall));
    }
  }
  const Json json = {{"taken", rfc3339(view.taken_wall)},
                     {"dropped", dropped},
                     {"matching", matching},
                     {"stalls", std::move(list)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
