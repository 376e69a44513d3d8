// What recovery finds after a crash: testdata/recovery.txt. The database is in memory, and
// compactions run only when the test requests them.
//
//   open | close
//   create TABLE FAMILY...         drop TABLE FAMILY
//   apply TABLE [none|buffered|sync]   lines: ROW FAMILY:QUALIFIER@TIMESTAMP VALUE; ROW delete
//   flush TABLE | compact TABLE
//   crash process|machine [seed=]  the database is opened from what was left
//   read TABLE                     every cell
//   orphan                         writes an SSTable that no table names
//   files                          whether that SSTable exists

#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/database_fixture.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

class RecoveryTest : public DatabaseFixture {
 protected:
  std::string Do(const TextCommand& command) {
    const absl::Status status = Step(command);
    return output_ + (status.ok() ? "" : std::string(status.ToString()) + "\n");
  }

 private:
  static constexpr const char* kOrphan = "/db/sst/00099999.sst";

  absl::Status Step(const TextCommand& command) {
    output_.clear();
    const std::string table = command.Word(0);
    if (command.name == "open") return OpenIt();
    if (database_ == nullptr) return absl::UnknownError("there is no database open");
    if (command.name == "close") return database_->Close();
    if (command.name == "create") {
      TableSchema schema;
      for (size_t i = 1; i < command.words().size(); ++i) schema.families[command.Word(i)] = {};
      return database_->CreateTable(table, schema);
    }
    if (command.name == "drop") return database_->DropFamily(table, command.Word(1));
    if (command.name == "apply") return Apply(command, table);
    if (command.name == "flush") return database_->Flush(table);
    if (command.name == "compact") return database_->Compact(table);
    if (command.name == "read") return Read(table);
    if (command.name == "orphan") {
      file_system_->SetContents(kOrphan, "of a compaction that did not end");
      return absl::OkStatus();
    }
    if (command.name == "files") {
      output_ = file_system_->FileExists(kOrphan) ? "the orphan is there\n" : "no orphan\n";
      return absl::OkStatus();
    }
    if (command.name == "crash") {
      const Unsynced survives =
          command.Has("machine") ? Unsynced::kRandomPart : Unsynced::kEverything;
      if (command.Has("process") == command.Has("machine")) return absl::UnknownError("which?");
      std::unique_ptr<InMemoryFileSystem> clone =
          file_system_->CrashClone(static_cast<uint64_t>(command.Number("seed", 1)), survives);
      database_.reset();
      file_system_ = std::move(clone);
      return OpenIt();
    }
    return absl::UnknownError("unknown command");
  }

  absl::Status OpenIt() {
    database_.reset();
    DatabaseOptions options = Options();
    options.file_system = file_system_.get();
    auto opened = Database::Open(kPath, options);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    database_->PauseCompactions();
    return absl::OkStatus();
  }
  absl::Status Apply(const TextCommand& command, const std::string& name) {
    WriteOptions options;
    if (command.Has("none")) options.durability = Durability::kNone;
    if (command.Has("buffered")) options.durability = Durability::kBuffered;
    if (command.Has("sync")) options.durability = Durability::kSync;
    const auto table = database_->OpenTable(name);
    if (!table.ok()) return table.status();
    for (const std::string& line : command.input) {
      const std::vector<std::string> words = SplitWords(line);
      RowMutation mutation(words[0]);
      if (words[1] == "delete") {
        mutation.DeleteRow();
      } else {
        const size_t at = words[1].find('@');
        mutation.Set(words[1].substr(0, at), Timestamp(std::stoll(words[1].substr(at + 1))),
                     words[2]);
      }
      if (absl::Status status = (*table)->Apply(mutation, options); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status Read(const std::string& name) {
    const auto table = database_->OpenTable(name);
    if (!table.ok()) return table.status();
    RowReader reader = (*table)->ReadRows(RowRange::All());
    for (const Row& row : reader) output_ += Cat(row.key(), ": ", Show(row), "\n");
    if (output_.empty()) output_ = "nothing\n";
    return reader.status();
  }

  std::string output_;
};

TEST_F(RecoveryTest, AcknowledgedWritesAreRecovered) {
  RunTextFile(BIGTABLE_TESTDATA "/recovery.txt",
              [&](const TextCommand& command) { return Do(command); });
}

}  // namespace
}  // namespace bigtable
