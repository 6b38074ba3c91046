// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/unique_handle.h"
#include "support/temp_tree.h"
#include "symbols/jumped_code.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

using std::filesystem::path;

// Programs made from symbols_fixture.cpp by the build.
path fixture(const std::string& name) {
  return path(OFFCPUD_SYMBOL_FIXTURES) / name;
}

UniqueFd open_file(const path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << file;
  return fd;
}

ElfSymbols read_symbols(const path& file) {
  auto symbols = ElfSymbols::read(open_file(file).get());
  EXPECT_TRUE(symbols) << file << ": " << symbols.error().message();
  return symbols ? *std::move(symbols) : ElfSymbols();
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  EXPECT_TRUE(pipe) << command;
  std::string text;
  std::array<char, 65536> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

struct NamedRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::set<std::string> names;
};

// What nm says of functions, by their start; the size is 0 if it knows none.
std::map<std::uint64_t, NamedRange> functions_by_nm(const path& file, const std::string& options) {
  std::istringstream lines(
      output_of("nm -S --defined-only " + options + " '" + file.native() + "'"));
  std::map<std::uint64_t, NamedRange> functions;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string start;
    std::string size;
    std::string type;
    std::string name;
    if (!(fields >> start >> size >> type)) continue;
    if (!(fields >> name)) {  // without a size
      name = std::exchange(type, std::exchange(size, "0"));
    }
    if (type.size() != 1 || std::string("TtWwi").find(type) == std::string::npos) continue;
    NamedRange& function = functions[std::stoull(start, nullptr, 16)];
    function.start = std::stoull(start, nullptr, 16);
    function.size = std::max<std::uint64_t>(function.size, std::stoull(size, nullptr, 16));
    function.names.insert(name.substr(0, name.find('@')));
  }
  return functions;
}

std::set<std::string> names_by_nm(const std::map<std::uint64_t, NamedRange>& functions,
                                  std::uint64_t address) {
  for (auto it = functions.upper_bound(address); it != functions.begin();) {
    --it;
    if (address - it->second.start < it->second.size) return it->second.names;
  }
  return {};
}

// 2,000 random addresses of the code, and for each function its first and last byte and what
// follows; nm is asked about `nm_file`.
void compare_with_nm(const path& file, const std::string& options, const path& nm_file) {
  const ElfSymbols symbols = read_symbols(file);
  const auto functions = functions_by_nm(nm_file, options);
  ASSERT_GT(functions.size(), 5U);
  std::vector<std::uint64_t> addresses;
  for (const auto& [start, function] : functions) {
    addresses.insert(addresses.end(), {start, start + function.size - 1, start + function.size});
  }
  std::mt19937_64 random(11);  // NOLINT(cert-msc51-cpp): the same ones each time
  std::uniform_int_distribution<std::uint64_t> anywhere(functions.begin()->first,
                                                        functions.rbegin()->first + 64);
  for (int i = 0; i < 2000; ++i) addresses.push_back(anywhere(random));

  for (const std::uint64_t address : addresses) {
    const std::set<std::string> expected = names_by_nm(functions, address);
    const auto found = symbols.functions().find(address);
    if (expected.empty()) {
      // At most the symbol just before it, if that has no size.
      const NamedRange& before = std::prev(functions.upper_bound(address))->second;
      EXPECT_TRUE(!found || found->name.empty() || found->name.ends_with(kTailCall) ||
                  (before.size == 0 && before.names.contains(std::string(found->name))))
          << std::hex << address << ' ' << found->name;
    } else {
      ASSERT_TRUE(found) << std::hex << address << ' ' << *expected.begin();
      EXPECT_TRUE(expected.contains(std::string(found->name)))
          << std::hex << address << ' ' << found->name << ", but nm: " << *expected.begin();
    }
  }
}

void compare_with_nm(const path& file, const std::string& options) {
  compare_with_nm(file, options, file);
}

path loaded_library(const std::string& name) {
  const std::unique_ptr<void, int (*)(void*)> library(::dlopen(name.c_str(), RTLD_NOW), &::dlclose);
  const link_map* map = nullptr;
  if (!library || ::dlinfo(library.get(), RTLD_DI_LINKMAP, &map) != 0) return {};
  return std::filesystem::canonical(map->l_name);
}

TEST(ElfSymbols, AgreesWithNmOnEveryFunctionOfTheCLibrary) {
  compare_with_nm(loaded_library(LIBC_SO), "-D");
}

TEST(ElfSymbols, AgreesWithNmOnEveryFunctionOfTheCxxLibrary) {
  compare_with_nm(loaded_library("libstdc++.so.6"), "-D");
}

TEST(ElfSymbols, AgreesWithNmOnAProgramThatIsNotStripped) {
  compare_with_nm(fixture("symbols_plain"), "");
}

// The address of a function of libc that its .dynsym does not have, according to the debug symbols.
TEST(ElfSymbols, NamesWhatTheCLibraryKeepsToItselfByItsFrame) {
  const path libc = loaded_library(LIBC_SO);
  const std::string id = read_symbols(libc).build_id().hex();
  const path debug = "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  if (!exists(debug)) GTEST_SKIP() << "libc6-dbg is not installed for this libc";
  std::uint64_t start = 0;
  for (const auto& [address, function] : functions_by_nm(debug, "")) {
    if (function.names.contains("__futex_abstimed_wait_common")) start = address;
  }
  if (start == 0) GTEST_SKIP() << "no __futex_abstimed_wait_common in " << debug;

  const auto without = read_symbols(libc).functions().find(start + 0x40);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->name, "");
  EXPECT_EQ(without->start, start);

  const auto root = RootDirectory::open("/");
  ASSERT_TRUE(root);
  const auto with = ElfSymbols::read(open_file(libc).get(), {{&*root, libc.native()}});
  ASSERT_TRUE(with);
  const auto found = with->functions().find(start + 0x40);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "__futex_abstimed_wait_common");
}

std::uint64_t address_of_function(const path& file, const std::string& name) {
  for (const auto& [start, function] : functions_by_nm(file, "")) {
    if (function.names.contains(name)) return start;
  }
  ADD_FAILURE() << name << " is not in " << file;
  return 0;
}

TEST(ElfSymbols, NamesFunctionsOfAStrippedProgramByTheirFrames) {
  const std::uint64_t start = address_of_function(fixture("symbols_plain"), "c_function");
  const ElfSymbols stripped = read_symbols(fixture("symbols_stripped"));
  const auto found = stripped.functions().find(start + 3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "");
  EXPECT_EQ(found->start, start);
}

TEST(ElfSymbols, ReadsTheSymbolsThatAStrippedProgramEmbeds) {
  compare_with_nm(fixture("symbols_embedded"), "", fixture("symbols_plain"));
}

TEST(ElfSymbols, FindsTheDebugFileBesideTheObjectByItsLink) {
  const std::uint64_t start = address_of_function(fixture("symbols_plain"), "c_function");
  TempTree tree({{"app/.debug/"}, {"usr/lib/debug/app/"}});
  const auto root = RootDirectory::open(tree.root());
  ASSERT_TRUE(root);
  const path object = tree.root() / "app/symbols_stripped";
  copy_file(fixture("symbols_stripped"), object);
  const auto name_now = [&]() -> std::string {
    const auto read =
        ElfSymbols::read(open_file(object).get(), {{&*root, "/app/symbols_stripped"}});
    const auto found = read ? read->functions().find(start) : std::nullopt;
    return found ? std::string(found->name) : "nothing";
  };
  EXPECT_EQ(name_now(), "");
  for (const char* place : {"app/", "app/.debug/", "usr/lib/debug/app/"}) {
    const path debug = tree.root() / place / "symbols_plain.debug";
    copy_file(fixture("symbols_other"), debug);  // of another build: the build-id tells
    EXPECT_EQ(name_now(), "") << place;
    std::filesystem::remove(debug);
    copy_file(fixture("symbols_plain.debug"), debug);
    EXPECT_EQ(name_now(), "c_function") << place;
    std::filesystem::remove(debug);
  }
}

// Somebody maps another one's program below a root of his own.
TEST(ElfSymbols, ADebugFileOfAnotherUserDoesNotNameFunctions) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  const std::uint64_t start = address_of_function(fixture("symbols_plain"), "c_function");
  TempTree tree({{"app/"}});
  const auto root = RootDirectory::open(tree.root());
  ASSERT_TRUE(root);
  const path object = tree.root() / "app/symbols_stripped";
  const path debug = tree.root() / "app/symbols_plain.debug";
  copy_file(fixture("symbols_stripped"), object);
  copy_file(fixture("symbols_plain.debug"), debug);
  const auto name_now = [&]() -> std::string {
    const auto read =
        ElfSymbols::read(open_file(object).get(), {{&*root, "/app/symbols_stripped"}});
    const auto found = read ? read->functions().find(start) : std::nullopt;
    return found ? std::string(found->name) : "nothing";
  };
  const auto give = [](const path& file, uid_t user) {
    ASSERT_EQ(::chown(file.c_str(), user, user), 0);
  };
  give(object, 0);
  give(debug, 0);
  EXPECT_EQ(name_now(), "c_function");
  give(debug, kStranger);
  EXPECT_EQ(name_now(), "");
  give(object, kUser);
  EXPECT_EQ(name_now(), "");
  give(debug, kUser);  // of whoever made the object, too
  EXPECT_EQ(name_now(), "c_function");
  ASSERT_EQ(::chmod(debug.c_str(), 0666), 0);
  EXPECT_EQ(name_now(), "");
  give(debug, 0);
  ASSERT_EQ(::chmod(debug.c_str(), 0664), 0);
  EXPECT_EQ(name_now(), "c_function");
}

TEST(ElfSymbols, FindsTheDebugFileByBuildIdBelowTheRootOnly) {
  const std::uint64_t start = address_of_function(fixture("symbols_plain"), "c_function");
  const std::string id = read_symbols(fixture("symbols_stripped")).build_id().hex();
  ASSERT_EQ(id.size(), 40U);
  const std::string debug =
      "usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  TempTree tree({{"inside/" + debug.substr(0, debug.rfind('/') + 1)}, {"outside.debug"}});
  copy_file(fixture("symbols_plain.debug"), tree.root() / "outside.debug",
            std::filesystem::copy_options::overwrite_existing);
  const auto root = RootDirectory::open(tree.root() / "inside");
  ASSERT_TRUE(root);
  const auto name_now = [&]() -> std::string {
    const auto read = ElfSymbols::read(open_file(fixture("symbols_stripped")).get(),
                                       {{&*root, "/app/symbols_stripped"}});
    const auto found = read ? read->functions().find(start) : std::nullopt;
    return found ? std::string(found->name) : "nothing";
  };
  for (const path& target :
       {tree.root() / "outside.debug", path("../../../../../../outside.debug")}) {
    std::filesystem::create_symlink(target, tree.root() / "inside" / debug);
    EXPECT_EQ(name_now(), "") << target;
    std::filesystem::remove(tree.root() / "inside" / debug);
  }
  copy_file(fixture("symbols_plain.debug"), tree.root() / "inside/real.debug");
  std::filesystem::create_symlink("/real.debug", tree.root() / "inside" / debug);
  EXPECT_EQ(name_now(), "c_function");
}

TEST(ElfSymbols, ReadsAProgramThatWasDeletedAfterItWasOpened) {
  TempTree tree;
  const path copy = tree.root() / "program";
  copy_file(fixture("symbols_plain"), copy);
  const UniqueFd fd = open_file(copy);
  std::filesystem::remove(copy);
  const auto symbols = ElfSymbols::read(fd.get());
  ASSERT_TRUE(symbols);
  const auto found =
      symbols->functions().find(address_of_function(fixture("symbols_plain"), "c_function"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "c_function");
}

TEST(ElfSymbols, TurnsOffsetsInTheFileIntoAddresses) {
  const ElfSymbols symbols = read_symbols(loaded_library(LIBC_SO));
  Dl_info info{};
  const link_map* map = nullptr;
  auto* const code = reinterpret_cast<void*>(&::getppid);
  ASSERT_NE(::dladdr1(code, &info, reinterpret_cast<void**>(const_cast<link_map**>(&map)),
                      RTLD_DL_LINKMAP),
            0);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(code) - map->l_addr;
  // /proc/self/maps is the independent source of where the file is mapped.
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto mapping = code_mapping(line);
    const auto ip = reinterpret_cast<std::uint64_t>(code);
    if (!mapping || ip < mapping->start || ip >= mapping->end) continue;
    EXPECT_EQ(symbols.address_of(ip - mapping->start + mapping->offset), address);
    const auto found = symbols.functions().find(address);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "getppid");
    return;
  }
  FAIL() << "getppid is not mapped";
}

}  // namespace
}  // namespace offcpud
