// A database whose tables have change streams, and changes as text.
#ifndef BIGTABLE_TESTS_CHANGES_CHANGES_FIXTURE_H_
#define BIGTABLE_TESTS_CHANGES_CHANGES_FIXTURE_H_

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"

namespace bigtable {

inline std::string Show(const ObservedOperation& operation) {
  static constexpr const char* kNames[] = {"set",  "add",   "merge",  "delete",
                                           "cell", "range", "family", "row"};
  std::string text = kNames[static_cast<int>(operation.kind)];
  if (!operation.family.empty()) absl::StrAppend(&text, " ", ToAbsl(operation.family));
  if (!operation.qualifier.empty()) absl::StrAppend(&text, ":", ToAbsl(operation.qualifier));
  if (operation.timestamp.has_value()) absl::StrAppend(&text, "@", operation.timestamp->micros());
  if (operation.kind == OperationKind::kDeleteTimeRange) {
    absl::StrAppend(&text, "-", operation.end.micros());
  }
  if (!operation.value.empty()) {
    absl::StrAppend(&text, "=", absl::CHexEscape(ToAbsl(operation.value)));
  }
  return text;
}

// "r: set f:q@5=v, row"; "drop [a, b)"; "families f g"; "collected f g [a, b) as of 5".
inline std::string Show(const TableChange& change) {
  switch (change.kind) {
    case TableChange::Kind::kDropRows:
      return Cat("drop [", change.rows.begin(), ", ", change.rows.end().value_or("..."), ")");
    case TableChange::Kind::kFamilies: {
      std::string text = "families";
      for (const auto& [name, family] : change.schema->families) absl::StrAppend(&text, " ", name);
      return text;
    }
    case TableChange::Kind::kGarbageCollection:
      return Cat("collected ", absl::StrJoin(change.families, " "), " [", change.rows.begin(), ", ",
                 change.rows.end().value_or("..."), ") as of ",
                 absl::ToUnixMicros(change.collected_at));
    case TableChange::Kind::kMutation:
      break;
  }
  std::vector<std::string> operations;
  for (const ObservedOperation& operation : change.Operations()) {
    operations.push_back(Show(operation));
  }
  return Cat(absl::CHexEscape(ToAbsl(change.mutation.row())), ": ",
             absl::StrJoin(operations, ", "));
}

// What the stream has now, as texts; numbers ascend.
inline std::vector<std::string> Texts(ChangeStream* stream) {
  std::vector<std::string> texts;
  uint64_t last = 0;
  while (stream->Next()) {
    EXPECT_GT(stream->change().sequence, last);
    last = stream->change().sequence;
    texts.push_back(Show(stream->change()));
  }
  EXPECT_OK(stream->status());
  return texts;
}

class ChangesFixture : public DatabaseFixture {
 protected:
  using Strings = std::vector<std::string>;

  static TableSchema SchemaWith(const std::vector<std::string>& families,
                                absl::Duration retention = absl::Hours(1)) {
    TableSchema schema;
    for (const std::string& family : families) schema.families[family] = {};
    schema.changes.retention = retention;
    return schema;
  }
  // Everything that is kept.
  static ReadChangesOptions All() { return {.since = absl::InfinitePast()}; }
  static ReadChangesOptions From(const std::string& position) { return {.positions = {position}}; }
  static Strings AllOf(Table* table) {
    ChangeStream stream = table->ReadChanges(All());
    return Texts(&stream);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CHANGES_CHANGES_FIXTURE_H_
