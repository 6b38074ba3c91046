// SPDX-License-Identifier: Apache-2.0
// Labels from the names that systemd, container runtimes and kubelets give to cgroups. Whoever may
// create a cgroup chooses its name, so length, bytes and nesting are untrusted.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "attribution/subject.h"
#include "base/text.h"

namespace offcpud {
namespace {

constexpr std::string_view kSlice = ".slice";
constexpr std::string_view kScope = ".scope";

bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex_id(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), is_lower_hex);
}

std::optional<unsigned> hex_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// The byte that "\xNN" at the start of `text` stands for; nullopt for "\x00", which no name can
// hold.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 4 || !text.starts_with("\\x")) return std::nullopt;
  const auto high = hex_value(text[2]);
  const auto low = hex_value(text[3]);
  if (!high || !low || *high + *low == 0) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

// Unescapes a unit's name: "a\x2db.service" is "a-b.service". Invalid escapes stay as they are.
std::string unescape_unit(std::string_view name) {
  std::string bytes;
  bytes.reserve(name.size());
  while (!name.empty()) {
    const auto byte = escaped_byte(name);
    bytes += byte.value_or(name.front());
    name.remove_prefix(byte ? 4 : 1);
  }
  return to_valid_utf8(bytes);
}

// True for a name of the characters that systemd.unit(5) allows, followed by the suffix.
bool is_unit_name(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() && name.ends_with(suffix) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter(c) || is_digit(c) ||
                  std::string_view(":-_.\\@").find(c) != std::string_view::npos;
         });
}

// Only units of these types have processes, and so cgroups of their own.
bool is_unit_with_processes(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSuffixes{".service", kScope, ".socket", ".mount",
                                                      ".swap"};
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return is_unit_name(name, suffix); });
}

// systemd puts "_" before a name that would look like a file of the kernel ("cpu.service").
std::string_view without_guard(std::string_view directory) {
  return directory.starts_with('_') ? directory.substr(1) : directory;
}

// A pod's UID with dashes; empty: `text` is no UID. Kubelets with the systemd driver write "_" for
// "-", which would start a nested slice. A static pod's UID is a hash of 32 digits without dashes.
std::string pod_uid(std::string_view text) {
  if (is_hex_id(text, 32)) return std::string(text);
  if (text.size() != 36) return {};
  std::string uid(text);
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool separator = i == 8 || i == 13 || i == 18 || i == 23;
    if (separator && uid[i] == '_') uid[i] = '-';
    if (separator ? uid[i] != '-' : !is_lower_hex(uid[i])) return {};
  }
  return uid;
}

// "pod<uid>" (cgroupfs driver) or "<anything>-pod<uid>.slice" (systemd driver, where the prefix
// names the quality of service and the cgroup root of the kubelet).
std::string pod_uid_of(std::string_view name) {
  if (!name.ends_with(kSlice)) return name.starts_with("pod") ? pod_uid(name.substr(3)) : "";
  name.remove_suffix(kSlice.size());
  const std::size_t pod = name.rfind("-pod");
  return pod == std::string_view::npos ? "" : pod_uid(name.substr(pod + 4));
}

// ECS and Fargate: "<32 hex>-<digits>".
bool is_ecs_id(std::string_view name) {
  return name.size() > 33 && is_hex_id(name.substr(0, 32), 32) && name[32] == '-' &&
         std::all_of(name.begin() + 33, name.end(), is_digit);
}

struct Container {
  std::string_view id;
  bool monitor = false;  // conmon, which watches a container from outside of it
};

// "<id>" (cgroupfs drivers), "<runtime>-<id>[.scope]" (docker, libpod, crio, cri-containerd, ...)
// or "<slice>:<runtime>:<id>" (containerd given a systemd path and no systemd driver).
std::optional<Container> container_of(std::string_view name) {
  if (name.ends_with(kScope)) name.remove_suffix(kScope.size());
  if (is_hex_id(name, 64) || is_ecs_id(name)) return Container{name};
  const std::size_t separator = name.find_last_of("-:");
  if (separator == std::string_view::npos || !is_hex_id(name.substr(separator + 1), 64)) {
    return std::nullopt;
  }
  return Container{name.substr(separator + 1), name.substr(0, separator).ends_with("conmon")};
}

void read_container(const Container& container, std::string_view name, SubjectLabels& labels) {
  if (!container.monitor) labels.container_id = container.id;
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return;
  if (std::string uid = pod_uid_of(name.substr(0, colon)); !uid.empty()) labels.pod_uid = uid;
}

// Adds what one name says; names are read from the root down, so deeper ones win.
void read_name(std::string_view parent, std::string_view name, SubjectLabels& labels) {
  // Podman with the cgroupfs driver: the bare ids are pods, the containers below are libpod-<id>.
  const bool podman_pod = parent == "libpod_parent" && is_hex_id(name, 64);
  if (podman_pod) return;
  if (const auto container = container_of(name)) return read_container(*container, name, labels);

  const std::string_view unit = without_guard(name);
  if (is_unit_name(unit, kSlice)) {
    labels.slice = unescape_unit(unit);
  } else if (is_unit_with_processes(unit)) {
    // init.scope is a service manager itself. A user's belongs to user@1000.service.
    if (unit != "init.scope" || labels.unit.empty()) labels.unit = unescape_unit(unit);
  }
  if (std::string uid = pod_uid_of(name); !uid.empty()) labels.pod_uid = uid;
}

// Talos has no systemd; its services are directly below these two cgroups.
bool holds_talos_services(std::string_view top) {
  return top == "system" || top == "podruntime";
}

}  // namespace

SubjectLabels labels_of_cgroup(std::string_view path) {
  SubjectLabels labels;
  labels.cgroup = to_valid_utf8(path);
  std::string_view parent;
  for (std::size_t depth = 0; !path.empty();) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (name.empty()) continue;
    ++depth;
    read_name(parent, name, labels);
    const bool named = !labels.unit.empty() || !labels.container_id.empty();
    if (depth == 2 && !named && holds_talos_services(parent)) labels.unit = to_valid_utf8(name);
    parent = name;
  }
  return labels;
}

UnitName unit_of_directory(std::string_view top, std::string_view directory) {
  const std::string_view unit = without_guard(directory);
  if (!is_unit_name(unit, kSlice) && !is_unit_with_processes(unit)) {
    return {.escaped = holds_talos_services(top) ? directory : std::string_view(), .text = {}};
  }
  std::string text = unit.find('\\') == std::string_view::npos ? "" : unescape_unit(unit);
  return {.escaped = unit, .text = text == unit ? "" : std::move(text)};
}

}  // namespace offcpud
