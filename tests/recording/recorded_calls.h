// Recordings as text, a line for each call.
#ifndef BIGTABLE_TESTS_RECORDING_RECORDED_CALLS_H_
#define BIGTABLE_TESTS_RECORDING_RECORDED_CALLS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/database_fixture.h"

namespace bigtable {

inline std::string Show(const RowRange& range) {
  if (range == RowRange::Single(range.begin())) return range.begin();
  return Cat("[", range.begin(), ",", range.end().value_or("-"), ")");
}

inline std::string Show(const RecordedOperation& operation) {
  return Cat(static_cast<int>(operation.kind), " ", operation.family, ":", operation.qualifier, "@",
             operation.timestamp.has_value() ? Cat(operation.timestamp->micros()) : "now",
             operation.end.micros() != 0 ? Cat("-", operation.end.micros()) : "", "=",
             operation.value_size);
}

inline std::string Show(const RecordedMutation& mutation) {
  std::string text = Cat("{", mutation.table, " ", mutation.row, ":");
  for (const RecordedOperation& operation : mutation.operations) {
    absl::StrAppend(&text, " ", Show(operation));
  }
  return text + "}";
}

// Without times and threads.
inline std::string Show(const RecordedCall& call) {
  static constexpr const char* kKinds[] = {
      "ReadRow",         "ReadRows",         "Scan",        "Apply",
      "ApplyBatch",      "WriteBatch",       "Commit",      "Check",
      "ReadModifyWrite", "MutateAtomically", "DropRowRange"};
  std::string text = Cat(kKinds[static_cast<size_t>(call.kind) - 16], " ", call.table);
  for (const RowRange& range : call.ranges) absl::StrAppend(&text, " ", Show(range));
  if (call.filter_left_out) text += " filtered";
  if (call.reverse) text += " reverse";
  if (call.row_limit != 0) absl::StrAppend(&text, " row_limit=", call.row_limit);
  if (call.cell_limit != 0) absl::StrAppend(&text, " cell_limit=", call.cell_limit);
  if (call.synced) text += " synced";
  for (const RecordedMutation& mutation : call.mutations) {
    absl::StrAppend(&text, " ", Show(mutation));
  }
  if (call.rows + call.cells + call.bytes != 0) {
    absl::StrAppend(&text, " -> ", call.rows, " rows ", call.cells, " cells ", call.bytes,
                    " bytes");
  }
  if (call.code != absl::StatusCode::kOk) {
    absl::StrAppend(&text, " ", absl::StatusCodeToString(call.code));
  }
  return text;
}

class RecordingFixture : public DatabaseFixture {
 protected:
  static constexpr const char* kRecording = "/calls";

  void SetUp() override { Record({}); }
  // Opens a database whose calls are recorded, with a table t that has the families f and g.
  void Record(RecordingOptions options) {
    if (options.file_system == nullptr) options.file_system = file_system_.get();
    const bool is_first = database_ == nullptr;
    database_.reset();
    file_system_->RemoveFile(kRecording).IgnoreError();
    auto recorder = CallRecorder::Create(kRecording, options);
    ASSERT_OK(recorder);
    recorder_ = *std::move(recorder);
    DatabaseOptions of_database = Options();
    of_database.recorder = recorder_;
    Open(of_database);
    if (is_first) {
      ASSERT_OK(database_->CreateTable("t", SchemaOfT()));
    }
    table_ = OpenTable("t");
  }
  static TableSchema SchemaOfT() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["g"] = {};
    return schema;
  }

  std::unique_ptr<RecordingReader> Reader() {
    absl::StatusOr<std::unique_ptr<RecordingReader>> reader =
        RecordingReader::Open(kRecording, file_system_.get());
    EXPECT_OK(reader);
    return reader.ok() ? *std::move(reader) : nullptr;
  }
  static std::vector<RecordedCall> Rest(RecordingReader* reader) {
    std::vector<RecordedCall> calls;
    for (RecordedCall call; reader->Next(&call);) calls.push_back(call);
    return calls;
  }
  // Ends the recording.
  std::vector<RecordedCall> Calls() {
    EXPECT_OK(recorder_->Finish());
    const std::unique_ptr<RecordingReader> reader = Reader();
    std::vector<RecordedCall> calls = Rest(reader.get());
    EXPECT_OK(reader->status());
    EXPECT_FALSE(reader->is_truncated());
    EXPECT_EQ(calls.size(), recorder_->Counts().calls);
    EXPECT_EQ(reader->lost_calls(), recorder_->Counts().lost_calls);
    return calls;
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const RecordedCall& call : Calls()) lines.push_back(Show(call));
    return lines;
  }

  std::shared_ptr<CallRecorder> recorder_;
  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_RECORDING_RECORDED_CALLS_H_
