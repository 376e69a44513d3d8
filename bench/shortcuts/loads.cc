#include "loads.h"

#include <algorithm>

#include "common/strings.h"

namespace bench {

using bigtable::RowMutation;
using bigtable::Timestamp;

namespace {

// Writes the rows `begin` to `end` - 1 in random order.
absl::Status Write(Subject* subject, uint64_t begin, uint64_t end) {
  for (const uint32_t row : Permutation(end - begin, begin + 1)) {
    if (absl::Status s = WriteRow(subject, begin + row, SmallValues().Of(row)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// A row of 20 columns, so many versions of each.
absl::Status WriteColumns(Subject* subject, uint64_t row, uint64_t versions, const Values& values) {
  RowMutation mutation(Key(row).view());
  for (uint64_t column = 0; column < kColumns; ++column) {
    for (uint64_t version = 1; version <= versions; ++version) {
      mutation.Set(Column(column), Timestamp(static_cast<int64_t>(version)),
                   values.Of(row + version));
    }
  }
  return subject->table->Apply(mutation);
}
absl::Status LoadColumns(Subject* subject, uint64_t rows, uint64_t versions, const Values& values) {
  for (uint64_t row = 0; row < rows; ++row) {
    if (absl::Status s = WriteColumns(subject, row, versions, values); !s.ok()) return s;
  }
  return Compact(subject);
}

}  // namespace

const Values& SmallValues() {
  static const Values values(100);
  return values;
}
const Values& LargeValues() {
  static const Values values;
  return values;
}

std::string Column(uint64_t i) { return Concat("f:column-", Key(i).view().substr(kKeySize - 2)); }

std::string TenantKey(uint64_t row) {
  constexpr uint64_t kTenants = 100;
  constexpr size_t kDigits = 8;
  return Concat("com.example.www/products/tenant-",
                Key(row % kTenants).view().substr(kKeySize - kDigits), "/", Key(row).view());
}

absl::Status WriteRow(Subject* subject, uint64_t row, std::string_view value) {
  RowMutation mutation(Key(row).view());
  mutation.Set("f:q", value);
  return subject->table->Apply(mutation);
}
absl::Status WriteTenantRow(Subject* subject, uint64_t row) {
  RowMutation mutation(TenantKey(row));
  mutation.Set("f:q", SmallValues().Of(row));
  return subject->table->Apply(mutation);
}
absl::Status Flush(Subject* subject) { return subject->database->Flush("t"); }
absl::Status Compact(Subject* subject) { return subject->database->Compact("t"); }

// --- kRows rows ---

absl::Status LoadMemtable(Subject* subject) { return Write(subject, 0, kRows); }

absl::Status LoadCompacted(Subject* subject) {
  if (absl::Status s = Write(subject, 0, kRows); !s.ok()) return s;
  return Compact(subject);
}

absl::Status LoadOverlappingFiles(Subject* subject) {
  constexpr uint64_t kFiles = 6;
  for (uint64_t file = 0; file < kFiles; ++file) {
    for (const uint32_t row : Permutation(kRows / kFiles, file)) {
      if (absl::Status s = WriteRow(subject, row * kFiles + file, SmallValues().Of(row)); !s.ok())
        return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadDisjointFiles(Subject* subject) {
  constexpr uint64_t kFiles = 20;
  for (uint64_t file = 0; file < kFiles; ++file) {
    if (absl::Status s = Write(subject, file * kRows / kFiles, (file + 1) * kRows / kFiles);
        !s.ok()) {
      return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadNeighbouringFiles(Subject* subject) {
  constexpr uint64_t kFiles = 200;
  constexpr uint64_t kPart = kRows / kFiles;
  for (uint64_t begin = 0; begin < kRows; begin += kPart) {
    if (absl::Status s = Write(subject, begin, std::min(begin + kPart + kPart / 2, kRows));
        !s.ok()) {
      return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadDeleted(Subject* subject) {
  if (absl::Status s = Write(subject, 0, kRows); !s.ok()) return s;
  if (absl::Status s = Flush(subject); !s.ok()) return s;
  for (uint64_t row = 0; row < kRows - 1000; ++row) {
    RowMutation mutation(Key(row).view());
    mutation.DeleteRow();
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadFewTenants(Subject* subject) {
  for (uint64_t row = 0; row < 1000; ++row) {
    if (absl::Status s = WriteTenantRow(subject, row); !s.ok()) return s;
  }
  return Flush(subject);
}

absl::Status LoadTenants(Subject* subject) {
  if (absl::Status s = LoadFewTenants(subject); !s.ok()) return s;
  for (const uint32_t row : Permutation(kRows, 1)) {
    if (absl::Status s = WriteTenantRow(subject, row); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status SplitIntoTablets(Subject* subject) {
  constexpr uint64_t kTablets = 200;
  for (uint64_t i = 1; i < kTablets; ++i) {
    const absl::Status s = subject->database->SplitTablet("t", Key(kRows * i / kTablets).view());
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// --- Others ---

absl::Status LoadLarge(Subject* subject) {
  for (uint64_t row = 0; row < kRows; ++row) {
    if (absl::Status s = WriteRow(subject, row, LargeValues().Of(row)); !s.ok()) return s;
  }
  return Compact(subject);
}

absl::Status LoadLargeRows(Subject* subject) {
  static const Values values(16'000);
  for (uint64_t row = 0; row < kLargeRows; ++row) {
    if (absl::Status s = WriteRow(subject, row, values.Of(row)); !s.ok()) return s;
  }
  return Compact(subject);
}

absl::Status LoadWideRows(Subject* subject) {
  return LoadColumns(subject, kWideRows, 1, SmallValues());
}

absl::Status LoadOverlappingWideRows(Subject* subject) {
  constexpr uint64_t kFiles = 6;
  for (uint64_t file = 0; file < kFiles; ++file) {
    for (uint64_t row = file; row < kWideRows; row += kFiles) {
      if (absl::Status s = WriteColumns(subject, row, 1, SmallValues()); !s.ok()) return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadTenVersions(Subject* subject) {
  return LoadColumns(subject, kWideRows / 10, 10, SmallValues());
}

absl::Status LoadLargeVersions(Subject* subject) {
  static const Values values(4'000);
  return LoadColumns(subject, kWideRows / 100, 10, values);
}

absl::Status LoadHistory(Subject* subject) {
  constexpr uint64_t kVersionsOfFile = 10;
  for (uint64_t version = 1; version <= kVersions; ++version) {
    for (uint64_t row = 0; row < kRows / kVersions; ++row) {
      RowMutation mutation(Key(row).view());
      mutation.Set("f:q", Timestamp(static_cast<int64_t>(version)), SmallValues().Of(row));
      if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
    }
    if (version % kVersionsOfFile != 0) continue;
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadCompactedHistory(Subject* subject) {
  if (absl::Status s = LoadHistory(subject); !s.ok()) return s;
  return Compact(subject);
}

absl::Status LoadTwoGroups(Subject* subject) {
  for (uint64_t row = 0; row < kRows / 2; ++row) {
    RowMutation mutation(Key(row).view());
    mutation.Set("f:q", SmallValues().Of(row)).Set("g:q", LargeValues().Of(row));
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return Compact(subject);
}

absl::Status LoadCounters(Subject* subject) {
  for (uint64_t i = 0; i < kRows; ++i) {
    RowMutation mutation(Key(i % kCounters).view());
    mutation.AddToCell("f:q", Timestamp(0), int64_t{1});
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace bench
