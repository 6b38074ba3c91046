// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "object_registry_fixture.h"
#include "support/temp_tree.h"
#include "unit/elf/elf_bytes.h"
#include "unit/mappings/fakes.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

TEST_F(ObjectRegistryTest, MappingsReachTheTables) {
  make();
  const auto file = found(elf_with(24));
  EXPECT_EQ(rule_at(), kNowhere);
  registry->mapping_added(kImage, mapping(file));
  EXPECT_EQ(rule_at(), 24);
  Mapping moved = mapping(file, 2 * kBase);
  moved.offset = 0x10000;
  registry->mapping_added(kImage, moved);
  EXPECT_EQ(rule_at(2 * kBase - 0x10000), 24);
  registry->mapping_removed(kImage, mapping(file));
  EXPECT_EQ(rule_at(), kNowhere);
  EXPECT_EQ(rule_at(2 * kBase - 0x10000), 24);
  EXPECT_THAT(failures, testing::IsEmpty());
}

TEST_F(ObjectRegistryTest, ImagesBeginWithTheMappingsOfTheirParentAndEndWithAll) {
  make();
  const auto file = found(elf_with(24));
  const std::vector<Mapping> inherited = {mapping(file), mapping(file, 2 * kBase)};
  const ImageId child{.tgid = 8, .serial = 2};
  registry->image_began(kImage, inherited);
  registry->image_began(child, inherited);
  registry->image_ended(kImage, inherited);
  EXPECT_EQ(rule_at(), kNowhere);
  EXPECT_EQ(rule_at(2 * kBase), kNowhere);
  EXPECT_EQ(rule_at(kBase, child.tgid), 24);
  EXPECT_EQ(rule_at(2 * kBase, child.tgid), 24);
}

TEST_F(ObjectRegistryTest, KnowsMappingsOfNoFile) {
  make();
  registry->mapping_added(kImage, mapping(of_kind(MappedFile::Kind::Anonymous)));
  registry->mapping_added(kImage, mapping(of_kind(MappedFile::Kind::Other), 2 * kBase));
  EXPECT_EQ(rule_at(), kNoRule);
  EXPECT_EQ(rule_at(2 * kBase), kNoRule);
}

TEST_F(ObjectRegistryTest, HasATableForTheVdso) {
  make();
  if (tables->stats().objects == 0) GTEST_SKIP() << "the kernel maps no vDSO";
  registry->mapping_added(kImage, mapping(of_kind(MappedFile::Kind::Vdso)));
  std::size_t with_rule = 0;
  for (std::uint64_t at = 0; at < 0x2000; at += 16) {
    const auto rule = maps.find(kImage.tgid, kBase + at);
    with_rule += rule && rule->kind == OFFCPUD_UNWIND_RSP;
  }
  EXPECT_GT(with_rule, 10U);
}

TEST_F(ObjectRegistryTest, KnowsMappingsOfFilesThatCannotBeReadOrAreNoElf) {
  make();
  registry->mapping_added(kImage, mapping(found(UniqueFd())));
  registry->mapping_added(kImage,
                          mapping(found(UniqueFd(::memfd_create("text", MFD_CLOEXEC))), 2 * kBase));
  EXPECT_EQ(rule_at(), kNoRule);
  EXPECT_EQ(rule_at(2 * kBase), kNoRule);
  EXPECT_THAT(failures, testing::IsEmpty());
}

TEST_F(ObjectRegistryTest, TakesAFileThatCouldBeOpenedLater) {
  make();
  const auto file = found(UniqueFd());
  registry->mapping_added(kImage, mapping(file));
  registry->object_found(file->object, *file, elf_with(32));
  registry->mapping_added(kImage, mapping(file, 2 * kBase));
  EXPECT_EQ(rule_at(2 * kBase), 32);
}

TEST_F(ObjectRegistryTest, HandsFilesToTheThreadThatNamesThem) {
  make();
  const std::uint64_t c_function = fixture_address("c_function");
  const auto file = found(object_file(symbol_fixture("symbols_plain")).fd);
  EXPECT_EQ(registry->symbols_of(*file->object), 0U);  // nobody maps it yet
  registry->mapping_added(kImage, mapping(file));
  const ObjectId id = registry->symbols_of(*file->object);
  ASSERT_NE(id, 0U);
  EXPECT_EQ(name(id, c_function), "c_function");
  registry->mapping_added(kImage, mapping(file, 2 * kBase));
  EXPECT_EQ(registry->symbols_of(*file->object), id);
  registry->object_forgotten(*file->object);
  EXPECT_EQ(registry->symbols_of(*file->object), 0U);
  EXPECT_EQ(registry->symbols_of(*found(UniqueFd())->object), 0U);
}

TEST_F(ObjectRegistryTest, NamesWhereNoStacksAreWalked) {
  symbols.emplace(SymbolWorker::Limits{});
  registry.emplace(nullptr, *symbols, opener, nullptr,
                   reporting([](const Error& error) { FAIL() << error.message(); }));
  const auto file = found(object_file(symbol_fixture("symbols_plain")).fd);
  registry->image_began(kImage, {});
  registry->mapping_added(kImage, mapping(file));
  registry->mapping_removed(kImage, mapping(file));
  registry->image_ended(kImage, {});
  EXPECT_NE(registry->symbols_of(*file->object), 0U);
}

TEST_F(ObjectRegistryTest, TellsWhenTheMapsCannotBeWritten) {
  make();
  maps.max_mappings = 0;
  registry->mapping_added(kImage, mapping(of_kind(MappedFile::Kind::Anonymous)));
  EXPECT_THAT(failures, testing::ElementsAre("the map is full"));
}

// The process that maps the object is gone, so nobody has its file any more.
TEST_F(ObjectRegistryTest, KnowsAMappingWhoseTableIsGone) {
  make({.unused_objects = 1});
  const auto file = found(elf_with(24));
  registry->mapping_added(kImage, mapping(file));
  registry->image_ended(kImage, {});
  use(elf_with(32));
  registry->mapping_added(kImage, mapping(file));
  EXPECT_EQ(rule_at(), kNoRule);
  EXPECT_THAT(failures, testing::IsEmpty());
}

TEST_F(MappedFileTest, MakesATableAgainThatWasGivenUp) {
  make({.unused_objects = 1});
  const Mapping here = map_here(elf_with(24));
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  registry->mapping_added(self, here);
  registry->image_ended(self, {});
  use(elf_with(32));
  const std::uint64_t compiled = tables->stats().compiled;
  registry->mapping_added(self, here);
  EXPECT_EQ(rule_at(mapped, self.tgid), 24);
  EXPECT_EQ(tables->stats().compiled, compiled + 1);
  registry->image_ended(self, {});
  use(elf_with(40));
  registry->image_began(self, std::vector{here});
  EXPECT_EQ(rule_at(mapped, self.tgid), 24);
  EXPECT_EQ(tables->stats().compiled, compiled + 3);
  EXPECT_THAT(failures, testing::IsEmpty());
}

// The process may have mapped something else there since, or be another one by now.
TEST_F(MappedFileTest, DoesNotTakeAnotherFileInItsPlaceForTheObject) {
  make({}, {.cache = {.bytes = 1}});
  const Mapping here = map_here(object_file(symbol_fixture("symbols_plain")).fd);
  registry->mapping_added(self, here);
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  const ObjectId id = registry->symbols_of(*here.file->object);
  registry->mapping_added(self, mapping(found(object_file(symbol_fixture("symbols_other")).fd)));
  (void)name(id, 0);
  (void)name(id, 0);
  const UniqueFd other = elf_with(24);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer
  ASSERT_NE(::mmap(reinterpret_cast<void*>(mapped), kSize, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                   other.get(), 0),
            MAP_FAILED);
  registry->offer_again({});
  EXPECT_EQ(registry->symbols_of(*here.file->object), id);
  EXPECT_NE(name(id, fixture_address("c_function")), "c_function");
}

TEST_F(MappedFileTest, HandsOverAgainWhatWasForgotten) {
  make({}, {.cache = {.bytes = 1}});  // the last one read is kept
  const std::uint64_t c_function = fixture_address("c_function");
  const Mapping here = map_here(object_file(symbol_fixture("symbols_plain")).fd);
  registry->mapping_added(self, here);
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  const ObjectId id = registry->symbols_of(*here.file->object);
  registry->mapping_added(self, mapping(found(object_file(symbol_fixture("symbols_other")).fd)));
  EXPECT_NE(name(id, c_function), "c_function");
  (void)name(id, c_function);  // what the first job missed is known after it
  registry->offer_again({});
  EXPECT_EQ(name(id, c_function), "c_function");
}

// As of a shell: many short-lived processes map it, and the last one of them has ended.
TEST_F(MappedFileTest, HandsOverAgainWhatOneOfItsProcessesHas) {
  make({}, {.cache = {.bytes = 1}});
  const std::uint64_t c_function = fixture_address("c_function");
  const Mapping here = map_here(object_file(symbol_fixture("symbols_plain")).fd);
  registry->mapping_added(self, here);
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  const ObjectId id = registry->symbols_of(*here.file->object);
  constexpr std::uint32_t kEnded = 1U << 30;  // more than a process can have
  registry->mapping_added({.tgid = kEnded, .serial = 9}, here);
  registry->image_ended({.tgid = kEnded, .serial = 9}, {});
  registry->seen_in(self.tgid, here);
  for (std::uint32_t i = 1; i < 9; ++i) registry->seen_in(kEnded + i, here);

  registry->mapping_added(self, mapping(found(object_file(symbol_fixture("symbols_other")).fd)));
  EXPECT_NE(name(id, c_function), "c_function");
  (void)name(id, c_function);  // what the first job missed is known after it
  registry->offer_again({});
  EXPECT_EQ(name(id, c_function), "c_function");
}

// A process that had somebody wait is left alone for a while, and then asked again.
struct RefusedRoot final : FileOpener {
  OpenedFile open(const FileRequest& /*request*/) override {
    OpenedFile file = not_opened(OpenedFile::Outcome::Opened);
    file.fd = object_file(symbol_fixture("symbols_stripped")).fd;
    return file;
  }
  RootId root_of(std::uint32_t /*tgid*/) override { return {}; }
  OpenedFile open_root(std::uint32_t /*tgid*/) override {
    ++asked;
    OpenedFile file =
        not_opened(root.empty() ? OpenedFile::Outcome::Refused : OpenedFile::Outcome::Opened);
    if (!root.empty()) file.fd.reset(::open(root.c_str(), O_PATH | O_CLOEXEC));
    return file;
  }
  std::string root;  // empty: refused
  int asked = 0;
};

TEST_F(ObjectRegistryTest, LooksForADebugFileOnceTheRootCanBeHad) {
  TempTree tree({{"lib/"}});
  std::filesystem::copy_file(symbol_fixture("symbols_plain.debug"),
                             tree.root() / "lib/symbols_plain.debug");
  RefusedRoot asked;
  symbols.emplace(SymbolWorker::Limits{});
  registry.emplace(nullptr, *symbols, asked, nullptr, reporting([](const Error& /*error*/) {}));
  const auto file = found(object_file(symbol_fixture("symbols_stripped")).fd);
  registry->mapping_added(kImage, mapping(file));
  const std::uint64_t c_function = fixture_address("c_function");
  EXPECT_NE(name(registry->symbols_of(*file->object), c_function), "c_function");

  const MonotonicTime start{std::chrono::hours(1)};
  registry->offer_again(start);
  EXPECT_NE(name(registry->symbols_of(*file->object), c_function), "c_function");
  const int before = asked.asked;
  registry->offer_again(start + std::chrono::milliseconds(500));
  EXPECT_EQ(asked.asked, before) << "not as often as events come";
  asked.root = tree.root();
  registry->offer_again(start + std::chrono::seconds(2));
  EXPECT_EQ(name(registry->symbols_of(*file->object), c_function), "c_function");
  registry->offer_again(start + std::chrono::seconds(4));
  EXPECT_EQ(asked.asked, before + 1) << "it is settled";
}

// By the code that opened it the first time, with all that this compares: it looks where the file
// lies before it touches it, as a server may never answer.
TEST_F(ObjectRegistryTest, OpensAgainAsTheFirstTime) {
  test::FakeOpener asked;
  tables.emplace(*TableStore::create(maps, {.unused_objects = 1}));
  symbols.emplace(SymbolWorker::Limits{});
  registry.emplace(&*tables, *symbols, asked, nullptr,
                   reporting([this](const Error& error) { failures.push_back(error.message()); }));
  auto object = std::make_shared<MappedObject>(
      MappedObject{.id = 77, .build_id = test::build_id(7), .inode = {}});
  auto file = std::make_shared<MappedFile>();
  file->path = "/net/a.so";
  file->object = object;
  registry->object_found(object, *file, elf_with(24));
  registry->mapping_added(kImage, mapping(file));
  registry->image_ended(kImage, {});
  use(elf_with(32));  // its table goes for this one's
  asked.files["/net/a.so"] = {OpenedFile::Outcome::Remote, {}};
  registry->mapping_added(kImage, mapping(file));
  ASSERT_THAT(asked.requests, testing::SizeIs(1));
  const FileRequest& request = asked.requests.front();
  EXPECT_EQ(request.tgid, kImage.tgid);
  EXPECT_EQ(request.begin, kBase);
  EXPECT_EQ(request.end, kBase + kSize);
  EXPECT_EQ(request.path, "/net/a.so");
  EXPECT_EQ(request.build_id, test::build_id(7));
  EXPECT_EQ(rule_at(), kNoRule);
  EXPECT_THAT(failures, testing::IsEmpty());
}

// It may map another file than it says: neither its memory nor its root is asked for the object's.
TEST_F(ObjectRegistryTest, WhoBorrowsAnObjectIsNotAskedForItsFile) {
  test::FakeOpener asked;
  tables.emplace(*TableStore::create(maps, {.unused_objects = 1}));
  symbols.emplace(SymbolWorker::Limits{});
  registry.emplace(&*tables, *symbols, asked, nullptr,
                   reporting([this](const Error& error) { failures.push_back(error.message()); }));
  const auto file = found(elf_with(24));
  registry->mapping_added(kImage, mapping(file));
  registry->image_ended(kImage, {});
  use(elf_with(32));  // its table goes for this one's
  const auto borrowed = std::make_shared<MappedFile>(*file);
  borrowed->borrowed = true;
  registry->mapping_added({.tgid = 66, .serial = 2}, mapping(borrowed, 2 * kBase));
  ASSERT_THAT(asked.requests, testing::SizeIs(1));
  EXPECT_EQ(asked.requests.front().tgid, kImage.tgid);
  EXPECT_EQ(asked.requests.front().begin, kBase);
}

// Whatever is asked for, somebody maps this one.
class OneFileOpener final : public FileOpener {
 public:
  explicit OneFileOpener(std::uint32_t user) : user_(user) {}
  void set_user(std::uint32_t user) { user_ = user; }
  OpenedFile open(const FileRequest& /*request*/) override {
    OpenedFile file;
    file.outcome = OpenedFile::Outcome::Opened;
    file.fd = elf_with(48);
    file.mapped_by = user_;
    return file;
  }
  RootId root_of(std::uint32_t /*tgid*/) override { return {}; }
  OpenedFile open_root(std::uint32_t /*tgid*/) override { return {}; }

 private:
  std::uint32_t user_;
};

// A process that mapped the object when it was root's, and maps what another user likes now.
TEST_F(ObjectRegistryTest, WhatAnotherUserMapsIsNotTakenForTheObject) {
  for (const std::uint32_t user : {0U, 1000U}) {
    OneFileOpener opens(user);
    maps = FakeUnwindMaps();
    tables.emplace(*TableStore::create(maps, {.unused_objects = 1}));
    symbols.emplace(SymbolWorker::Limits{});
    registry.emplace(&*tables, *symbols, opens, nullptr, reporting([this](const Error& error) {
      failures.push_back(error.message());
    }));
    auto file = std::make_shared<MappedFile>();
    file->object = std::make_shared<MappedObject>(
        MappedObject{.id = 77, .build_id = test::build_id(7), .inode = {}, .user = 0});
    registry->object_found(file->object, *file, elf_with(24));
    registry->mapping_added(kImage, mapping(file));
    registry->image_ended(kImage, {});
    use(elf_with(32));  // its table goes for this one's
    registry->mapping_added(kImage, mapping(file));
    EXPECT_EQ(rule_at(), user == 0 ? 48 : kNoRule);
    opens.set_user(0);
    registry->mapping_added(kImage, mapping(file));
    EXPECT_EQ(rule_at(), 48) << "the next one who maps it is asked";
  }
}

// A copy may have another table, whose build-id is the same because it says so.
TEST_F(ObjectRegistryTest, ACopyHasATableOfItsOwn) {
  make();
  const auto file = found(UniqueFd(::memfd_create("text", MFD_CLOEXEC)));
  registry->copy_found(*file->object, elf_with(24));
  registry->mapping_added(kImage, mapping(file));
  EXPECT_EQ(rule_at(), kNoRule);
}

// Of which one user made so many that the stacks of all waited for their tables.
TEST_F(MappedFileTest, WhoHasSpentHisTimeWaitsForTables) {
  make({}, {}, {.at_once = std::chrono::microseconds(1), .per_second = 0.0001});
  const Mapping here = map_here(elf_with(32));
  use(elf_with(24));
  registry->mapping_added(self, here);
  EXPECT_EQ(rule_at(mapped, self.tgid), kNoRule);
  EXPECT_EQ(registry->late_tables(), 1U);
  EXPECT_NE(registry->symbols_of(*here.file->object), 0U);
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rule_at(mapped, self.tgid) == kNoRule && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    registry->mapping_added(self, here);  // when it is mapped anew
  }
  EXPECT_EQ(rule_at(mapped, self.tgid), 32);
}

// Thousands of files that one process maps do not take all descriptors.
TEST_F(MappedFileTest, HoldsSomeFilesOnlyAndOpensTheOthersAgain) {
  make();
  std::vector<std::shared_ptr<const MappedFile>> held;
  held.reserve(1024);
  for (int i = 0; i < 1024; ++i) {
    held.push_back(found(UniqueFd(::memfd_create("text", MFD_CLOEXEC))));
  }
  const Mapping here = map_here(elf_with(24));
  const int next = ::memfd_create("next", MFD_CLOEXEC);
  EXPECT_EQ(::close(next), 0);
  EXPECT_LT(next, 1200);
  for (const auto& file : held) registry->object_forgotten(*file->object);
  if (!may_open()) GTEST_SKIP() << "opening what a process maps needs CAP_CHECKPOINT_RESTORE";
  registry->mapping_added(self, here);
  EXPECT_EQ(rule_at(mapped, self.tgid), 24);
}

TEST_F(ObjectRegistryTest, CopiesHaveTheTableOfTheFirst) {
  make();
  const auto file = found(elf_with(24));
  registry->mapping_added(kImage, mapping(file));
  const std::size_t before = maps.files.size();  // with the vDSO
  const auto compiled = tables->stats().compiled;
  registry->copy_found(*file->object, elf_with(24));
  registry->mapping_added(kPasser, mapping(file));
  EXPECT_EQ(maps.files.size(), before + 1);
  EXPECT_EQ(tables->stats().compiled, compiled);
}

}  // namespace
}  // namespace offcpud
