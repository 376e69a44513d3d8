// Mutations and schemas as bytes: testdata/format.txt.
//
//   encode-record table= time= row=   lines: set f q [@TIMESTAMP] VALUE; delete-cell f q
//   @TIMESTAMP;
//                                     delete-column f q; delete-family f; delete-row
//   decode-record                     lines of hexadecimal bytes
//   encode-batch                      each line a record, hexadecimal
//   decode-batch last=                lines of hexadecimal bytes
//   encode-layout table= name=        lines: group NAME [compaction=] [factor=];
//                                     family NAME [group=] [max_versions=] ...
//                                     [past_versions=BEFORE:N,...] [past_ages=BEFORE:TIMESTAMP,...]
//   decode-layout                     lines of hexadecimal bytes

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "support/entry_text.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string HexText(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    absl::StrAppendFormat(&out, "%02x%s", static_cast<unsigned char>(bytes[i]),
                          i % 32 == 31 || i + 1 == bytes.size() ? "\n" : " ");
  }
  return out;
}
std::string BytesOf(const TextCommand& command) {
  std::string bytes;
  for (const std::string& line : command.input) {
    for (const std::string& word : SplitWords(line)) {
      if (word != "|") bytes += absl::HexStringToBytes(word);
    }
  }
  return bytes;
}

std::string EncodeRecord(const TextCommand& command) {
  MutationRecord record;
  record.table_id = static_cast<uint64_t>(command.Number("table"));
  record.server_timestamp = command.Number("time");
  const std::string row = command.Value("row");
  record.mutation.row = row;
  std::string out;
  AppendMutationHeader(&out, record);
  for (const std::string& line : command.input) {
    const TextArguments a(SplitWords(line));
    const std::string verb = a.Word(0), family = a.Word(1), qualifier = a.Word(2);
    MutationOperation operation;
    operation.kind = verb == "set"             ? EntryKind::kCell
                     : verb == "delete-cell"   ? EntryKind::kDeleteCell
                     : verb == "delete-column" ? EntryKind::kDeleteColumn
                     : verb == "delete-family" ? EntryKind::kDeleteFamily
                     : verb == "add-to-cell"   ? EntryKind::kAddToCell
                     : verb == "merge-to-cell" ? EntryKind::kMergeToCell
                                               : EntryKind::kDeleteRow;
    operation.family = family;
    operation.qualifier = qualifier;
    std::string value = a.Word(3);
    if (value.starts_with("@")) {
      operation.has_timestamp = true;
      operation.timestamp = static_cast<int64_t>(NumberOf(value.substr(1)));
      value = a.Word(4);
    }
    operation.value = value;
    AppendOperation(&out, operation);
  }
  return HexText(out);
}

std::string DecodeRecord(const TextCommand& command) {
  const std::string bytes = BytesOf(command);
  MutationRecord record;
  if (!ParseMutationRecord(bytes, &record)) return "refused: no record\n";
  std::string out = Cat("table ", record.table_id, ", time ", record.server_timestamp, ", row ",
                        Quoted(record.mutation.row), "\n");
  OperationReader reader(record.mutation.operations);
  MutationOperation operation;
  while (reader.Next(&operation)) {
    absl::StrAppend(&out, "kind ", static_cast<int>(operation.kind));
    const EntryTraits& traits = TraitsOf(operation.kind);
    if (traits.scope <= EntryScope::kFamily) absl::StrAppend(&out, Cat(" ", operation.family));
    if (traits.scope <= EntryScope::kColumn) out += Cat(":", operation.qualifier);
    if (operation.has_timestamp) absl::StrAppend(&out, " @", operation.timestamp);
    if (traits.has_value) out += Cat(" = ", Quoted(operation.value));
    out += "\n";
  }
  if (!reader.ok()) out += "refused: no operation\n";
  return out;
}

std::string EncodeBatch(const TextCommand& command) {
  BatchPayload payload;
  std::deque<std::string> lines;
  std::vector<MutationRecord> records;
  for (const std::string& line : command.input) {
    lines.push_back(absl::HexStringToBytes(absl::StrReplaceAll(line, {{" ", ""}})));
    if (!ParseMutationRecord(lines.back(), &records.emplace_back())) return "no record\n";
    payload.Add(records.back());
  }
  std::string out;
  for (const std::string_view piece : payload.pieces()) out += piece;
  if (out.size() != payload.size()) return "the payload has another size\n";
  for (size_t i = 0; i < records.size(); ++i) {
    if (payload.OperationsIn(out, i) != records[i].mutation.operations) {
      return "the operations are elsewhere\n";
    }
  }
  return HexText(out);
}

// A part of a batch without mutations, and what follows its head.
std::string DecodePart(const TextCommand& command) {
  const std::string bytes = BytesOf(command);
  std::vector<OtherBatchPart> others;
  std::string_view batch;
  if (!ParseBatchPart(bytes, &others, &batch)) return "refused: no part\n";
  BatchPayload again;
  again.SetOthers(others);
  if (again.size() + batch.size() != bytes.size()) return "the head has another size\n";
  std::string out;
  for (const OtherBatchPart& other : others) {
    out += Cat("server ", other.server, ", last ", other.last, "\n");
  }
  return out + Cat("a batch of ", batch.size(), " bytes\n");
}

std::string DecodeBatch(const TextCommand& command) {
  const std::string bytes = BytesOf(command);
  const uint64_t last = static_cast<uint64_t>(command.Number("last"));
  std::vector<MutationRecord> records;
  if (!ParseBatchRecord(bytes, last, &records)) return "refused: no batch\n";
  std::string out;
  SequenceNumber sequence = last - records.size();
  for (const MutationRecord& record : records) {
    out += Cat("sequence ", ++sequence, ", table ", record.table_id, ", time ",
               record.server_timestamp, ", row ", Quoted(record.mutation.row), ", operations of ",
               record.mutation.operations.size(), " bytes\n");
  }
  return out;
}

// past_versions=BEFORE:N,... and past_ages=BEFORE:TIMESTAMP,... and, of the last of past_versions,
// past_limits=NEWER:TIMESTAMP,...
PastRules PastOf(const TextArguments& a) {
  PastRules past;
  const auto for_each = [](const std::string& text, auto add) {
    for (const auto rule : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(rule, ':');
      int64_t number = kAllVersions;
      EXPECT_TRUE(parts.second == "all" || absl::SimpleAtoi(parts.second, &number));
      SequenceNumber before;
      EXPECT_TRUE(absl::SimpleAtoi(parts.first, &before));
      add(number, before);
    }
  };
  for_each(a.Value("past_versions"),
           [&](int64_t n, SequenceNumber s) { past.EndVersions({n}, s); });
  for_each(a.Value("past_ages"), [&](int64_t t, SequenceNumber s) { past.EndAge(t, s); });
  for_each(a.Value("past_limits"), [&](int64_t t, SequenceNumber newer) {
    past.versions.back().limits.by_age.push_back({static_cast<int64_t>(newer), t});
  });
  return past;
}

std::string EncodeLayout(const TextCommand& command) {
  TableLayout layout;
  layout.table_id = static_cast<uint64_t>(command.Number("table"));
  layout.name = command.Value("name");
  for (const std::string& line : command.input) {
    const TextArguments a(SplitWords(line));
    if (a.Word(0) == "observer") {
      layout.observers.push_back(a.Word(1));
      layout.observers_id = static_cast<SequenceNumber>(a.Number("since"));
      continue;
    }
    if (a.Word(0) == "group") {
      LocalityGroup options;
      options.compaction = static_cast<CompactionStyle>(a.Number("compaction"));
      options.compaction_factor = static_cast<int>(a.Number("factor"));
      options.compaction_policy = a.Value("policy");
      layout.groups.push_back({layout.next_group_id++, a.Word(1), options});
      continue;
    }
    GcRule rule;
    if (a.HasValue("max_versions")) rule = GcRule::MaxVersions(a.Number("max_versions"));
    if (a.HasValue("max_age")) {
      rule = GcRule::Union(rule, GcRule::MaxAge(absl::Microseconds(a.Number("max_age"))));
    }
    if (a.HasValue("both")) {  // at least as many newer ones, and older than MaxAge(1 ms)
      rule = GcRule::Union(rule, GcRule::Intersection(GcRule::MaxVersions(a.Number("both")),
                                                      GcRule::MaxAge(absl::Milliseconds(1))));
    }
    layout.families.push_back({a.Word(1), static_cast<uint32_t>(a.Number("group")), rule,
                               static_cast<SequenceNumber>(a.Number("created")), a.Value("access"),
                               PastOf(a)});
    layout.families.back().SetValueType(static_cast<ValueType>(a.Number("values")),
                                        a.Value("operator"));
    layout.families.back().compaction_filter = a.Value("filter");
    layout.families.back().owner = a.Value("owner");
  }
  const std::string bytes = layout.Encode();
  const absl::StatusOr<TableLayout> decoded = TableLayout::Decode(bytes);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    if (TableLayout::Decode(std::string_view(bytes).substr(0, cut)).ok()) {
      return absl::StrCat("its first ", cut, " bytes are taken for a whole\n");
    }
  }
  return HexText(bytes) + (decoded.ok() && *decoded == layout ? "" : "comes back different\n");
}

std::string DecodeLayout(const TextCommand& command) {
  const absl::StatusOr<TableLayout> layout = TableLayout::Decode(BytesOf(command));
  if (!layout.ok()) return std::string(layout.status().ToString()) + "\n";
  std::string out = absl::StrCat("table ", layout->table_id, " ", layout->name, ", next group ",
                                 layout->next_group_id, "\n");
  for (const std::string& observer : layout->observers) {
    absl::StrAppend(&out, "observer ", observer, " since ", layout->observers_id, "\n");
  }
  for (const GroupLayout& group : layout->groups) {
    absl::StrAppend(&out, "group ", group.id, " ", group.name, ", blocks of ",
                    group.options.block_size, ", compaction ",
                    static_cast<int>(group.options.compaction), " by ",
                    group.options.compaction_factor, "\n");
  }
  for (const FamilyLayout& family : layout->families) {
    absl::StrAppend(&out, "family ", family.name, " in group ", family.group_id, ", created ",
                    family.created);
    if (const auto n = family.gc.max_versions()) absl::StrAppend(&out, ", MaxVersions ", *n);
    if (const auto age = family.gc.max_age()) {
      absl::StrAppend(&out, ", MaxAge ", absl::FormatDuration(*age));
    }
    if (!family.access_list.empty()) absl::StrAppend(&out, ", access ", family.access_list);
    if (family.aggregate != nullptr) absl::StrAppend(&out, ", ", family.aggregate->what());
    if (!family.compaction_filter.empty()) {
      absl::StrAppend(&out, ", filter ", family.compaction_filter);
    }
    if (!family.owner.empty()) absl::StrAppend(&out, ", owner ", family.owner);
    out += "\n";
  }
  return out;
}

TEST(FormatTest, MutationsAndSchemasHaveTheBytesThatTheirHeadersSpecify) {
  RunTextFile(BIGTABLE_TESTDATA "/format.txt", [](const TextCommand& command) -> std::string {
    if (command.name == "encode-record") return EncodeRecord(command);
    if (command.name == "decode-record") return DecodeRecord(command);
    if (command.name == "encode-batch") return EncodeBatch(command);
    if (command.name == "decode-batch") return DecodeBatch(command);
    if (command.name == "decode-part") return DecodePart(command);
    if (command.name == "encode-layout") return EncodeLayout(command);
    if (command.name == "decode-layout") return DecodeLayout(command);
    return "unknown command";
  });
}

}  // namespace
}  // namespace bigtable
