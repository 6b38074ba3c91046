// SPDX-License-Identifier: Apache-2.0
// Objects come from containers: whoever can run a program there chooses its bytes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "base/unique_handle.h"
#include "support/temp_tree.h"
#include "symbols/elf_symbols.h"

namespace offcpud {
namespace {

std::string content(const std::string& name) {
  std::ifstream file(std::filesystem::path(OFFCPUD_SYMBOL_FIXTURES) / name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_GT(bytes.size(), 4096U) << name;
  return bytes;
}

// Whatever the image says, reading it and asking it ends, and stays within its memory.
void use(const std::string& image) {
  const auto symbols = ElfSymbols::read_image(image);
  if (!symbols) {
    EXPECT_NE(symbols.error().message(), "");
    return;
  }
  EXPECT_LE(symbols->bytes(), 16 * image.size() + 65536);
  for (std::uint64_t address = 0; address < 0x6000; address += 0x35) {
    if (const auto found = symbols->functions().find(address)) {
      EXPECT_LE(found->name.size(), image.size());
    }
    (void)symbols->address_of(address);
  }
}

TEST(HostileElf, SurvivesAFileThatIsCutAnywhere) {
  const std::string image = content("symbols_plain");
  for (std::size_t size = 0; size < image.size(); size += size < 4096 ? 1 : 61) {
    use(image.substr(0, size));
  }
}

TEST(HostileElf, SurvivesWrongBytesInTheHeaders) {
  for (const char* name : {"symbols_plain", "symbols_stripped"}) {
    const std::string image = content(name);
    for (std::size_t at = 0; at < 0x400; ++at) {
      for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        std::string changed = image;
        changed[at] = static_cast<char>(byte);
        use(changed);
      }
    }
  }
}

TEST(HostileElf, SurvivesWrongBytesAnywhere) {
  const std::string image = content("symbols_plain");
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp): the same ones each time
  for (int round = 0; round < 1500; ++round) {
    std::string changed = image;
    // Most in the tables at the end, where section headers and symbols are.
    const std::size_t from = round % 3 == 0 ? 0 : image.size() * 2 / 3;
    for (int i = 0; i < 1 << (round % 8); ++i) {
      changed[from + random() % (image.size() - from)] = static_cast<char>(random());
    }
    use(changed);
  }
}

TEST(HostileElf, SurvivesDamagedEmbeddedSymbols) {
  const std::string image = content("symbols_embedded");
  const std::size_t xz = image.find(
      "\xfd"
      "7zXZ");
  ASSERT_NE(xz, std::string::npos);
  for (std::size_t at = xz; at < image.size(); at += 7) {
    std::string changed = image;
    changed[at] = static_cast<char>(~changed[at]);
    use(changed);
  }
}

TEST(HostileElf, SurvivesWordsThatOverflowAnywhere) {
  const std::string image = content("symbols_stripped");
  for (const std::uint64_t word : {~std::uint64_t{0}, std::uint64_t{1} << 63U,
                                   std::uint64_t{0x7fffffff}, std::uint64_t{0x100000000}}) {
    for (std::size_t at = 0; at + sizeof(word) <= image.size(); at += at < 0x800 ? 4 : 52) {
      std::string changed = image;
      std::memcpy(changed.data() + at, &word, sizeof(word));
      use(changed);
    }
  }
}

TEST(HostileElf, IsAnErrorIfItIsNoElfFile) {
  for (const std::string& image :
       {std::string(), std::string("\x7f"), std::string("\x7f\x45LF"),
        std::string("#!/bin/sh\necho not an ELF file at all\n"), std::string(100, '\0')}) {
    EXPECT_FALSE(ElfSymbols::read_image(image)) << image;
  }
}

TEST(HostileElf, RefusesWhatIsNoRegularFile) {
  TempTree tree({{"directory/"}});
  const std::string fifo = tree.root() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path :
       {fifo, (tree.root() / "directory").native(), std::string("/dev/zero")}) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    ASSERT_TRUE(fd) << path;
    const auto symbols = ElfSymbols::read(fd.get());
    ASSERT_FALSE(symbols) << path;
    EXPECT_EQ(symbols.error().message(), "read object: not a regular file");
  }
}

// 1 TiB of holes takes no memory.
TEST(HostileElf, AllocatesNoMoreThanItsLimitsForSparseFiles) {
  TempTree tree;
  const std::string path = tree.root() / "sparse";
  std::string image = content("symbols_plain");
  const std::uint64_t huge = std::uint64_t{1} << 40U;
  // Every section of the file claims to be that large: e_shoff is at 40, sh_size at 32 of each.
  std::uint64_t sections = 0;
  std::memcpy(&sections, image.data() + 40, sizeof(sections));
  for (std::uint64_t at = sections + 64; at + 64 <= image.size(); at += 64) {
    std::memcpy(image.data() + at + 32, &huge, sizeof(huge));
  }
  std::ofstream(path, std::ios::binary) << image;
  std::filesystem::resize_file(path, 2 * huge);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto symbols = ElfSymbols::read(fd.get());
  ASSERT_TRUE(symbols) << symbols.error().message();
  EXPECT_EQ(symbols->functions().size(), 0U);
}

}  // namespace
}  // namespace offcpud
