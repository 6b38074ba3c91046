// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sampler/object_registry.h"
#include "unit/elf/elf_bytes.h"
#include "unit/unwind/fake_unwind_maps.h"

namespace offcpud {

inline constexpr std::uint64_t kBase = 0x7f0000000000;
inline constexpr std::uint64_t kSize = 0x20000;
inline constexpr ImageId kImage{.tgid = 1'000'000'007, .serial = 1};  // no such process
inline constexpr ImageId kPasser{.tgid = 1'000'000'008, .serial = 2};
inline constexpr int kNowhere = -1, kNoRule = -2;

// Code at 0x10000 whose CFA is `offset` above the stack pointer.
inline UniqueFd elf_with(std::uint8_t offset) {
  CfiBytes cfi;
  cfi.fde(cfi.cie({0x0c, 7, offset, 0x90, 1}), 0x10000, 0xffff);
  return elf_file(cfi);
}

struct ObjectRegistryTest : testing::Test {
  void make(const TableStoreLimits& limits = {}, const SymbolWorker::Limits& symbol_limits = {},
            const CpuShares::Limits& cpu = {}) {
    tables.emplace(*TableStore::create(maps, limits));
    symbols.emplace(symbol_limits);
    registry.emplace(&*tables, *symbols, opener, nullptr,
                     reporting([this](const Error& error) { failures.push_back(error.message()); }),
                     nullptr, cpu);
  }

  static ObjectRegistry::Reports reporting(std::function<void(const Error&)> failed) {
    return {.failed = std::move(failed), .refused = {}};
  }

  std::shared_ptr<const MappedFile> found(UniqueFd fd, const std::string& path = "/lib/a.so",
                                          const ShareOwner& user = {}) {
    auto object = std::make_shared<MappedObject>();
    object->id = ++last_object;
    object->user = user;
    struct stat info {};
    if (fd && ::fstat(fd.get(), &info) == 0) object->inode.inode = info.st_ino;
    auto file = std::make_shared<MappedFile>();
    file->path = path;
    file->deleted = true;  // to be had from who maps it only
    file->object = object;
    registry->object_found(object, *file, std::move(fd));
    return file;
  }
  // Somebody maps it, and ends.
  void use(UniqueFd fd) {
    registry->mapping_added(kPasser, mapping(found(std::move(fd)), 4 * kBase));
    registry->image_ended(kPasser, {});
  }
  static std::shared_ptr<const MappedFile> of_kind(MappedFile::Kind kind) {
    auto file = std::make_shared<MappedFile>();
    file->kind = kind;
    return file;
  }
  static Mapping mapping(std::shared_ptr<const MappedFile> file, std::uint64_t begin = kBase) {
    return {.begin = begin, .end = begin + kSize, .offset = 0, .file = std::move(file)};
  }
  // What the programs find for code of the object: the CFA's offset, or why there is none.
  [[nodiscard]] int rule_at(std::uint64_t begin = kBase, std::uint32_t tgid = kImage.tgid) const {
    const auto rule = maps.find(tgid, begin + 0x10010);
    if (!rule) return kNowhere;
    return rule->kind == OFFCPUD_UNWIND_RSP ? rule->cfa_offset : kNoRule;
  }
  // What the worker calls the function at an offset, once it has done all before.
  std::string name(ObjectId id, std::uint64_t offset) {
    const auto answer = std::make_shared<std::promise<std::string>>();
    auto future = answer->get_future();
    symbols->post([=](SymbolCache& cache) {
      const auto frame = cache.resolve_offset(id, offset);
      answer->set_value(frame ? frame->name : "nothing");
    });
    return future.get();
  }

  LocalFiles files;
  ProcFileOpener opener{files};
  FakeUnwindMaps maps;
  std::optional<TableStore> tables;
  std::optional<SymbolWorker> symbols;
  std::optional<ObjectRegistry> registry;
  std::vector<std::string> failures;
  std::uint64_t last_object = 0;
};

// A file that this process maps, where the kernel lets others open it: /proc/PID/map_files.
struct MappedFileTest : ObjectRegistryTest {
  Mapping map_here(UniqueFd fd, const std::string& path = "/lib/a.so") {
    void* const at = ::mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    EXPECT_NE(at, MAP_FAILED);
    mapped = reinterpret_cast<std::uint64_t>(at);
    return mapping(found(std::move(fd), path), mapped);
  }
  [[nodiscard]] bool may_open() const {
    char range[64];
    (void)std::snprintf(range, sizeof(range), "/proc/self/map_files/%lx-%lx", mapped,
                        mapped + kSize);
    return static_cast<bool>(UniqueFd(::open(range, O_RDONLY | O_CLOEXEC)));
  }
  ~MappedFileTest() override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer
    if (mapped != 0) ::munmap(reinterpret_cast<void*>(mapped), kSize);
  }
  std::uint64_t mapped = 0;
  ImageId self{.tgid = static_cast<std::uint32_t>(::getpid()), .serial = 1};
};

}  // namespace offcpud
