// The server on a disk that fills up under many clients, and gets room again. What must hold: what
// was acknowledged is there, what was refused is not, and says that clients may try again; reads go
// on; health, metrics, status and log say it; and all goes on by itself when there is room.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/pressed_server.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;

namespace disk_proto = google::bigtable::v2;
namespace disk_admin = google::bigtable::admin::v2;

constexpr size_t kValueBytes = 10'000;
constexpr int kMostFamilies = 80;  // a table may have a hundred

// A file system in memory of some size, on a directory, for its lifetime.
class SmallDisk {
 public:
  explicit SmallDisk(const char* size)
      : is_mounted_(mount("tmpfs", directory_.path().c_str(), "tmpfs", 0,
                          absl::StrCat("size=", size).c_str()) == 0) {}
  ~SmallDisk() {
    if (is_mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  std::string database() const { return directory_.path() + "/database"; }
  uint64_t FreeBytes() const {
    struct statvfs space = {};
    statvfs(directory_.path().c_str(), &space);
    return uint64_t{space.f_bfree} * space.f_frsize;
  }
  // Takes all but `left` bytes, by a file of something else, while others take some too.
  void Fill(uint64_t left) {
    constexpr off_t kPiece = 64 << 10;
    const int file = open(ballast().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    for (off_t size = 0; FreeBytes() > left + kPiece; size += kPiece) {
      if (posix_fallocate(file, size, kPiece) != 0) break;
    }
    close(file);
  }
  void MakeRoom() { EXPECT_EQ(unlink(ballast().c_str()), 0); }

 private:
  std::string ballast() const { return directory_.path() + "/ballast"; }

  const TempDirectory directory_;
  const bool is_mounted_;
};

// What became of each row and of each table. Each is written once.
class Fates {
 public:
  enum class Fate { kMade, kRefused, kUnknown };

  void Add(const std::string& name, const grpc::Status& status) {
    google::rpc::Status details;
    details.ParseFromString(status.error_details());
    Add(name, status.error_code(), details);
  }
  void Add(const std::string& name, grpc::StatusCode code, const google::rpc::Status& details) {
    Fate fate = Fate::kRefused;
    if (code == grpc::StatusCode::OK) {
      fate = Fate::kMade;
    } else if (code == grpc::StatusCode::DEADLINE_EXCEEDED) {
      fate = Fate::kUnknown;
    } else {
      EXPECT_TRUE(PressedServer::MayTryAgain(code, details))
          << name << ": " << code << ", " << details.ShortDebugString();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    fates_[name] = fate;
    ++counts_[fate];
  }
  int Count(Fate fate) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = counts_.find(fate);
    return found == counts_.end() ? 0 : found->second;
  }
  void Check(const std::set<std::string>& there) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, fate] : fates_) {
      if (fate == Fate::kUnknown) continue;
      ASSERT_EQ(there.count(name), fate == Fate::kMade ? 1U : 0U) << name;
    }
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Fate> fates_;
  std::map<Fate, int> counts_;
};

class DiskPressureTest : public testing::Test {
 protected:
  using Fate = Fates::Fate;

  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }

  // A server on a new disk.
  void Start() {
    server_ = nullptr;
    disk_ = std::make_unique<SmallDisk>("768m");
    if (!disk_->is_mounted()) GTEST_SKIP() << "this process may not mount a file system";
    fates_ = std::make_unique<Fates>();
    families_ = 0;
    StartAgain();
    ASSERT_TRUE(PressedServer::CreateTable(server_->NewAdmin().get(), "t").ok());
    WriteOne(server_->NewData().get(), "first");
  }
  void StartAgain() {
    server_ = std::make_unique<PressedServer>();
    ASSERT_TRUE(server_->Start(
        disk_->database(),
        {"--http", "127.0.0.1:0", "--memory", "16MB", "--log", "json", "--drain", "1"},
        {.in_child = {}, .errors = outside_.path() + "/errors"}));
  }
  std::string Errors() const {
    std::ifstream file(outside_.path() + "/errors");
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }
  template <typename Request>
  static void SetValue(Request* mutations) {
    auto* const cell = mutations->mutable_set_cell();
    cell->set_family_name("f");
    cell->set_timestamp_micros(1000);
    cell->set_value(std::string(kValueBytes, 'v'));
  }
  static void SetDeadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

  void WriteOne(PressedServer::Data* stub, const std::string& row) {
    fates_->Add(row, PressedServer::WriteRow(stub, row, kValueBytes));
  }
  void WriteSome(PressedServer::Data* stub, const std::string& prefix) {
    disk_proto::MutateRowsRequest request;
    request.set_table_name(PressedServer::kTable);
    for (int i = 0; i < 5; ++i) {
      auto* const entry = request.add_entries();
      entry->set_row_key(absl::StrCat(prefix, ".", i));
      SetValue(entry->add_mutations());
    }
    grpc::ClientContext context;
    SetDeadline(&context);
    const auto reader = stub->MutateRows(&context, request);
    std::map<int64_t, google::rpc::Status> statuses;
    for (disk_proto::MutateRowsResponse response; reader->Read(&response);) {
      for (const auto& entry : response.entries()) statuses[entry.index()] = entry.status();
    }
    const grpc::Status status = reader->Finish();
    for (int i = 0; i < request.entries_size(); ++i) {
      const std::string& row = request.entries(i).row_key();
      if (!status.ok()) {
        fates_->Add(row, status);
      } else {
        fates_->Add(row, static_cast<grpc::StatusCode>(statuses[i].code()), statuses[i]);
      }
    }
  }
  void Append(PressedServer::Data* stub, const std::string& row) {
    disk_proto::ReadModifyWriteRowRequest request;
    request.set_table_name(PressedServer::kTable);
    request.set_row_key(row);
    auto* const rule = request.add_rules();
    rule->set_family_name("f");
    rule->set_append_value(std::string(kValueBytes, 'v'));
    grpc::ClientContext context;
    SetDeadline(&context);
    disk_proto::ReadModifyWriteRowResponse response;
    fates_->Add(row, stub->ReadModifyWriteRow(&context, request, &response));
  }
  void CheckAndWrite(PressedServer::Data* stub, const std::string& row) {
    disk_proto::CheckAndMutateRowRequest request;
    request.set_table_name(PressedServer::kTable);
    request.set_row_key(row);
    SetValue(request.add_false_mutations());
    grpc::ClientContext context;
    SetDeadline(&context);
    disk_proto::CheckAndMutateRowResponse response;
    fates_->Add(row, stub->CheckAndMutateRow(&context, request, &response));
  }
  void AddTable(PressedServer::Admin* stub, const std::string& id) {
    fates_->Add(absl::StrCat("table ", id), PressedServer::CreateTable(stub, id));
  }
  void AddFamily(PressedServer::Admin* stub, const std::string& id) {
    disk_admin::ModifyColumnFamiliesRequest request;
    request.set_name(PressedServer::kTable);
    auto* const change = request.add_modifications();
    change->set_id(id);
    change->mutable_create();
    grpc::ClientContext context;
    SetDeadline(&context);
    disk_admin::Table table;
    fates_->Add(absl::StrCat("family ", id), stub->ModifyColumnFamilies(&context, request, &table));
  }
  // Of a range that has no row: what is looked at is the error.
  void DropRows(PressedServer::Admin* stub, const std::string& prefix) {
    disk_admin::DropRowRangeRequest request;
    request.set_name(PressedServer::kTable);
    request.set_row_key_prefix(prefix);
    grpc::ClientContext context;
    SetDeadline(&context);
    google::protobuf::Empty response;
    const grpc::Status status = stub->DropRowRange(&context, request, &response);
    EXPECT_TRUE(status.ok() || PressedServer::MayTryAgain(status) ||
                status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
        << status.error_code() << ": " << status.error_message();
  }
  void Change(std::mt19937_64* random, PressedServer::Data* data, PressedServer::Admin* admin,
              const std::string& name) {
    switch ((*random)() % 20) {
      case 0:
        return AddTable(admin, absl::StrCat("t", name));
      case 1:
        if (families_.fetch_add(1) >= kMostFamilies) return;
        return AddFamily(admin, absl::StrCat("f", name));
      case 2:
        return DropRows(admin, absl::StrCat("none", name));
      case 3:
      case 4:
      case 5:
        return WriteSome(data, name);
      case 6:
      case 7:
        return Append(data, name);
      case 8:
      case 9:
        return CheckAndWrite(data, name);
      default:
        return WriteOne(data, name);
    }
  }

  // Clients that change and read, until EndLoad.
  void BeginLoad(uint64_t seed, int clients) {
    ends_ = false;
    for (int client = 0; client < clients; ++client) {
      clients_.emplace_back([this, seed, client] {
        std::mt19937_64 random(seed * 1000 + static_cast<uint64_t>(client));
        const auto data = server_->NewData();
        const auto admin = server_->NewAdmin();
        for (int i = 0; !ends_.load(); ++i) {
          Change(&random, data.get(), admin.get(), absl::StrCat(seed, "-", client, "-", i));
          grpc::Status status;
          EXPECT_EQ(PressedServer::SizeOfRow(data.get(), "first", &status), kValueBytes);
          EXPECT_TRUE(status.ok()) << status.error_message();
          std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
        }
      });
    }
  }
  void EndLoad() {
    ends_ = true;
    for (std::thread& client : clients_) client.join();
    clients_.clear();
  }
  void CheckFates() {
    std::set<std::string> there;
    disk_proto::ReadRowsRequest request;
    request.set_table_name(PressedServer::kTable);
    const grpc::Status read = PressedServer::ReadRows(server_->NewData().get(), request,
                                                      [&](const std::string& row, size_t bytes) {
                                                        EXPECT_EQ(bytes, kValueBytes) << row;
                                                        there.insert(row);
                                                      });
    EXPECT_TRUE(read.ok()) << read.error_message();
    const auto admin = server_->NewAdmin();
    disk_admin::ListTablesRequest list;
    list.set_parent(PressedServer::kInstance);
    disk_admin::ListTablesResponse tables;
    grpc::ClientContext context;
    EXPECT_TRUE(admin->ListTables(&context, list, &tables).ok());
    for (const disk_admin::Table& table : tables.tables()) {
      there.insert(absl::StrCat("table ", table.name().substr(table.name().rfind('/') + 1)));
    }
    disk_admin::GetTableRequest get;
    get.set_name(PressedServer::kTable);
    disk_admin::Table table;
    grpc::ClientContext get_context;
    EXPECT_TRUE(admin->GetTable(&get_context, get, &table).ok());
    for (const auto& [id, family] : table.column_families()) {
      there.insert(absl::StrCat("family ", id));
    }
    fates_->Check(there);
  }
  void ExpectHealth(bool is_healthy) {
    const char* const code = is_healthy ? "HTTP/1.1 200" : "HTTP/1.1 503";
    EXPECT_TRUE(IsSoon([&] { return server_->Page("/healthz/writes").starts_with(code); }));
    EXPECT_EQ(server_->Metric("bigtable_grpc_healthy"), is_healthy ? 1 : 0);
    EXPECT_THAT(server_->Page("/status.json"),
                HasSubstr(is_healthy ? "\"is_healthy\":true" : "\"is_healthy\":false"));
    // Reads are served in any case.
    EXPECT_TRUE(server_->Page("/healthz").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(server_->Metric("bigtable_grpc_serves_reads"), 1);
  }

  const TempDirectory outside_;
  std::unique_ptr<SmallDisk> disk_;
  std::unique_ptr<Fates> fates_;
  std::unique_ptr<PressedServer> server_;
  std::atomic<bool> ends_{false};
  std::atomic<int> families_{0};
  std::vector<std::thread> clients_;
};

TEST_F(DiskPressureTest, RandomLoadIsRefusedWhileTheDiskIsFull) {
  ForEachSeed(1, [&](uint64_t seed) {
    Start();
    if (IsSkipped()) return;
    BeginLoad(seed, 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(fates_->Count(Fate::kRefused), 0);
    disk_->Fill(seed % 3 * 500'000);
    EXPECT_TRUE(IsSoon([&] { return fates_->Count(Fate::kRefused) >= 20; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ExpectHealth(false);
    EXPECT_THAT(Errors(), HasSubstr("\"message\":\"not healthy\""));
    disk_->MakeRoom();
    // The clients go on, and are not refused any more.
    EXPECT_TRUE(IsSoon([&] {
      const int refused = fates_->Count(Fate::kRefused);
      const int made = fates_->Count(Fate::kMade);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return fates_->Count(Fate::kRefused) == refused && fates_->Count(Fate::kMade) > made + 10;
    }));
    EndLoad();
    ExpectHealth(true);
    std::printf("made: %d, refused: %d, unknown: %d\n", fates_->Count(Fate::kMade),
                fates_->Count(Fate::kRefused), fates_->Count(Fate::kUnknown));
    EXPECT_EQ(fates_->Count(Fate::kUnknown), 0);
    CheckFates();
    EXPECT_EQ(server_->End(), 0);
    StartAgain();
    CheckFates();
    EXPECT_EQ(server_->End(), 0);
  });
}

}  // namespace
}  // namespace bigtable::server
