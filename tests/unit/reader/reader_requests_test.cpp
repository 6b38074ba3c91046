// SPDX-License-Identifier: Apache-2.0
// Real readers, asked about this process: what they answer is what it would have read itself.
#include "reader/reader_requests.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "elf/build_id.h"
#include "reader/process_account.h"
#include "reader/reader_answers.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

struct ReaderRequestsTest : testing::Test {
  ReaderRequestsTest() {
    auto started = ReaderSpawner::start(answer_requests);
    if (!started) std::abort();
    spawner = *std::move(started);
    ReaderReports reports;
    reports.refused = [this](Refusal cause) { refused.push_back(cause); };
    share = std::make_shared<ReaderShare>(spawner, reports);
    client = std::make_unique<ReaderClient>(share);
  }

  // This process, while it has so many pages more, of which every other one is executable.
  Result<std::optional<ProcessReader::Process>> read_with_every_other_executable(
      std::size_t pages) {
    const std::size_t bytes = pages * 4096;
    auto* const memory =
        static_cast<char*>(::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) return Error::from_errno(errno, "mmap");
    bool changed = true;
    for (std::size_t at = 0; at < bytes; at += std::size_t{2} * 4096) {
      changed = changed && ::mprotect(memory + at, 4096, PROT_READ | PROT_EXEC) == 0;
    }
    auto read = DeadlineProcessReader(*client).read(self);
    (void)::munmap(memory, bytes);
    if (!changed) return Error("mprotect failed");
    return read;
  }

  const std::uint32_t self = static_cast<std::uint32_t>(::getpid());
  std::shared_ptr<ReaderSpawner> spawner;
  std::shared_ptr<ReaderShare> share;
  std::unique_ptr<ReaderClient> client;
  std::vector<Refusal> refused;
};

TEST_F(ReaderRequestsTest, MappingsAreThoseOfProc) {
  DeadlineProcessReader remote(*client);
  ProcProcessReader direct;
  const auto far = remote.read(self);
  const auto near = direct.read(self);
  ASSERT_TRUE(far && *far && near && *near);
  ASSERT_EQ((*far)->maps.size(), (*near)->maps.size());
  for (std::size_t i = 0; i < (*near)->maps.size(); ++i) {
    EXPECT_EQ((*far)->maps[i].begin, (*near)->maps[i].begin);
    EXPECT_EQ((*far)->maps[i].offset, (*near)->maps[i].offset);
    EXPECT_EQ((*far)->maps[i].path, (*near)->maps[i].path);
  }
  EXPECT_EQ((*far)->threads, (*near)->threads);
  const auto gone = remote.read(0x7fffffff);
  EXPECT_TRUE(gone && !*gone);
  const auto all = remote.processes();
  ASSERT_TRUE(all);
  EXPECT_EQ(std::ranges::count(*all, self), 1);
}

// Others had us wait for so long that nobody is asked any more: the list of processes is nobody's.
TEST_F(ReaderRequestsTest, ProcessesAreListedWhoeverHadUsWait) {
  for (std::uint32_t i = 1; i <= 20; ++i) {
    share->ledger.count_wait(i, Account{1000} + i, std::chrono::seconds(1), false);
  }
  DeadlineProcessReader remote(*client);
  EXPECT_FALSE(remote.read(self)) << "all that may be waited is used up";
  EXPECT_TRUE(remote.processes());
}

// As where the reader has no descriptors left: what cannot be listed is not empty.
TEST(ReaderWithoutDescriptors, AnErrorIsAnError) {
  auto started = ReaderSpawner::start([](UniqueFd socket, SharedReaderPage page) {
    const rlimit one{1, 1};  // poll() takes as many; what is open stays
    (void)::setrlimit(RLIMIT_NOFILE, &one);
    answer_requests(std::move(socket), std::move(page));
  });
  ASSERT_TRUE(started);
  ReaderClient client(std::make_shared<ReaderShare>(*std::move(started), ReaderReports()));
  const auto listed = DeadlineProcessReader(client).processes();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().message(), "open '/proc': Too many open files");
}

// Readers that answer everything with these files, one after the other, and then the last again.
struct ReaderOfFiles : testing::Test {
  void answer_with(const std::vector<std::string>& answers) {
    auto started = ReaderSpawner::start([answers](UniqueFd socket, const SharedReaderPage&) {
      for (std::size_t next = 0;;) {
        const auto request = receive_packet(socket.get(), std::chrono::milliseconds(-1));
        if (!request) return;
        if (!*request) continue;
        if (!send_packet(socket.get(), answers[next])) return;
        if (next + 1 < answers.size()) ++next;
      }
    });
    if (!started) std::abort();
    spawner = *std::move(started);
    ReaderReports reports;
    reports.refused = [this](Refusal cause) {
      refused.emplace_back(kRefusalNames.at(static_cast<std::size_t>(cause)));
    };
    client =
        std::make_unique<ReaderClient>(std::make_shared<ReaderShare>(spawner, std::move(reports)));
  }
  static std::string bytes_of_file(const OpenedFile& file) {
    PacketWriter writer;
    put_opened_file(writer, file);
    return writer.take();
  }
  static std::string to_be_copied(std::uint64_t bytes) {
    OpenedFile file = not_opened(OpenedFile::Outcome::Refused);
    file.copied = bytes;
    return bytes_of_file(file);
  }
  OpenedFile::Outcome opened() { return DeadlineFileOpener(*client).open(FileRequest()).outcome; }

  std::shared_ptr<ReaderSpawner> spawner;
  std::unique_ptr<ReaderClient> client;
  std::vector<std::string> refused;
};

TEST_F(ReaderOfFiles, SaysAndCountsThatAFileIsTooLargeToBeCopied) {
  answer_with({bytes_of_file(not_opened(OpenedFile::Outcome::TooLarge))});
  const auto root = RootDirectory::open("/");
  ASSERT_TRUE(root);
  const auto file =
      DeadlineFilesBelow(*client).open_below(root->descriptor(), 0, "/large", LastLink::Follow);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(),
            "open '/large': too large to be copied, as its file system is not known to answer");
  EXPECT_EQ(refused, std::vector<std::string>{"size"});
  EXPECT_EQ(opened(), OpenedFile::Outcome::TooLarge);
  EXPECT_EQ(refused, (std::vector<std::string>{"size", "size"}));
}

// While its copy is made it grows beyond the room for it, which is closed.
TEST_F(ReaderOfFiles, CountsACopyThatItsRoomBecameTooSmallFor) {
  answer_with({to_be_copied(4096), to_be_copied(8192)});
  EXPECT_EQ(opened(), OpenedFile::Outcome::Refused);
  EXPECT_EQ(refused, std::vector<std::string>{"copies"});
  EXPECT_EQ(client->copies().left(), CopyRoom::kMost);
}

TEST_F(ReaderOfFiles, CountsWhatIsLeftAloneWhenItIsToBeCopied) {
  answer_with({to_be_copied(4096), bytes_of_file(not_opened(OpenedFile::Outcome::TooLarge)),
               to_be_copied(4096), bytes_of_file(not_opened(OpenedFile::Outcome::Refused))});
  EXPECT_EQ(opened(), OpenedFile::Outcome::TooLarge);
  EXPECT_EQ(opened(), OpenedFile::Outcome::Refused);
  EXPECT_EQ(refused, (std::vector<std::string>{"size", "mount"}));
}

// A reader parses what belongs to others, and may be anybody's by then: what it could not have
// written is no answer.
TEST_F(ReaderOfFiles, RefusesAnswersThatNoReaderWrites) {
  OpenedFile copy = not_opened(OpenedFile::Outcome::Gone);
  copy.build_id.size = BuildId::kMaxSize;
  const std::string fits = bytes_of_file(copy);
  const std::size_t size_at = 1 + BuildId::kMaxSize;
  ASSERT_EQ(fits[size_at], BuildId::kMaxSize);
  std::string long_build_id = fits;
  long_build_id[size_at] = BuildId::kMaxSize + 1;
  std::string no_outcome = fits;
  no_outcome[0] = OpenedFile::kOutcomes;
  std::string no_bool = fits;
  no_bool[size_at + 1 + sizeof(std::uint64_t)] = 2;
  answer_with({fits, long_build_id, no_outcome, no_bool, fits.substr(1)});
  EXPECT_EQ(opened(), OpenedFile::Outcome::Gone);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(opened(), OpenedFile::Outcome::Failed) << i;
}

TEST_F(ReaderOfFiles, RefusesProcessesThatNoReaderWrites) {
  answer_with({"", std::string(1, '\3'), std::string("\2\7\0\0\0\0\0\0\0", 9)});
  DeadlineProcessReader reader(*client);
  for (int i = 0; i < 3; ++i) {
    const auto read = reader.read(1);
    ASSERT_FALSE(read) << i << ": it is not gone";
    EXPECT_EQ(read.error().message(), "read a process: the answer is cut short");
  }
}

TEST_F(ReaderOfFiles, RefusesAListThatIsCutShort) {
  answer_with({std::string("\1\1\0\0\0\1", 6)});
  EXPECT_FALSE(DeadlineProcessReader(*client).processes());
}

TEST_F(ReaderOfFiles, KnowsNoRootThatNoReaderWrites) {
  PacketWriter writer;
  writer.put(RootId{.device = 1, .inode = 2, .user = 0, .user_is = RootId::UserIs::Own});
  std::string answer = writer.take();
  answer_with({answer});
  EXPECT_TRUE(DeadlineFileOpener(*client).root_of(7).known());
  answer[20] = 3;
  answer_with({answer});
  EXPECT_FALSE(DeadlineFileOpener(*client).root_of(7).known());
}

// More than fits into one message.
TEST_F(ReaderRequestsTest, AProcessWithThousandsOfMappings) {
  constexpr std::size_t kPages = 4000;
  const auto read = read_with_every_other_executable(kPages);
  ASSERT_TRUE(read && *read);
  EXPECT_GT((*read)->maps.size(), kPages / 2);
}

// What is beyond the limits is counted, and neither sent nor kept.
TEST_F(ReaderRequestsTest, MoreExecutableMappingsThanAreRead) {
  constexpr std::size_t kPages = 18'000;
  const auto read = read_with_every_other_executable(kPages);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->maps.size(), ProcessReader::kMostLines);
  const std::size_t all = (*read)->maps.size() + (*read)->left_out;
  EXPECT_GE(all, kPages / 2);
  EXPECT_LT(all, kPages / 2 + 200);  // and those of the test itself
}

TEST_F(ReaderRequestsTest, LongerPathsThanAreRead) {
  constexpr std::size_t kMappings = 1000;
  constexpr std::size_t kStep = 8192;  // a page, and one that is not there
  const TempTree tree;
  std::filesystem::path path = tree.root();
  while (path.native().size() + 200 < 4000) path /= std::string(190, 'd');
  std::filesystem::create_directories(path);
  std::ofstream(path / "file") << std::string(4096, 'x');
  const UniqueFd file(::open((path / "file").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, kMappings * kStep, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t i = 0; i < kMappings; ++i) {
    ASSERT_NE(::mmap(memory + i * kStep, 4096, PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file.get(), 0),
              MAP_FAILED);
  }
  const auto read = DeadlineProcessReader(*client).read(self);
  (void)::munmap(memory, kMappings * kStep);
  ASSERT_TRUE(read && *read);
  std::size_t text = 0;
  for (const MapsLine& line : (*read)->maps) text += line.path.size();
  EXPECT_LE(text, ProcessReader::kMostText);
  EXPECT_GT(text, ProcessReader::kMostText / 2);
  EXPECT_GE((*read)->maps.size() + (*read)->left_out, kMappings);
}

// sysfs is in no list of those that answer by themselves.
TEST_F(ReaderRequestsTest, CopiesAreReadOnlyAndCountAndSayWhatTheyAreOf) {
  const std::string path = "/sys/kernel/btf/vmlinux";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  const auto root = RootDirectory::open("/");
  ASSERT_TRUE(root);
  DeadlineFilesBelow files(*client);
  const auto copy = files.open_below(root->descriptor(), self, path, LastLink::Follow);
  ASSERT_TRUE(copy);
  struct stat copied {};
  struct stat own {};
  ASSERT_EQ(::fstat(copy->get(), &copied), 0);
  ASSERT_EQ(::stat(path.c_str(), &own), 0);
  EXPECT_NE(copied.st_ino, own.st_ino);
  EXPECT_EQ(copied.st_size, own.st_size);
  EXPECT_LT(::pwrite(copy->get(), "x", 1, 0), 0);
  EXPECT_EQ(client->copies().left(), CopyRoom::kMost - static_cast<std::uint64_t>(own.st_size));
  const auto original = client->copies().original_of(copy->get());
  ASSERT_TRUE(original);
  EXPECT_EQ(original->version.inode.inode, own.st_ino);
  EXPECT_EQ(original->version.size, static_cast<std::uint64_t>(own.st_size));
  EXPECT_EQ(files.rights_of_original(copy->get()),
            (FileRights{.owner = own.st_uid, .mode = own.st_mode}));

  // All that its user gets; another one gets some.
  const std::uint64_t left = client->copies().left() - CopyRoom::kKept;
  const auto rest = client->copies().reserve(left, ::geteuid());
  EXPECT_TRUE(rest);
  EXPECT_TRUE(client->copies().reserve(std::uint64_t{1} << 20, ::geteuid() + 1));
  EXPECT_FALSE(files.open_below(root->descriptor(), self, path, LastLink::Follow));
  EXPECT_EQ(refused, std::vector{Refusal::Copies});
}

TEST_F(ReaderRequestsTest, SaysThatAMountIsLeftAlone) {
  const TempTree tree({{"file", "text"}});
  struct statx info {};
  ASSERT_EQ(::statx(AT_FDCWD, tree.root().c_str(), 0, STATX_MNT_ID, &info), 0);
  const auto root = RootDirectory::open(tree.root());
  ASSERT_TRUE(root);
  DeadlineFilesBelow files(*client);
  EXPECT_TRUE(files.open_below(root->descriptor(), self, "/file", LastLink::Follow));
  share->ledger.shun(info.stx_mnt_id);
  EXPECT_FALSE(files.open_below(root->descriptor(), self, "/file", LastLink::Follow));
  EXPECT_EQ(refused, std::vector{Refusal::Mount});
}

TEST_F(ReaderRequestsTest, OpensTheFileOfAMapping) {
  const auto process = ProcProcessReader().read(self);
  ASSERT_TRUE(process && *process);
  const auto line = std::ranges::find_if((*process)->maps, [](const MapsLine& map) {
    return map.path == std::filesystem::read_symlink("/proc/self/exe");
  });
  ASSERT_NE(line, (*process)->maps.end());
  FileRequest request;
  request.tgid = self;
  request.begin = line->begin;
  request.end = line->end;
  request.path = line->path;
  request.inode = line->inode;
  DeadlineFileOpener opener(*client);
  const OpenedFile file = opener.open(request);
  ASSERT_EQ(file.outcome, OpenedFile::Outcome::Opened);
  EXPECT_EQ(file.build_id, read_build_id(file.fd.get()));
  EXPECT_EQ(file.mapped_by, ::geteuid());
  struct stat opened {};
  struct stat own {};
  ASSERT_EQ(::fstat(file.fd.get(), &opened), 0);
  ASSERT_EQ(::stat(line->path.c_str(), &own), 0);
  // The file itself, unless it is where nobody knows who answers.
  EXPECT_TRUE(file.copied > 0 || opened.st_ino == own.st_ino);
  EXPECT_EQ(opened.st_size, own.st_size);
}

TEST_F(ReaderRequestsTest, OpensWhatIsBelowADirectoryAndNothingElse) {
  const TempTree tree({{"inside/file", "text"}, {"outside", "text"}});
  const auto root = RootDirectory::open(tree.root() / "inside");
  ASSERT_TRUE(root);
  DeadlineFilesBelow files(*client);
  const auto open = [&](const std::string& path) {
    return static_cast<bool>(files.open_below(root->descriptor(), self, path, LastLink::Follow));
  };
  EXPECT_TRUE(open("/file"));
  EXPECT_FALSE(open("/none"));
  std::filesystem::create_symlink("../outside", tree.root() / "inside/link");
  EXPECT_FALSE(open("/link"));
  std::filesystem::create_symlink("file", tree.root() / "inside/good");
  EXPECT_TRUE(open("/good"));
  EXPECT_FALSE(files.open_below(root->descriptor(), self, "/good", LastLink::Refuse));
  ASSERT_EQ(::mkfifo((tree.root() / "inside/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(open("/fifo"));
}

TEST_F(ReaderRequestsTest, ReadsMemoryUpToTheFirstPageThatIsNotThere) {
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::fill(memory, memory + 2 * 4096, 'x');
  ASSERT_EQ(::munmap(memory + 2 * 4096, 4096), 0);
  std::vector<std::byte> bytes(8192);
  MemoryPiece piece{self, self, reinterpret_cast<std::uint64_t>(memory) + 100, bytes};
  DeadlineProcessMemory(*client).read(std::span(&piece, 1));
  (void)::munmap(memory, 2 * 4096);
  EXPECT_EQ(piece.got, 8192U - 100);
  EXPECT_EQ(bytes[0], std::byte{'x'});
}

TEST(ProcessAccount, IsTheUserOfTheProcess) {
  EXPECT_EQ(account_of(static_cast<std::uint32_t>(::getpid())), ::geteuid());
  EXPECT_EQ(account_of(0x7fffffff), std::nullopt);
}

}  // namespace
}  // namespace offcpud
