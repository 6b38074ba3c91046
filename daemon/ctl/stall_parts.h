// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace offcpud {

// Texts of the parts of a stall of /api/v1/stalls, printable, empty where a part is missing or has
// another form.
using StallJson = nlohmann::ordered_json;

// The member as printable text, numbers unchanged; empty if it is missing or null.
std::string text_of(const StallJson& object, const char* name);
const StallJson& member(const StallJson& object, const char* name);
std::uint64_t number_of(const StallJson& object, const char* name);
std::string or_dash(const std::string& text);
bool is_estimated(const StallJson& stall);
bool is_unsure(const StallJson& stall);
// "12 s", "3 min 20 s"; "~" before an estimate.
std::string age_text(const StallJson& stall);
std::string comm_text(const StallJson& stall);
// As `top` shows it.
std::string where_text(const StallJson& stall);
std::string ids_text(const StallJson& stall);
std::string join(std::initializer_list<std::string> parts);
std::string prefixed(std::string_view prefix, const std::string& text);
std::string syscall_text(const StallJson& stall);
std::string waits_for_text(const StallJson& stall);
// "redis.service (redis-server[412])", "remote:10.0.0.5:5432".
std::string waits_on_text(const StallJson& stall);
// "mutex of worker[101] in server[100], a deadlock".
std::string lock_of_text(const StallJson& stall);
// "worker[101] in server[100] (mutex), a deadlock, waits, for 12 s now".
std::string held_by_text(const StallJson& stall);
// "by keeper[12] in app[9], 95 % ± 4 % of the time of 23 waits seen"; of several threads only the
// process is named.
std::string released_by_text(const StallJson& stall);
// Stands in a stack for functions that are left out.
inline constexpr std::string_view kFurther = " < ...";
// The innermost functions, "wait [libc.so.6] < enter", and after kFurther the innermost ones of the
// program itself, if they are further out.
std::string stack_text(const StallJson& stall, const char* name);
std::string woken_by_text(const StallJson& stall);
// "2026-11-20T11:00:00.250Z"; an estimate has no milliseconds.
std::string since_text(const StallJson& stall);

}  // namespace offcpud
