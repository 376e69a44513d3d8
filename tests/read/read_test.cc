// The results of reads of a tablet: testdata/read.txt.
//
//   table        lines: group NAME; family NAME [group=] [max_versions=] [max_age=µs] [created=]
//   write        entries (support/entry_text.h) into the active memtable of group= (0)
//   rotate       the active memtable of each group becomes an immutable one
//   flush        every memtable becomes a sorted run of one SSTable
//   read [row=|prefix=|from=|to=] [sequence=] [now=] [reverse] [skip_rows]
//                lines: filters, chained (FilterOf below). Prints a line for each cell; skip_rows
//                goes to the next row after each cell.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "read/cell_cursor.h"
#include "read/filter_node.h"
#include "support/entry_text.h"
#include "support/test_sstables.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

Filter FilterOf(const std::string& line) {
  const TextArguments a(SplitWords(line));
  const std::string name = a.Word(0);
  const auto number = [&](size_t i) { return static_cast<int64_t>(NumberOf(a.Word(i))); };
  if (name == "block-all") return Filter::BlockAll();
  if (name == "latest") return Filter::Latest(number(1));
  if (name == "family") return Filter::Family(a.Word(1));
  if (name == "family-regex") return Filter::FamilyRegex(a.Word(1));
  if (name == "column") return Filter::Column(a.Word(1), a.Word(2));
  if (name == "column-prefix") return Filter::ColumnPrefix(a.Word(1), a.Word(2));
  if (name == "column-range") return Filter::ColumnRange(a.Word(1), a.Word(2), a.Word(3));
  if (name == "column-regex") return Filter::ColumnRegex(a.Word(1));
  if (name == "timestamps") {
    return Filter::TimestampRange(Timestamp(number(1)), Timestamp(number(2)));
  }
  if (name == "row-regex") return Filter::RowKeysRegex(a.Word(1));
  if (name == "value-regex") return Filter::ValueRegex(a.Word(1));
  if (name == "row-limit") return Filter::CellsRowLimit(number(1));
  if (name == "row-offset") return Filter::CellsRowOffset(number(1));
  if (name == "strip") return Filter::StripValueTransformer();
  return Filter::ValueRegex("(there is no filter " + name);  // refused
}

class TabletReads {
 public:
  std::string Run(const TextCommand& command) {
    if (command.name == "table") return MakeTable(command);
    if (command.name == "write") return Write(command);
    if (command.name == "read") return Read(command);
    if (command.name == "rotate") {
      for (GroupVersion& group : groups_) Rotate(group);
      return "";
    }
    if (command.name == "flush") {
      for (GroupVersion& group : groups_) Flush(group);
      return "";
    }
    return "unknown command";
  }

 private:
  std::string MakeTable(const TextCommand& command) {
    layout_ = {};
    groups_.clear();
    for (const std::string& line : command.input) {
      const TextArguments a(SplitWords(line));
      if (a.Word(0) == "group") {
        layout_.groups.push_back(
            {layout_.next_group_id++, a.Word(1), {.filter = FilterKind::kRowAndColumn}});
        groups_.push_back({NewTestMemtable(), {}, {}});
        continue;
      }
      GcRule rule;
      if (a.HasValue("max_versions")) rule = GcRule::MaxVersions(a.Number("max_versions"));
      if (a.HasValue("max_age")) {
        rule = GcRule::Union(rule, GcRule::MaxAge(absl::Microseconds(a.Number("max_age"))));
      }
      layout_.families.push_back({a.Word(1), static_cast<uint32_t>(a.Number("group")), rule,
                                  static_cast<SequenceNumber>(a.Number("created"))});
      if (!a.NotAskedFor().empty()) return "what is " + a.NotAskedFor();
    }
    return "";
  }
  std::string Write(const TextCommand& command) {
    GroupVersion& group = groups_.at(static_cast<size_t>(command.Number("group")));
    for (const std::string& line : command.input) {
      const std::optional<TextEntry> entry = ParseEntry(line);
      if (!entry.has_value()) return "not an entry: " + line;
      group.active->Add(entry->key, entry->value);
    }
    return "";
  }
  static void Rotate(GroupVersion& group) {
    if (group.active->empty()) return;
    group.immutable.insert(group.immutable.begin(), group.active);
    group.active = NewTestMemtable();
  }
  void Flush(GroupVersion& group) {
    Rotate(group);
    if (group.immutable.empty()) return;
    MergingCursor input;
    std::vector<std::unique_ptr<MemtableCursor>> cursors;
    for (const Ref<Memtable>& memtable : group.immutable) {
      cursors.push_back(std::make_unique<MemtableCursor>(memtable.get()));
      input.Add(cursors.back().get());
    }
    const SSTableInfo info =
        tables_.Write(&input, ++last_number_, {.filter = FilterKind::kRowAndColumn});
    group.runs.insert(group.runs.begin(), SortedRun{{tables_.Open(info)}});
    group.immutable.clear();
  }

  static std::string Escaped(std::string_view bytes) { return absl::CHexEscape(ToAbsl(bytes)); }
  std::string Read(const TextCommand& command) {
    std::vector<Filter> chain;
    for (const std::string& line : command.input) chain.push_back(FilterOf(line));
    const Filter filter = chain.empty() ? Filter() : Filter::Chain(chain);
    if (!filter.status().ok()) return std::string(filter.status().ToString());
    const TabletVersion version(std::make_shared<const TableLayout>(layout_), groups_,
                                MakeRef<ReadLimit>());
    ReadSpec spec;
    spec.sequence =
        static_cast<SequenceNumber>(command.Number("sequence", static_cast<int64_t>(kMaxSequence)));
    spec.now = absl::FromUnixMicros(command.Number("now"));
    spec.reverse = command.Has("reverse");
    spec.filter = FilterNode::Of(filter);
    CellCursor cells(&version, spec);
    if (command.HasValue("row")) {
      cells.ReadRow(RowProbe(version, command.Value("row"), spec.filter == nullptr));
    } else if (command.HasValue("prefix")) {
      cells.ReadRange(RowRange::Prefix(command.Value("prefix")));
    } else if (command.HasValue("to")) {
      cells.ReadRange(RowRange::RightOpen(command.Value("from"), command.Value("to")));
    } else {
      cells.ReadRange(RowRange::StartingAt(command.Value("from")));
    }
    std::string out, row;
    const bool skip = command.Has("skip_rows");
    while (cells.Next()) {
      if (cells.is_new_row() != (row != cells.row())) out += "is_new_row() is wrong\n";
      row = cells.row();
      absl::StrAppend(&out, Escaped(cells.row()), "/",
                      Cat(cells.family().name, ":", Escaped(cells.qualifier()), "@",
                          cells.timestamp(), " ", cells.value()));
      while (out.back() == ' ') out.pop_back();
      out += "\n";
      if (skip) cells.SkipRow();
    }
    if (!cells.status().ok()) out += std::string(cells.status().ToString());
    return out.empty() ? "nothing\n" : out;
  }

  TestSSTables tables_;
  uint64_t last_number_ = 0;
  TableLayout layout_;
  std::vector<GroupVersion> groups_;
};

TEST(ReadTest, ReadsReturnWhatIsVisible) {
  TabletReads reads;
  RunTextFile(BIGTABLE_TESTDATA "/read.txt",
              [&](const TextCommand& command) { return reads.Run(command); });
}

}  // namespace
}  // namespace bigtable
