// Verbs for change streams: changestream, changes.
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/change_stream.h"
#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/string_view.h"
#include "bigtable/table.h"

#include "tools/filters.h"
#include "tools/gc_expression.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/token_file.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

// --- changestream ---

absl::Status PrintRule(const Session& session, const ChangeStreamRule& rule) {
  const bool is_open = rule.retention > absl::ZeroDuration();
  if (session.json()) {
    Json object;
    object["retention"] = absl::ToInt64Microseconds(rule.retention);
    if (is_open) object["max_bytes"] = rule.max_bytes;
    session.out() << JsonLine(object);
  } else if (is_open) {
    session.out() << "retention " << FormatAge(rule.retention) << ", at most "
                  << WithCommas(rule.max_bytes) << " bytes\n";
  } else {
    session.out() << "off\n";
  }
  return absl::OkStatus();
}

absl::Status ChangeStreamVerb(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE"), text = arguments.Text("RETENTION");
  if (!arguments.Has("RETENTION")) {
    if (arguments.Has("max-bytes")) return UsageError("--max-bytes needs a RETENTION");
    TOOLS_RETURN_IF_ERROR(session.OpenToRead().status());
    TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
    return PrintRule(session, schema.changes);
  }
  ChangeStreamRule rule;
  if (text != "off") {
    TOOLS_ASSIGN_OR_RETURN(rule.retention, ParseAge(text, "RETENTION"));
  } else if (arguments.Has("max-bytes")) {
    return UsageError("--max-bytes has no meaning with off");
  }
  TOOLS_ASSIGN_OR_RETURN(const int64_t max_bytes, arguments.Number("max-bytes", 1, 0));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  if (schema.changes.retention > absl::ZeroDuration()) rule.max_bytes = schema.changes.max_bytes;
  if (max_bytes > 0) rule.max_bytes = static_cast<uint64_t>(max_bytes);
  return database->SetChangeStream(name, rule);
}

// --- changes ---

// "oldest", microseconds since 1970, or a time such as 2026-11-29T12:00:00Z.
absl::StatusOr<absl::Time> ParseSince(const std::string& text) {
  if (text.empty() || text == "oldest") return absl::InfinitePast();
  int64_t micros = 0;
  if (absl::SimpleAtoi(text, &micros)) return absl::FromUnixMicros(micros);
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return time;
  return UsageError(Cat("--since ", text,
                        " is neither oldest, nor microseconds since 1970, nor a time as in "
                        "2026-11-29T12:00:00Z"));
}

const char* NameOf(OperationKind kind) {
  switch (kind) {
    case OperationKind::kSet:
      return "set";
    case OperationKind::kAddToCell:
      return "addtocell";
    case OperationKind::kMergeToCell:
      return "mergetocell";
    case OperationKind::kDelete:
      return "deletecolumn";
    case OperationKind::kDeleteCell:
      return "deletecell";
    case OperationKind::kDeleteTimeRange:
      return "deletetimerange";
    case OperationKind::kDeleteFamily:
      return "deletefamily";
    case OperationKind::kDeleteRow:
      return "deleterow";
  }
  return "unknown";
}

bool HasValue(OperationKind kind) {
  return kind == OperationKind::kSet || kind == OperationKind::kAddToCell ||
         kind == OperationKind::kMergeToCell;
}
bool HasColumn(OperationKind kind) {
  return kind != OperationKind::kDeleteFamily && kind != OperationKind::kDeleteRow;
}

class ChangePrinter {
 public:
  ChangePrinter(std::ostream* out, bool json) : out_(out), json_(json) {}

  void Print(const TableChange& change) {
    *out_ << (json_ ? JsonLine(AsJson(change)) : AsText(change) + "\n");
  }

 private:
  static Json AsJson(const ObservedOperation& operation) {
    Json object;
    object["kind"] = NameOf(operation.kind);
    if (operation.kind != OperationKind::kDeleteRow) object["family"] = operation.family;
    if (HasColumn(operation.kind)) SetBytes(&object, "column", operation.qualifier);
    if (operation.timestamp.has_value()) object["timestamp"] = operation.timestamp->micros();
    if (operation.kind == OperationKind::kDeleteTimeRange) object["end"] = operation.end.micros();
    if (HasValue(operation.kind)) SetBytes(&object, "value", operation.value);
    return object;
  }

  static Json AsJson(const TableChange& change) {
    Json object;
    object["sequence"] = change.sequence;
    object["time"] = absl::ToUnixMicros(change.time);
    switch (change.kind) {
      case TableChange::Kind::kMutation:
        if (change.batch != 0) object["batch"] = change.batch;
        SetBytes(&object, "row", change.mutation.row());
        object["operations"] = Json::array();
        for (const ObservedOperation& operation : change.Operations()) {
          object["operations"].push_back(AsJson(operation));
        }
        break;
      case TableChange::Kind::kDropRows:
        SetBytes(&object, "drop_begin", change.rows.begin());
        if (change.rows.end().has_value()) SetBytes(&object, "drop_end", *change.rows.end());
        break;
      case TableChange::Kind::kFamilies:
        object["families"] = Json::array();
        for (const auto& [name, family] : change.schema->families) {
          Json one;
          one["family"] = name;
          one["gc"] = FormatGcExpression(family.gc);
          one["type"] = FormatType(family);
          object["families"].push_back(std::move(one));
        }
        object["new_families"] = change.new_families;
        break;
      case TableChange::Kind::kGarbageCollection:
        object["collected_at"] = absl::ToUnixMicros(change.collected_at);
        SetBytes(&object, "collection_begin", change.rows.begin());
        if (change.rows.end().has_value()) SetBytes(&object, "collection_end", *change.rows.end());
        object["collected_families"] = change.families;
        break;
    }
    return object;
  }

  static std::string AsText(const ObservedOperation& operation) {
    std::string text = NameOf(operation.kind);
    if (operation.kind != OperationKind::kDeleteRow) text += Cat(" ", operation.family);
    if (HasColumn(operation.kind)) text += Cat(":", Escaped(operation.qualifier));
    if (operation.timestamp.has_value()) text += Cat("@", operation.timestamp->micros());
    if (operation.kind == OperationKind::kDeleteTimeRange) text += Cat("-", operation.end.micros());
    if (HasValue(operation.kind)) text += Cat(" ", Quoted(operation.value));
    return text;
  }

  static std::string RowsAsText(const RowRange& rows) {
    return Cat("from ", Quoted(rows.begin()),
               rows.end().has_value() ? Cat(" before ", Quoted(*rows.end())) : "");
  }

  static std::string AsText(const TableChange& change) {
    std::string text =
        Cat(FormatTimestamp(Timestamp(absl::ToUnixMicros(change.time))), " ", change.sequence, " ");
    std::vector<std::string> parts;
    switch (change.kind) {
      case TableChange::Kind::kMutation:
        for (const ObservedOperation& operation : change.Operations()) {
          parts.push_back(AsText(operation));
        }
        return Cat(text, "row ", Escaped(change.mutation.row()), ": ", Join(parts, ", "));
      case TableChange::Kind::kDropRows:
        return Cat(text, "drop ", RowsAsText(change.rows));
      case TableChange::Kind::kFamilies:
        for (const auto& [name, family] : change.schema->families) {
          parts.push_back(Cat(name, ":", FormatGcExpression(family.gc), ":", FormatType(family)));
        }
        text += Cat("families ", Join(parts, ", "));
        if (!change.new_families.empty()) text += Cat("; new ", Join(change.new_families, ", "));
        return text;
      case TableChange::Kind::kGarbageCollection:
        return Cat(text, "collected ", Join(change.families, ", "), " ", RowsAsText(change.rows),
                   " as of ", FormatTimestamp(Timestamp(absl::ToUnixMicros(change.collected_at))));
    }
    return text;
  }

  std::ostream* const out_;
  const bool json_;
};

// One run of the verb.
class Changes {
 public:
  Changes(Session* session, const Arguments* arguments)
      : session_(session), arguments_(arguments), printer_(&session->out(), session->json()) {}

  absl::Status Run() {
    TOOLS_RETURN_IF_ERROR(Prepare());
    const bool follows = arguments_->Has("follow");
    TOOLS_ASSIGN_OR_RETURN(Database* const database,
                           follows ? session_->OpenToFollow() : session_->OpenToRead());
    TOOLS_ASSIGN_OR_RETURN(Table* const table, session_->OpenTable(arguments_->Text("TABLE")));
    ChangeStream stream = table->ReadChanges(options_);
    while (true) {
      TOOLS_RETURN_IF_ERROR(Print(&stream));
      if (!follows || left_ == 0) return absl::OkStatus();
      absl::SleepFor(absl::Milliseconds(100));
      // The other program may be opening or closing the database: its next state is seen later.
      const absl::Status refreshed = database->Refresh();
      if (!refreshed.ok() && !absl::IsUnavailable(refreshed)) return refreshed;
    }
  }

 private:
  absl::Status Prepare() {
    TOOLS_ASSIGN_OR_RETURN(options_.rows, ParseRows(*arguments_));
    TOOLS_ASSIGN_OR_RETURN(options_.since, ParseSince(arguments_->Text("since")));
    TOOLS_ASSIGN_OR_RETURN(left_,
                           arguments_->Number("limit", 1, std::numeric_limits<int64_t>::max()));
    const std::string path = arguments_->Text("position");
    if (arguments_->Has("position") && FileSystem::Posix()->FileExists(path)) {
      TOOLS_ASSIGN_OR_RETURN(std::string position, FileSystem::Posix()->ReadFile(path));
      options_.positions.push_back(std::move(position));
    }
    return absl::OkStatus();
  }

  // Prints what there is now, and then keeps the position.
  absl::Status Print(ChangeStream* stream) {
    // So many are printed again at most, if the program is killed.
    constexpr int kMostAtOnce = 1000;
    int printed = 0;
    while (left_ > 0 && stream->Next()) {
      printer_.Print(stream->change());
      --left_;
      if (++printed % kMostAtOnce == 0) TOOLS_RETURN_IF_ERROR(KeepPosition(stream));
    }
    TOOLS_RETURN_IF_ERROR(KeepPosition(stream));
    // An error of the position is one of the file.
    if (!absl::IsInvalidArgument(stream->status()) || options_.positions.empty()) {
      return stream->status();
    }
    return absl::InvalidArgumentError(
        Cat(arguments_->Text("position"), ": ", MessageOf(stream->status())));
  }

  absl::Status KeepPosition(ChangeStream* stream) {
    session_->out().flush();
    if (!session_->out().good()) return StreamError("the output could not be written");
    if (!arguments_->Has("position")) return absl::OkStatus();
    const std::string position = stream->Position();
    if (position.empty() || position == kept_) return absl::OkStatus();
    TOOLS_RETURN_IF_ERROR(ReplaceFile(arguments_->Text("position"), position));
    kept_ = position;
    return absl::OkStatus();
  }

  Session* const session_;
  const Arguments* const arguments_;
  ChangePrinter printer_;
  ReadChangesOptions options_;
  int64_t left_ = 0;
  std::string kept_;  // the position in the file
};

absl::Status ChangesVerb(Session& session, const Arguments& arguments) {
  return Changes(&session, &arguments).Run();
}

}  // namespace

std::vector<Verb> ChangeVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  return {
      {.name = "changestream",
       .summary = "Open, change, close or print the change stream of a table",
       .words = {table,
                 {"RETENTION", "how long changes are kept, as in 24h or 7d; or off",
                  /*required=*/false}},
       .options = {{"max-bytes", "N", "Drop the oldest changes beyond so many bytes on disk"}},
       .notes = "A stream has the changes from its opening on. Without RETENTION the rule is "
                "printed.",
       .not_on_server = "the rule is not set by this program there",
       .examples = {"bigtable changestream orders 24h --max-bytes 1000000000",
                    "bigtable changestream orders"},
       .run = ChangeStreamVerb},
      {.name = "changes",
       .summary = "Print the changes of a table with a change stream, one on a line",
       .words = {table},
       .keys = RowKeys(),
       .options = {{"since", "TIME",
                    "From this time on: oldest (the default), microseconds since 1970, or "
                    "2026-11-29T12:00:00Z"},
                   {"follow", "", "Wait for more, beside a program that writes the database"},
                   {"position", "FILE", "Keep the position in this file, and continue from it"},
                   {"limit", "N", "At most so many changes"}},
       .notes = "The position is kept after what was printed, so that a change may be printed "
                "again after a crash, and none is left out. If the file exists, --since has no "
                "meaning.",
       .not_on_server = "its changes are not read by messages",
       .may_be_open_elsewhere = true,
       .examples = {"bigtable changes orders prefix=2026- --json",
                    "bigtable changes orders --position orders.position --limit 1000"},
       .run = ChangesVerb},
  };
}

}  // namespace bigtable::tools
