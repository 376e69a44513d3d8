// Streams of the engine, compared with the rows that the model expects. The expected rows are
// computed at once, and the stream may be read later, while the database continues.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_CURSORS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_CURSORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"

namespace bigtable {

// --- Descriptions of cells and rows ---

inline std::string Describe(const ModelCell& cell) {
  std::string text =
      Cat(cell.family, ":", absl::CHexEscape(cell.qualifier.substr(0, 20)), "@", cell.timestamp,
          "=", Quoted(std::string_view(cell.value).substr(0, 12)), "/", cell.value.size());
  for (const std::string& label : cell.labels) text += Cat(" ", Quoted(label));
  return text;
}
inline std::string Describe(const ModelRow& row) {
  std::string text = Quoted(std::string_view(row.key).substr(0, 20));
  for (const ModelCell& cell : row.cells) absl::StrAppend(&text, "\n      ", Describe(cell));
  return text;
}
inline std::string Describe(const std::vector<RowRange>& ranges) {
  std::string text;
  for (const RowRange& range : ranges) {
    absl::StrAppend(&text, " [", Quoted(std::string_view(range.begin()).substr(0, 20)), ", ",
                    range.end() ? Quoted(std::string_view(*range.end()).substr(0, 20)) : "end",
                    ")");
  }
  return text;
}

inline ModelRow ToModel(const Row& row) {
  ModelRow model{std::string(row.key()), {}};
  for (const Cell& cell : row.cells()) {
    model.cells.push_back({std::string(cell.family), std::string(cell.qualifier),
                           cell.timestamp.micros(), std::string(cell.value),
                           std::vector<std::string>(cell.labels.begin(), cell.labels.end())});
  }
  return model;
}
// Empty if they are equal.
inline std::string Difference(const ModelRow& expected, const ModelRow& got) {
  if (expected == got) return "";
  return Cat("\n  expected: ", Describe(expected), "\n  got: ", Describe(got));
}

// --- Streams ---

class ModelCursor {
 public:
  virtual ~ModelCursor() = default;
  // Reads about `n` steps further. Returns the first difference, or nothing.
  virtual std::string Advance(Random& random, size_t n) = 0;
  // Whether the end was reached, and in the right place.
  virtual bool finished() const = 0;

  std::string Finish(Random& random) {
    while (!finished()) {
      if (std::string wrong = Advance(random, 16); !wrong.empty()) return wrong;
    }
    return "";
  }
};

class ReaderCursor final : public ModelCursor {
 public:
  ReaderCursor(RowReader reader, std::vector<ModelRow> expected)
      : reader_(std::move(reader)), expected_(std::move(expected)) {}

  std::string Advance(Random& random, size_t n) override {
    for (; n > 0 && !finished_; --n) {
      if (!reader_.Next()) {
        finished_ = true;
        if (!reader_.status().ok()) return Cat("ReadRows: ", reader_.status().ToString());
        if (next_ == expected_.size()) return "";
        return Cat("ReadRows ended after ", next_,
                   " rows\n  expected: ", Describe(expected_[next_]));
      }
      const ModelRow got = random.OneIn(2) ? ToModel(reader_.row()) : ToModel(reader_.TakeRow());
      if (next_ == expected_.size())
        return Cat("ReadRows: no more expected\n  got: ", Describe(got));
      const std::string difference = Difference(expected_[next_++], got);
      if (!difference.empty()) return Cat("ReadRows, row number ", next_, difference);
    }
    return "";
  }
  bool finished() const override { return finished_; }

 private:
  RowReader reader_;
  const std::vector<ModelRow> expected_;
  size_t next_ = 0;
  bool finished_ = false;
};

// A scanner with all its streams, which are read alternately.
class ScanCursor final : public ModelCursor {
 public:
  ScanCursor(Table* table, const RowRange& range, ReadOptions options)
      : scanner_(table, std::move(options)) {
    scanner_.SetRange(range);
  }

  // Returns a stream to be configured. Call Expect() next, with its expected rows.
  ScanStream* AddStream(std::string_view family) {
    streams_.push_back({scanner_.FetchColumnFamily(family), {}, 0, false});
    return streams_.back().stream;
  }
  void Expect(std::vector<ModelRow> rows) {
    for (ModelRow& row : rows) {
      for (ModelCell& cell : row.cells) {
        cell.labels.clear();  // a stream does not show them
        streams_.back().expected.emplace_back(row.key, std::move(cell));
      }
    }
  }
  // Fixes the snapshot.
  std::string Begin() {
    for (Stream& stream : streams_) {
      if (std::string wrong = Look(&stream); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string Advance(Random& random, size_t n) override {
    for (; n > 0 && !finished(); --n) {
      Stream* stream = &streams_[random.Below(streams_.size())];
      if (stream->finished) continue;
      if (random.OneIn(12)) {
        stream->stream->NextRow();
        const std::string row = stream->expected[stream->next].first;
        while (stream->next < stream->expected.size() &&
               stream->expected[stream->next].first == row) {
          ++stream->next;
        }
      } else {
        stream->stream->Next();
        ++stream->next;
      }
      if (std::string wrong = Look(stream); !wrong.empty()) return wrong;
      if (!stream->finished && scanner_.RowName() != stream->stream->RowName()) {
        return Cat("Scanner::RowName: ", Quoted(scanner_.RowName()),
                   "\n  expected: ", Quoted(stream->stream->RowName()));
      }
    }
    return "";
  }
  bool finished() const override {
    return std::all_of(streams_.begin(), streams_.end(),
                       [](const Stream& stream) { return stream.finished; });
  }

 private:
  struct Stream {
    ScanStream* stream;
    std::vector<std::pair<std::string, ModelCell>> expected;
    size_t next;
    bool finished;
  };

  std::string Look(Stream* stream) {
    const std::string where =
        Cat("Stream ", stream - streams_.data(), ", cell number ", stream->next + 1);
    const bool expect_end = stream->next == stream->expected.size();
    if (stream->stream->Done()) {
      stream->finished = true;
      if (!scanner_.status().ok()) return Cat(where, ": ", scanner_.status().ToString());
      if (expect_end) return "";
      const auto& [row, cell] = stream->expected[stream->next];
      return Cat(where, ": ended\n  expected: ", Describe(ModelRow{row, {cell}}));
    }
    const ModelRow got = Here(stream->stream);
    if (expect_end) return Cat(where, ": no more expected\n  got: ", Describe(got));
    const auto& [row, cell] = stream->expected[stream->next];
    if (const std::string difference = Difference({row, {cell}}, got); !difference.empty()) {
      return where + difference;
    }
    if (stream->stream->ColumnName() != Cat(cell.family, ":", cell.qualifier)) {
      return Cat(where, ": ColumnName ", Quoted(stream->stream->ColumnName()));
    }
    return "";
  }

  static ModelRow Here(ScanStream* stream) {
    const std::string column(stream->ColumnName());
    return {std::string(stream->RowName()),
            {{column.substr(0, column.find(':')), std::string(stream->Qualifier()),
              stream->MicroTimestamp(), std::string(stream->Value())}}};
  }

  Scanner scanner_;
  std::vector<Stream> streams_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_CURSORS_H_
