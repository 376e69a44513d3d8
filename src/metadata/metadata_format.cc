#include "metadata/metadata_format.h"

#include <charconv>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

constexpr char kVersion = 1;
constexpr char kRootVersion = 2;
constexpr char kEndsBefore = '\x01';
constexpr char kLastTablet = '\xff';
constexpr std::string_view kFile = "file";
constexpr std::string_view kRedo = "redo";
constexpr std::string_view kInfo = "info";
constexpr std::string_view kLocation = "location";
constexpr std::string_view kEvent = "event";
constexpr std::string_view kServer = "server";
constexpr std::string_view kBeginRow = "begin_row";
constexpr std::string_view kPending = "pending";
constexpr std::string_view kMerging = "merging";
constexpr std::string_view kLastTimestamp = "last_timestamp";
constexpr std::string_view kPolicyOf = "policy/";

std::string FileColumn(uint32_t group_id, uint64_t number) { return Cat(group_id, "/", number); }

void AppendSet(std::string* out, std::string_view family, std::string_view qualifier,
               std::string_view value) {
  AppendOperation(
      out, {.has_timestamp = true, .family = family, .qualifier = qualifier, .value = value});
}

std::string_view NameOf(TabletEventKind kind) {
  switch (kind) {
    case TabletEventKind::kLoaded:
      return "loaded";
    case TabletEventKind::kSplit:
      return "split";
    case TabletEventKind::kMerged:
      return "merged";
    case TabletEventKind::kCompacted:
      return "compacted";
  }
  return "";
}

// Removes a decimal number from the front of `text`.
bool TakeNumber(std::string_view* text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return error == std::errc();
}

void AppendFile(std::string* out, const TabletFile& file) {
  AppendVarint64(out, file.order);
  std::string info;
  file.info.EncodeTo(&info);
  AppendLengthPrefixed(out, info);
}

absl::StatusOr<TabletFile> TakeFile(Decoder* in) {
  TabletFile file;
  file.order = in->Varint();
  const std::string_view info = in->LengthPrefixed();
  if (!in->ok()) return absl::DataLossError("a file's description is cut");
  BT_ASSIGN_OR_RETURN(file.info, SSTableInfo::Decode(info));
  return file;
}

absl::Status CheckVersion(Decoder* in, uint8_t known = kVersion) {
  const uint8_t version = in->Byte();
  if (!in->ok()) return absl::DataLossError("no version");
  if (version == known) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("format version ", version, "; this program knows ", known));
}

}  // namespace

TableLayout MetadataLayout() {
  TableLayout layout;
  layout.table_id = kMetadataTableId;
  layout.name = "METADATA";
  LocalityGroup state;
  state.compression = Compression::kZstd;
  LocalityGroup location;
  location.in_memory = true;
  layout.groups = {{0, "default", state}, {1, "location", location}};
  layout.next_group_id = 2;
  constexpr int kEventsOfAKind = 8;
  for (std::string_view name : {kEvent, kFile, kInfo, kLocation, kRedo}) {
    FamilyLayout& family = layout.families.emplace_back();
    family.name = name;
    if (name == kLocation) family.group_id = 1;
    if (name == kEvent) family.gc = GcRule::MaxVersions(kEventsOfAKind);
  }
  return layout;
}

std::string MetadataRow(const TabletId& tablet) {
  std::string row(8, '\0');
  StoreBigEndian64(row.data(), tablet.table_id);
  row.push_back(tablet.end_row.has_value() ? kEndsBefore : kLastTablet);
  if (tablet.end_row.has_value()) row.append(*tablet.end_row);
  return row;
}

RowRange MetadataRows(uint64_t table_id) {
  return RowRange::Prefix(MetadataRow({table_id}).substr(0, 8));
}

absl::StatusOr<TabletId> TabletOfMetadataRow(std::string_view row) {
  const bool ends = row.size() > 9 && row[8] == kEndsBefore;
  if (!ends && (row.size() != 9 || row[8] != kLastTablet)) {
    return absl::DataLossError(Cat("METADATA has a row ", Quoted(row)));
  }
  TabletId tablet{LoadBigEndian64(row.data())};
  if (ends) tablet.end_row = row.substr(9);
  return tablet;
}

std::string EncodeBeginRow(std::string_view row) {
  std::string operations;
  std::string value(1, kVersion);
  AppendLengthPrefixed(&value, row);
  AppendSet(&operations, kInfo, kBeginRow, value);
  return operations;
}

std::string EncodePendingTablet(const TabletState& state) {
  ABSL_ASSERT(state.rows.end().has_value() && "it is the left half of a split");
  std::string operations;
  // An interrupted split at the same row may have left a row.
  AppendOperation(&operations, MutationOperation::DeleteRow());
  operations += EncodeNewTablet(state.rows);
  AppendSet(&operations, kInfo, kPending, std::string(1, kVersion));
  return operations + EncodeContents(state);
}

std::string EncodeMerging() {
  std::string operations;
  AppendSet(&operations, kInfo, kMerging, std::string(1, kVersion));
  return operations;
}

std::string EncodeNoMark() {
  std::string operations;
  for (const std::string_view mark : {kPending, kMerging}) {
    AppendOperation(&operations, MutationOperation::DeleteColumn(kInfo, mark));
  }
  return operations;
}

std::string EncodeLocation(std::string_view server) {
  std::string operations;
  if (server.empty()) return operations;
  std::string value(1, kVersion);
  AppendLengthPrefixed(&value, server);
  AppendSet(&operations, kLocation, kServer, value);
  return operations;
}

std::optional<std::string_view> ServerOfCell(std::string_view family, std::string_view value) {
  if (family != kLocation) return std::nullopt;
  Decoder in(value);
  if (!CheckVersion(&in).ok()) return std::nullopt;
  const std::string_view server = in.LengthPrefixed();
  return in.ok() ? std::optional(server) : std::nullopt;
}

std::string EncodeEvent(TabletEventKind kind, absl::Time time, std::string_view detail) {
  std::string operations;
  std::string value(1, kVersion);
  AppendLengthPrefixed(&value, detail);
  AppendOperation(&operations, {.has_timestamp = true,
                                .timestamp = absl::ToUnixMicros(time),
                                .family = kEvent,
                                .qualifier = NameOf(kind),
                                .value = value});
  return operations;
}

std::string EncodeContents(const TabletState& state) {
  std::string operations;
  for (const auto& [id, group] : state.groups) {
    TabletChange change;
    change.group_id = id;
    change.added = group.files;
    change.redo = group.redo;
    if (!group.policy_state.empty()) change.policy_state = group.policy_state;
    operations += EncodeChange(change);
  }
  TabletChange change;
  change.last_timestamp = state.last_timestamp;
  return operations + EncodeChange(change);
}

TabletMark MarkOfCell(std::string_view family, std::string_view qualifier) {
  if (family != kInfo) return TabletMark::kNone;
  return qualifier == kPending   ? TabletMark::kPending
         : qualifier == kMerging ? TabletMark::kMerging
                                 : TabletMark::kNone;
}

std::string EncodeNewTablet(const RowRange& rows) {
  std::string operations;
  if (!rows.begin().empty()) operations = EncodeBeginRow(rows.begin());
  // A tablet has a row from the start, so that a missing row is known to be a loss.
  TabletChange change;
  change.last_timestamp = 1;
  return operations + EncodeChange(change);
}

std::string EncodeChange(const TabletChange& change) {
  std::string operations;
  for (const uint64_t number : change.removed) {
    const std::string column = FileColumn(change.group_id, number);
    AppendOperation(&operations, MutationOperation::DeleteColumn(kFile, column));
  }
  for (const TabletFile& file : change.added) {
    std::string value(1, kVersion);
    AppendFile(&value, file);
    if (file.share != 0) AppendVarint64(&value, file.share);
    AppendSet(&operations, kFile, FileColumn(change.group_id, file.info.file_number), value);
  }
  if (change.redo.has_value()) {
    std::string value(1, kVersion);
    AppendVarint64(&value, change.redo->sequence);
    AppendLengthPrefixed(&value, change.redo->server);
    AppendVarint64(&value, change.redo->log_synced);
    AppendSet(&operations, kRedo, Cat(change.group_id), value);
  }
  if (change.policy_state.has_value()) {
    std::string value(1, kVersion);
    AppendLengthPrefixed(&value, *change.policy_state);
    AppendSet(&operations, kInfo, Cat(kPolicyOf, change.group_id), value);
  }
  if (change.last_timestamp > 0) {
    std::string value(1, kVersion);
    AppendVarint64(&value, static_cast<uint64_t>(change.last_timestamp));
    AppendSet(&operations, kInfo, kLastTimestamp, value);
  }
  return operations;
}

absl::Status DecodeCell(std::string_view family, std::string_view qualifier, std::string_view value,
                        TabletState* state) {
  const auto bad = [&](std::string_view why) {
    return absl::DataLossError(Cat("METADATA, column ", family, ":", qualifier, ": ", why));
  };
  Decoder in(value);
  if (const absl::Status version = CheckVersion(&in); !version.ok()) {
    return absl::Status(version.code(), Cat("METADATA, column ", family, ":", qualifier, ": ",
                                            ToStd(version.message())));
  }
  uint64_t group_id = 0, number = 0;
  if (family == kFile) {
    std::string_view text = qualifier;
    if (!TakeNumber(&text, &group_id) || !text.starts_with('/')) return bad("no group");
    text.remove_prefix(1);
    if (!TakeNumber(&text, &number) || !text.empty()) return bad("no file number");
    BT_ASSIGN_OR_RETURN(TabletFile file, TakeFile(&in));
    if (file.info.file_number != number) return bad("names another file");
    if (!in.at_end()) file.share = in.Varint();
    state->groups[static_cast<uint32_t>(group_id)].files.push_back(std::move(file));
  } else if (family == kRedo) {
    std::string_view text = qualifier;
    if (!TakeNumber(&text, &group_id) || !text.empty()) return bad("no group");
    RedoPoint& redo = state->groups[static_cast<uint32_t>(group_id)].redo;
    redo.sequence = in.Varint();
    redo.server = in.LengthPrefixed();
    redo.log_synced = in.Varint();
  } else if (family == kInfo && qualifier == kBeginRow) {
    const std::string_view begin = in.LengthPrefixed();
    const std::optional<std::string>& end = state->rows.end();
    if (end.has_value() && begin >= *end) return bad("the tablet ends before it begins");
    state->rows = end.has_value() ? RowRange::RightOpen(begin, *end) : RowRange::StartingAt(begin);
  } else if (family == kInfo && qualifier.starts_with(kPolicyOf)) {
    std::string_view text = qualifier.substr(kPolicyOf.size());
    if (!TakeNumber(&text, &group_id) || !text.empty()) return bad("no group");
    state->groups[static_cast<uint32_t>(group_id)].policy_state = in.LengthPrefixed();
  } else if (family == kInfo && qualifier == kLastTimestamp) {
    state->last_timestamp = static_cast<int64_t>(in.Varint());
  }
  return in.ok() ? absl::OkStatus() : bad("the value is cut");
}

absl::StatusOr<TabletState> DecodeTablet(const TabletId& tablet, std::string_view operations) {
  TabletState state;
  if (tablet.end_row.has_value()) state.rows = RowRange::RightOpen("", *tablet.end_row);
  OperationReader reader(operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    if (operation.kind != EntryKind::kCell) {
      return absl::DataLossError("METADATA: an operation that is not a cell");
    }
    BT_RETURN_IF_ERROR(DecodeCell(operation.family, operation.qualifier, operation.value, &state));
  }
  if (!reader.ok()) return absl::DataLossError("METADATA: the row of a tablet cannot be read");
  return state;
}

RowRange RootRows() { return RowRange::RightOpen("", *MetadataRows(kMetadataTableId).end()); }

std::string EncodeRoot(const RootState& root) {
  const TabletState& state = root.tablet;
  std::string out(1, kRootVersion);
  AppendLengthPrefixed(&out, root.server);
  AppendVarint64(&out, static_cast<uint64_t>(state.last_timestamp));
  AppendVarint64(&out, state.groups.size());
  for (const auto& [id, group] : state.groups) {
    AppendVarint64(&out, id);
    AppendVarint64(&out, group.redo.sequence);
    AppendLengthPrefixed(&out, group.redo.server);
    AppendVarint64(&out, group.redo.log_synced);
    AppendVarint64(&out, group.files.size());
    for (const TabletFile& file : group.files) AppendFile(&out, file);
  }
  return out;
}

absl::StatusOr<RootState> DecodeRoot(std::string_view bytes) {
  Decoder in(bytes);
  BT_RETURN_IF_ERROR(CheckVersion(&in, kRootVersion));
  RootState root;
  root.server = in.LengthPrefixed();
  TabletState& state = root.tablet;
  state.rows = RootRows();
  state.last_timestamp = static_cast<int64_t>(in.Varint());
  for (uint64_t groups = in.Varint(); in.ok() && groups > 0; --groups) {
    GroupState& group = state.groups[static_cast<uint32_t>(in.Varint())];
    group.redo.sequence = in.Varint();
    group.redo.server = in.LengthPrefixed();
    group.redo.log_synced = in.Varint();
    for (uint64_t files = in.Varint(); in.ok() && files > 0; --files) {
      BT_ASSIGN_OR_RETURN(TabletFile file, TakeFile(&in));
      group.files.push_back(std::move(file));
    }
  }
  if (!in.ok() || !in.at_end()) return absl::DataLossError("a tablet's state cannot be read");
  return root;
}

}  // namespace bigtable
