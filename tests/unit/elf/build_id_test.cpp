// SPDX-License-Identifier: Apache-2.0
#include "elf/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/unique_handle.h"
#include "elf/elf_file.h"

namespace offcpud {
namespace {

std::vector<std::uint8_t> note(std::uint32_t type, std::string owner, std::size_t descriptor_size) {
  owner.push_back('\0');
  const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size()),
                          static_cast<Elf64_Word>(descriptor_size), type};
  std::vector<std::uint8_t> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const char c : owner) bytes.push_back(static_cast<std::uint8_t>(c));
  while (bytes.size() % 4 != 0) bytes.push_back({});
  for (std::size_t i = 0; i < descriptor_size; ++i)
    bytes.push_back(static_cast<std::uint8_t>(i + 1));
  while (bytes.size() % 4 != 0) bytes.push_back({});
  return bytes;
}

template <class Header, class Segment>
std::vector<std::uint8_t> elf_file(unsigned char file_class,
                                   const std::vector<std::uint8_t>& notes) {
  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = file_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Segment);
  header.e_phnum = 2;
  Segment segments[2] = {};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = PT_NOTE;
  segments[1].p_offset = sizeof header + sizeof segments;
  segments[1].p_filesz = static_cast<decltype(segments[1].p_filesz)>(notes.size());
  std::vector<std::uint8_t> bytes(sizeof header + sizeof segments);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, segments, sizeof segments);
  bytes.insert(bytes.end(), notes.begin(), notes.end());
  return bytes;
}

UniqueFd file_with(const std::vector<std::uint8_t>& bytes) {
  UniqueFd fd(::memfd_create("elf", MFD_CLOEXEC));
  EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

TEST(BuildIdNote, IsFoundBehindOtherNotes) {
  auto bytes = note(NT_GNU_PROPERTY_TYPE_0, "GNU", 16);
  const auto foreign = note(NT_GNU_BUILD_ID, "Go", 7);
  const auto own = note(NT_GNU_BUILD_ID, "GNU", 20);
  bytes.insert(bytes.end(), foreign.begin(), foreign.end());
  bytes.insert(bytes.end(), own.begin(), own.end());
  EXPECT_EQ(find_build_id(bytes).hex(), "0102030405060708090a0b0c0d0e0f1011121314");
}

TEST(BuildIdNote, ShorterOnesKeepTheirLength) {
  EXPECT_EQ(find_build_id(note(NT_GNU_BUILD_ID, "GNU", 8)).hex(), "0102030405060708");
  EXPECT_FALSE(find_build_id(note(NT_GNU_BUILD_ID, "GNU", 0)).known());
  EXPECT_FALSE(find_build_id(note(NT_GNU_BUILD_ID, "GNU", 21), BuildId::kKernelMaxSize).known());
}

TEST(BuildIdNote, LengthsBeyondTheSegmentFindNothing) {
  const auto bytes = note(NT_GNU_BUILD_ID, "GNU", 20);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(find_build_id(std::span(bytes).first(cut)).known()) << cut;
  }
  for (std::size_t field : {0U, 4U}) {  // size of the name, size of the descriptor
    auto hostile = bytes;
    const std::uint32_t huge = UINT32_MAX;
    std::memcpy(hostile.data() + field, &huge, sizeof huge);
    EXPECT_FALSE(find_build_id(hostile).known());
  }
}

std::string hex_of_build_id_in(const std::string& notes) {
  return find_build_id({reinterpret_cast<const std::uint8_t*>(notes.data()), notes.size()}).hex();
}

TEST(FindBuildId, SkipsOtherNotesAndStopsAtTheEnd) {
  const auto word = [](std::uint32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const std::string gnu("GNU\0", 4);
  const std::string other = word(4) + word(5) + word(1) + gnu + "abcde" + std::string(3, '\0');
  const std::string id = word(4) + word(4) + word(3) + gnu + "\x01\x02\xfe\xff";
  EXPECT_EQ(hex_of_build_id_in(id), "0102feff");
  EXPECT_EQ(hex_of_build_id_in(other + id), "0102feff");
  for (std::size_t size = 0; size < id.size(); ++size) {
    EXPECT_EQ(hex_of_build_id_in(other + id.substr(0, size)), "");
  }
  EXPECT_EQ(hex_of_build_id_in(word(0xffffffff) + word(0xffffffff) + word(3) + gnu), "");
  EXPECT_EQ(hex_of_build_id_in(word(4) + word(65) + word(3) + gnu + std::string(65, 'x')), "");
}

// Of mold's --build-id=sha256, for example: debug files are found by it, mappings are not.
TEST(FindBuildId, TakesLongerOnesThanTheKernel) {
  const auto notes = note(NT_GNU_BUILD_ID, "GNU", 32);
  EXPECT_EQ(find_build_id(notes).size, 32);
  const auto file = file_with(elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, notes));
  EXPECT_FALSE(read_build_id(file.get()).known());
  const auto source = ByteSource::from_file(file.get());
  ASSERT_TRUE(source);
  const auto object = ElfFile::read(*source);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->build_id().size, 32);
}

TEST(ElfBuildId, BothClasses) {
  const auto notes = note(NT_GNU_BUILD_ID, "GNU", 20);
  const auto wide = file_with(elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, notes));
  const auto narrow = file_with(elf_file<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, notes));
  EXPECT_EQ(read_build_id(wide.get()).size, 20);
  EXPECT_EQ(read_build_id(narrow.get()), read_build_id(wide.get()));
}

TEST(ElfBuildId, OtherFilesHaveNone) {
  EXPECT_FALSE(read_build_id(file_with({}).get()).known());
  EXPECT_FALSE(read_build_id(file_with(std::vector<std::uint8_t>(100, 'x')).get()).known());
  auto foreign = elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, note(NT_GNU_BUILD_ID, "GNU", 20));
  foreign[EI_DATA] = ELFDATA2MSB;
  EXPECT_FALSE(read_build_id(file_with(foreign).get()).known());
  EXPECT_FALSE(read_build_id(-1).known());
}

TEST(ElfBuildId, HostileHeadersEnd) {
  const auto good = elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, note(NT_GNU_BUILD_ID, "GNU", 20));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    auto bytes = good;
    for (int i = 0; i < 4; ++i) {
      bytes[EI_NIDENT + random() % (bytes.size() - EI_NIDENT)] =
          static_cast<std::uint8_t>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    EXPECT_LE(read_build_id(file_with(bytes).get()).size, BuildId::kKernelMaxSize);
  }
}

// An independent reader: binutils.
TEST(ElfBuildId, EqualsWhatReadelfSays) {
  FILE* output = ::popen("readelf -n /proc/self/exe 2>/dev/null | sed -n 's/.*Build ID: //p'", "r");
  // /proc/self/exe is readelf there, which this test reads too.
  ASSERT_NE(output, nullptr);
  char line[128] = {};
  const bool read = std::fgets(line, sizeof line, output) != nullptr;
  ::pclose(output);
  if (!read) GTEST_SKIP() << "readelf (binutils) is not here, or has no build-id itself";
  const UniqueFd fd(::open("/usr/bin/readelf", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(read_build_id(fd.get()).hex() + "\n", line);
}

}  // namespace
}  // namespace offcpud
