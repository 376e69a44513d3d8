#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "common/strings.h"
#include "engine.h"
#include "leveldb/db.h"
#include "peer_settings.h"
#include "quiet.h"

namespace bench {
namespace {

absl::Status ToStatus(const leveldb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  if (s.IsNotFound()) return absl::NotFoundError(s.ToString());
  return absl::InternalError(Concat("LevelDB: ", s.ToString()));
}

leveldb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

class LevelDBReader final : public Reader {
 public:
  LevelDBReader(leveldb::DB* db, Checking checking)
      : db_(db), options_(LevelDBReadSettings(checking)) {}

  absl::Status Read(std::string_view key) override {
    const leveldb::Status s = db_->Get(options_, ToSlice(key), &copy_);
    if (!s.ok()) return ToStatus(s);
    value_ = copy_;
    return absl::OkStatus();
  }

 private:
  leveldb::DB* const db_;
  const leveldb::ReadOptions options_;
  std::string copy_;  // reused, so that it is allocated once
};

class LevelDBCursor final : public Cursor {
 public:
  LevelDBCursor(leveldb::DB* db, Checking checking)
      : iterator_(db->NewIterator(LevelDBReadSettings(checking))) {}

  bool Next() override {
    if (begun_) {
      iterator_->Next();
    } else {
      iterator_->SeekToFirst();
      begun_ = true;
    }
    if (!iterator_->Valid()) return false;
    const leveldb::Slice key = iterator_->key();
    const leveldb::Slice value = iterator_->value();
    key_ = {key.data(), key.size()};
    value_ = {value.data(), value.size()};
    return true;
  }
  absl::Status status() const override { return ToStatus(iterator_->status()); }

 private:
  const std::unique_ptr<leveldb::Iterator> iterator_;
  bool begun_ = false;
};

class LevelDB final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Open(const OpenOptions& options) {
    auto settings = std::make_unique<LevelDBSettings>(options);
    leveldb::DB* db = nullptr;
    const leveldb::Status s = leveldb::DB::Open(settings->options, options.directory, &db);
    if (!s.ok()) return ToStatus(s);
    return absl::WrapUnique(new LevelDB(std::move(settings), db));
  }

  absl::Status Write(std::string_view key, std::string_view value) override {
    return ToStatus(db_->Put(write_options_, ToSlice(key), ToSlice(value)));
  }
  std::unique_ptr<Reader> NewReader(Checking checking) override {
    return std::make_unique<LevelDBReader>(db_.get(), checking);
  }
  std::unique_ptr<Cursor> NewCursor(Checking checking) override {
    return std::make_unique<LevelDBCursor>(db_.get(), checking);
  }
  // LevelDB does not report it; it has one background thread, which runs or sleeps.
  absl::StatusOr<absl::Time> WaitUntilQuiet() override { return WaitUntilOtherThreadsRest(); }
  absl::Status Close() override {
    db_.reset();  // LevelDB's only way; it reports no error
    return absl::OkStatus();
  }
  uint64_t MappedBytesWritten() override { return 0; }

 private:
  LevelDB(std::unique_ptr<LevelDBSettings> settings, leveldb::DB* db)
      : settings_(std::move(settings)), db_(db) {}

  const std::unique_ptr<LevelDBSettings> settings_;  // outlives the database
  std::unique_ptr<leveldb::DB> db_;
  const leveldb::WriteOptions write_options_ = LevelDBWriteSettings();
};

}  // namespace

EngineKind LevelDBEngine() {
  return {"leveldb", Concat(leveldb::kMajorVersion, ".", leveldb::kMinorVersion), LevelDB::Open};
}

}  // namespace bench
