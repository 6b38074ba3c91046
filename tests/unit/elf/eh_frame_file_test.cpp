// SPDX-License-Identifier: Apache-2.0
#include "elf/eh_frame_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "base/unique_handle.h"
#include "elf/elf_object.h"
#include "support/elf_header.h"
#include "unit/elf/cfi_bytes.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kHeader = 0x200, kSections = 0x300, kFrames = 0x1000;

// A program in a file, every byte of which is loaded at the address of its offset: .eh_frame_hdr
// with the one function 0x2000 .. 0x2030, and .eh_frame with its FDE.
class EhFrameFile : public ::testing::Test {
 protected:
  EhFrameFile() : file_(::memfd_create("elf", MFD_CLOEXEC)) {
    const std::uint32_t fde = cfi_.fde(cfi_.cie(), 0x2000, 0x30);
    write(kFrames, cfi_.bytes().data(), cfi_.bytes().size());
    CfiBytes header;
    header.put(0x3b031b01U);  // version 1, and the encodings that linkers write
    for (const auto word : {kFrames - kHeader - 4, 1U, 0x2000 - kHeader, kFrames + fde - kHeader}) {
      header.put(word);
    }
    write(kHeader, header.bytes().data(), header.bytes().size());
    put_headers(cfi_.bytes().size());
  }

  // Of a file with a section .eh_frame of that size.
  void put_headers(std::uint64_t section_size) {
    const std::uint64_t end = kFrames + section_size;
    Elf64_Ehdr header = test::elf_header();
    header.e_phnum = 2;
    header.e_shoff = kSections;
    header.e_shnum = 2;
    Elf64_Phdr segments[2]{};
    segments[0].p_type = PT_LOAD;
    segments[0].p_flags = PF_R | PF_X;
    segments[0].p_filesz = segments[0].p_memsz = end;
    segments[1].p_type = PT_GNU_EH_FRAME;
    segments[1].p_offset = segments[1].p_vaddr = kHeader;
    segments[1].p_filesz = 20;
    Elf64_Shdr sections[2]{};
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_flags = SHF_ALLOC;
    sections[1].sh_offset = sections[1].sh_addr = kFrames;
    sections[1].sh_size = section_size;
    write(0, &header, sizeof header);
    write(sizeof header, segments, sizeof segments);
    write(kSections, sections, sizeof sections);
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(end)), 0);  // holes take no memory
  }

  void strip_sections() {
    const std::uint64_t none = 0;
    write(offsetof(Elf64_Ehdr, e_shoff), &none, sizeof none);
  }

  const ElfFile& elf() {
    source_.emplace(*ByteSource::from_file(file_.get()));
    elf_.emplace(*ElfFile::read(*source_));
    return *elf_;
  }

  void write(std::uint64_t offset, const void* bytes, std::size_t size) {
    EXPECT_EQ(::pwrite(file_.get(), bytes, size, static_cast<off_t>(offset)),
              static_cast<ssize_t>(size));
  }

  CfiBytes cfi_;
  UniqueFd file_;
  std::optional<ByteSource> source_;
  std::optional<ElfFile> elf_;
};

TEST_F(EhFrameFile, IsFoundThroughItsHeader) {
  for (const bool has_sections : {true, false}) {
    if (!has_sections) strip_sections();
    const auto frames = read_eh_frame(elf());
    ASSERT_TRUE(frames) << frames.error().message();
    EXPECT_EQ(frames->bytes, cfi_.bytes());
    EXPECT_EQ(frames->address, kFrames);
    EXPECT_EQ(frames->exact_size, has_sections);
    const auto ranges = read_frame_ranges(elf(), 1);
    ASSERT_TRUE(ranges) << ranges.error().message();
    ASSERT_EQ(ranges->size(), 1U);
    EXPECT_EQ(ranges->front().start, 0x2000U);
    EXPECT_EQ(ranges->front().end, 0x2030U);
  }
}

TEST_F(EhFrameFile, BeyondTheLimitsIsRefused) {
  const auto too_many = read_frame_ranges(elf(), 0);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().kind(), ErrorKind::Unsupported);

  put_headers(kMaxEhFrame + 1);
  const auto frames = read_eh_frame(elf());
  ASSERT_FALSE(frames);
  EXPECT_EQ(frames.error().kind(), ErrorKind::Unsupported);
  const auto ranges = read_frame_ranges(elf(), 1);
  ASSERT_FALSE(ranges);
  EXPECT_EQ(ranges.error().kind(), ErrorKind::Unsupported);
  const auto object = read_elf_object(file_.get());
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_TRUE(object->is_truncated);
  EXPECT_TRUE(object->eh_frame.empty());

  strip_sections();  // then what follows the frames is not theirs
  const auto as_much = read_eh_frame(elf());
  ASSERT_TRUE(as_much) << as_much.error().message();
  EXPECT_EQ(as_much->bytes.size(), kMaxEhFrame);
}

}  // namespace
}  // namespace offcpud
