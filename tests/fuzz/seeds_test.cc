// The seeds of the corpora: one valid input of each form that a target takes, from which libFuzzer
// makes others. BIGTABLE_REWRITE_TESTDATA=1 writes their files anew, after a change of a format.
#include "fuzz/seeds.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/row_mutation.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "admission/access_list_store.h"
#include "admission/quota_store.h"
#include "base/coding.h"
#include "base/entry_key.h"
#include "blocks/block_builder.h"
#include "commitlog/log_state.h"
#include "messages/message_format.h"
#include "metadata/metadata_format.h"
#include "recovery/sorted_log_format.h"
#include "rows/resume_token.h"
#include "rpc/cell_block.h"
#include "rpc/filter_format.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "sstable/footer.h"
#include "sstable/row_index.h"
#include "sstable/sstable_builder.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

std::string SeedKey(std::string_view row, SequenceNumber sequence) {
  std::string key = RowPrefix(row);
  AppendColumn(&key, "f", "q");
  AppendTrailer(&key, 5, {sequence, 0}, EntryKind::kCell);
  return key;
}

std::string SeedTable(Compression compression, FilterKind filter) {
  InMemoryFileSystem files;
  auto file = files.NewWritableFile("/table");
  EXPECT_OK(file);
  LocalityGroup group;
  group.compression = compression;
  group.block_size = 64;
  group.filter = filter;
  SSTableBuilder builder(*std::move(file), "/table", 3, group, 7);
  for (const char* row : {"a", "b", "c"}) {
    EXPECT_OK(builder.Add(SeedKey(row, 1), std::string(50, 'v')));
  }
  EXPECT_OK(builder.Finish().status());
  return files.Contents("/table");
}

// The parts of a file, as the target puts them together.
std::string SeedParts(std::string_view file) {
  const auto footer =
      Footer::Decode(file.substr(file.size() - Footer::kSize), "/table", file.size());
  EXPECT_OK(footer);
  const auto part = [&](const BlockHandle& handle) {
    const std::string_view bytes = file.substr(handle.offset, handle.size);
    const char encoding = handle.size == 0 ? '\0' : file[handle.offset + handle.size];
    return AsPiece(bytes) + encoding;
  };
  std::string parts(1, '\x01');  // one block
  const BlockHandle first{0, footer->index.offset / 3 - kBlockTrailerSize};
  parts += part(first) + part(footer->index) + part(footer->filter) + part(footer->dictionary) +
           part(footer->properties);
  return parts + '\0';
}

void AddTables(Seeds* seeds) {
  auto& of = (*seeds)["sstable"];
  const std::string plain = SeedTable(Compression::kNone, FilterKind::kRowAndColumn);
  of["plain"] = WithForm(0, plain);
  of["zstd"] = WithForm(1, SeedTable(Compression::kZstd, FilterKind::kRowIndex));
  of["parts"] = WithForm(2, SeedParts(plain));
  BlockBuilder builder;
  size_t shared;
  for (const char* row : {"a", "ab", "b"}) EXPECT_TRUE(builder.Add(SeedKey(row, 1), "v", &shared));
  std::string block;
  builder.FinishTo(&block);
  (*seeds)["block"]["three"] = AsPiece(SeedKey("ab", 1)) + block;
  RowIndexBuilder rows;
  for (uint64_t i = 0; i < 5; ++i) rows.Add(i * 0x9e3779b97f4a7c15, i);
  std::string lines;
  rows.AppendTo(&lines);
  std::string index = {static_cast<char>(rows.block_bits()), 5, 0};
  AppendFixed64(&index, 0x9e3779b97f4a7c15);
  (*seeds)["row_index"]["five"] = index + lines;
}

std::string SeedOperations() {
  RowMutation mutation("row");
  mutation.Set("f:q", Timestamp(5), "value").Delete("f:q").DeleteRow();
  return std::string(EncodedMutation::Of(mutation).operations);
}

void AddLogs(Seeds* seeds) {
  const std::string operations = SeedOperations();
  const MutationRecord record{
      .table_id = 3, .server_timestamp = 9, .mutation = {"row", operations}};
  std::string payload;
  AppendMutationHeader(&payload, record);
  payload += operations;
  (*seeds)["mutation"]["one"] = WithForm(0, payload);
  std::string batch;
  AppendLengthPrefixed(&batch, payload);
  AppendLengthPrefixed(&batch, payload);
  (*seeds)["mutation"]["batch"] = WithForm(1, batch);

  // One record in each of two segments: type, sequence, whether synced, payload, its size, the
  // rest.
  std::string segments(1, '\0');
  for (const char sequence : {1, 2}) {
    segments += std::string{1, 1, sequence, 0, 1} + AsPiece(payload) + '\1' + AsPiece("");
  }
  (*seeds)["log_segment"]["two"] = segments;

  SortedManifest manifest;
  manifest.last_sequence = 9;
  manifest.pieces = {
      {.size = 200, .footer_checksum = 1, .records = 2, .smallest = 1, .largest = 2}};
  (*seeds)["sorted_log"]["manifest"] =
      WithForm(0, std::string_view(EncodeSortedManifest(manifest)).substr(8));
  std::string footer;
  AppendSortedPieceFooter(&footer, {.index_size = 20, .records = 2, .smallest = 1, .largest = 2});
  (*seeds)["sorted_log"]["footer"] = WithForm(1, footer);
  std::string index = {100, 0};
  AppendSortedIndexEntry(&index, {.table_id = 3, .row = "row", .size = 100, .checksum = 1});
  (*seeds)["sorted_log"]["index"] = WithForm(2, index);
  std::string records;
  AppendSortedRecord(&records, {.type = RecordType::kMutation,
                                .sequence = 1,
                                .table_id = 3,
                                .row = std::string_view(payload).substr(3, 3),
                                .payload = payload,
                                .batch = 2});
  (*seeds)["sorted_log"]["records"] = WithForm(3, records);
  (*seeds)["small_file"]["log_state"] = WithForm(3, EncodeLogState({.generation = 1}).substr(8));
}

TableLayout SeedLayout() {
  TableSchema schema;
  schema.locality_groups["g"] = {.compression = Compression::kZstd};
  schema.families["f"] = {.locality_group = "g", .gc = GcRule::MaxVersions(3)};
  schema.families["n"] = {.value_type = ValueType::kInt64Sum};
  const auto layout = MakeTableLayout("web", 4, schema);
  EXPECT_OK(layout);
  return *layout;
}

void AddMetadata(Seeds* seeds) {
  (*seeds)["schema"]["web"] = SeedLayout().Encode();
  TableLayout streamed = SeedLayout();
  streamed.SetChangeStream({.retention = absl::Hours(1)});
  streamed.changes_since = 4;
  streamed.AddSchemaChange(5, absl::UnixEpoch());
  (*seeds)["schema"]["stream"] = streamed.Encode();
  auto& rows = (*seeds)["metadata_row"];
  rows["key"] = WithForm(1, MetadataRow({4, "m"}));
  RootState root;
  root.server = "root-1";
  root.tablet.groups[0].redo = {.sequence = 3, .server = "root-1", .log_synced = 2};
  rows["root"] = WithForm(2, EncodeRoot(root));
  SSTableInfo info;
  info.identity = 7;
  info.file_number = 3;
  info.smallest_key = info.largest_key = SeedKey("a", 1);
  info.families = {{"f", 10}};
  std::string encoded;
  info.EncodeTo(&encoded);
  rows["info"] = WithForm(3, encoded);
  std::string begin_row(1, '\1');
  AppendLengthPrefixed(&begin_row, "b");
  rows["cell"] = WithForm(0, AsPiece("info") + AsPiece("begin") + AsPiece(begin_row));
}

void AddMessages(Seeds* seeds) {
  const auto filter = EncodeFilter(Filter::Chain(
      {Filter::Family("f"), Filter::Interleave({Filter::Latest(1), Filter::ValueRegex("v.*")})}));
  EXPECT_OK(filter);
  (*seeds)["filter"]["chain"] = *filter;
  const auto fields = [](const std::string& message) {
    return std::string_view(message).substr(2, message.size() - 2 - 8);
  };
  MutateRequest mutate;
  mutate.server = "s";
  const std::string operations = SeedOperations();
  mutate.mutations = {{"row", operations}};
  (*seeds)["message"]["mutate"] = WithForm(0, fields(EncodeMessage(mutate)));
  MutateResponse mutated;
  mutated.statuses = {absl::OkStatus(), absl::NotFoundError("no")};
  (*seeds)["message"]["mutated"] = WithForm(1, fields(EncodeMessage(mutated)));
  ScanRequest scan;
  scan.server = "s";
  scan.filter = *filter;
  (*seeds)["message"]["scan"] = WithForm(2, fields(EncodeMessage(scan)));
  (*seeds)["message"]["scanned"] = WithForm(3, fields(EncodeMessage(ScanResponse())));

  std::string block;
  CellBlockBuilder cells(&block);
  cells.Add({"r", "f", "q", 7, "v"}, /*is_new_row=*/true);
  cells.Add({"r", "f", "q", 5, "", "l"}, false);
  cells.Add({"s", "g", "q", 5, "w"}, true);
  (*seeds)["cell_block"]["three"] = block;

  QuotaSet quotas;
  quotas.SetTable(4, "web", {.requests_per_second = 5});
  quotas.SetCaller("c", {.bytes_per_second = 6});
  (*seeds)["small_file"]["quotas"] = WithForm(0, quotas.Encode());
  AccessList list;
  list.readers = {"a", "b"};
  list.writers = {"*"};
  (*seeds)["small_file"]["access_list"] = WithForm(1, EncodeAccessList(list));
  ResumeToken token{.table_id = 4};
  token.ranges = {RowRange::RightOpen("a", "c"), RowRange::StartingAt("d")};
  const std::string encoded = token.Encode();
  (*seeds)["small_file"]["resume_token"] =
      WithForm(2, std::string_view(encoded).substr(0, encoded.size() - 8));
}

void AddAggregates(Seeds* seeds) {
  auto& of = (*seeds)["aggregate"];
  const auto state = [](char form, std::string_view piece) { return form + AsPiece(piece); };
  const std::string number("\0\0\0\0\0\0\0\5", 8);
  of["sums"] = WithForm(0, state(0, number) + state(1, number) + state(0, number));
  const std::string sparse("\1\0\0\x4a", 4);
  of["counts"] = WithForm(3, state(0, sparse) + state(1, "input") + state(0, sparse));
  // From register 5 on, each second one has rank 9.
  const std::string every_second("\5\0\2\x09\0\x0f", 6);
  of["large"] = WithForm(3, state(2, "\1\7\3") + state(3, every_second) + state(1, "input"));
  // 1.5, a sum of some places, and a NaN.
  const std::string double_input("\x3f\xf8\0\0\0\0\0\0", 8);
  const std::string places("\x80\x20\0\1\2\3\4\5", 8);
  of["double_sums"] =
      WithForm(4, state(1, double_input) + state(4, places) + state(0, std::string(1, '\4')));
  of["double_minima"] = WithForm(5, state(1, double_input) + state(0, number) + state(1, number));
}

void AddCalls(Seeds* seeds) {
  std::string calls;
  for (char i = 0; i < 20; ++i) {
    // Mostly a mutation of one operation: row, column, time, kind, value.
    calls += std::string{static_cast<char>(i % 7 == 6 ? 0 : 9),
                         0,
                         static_cast<char>(i % 3),
                         0,
                         0,
                         1,
                         static_cast<char>(i % 6),
                         6,
                         5,
                         i};
  }
  (*seeds)["c_api"]["sets"] = calls;
}

TEST(SeedsTest, TheCommittedSeedsAreThoseOfTheFormats) {
  Seeds seeds;
  AddTables(&seeds);
  AddLogs(&seeds);
  AddMetadata(&seeds);
  AddMessages(&seeds);
  AddAggregates(&seeds);
  AddCalls(&seeds);
  CompareSeeds(seeds);
}

}  // namespace
}  // namespace bigtable
