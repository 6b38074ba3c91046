// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbol_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxUnbounded = 64 << 10;
constexpr std::uint64_t kMaxFunction = 4 << 20;  // none is; a gap in the list is

struct Line {
  std::uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module;
};

std::string_view take_until(std::string_view& text, std::string_view ends) {
  const std::size_t length = std::min(text.find_first_of(ends), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

bool parse_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Line> parse_line(std::string_view text) {
  Line line;
  if (!parse_hex(take_until(text, " "), line.address)) return std::nullopt;
  const std::string_view type = take_until(text, " ");
  if (type.size() != 1) return std::nullopt;
  line.type = type.front();
  line.name = take_until(text, "\t ");
  const std::size_t open = text.find('[');
  if (open != std::string_view::npos) {
    text.remove_prefix(open + 1);
    line.module = take_until(text, "]");
  }
  if (line.name.empty()) return std::nullopt;
  return line;
}

bool is_code(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

struct Symbols {
  std::vector<Line> lines;
  AddressRange core;  // the kernel's own code
  bool any_address = false;
};

Symbols read_lines(std::string_view kallsyms) {
  Symbols symbols;
  symbols.core.end = std::numeric_limits<std::uint64_t>::max();
  while (!kallsyms.empty()) {
    const auto line = parse_line(take_until(kallsyms, "\n"));
    if (!line) continue;
    symbols.any_address |= line->address != 0;
    if (line->module.empty() && line->name == "_stext") symbols.core.start = line->address;
    if (line->module.empty() && line->name == "_etext") symbols.core.end = line->address;
    symbols.lines.push_back(*line);
  }
  // Code before data, and global before local, among those of one address.
  std::stable_sort(symbols.lines.begin(), symbols.lines.end(), [](const Line& a, const Line& b) {
    if (a.address != b.address) return a.address < b.address;
    if (is_code(a.type) != is_code(b.type)) return is_code(a.type);
    return a.type == 'T' && b.type != 'T';
  });
  return symbols;
}

// Where the modules are loaded. Their size counts all of their parts, so it is a bound only.
std::map<std::string_view, AddressRange> module_ranges(std::string_view modules) {
  std::map<std::string_view, AddressRange> ranges;
  while (!modules.empty()) {
    std::string_view line = take_until(modules, "\n");
    const std::string_view name = take_until(line, " ");
    const std::string_view size_text = take_until(line, " ");
    const std::size_t hex = line.rfind(" 0x");
    if (hex == std::string_view::npos) continue;
    line.remove_prefix(hex + 3);
    std::uint64_t size = 0;
    std::uint64_t start = 0;
    const auto size_read =
        std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
    if (size_read.ec != std::errc() || !parse_hex(take_until(line, " "), start) || start == 0) {
      continue;
    }
    ranges[name] = {start, start + size};
  }
  return ranges;
}

std::uint64_t end_of(const Line& line, std::uint64_t next, const AddressRange& core,
                     const std::map<std::string_view, AddressRange>& modules) {
  if (line.module.empty()) return std::min(next, core.end);
  const auto module = modules.find(line.module);
  if (module != modules.end() && line.address >= module->second.start &&
      line.address < module->second.end) {
    return std::min(next, module->second.end);
  }
  return std::min(next, line.address + kMaxUnbounded);
}

Error hidden_addresses() {
  return Error(
      "read '/proc/kallsyms': the kernel hides its addresses, so frames of the kernel have no "
      "names: start with CAP_SYSLOG, or set kernel.kptr_restrict=0 and "
      "kernel.perf_event_paranoid=1",
      ErrorKind::Permission);
}

}  // namespace

Result<KernelSymbolTable> KernelSymbolTable::parse(std::string_view kallsyms,
                                                   std::string_view modules) {
  const Symbols symbols = read_lines(kallsyms);
  if (symbols.lines.empty()) {
    return Error("read '/proc/kallsyms': no symbols; the kernel needs CONFIG_KALLSYMS",
                 ErrorKind::Unsupported);
  }
  if (!symbols.any_address) return hidden_addresses();
  const auto ranges = module_ranges(modules);

  KernelSymbolTable table;
  for (std::size_t i = 0; i < symbols.lines.size(); ++i) {
    const Line& line = symbols.lines[i];
    if (i > 0 && symbols.lines[i - 1].address == line.address) continue;
    if (!is_code(line.type)) continue;
    // Code of the start (.init.text) is beyond _etext, and long gone.
    if (line.module.empty() &&
        (line.address < symbols.core.start || line.address >= symbols.core.end)) {
      continue;
    }
    std::size_t after = i + 1;
    while (after < symbols.lines.size() && symbols.lines[after].address == line.address) ++after;
    const std::uint64_t next = after < symbols.lines.size()
                                   ? symbols.lines[after].address
                                   : std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t size = end_of(line, next, symbols.core, ranges) - line.address;
    table.entries_.push_back(
        {line.address, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kMaxFunction)),
         static_cast<std::uint32_t>(table.names_.size())});
    table.names_.append(line.name).append(1, '\0').append(line.module).append(1, '\0');
  }
  table.entries_.shrink_to_fit();
  table.names_.shrink_to_fit();
  return table;
}

std::optional<KernelFunction> KernelSymbolTable::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](std::uint64_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = *std::prev(after);
  if (address - entry.start >= entry.size) return std::nullopt;
  const std::string_view name = names_.c_str() + entry.name;
  return KernelFunction{name, names_.c_str() + entry.name + name.size() + 1};
}

std::size_t KernelSymbolTable::bytes() const {
  return sizeof(*this) + entries_.capacity() * sizeof(Entry) + names_.capacity();
}

}  // namespace offcpud
