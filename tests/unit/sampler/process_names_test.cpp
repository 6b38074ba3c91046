// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstring>
#include <memory>
#include <string>

#include "support/fake_clock.h"
#include "support/temp_tree.h"
#include "symbols/elf_symbols.h"
#include "unit/symbols/fake_perf_map.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

constexpr ObjectId kPlain = 1;

LocatedFrame in_file(const std::string& path, ObjectId symbols, std::uint64_t offset) {
  auto object = std::make_shared<MappedObject>();
  object->build_id.bytes[0] = 0xab;
  object->build_id.bytes[1] = 0x1;
  object->build_id.size = 2;
  auto file = std::make_shared<MappedFile>();
  file->path = path;
  file->object = std::move(object);
  return {.address = 0x7f0000000000 + offset,
          .file_offset = offset,
          .object = symbols,
          .file = std::move(file)};
}

LocatedFrame in_memory(MappedFile::Kind kind, std::uint64_t address, const std::string& path = "") {
  auto file = std::make_shared<MappedFile>();
  file->kind = kind;
  file->path = path;
  return {.address = address, .file_offset = 0, .object = 0, .file = std::move(file)};
}

struct ProcessNamesTest : testing::Test {
  ProcessNamesTest() { objects.load(kPlain, object_file(symbol_fixture("symbols_plain"))); }

  StackFrame name(const LocatedFrame& frame, bool waker = false) {
    ProcessNames names(objects, runtime, clock.now());
    return names.name(sample, frame, waker);
  }

  TempTree proc;
  FakeClock clock;
  SymbolCache objects{{}};
  RuntimeNames runtime{.perf_maps = PerfMaps(std::make_unique<ProcPerfMapFinder>(proc.root()), {}),
                       .vdso = {},
                       .jit = {}};
  offcpud_sample sample{};
};

// The sections of the fixture are as far in the file as in memory.
TEST_F(ProcessNamesTest, NamesAFunctionByTheSymbolsOfItsObject) {
  const std::uint64_t c_function = fixture_address("c_function");
  ASSERT_NE(c_function, 0U);
  const StackFrame frame = name(in_file("/opt/app/bin/server", kPlain, c_function + 3));
  EXPECT_EQ(frame.function, "c_function");
  EXPECT_EQ(frame.object, "server");
  EXPECT_EQ(frame.build_id, "ab01");
  EXPECT_EQ(frame.address, c_function + 3);
  EXPECT_FALSE(frame.kernel);
}

// lld puts code at other addresses than offsets; profiles are read with those as linked.
TEST_F(ProcessNamesTest, SaysTheAddressAsLinked) {
  std::string elf = file_content(symbol_fixture("symbols_plain"));
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof(header));
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    char* const at = elf.data() + header.e_phoff + i * sizeof(segment);
    std::memcpy(&segment, at, sizeof(segment));
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    offset = segment.p_offset;
    segment.p_vaddr = segment.p_offset + 0x30000;
    std::memcpy(at, &segment, sizeof(segment));
  }
  TempTree tree{{"shifted", elf}};
  objects.load(2, object_file(tree.root() / "shifted"));
  const StackFrame frame = name(in_file("/shifted", 2, offset + 0x10));
  EXPECT_EQ(frame.address, offset + 0x30010);
}

TEST_F(ProcessNamesTest, SaysWhereItIsInAnObjectWithoutSymbols) {
  for (const ObjectId symbols : {ObjectId{0}, ObjectId{99}}) {
    const StackFrame frame = name(in_file("/usr/lib/libfoo.so.1", symbols, 0x1234));
    EXPECT_EQ(frame.function, "[libfoo.so.1+0x1234]") << symbols;
    EXPECT_EQ(frame.object, "libfoo.so.1");
    EXPECT_EQ(frame.address, 0x1234U);
    EXPECT_EQ(frame.build_id, "ab01");
  }
  EXPECT_THAT(objects.take_missed(), testing::ElementsAre(99));  // to be handed over again
}

// Whoever makes a file chooses its name.
TEST_F(ProcessNamesTest, ShowsHostileNamesOfFilesAsText) {
  const StackFrame frame = name(in_file("/tmp/a\n\x1b[2J\xff", 0, 1));
  EXPECT_EQ(frame.object.find('\n'), std::string::npos);
  EXPECT_EQ(frame.object.find('\x1b'), std::string::npos);
  EXPECT_EQ(frame.object.find('\xff'), std::string::npos);
}

TEST_F(ProcessNamesTest, NamesCodeMadeAtRunTimeByTheMapOfItsProcess) {
  const auto process = put_perf_map(proc, 7, "1000 10 JS:*render\n");
  sample.local_tgid = process.tgid;
  sample.process_start_ns = process.start_ns;
  const StackFrame frame = name(in_memory(MappedFile::Kind::Anonymous, 0x1008));
  EXPECT_EQ(frame.function, "JS:*render");
  EXPECT_EQ(frame.object, "[jit]");
  EXPECT_EQ(frame.address, 0U) << "it would tell where the memory of the process lies";
  EXPECT_EQ(name(in_memory(MappedFile::Kind::Anonymous, 0x2000)).function, "[jit]");
}

// Of the waker's process only the number is known, which may be another's by now.
TEST_F(ProcessNamesTest, DoesNotNameTheWakersCodeByAnotherProcess) {
  const auto process = put_perf_map(proc, 7, "1000 10 JS:*render\n");
  sample.local_tgid = sample.waker_local_tgid = process.tgid;
  sample.process_start_ns = process.start_ns;
  EXPECT_EQ(name(in_memory(MappedFile::Kind::Anonymous, 0x1008), true).function, "[jit]");
}

TEST_F(ProcessNamesTest, SaysThatCodeWithoutAMapWasMadeAtRunTime) {
  sample.local_tgid = 8;
  const StackFrame frame = name(in_memory(MappedFile::Kind::Anonymous, 0x1000));
  EXPECT_EQ(frame.function, "[jit]");
  EXPECT_EQ(frame.object, "[jit]");
}

TEST_F(ProcessNamesTest, NamesFunctionsOfTheVdso) {
  const unsigned long begin = ::getauxval(AT_SYSINFO_EHDR);
  void* const vdso = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (begin == 0 || vdso == nullptr) GTEST_SKIP() << "the kernel maps no vDSO";
  const auto function = reinterpret_cast<std::uint64_t>(::dlsym(vdso, "__vdso_gettimeofday"));
  (void)::dlclose(vdso);
  LocatedFrame frame = in_memory(MappedFile::Kind::Vdso, function + 1);
  frame.file_offset = function + 1 - begin;
  EXPECT_EQ(name(frame).function, "[vdso]");  // without its symbols
  auto symbols = ElfSymbols::read_vdso();
  ASSERT_TRUE(symbols) << symbols.error().message();
  runtime.vdso = *std::move(symbols);
  EXPECT_EQ(name(frame).function, "gettimeofday");
  EXPECT_EQ(name(frame).object, "[vdso]");
}

TEST_F(ProcessNamesTest, NamesOtherMappingsOfTheKernelByWhatItCallsThem) {
  EXPECT_EQ(name(in_memory(MappedFile::Kind::Other, 0x1000, "[uprobes]")).function, "[uprobes]");
}

TEST_F(ProcessNamesTest, SaysThatNoMappingIsKnown) {
  const StackFrame frame = name({.address = 0x1234, .file_offset = 0, .object = 0, .file = {}});
  EXPECT_EQ(frame.function, "[unknown]");
  EXPECT_EQ(frame.object, "");
  EXPECT_EQ(frame.address, 0U) << "it would tell where the memory of the process lies";
}

}  // namespace
}  // namespace offcpud
