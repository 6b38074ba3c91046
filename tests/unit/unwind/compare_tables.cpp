// SPDX-License-Identifier: Apache-2.0
// compare_unwind_tables PATH...: compiles the tables of all ELF files of x86-64 under the paths and
// compares every row with libdw. Prints one line per file that differs or fails, and the sums; ends
// with 1 if a row differs. Minutes for a whole system, so it is no part of the test suites.
#include <fcntl.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "libdw_oracle.h"

namespace {

using namespace offcpud;
using Clock = std::chrono::steady_clock;

struct Totals {
  std::uint64_t files = 0, without = 0, refused = 0, functions = 0, broken = 0, rows = 0, pages = 0;
  std::uint64_t invalid_rows = 0;
  std::size_t most_rules = 0, most_rows = 0;
  Clock::duration building{}, comparing{};
  Comparison comparison;
  std::unordered_set<UnwindRule, UnwindRuleHash, UnwindRuleEqual> rules;
};

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void add(const std::string& path, Totals& totals) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return;
  const auto start = Clock::now();
  const auto object = read_elf_object(file.get());
  if (!object) return;
  totals.files++;
  const auto table = compile_unwind_table(*object);
  totals.building += Clock::now() - start;
  if (!table) {
    totals.refused++;
    std::printf("%s: %s\n", path.c_str(), table.error().message().c_str());
    return;
  }
  if (table->pages.empty()) {
    totals.without++;
    return;
  }
  totals.functions += table->functions;
  totals.broken += table->broken;
  totals.rows += table->rows.size();
  totals.pages += table->pages.size();
  totals.invalid_rows += table->invalid_rows;
  totals.most_rules = std::max(totals.most_rules, table->rules.size());
  totals.most_rows = std::max(totals.most_rows, table->rows.size());
  totals.rules.insert(table->rules.begin(), table->rules.end());

  const auto built = Clock::now();
  const LibdwOracle oracle(file.get());
  if (!oracle.has_cfi()) {
    std::printf("%s: libdw finds no call frame information\n", path.c_str());
    return;
  }
  const Comparison comparison = compare(*table, oracle);
  totals.comparing += Clock::now() - built;
  if (comparison.mismatches > 0 || table->broken > 0) {
    std::printf("%s: %llu of %llu differ, %u broken; %s\n", path.c_str(),
                static_cast<unsigned long long>(comparison.mismatches),
                static_cast<unsigned long long>(comparison.addresses), table->broken,
                comparison.first_mismatch.c_str());
  }
  totals.comparison += comparison;
}

void walk(const std::filesystem::path& root, Totals& totals) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(root, error)) return add(root, totals);
  std::set<std::pair<std::uintmax_t, std::string>> seen;
  for (fs::recursive_directory_iterator
           it(root, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    if (it->is_symlink(error) || !it->is_regular_file(error)) continue;
    if (it->path().extension() == ".debug") continue;  // no text, so nothing of it is ever mapped
    add(it->path(), totals);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Totals totals;
  for (int i = 1; i < argc; ++i) walk(argv[i], totals);
  const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%llu files (%llu without tables, %llu refused), %llu functions (%llu broken)\n",
              n(totals.files), n(totals.without), n(totals.refused), n(totals.functions),
              n(totals.broken));
  std::printf("%llu rows in %llu pages, %llu of them not to be followed; %zu distinct rules\n",
              n(totals.rows), n(totals.pages), n(totals.invalid_rows), totals.rules.size());
  std::printf("at most %zu rows and %zu rules in a file; built in %.1f s, compared in %.1f s\n",
              totals.most_rows, totals.most_rules, seconds(totals.building),
              seconds(totals.comparing));
  std::printf("%llu addresses compared, %llu differ, %llu without a rule of ours in both\n",
              n(totals.comparison.addresses), n(totals.comparison.mismatches),
              n(totals.comparison.invalid));
  return totals.comparison.mismatches == 0 ? 0 : 1;
}
