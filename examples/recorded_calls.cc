// What a program does with its database, from a recording of its calls: how often each row is read
// and written, and how long calls take. The recording can also be made again under other options:
// bench/replay/run FILE. The database is in memory, so that the program leaves nothing but the
// recording, at the path that it is given, or none.
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  std::exit(EXIT_FAILURE);
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

// A shop: each sale writes a row of orders, counts an item, and reads its price.
void Sell(const std::shared_ptr<bigtable::CallRecorder>& recorder) {
  bigtable::InMemoryFileSystem files;
  bigtable::DatabaseOptions options;
  options.file_system = &files;
  options.recorder = recorder;
  const std::unique_ptr<bigtable::Database> database =
      Value(bigtable::Database::Open("/shop", options));
  bigtable::TableSchema schema;
  schema.families["item"] = {};
  schema.families["sold"] = {.value_type = bigtable::ValueType::kInt64Sum};
  bigtable::Table* const shop = Value(database->OpenOrCreateTable("shop", schema));
  for (int sale = 0; sale < 1000; ++sale) {
    const std::string item = absl::StrFormat("item%02d", sale % 7 * (sale % 3));
    Check(shop->Apply(
        bigtable::RowMutation(absl::StrFormat("order%05d", sale)).Set("item:name", item)));
    Check(shop->Apply(
        bigtable::RowMutation(item).AddToCell("sold:all", bigtable::Timestamp(0), int64_t{1})));
    Check(shop->ReadRow(item).status());
  }
  Check(database->Close());  // which also ends the recording
}

struct RowUse {
  int reads = 0;
  int writes = 0;
};

void Report(bigtable::RecordingReader* recording) {
  std::map<std::string, RowUse> items;
  absl::Duration writing;
  int writes = 0;
  for (bigtable::RecordedCall call; recording->Next(&call);) {
    if (call.kind == bigtable::RecordedCall::Kind::kReadRow) {
      ++items[call.ranges[0].begin()].reads;
      continue;
    }
    ++writes;
    writing += call.duration;
    for (const bigtable::RecordedMutation& mutation : call.mutations) {
      if (mutation.row.starts_with("item")) ++items[mutation.row].writes;
    }
  }
  Check(recording->status());
  std::cout << writes << " writes\n";
  for (const auto& [item, use] : items) {
    std::cout << item << ": " << use.reads << " reads, " << use.writes << " writes\n";
  }
  std::cerr << "a write took " << writing / writes << " on average\n";
  if (writes != 2000 || recording->lost_calls() != 0) Check(absl::DataLossError("calls are lost"));
}

}  // namespace

int main(int argc, char** argv) {
  bigtable::InMemoryFileSystem files;
  const std::string path = argc > 1 ? argv[1] : "/recording";
  bigtable::FileSystem* const where = argc > 1 ? bigtable::FileSystem::Posix() : &files;
  Sell(Value(bigtable::CallRecorder::Create(path, {.file_system = where})));
  Report(Value(bigtable::RecordingReader::Open(path, where)).get());
  return EXIT_SUCCESS;
}
