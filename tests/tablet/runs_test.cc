// Which files of a locality group form which sorted runs: testdata/runs.txt.
//
//   runs     lines: FILE order= ROW...: a file that holds a cell of each row

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/test_clock.h"
#include "support/test_sstables.h"
#include "support/text_driven.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

std::string Runs(const TextCommand& command) {
  if (command.name != "runs") return "unknown command";
  TestSSTables tables;
  TestClock clock;
  TabletEnvironment environment;
  environment.file_system = tables.file_system();
  environment.clock = &clock;
  environment.budget = TestBudget();
  OpenTables open_tables(environment.file_system, TestReadMode(), environment.budget);
  environment.open_tables = &open_tables;
  environment.path_of = TestSSTables::PathOf;

  TabletState state;
  for (const std::string& line : command.input) {
    const TextArguments a(SplitWords(line));
    const Ref<Memtable> memtable = NewTestMemtable();
    for (size_t i = 2; i < a.words().size(); ++i) {
      const std::string cell =
          a.Word(i).find('/') == std::string::npos ? a.Word(i) + "/f:q@1" : a.Word(i);
      const TextEntry entry = *ParseEntry(cell + "#1 cell v");
      memtable->Add(entry.key, entry.value);
    }
    MemtableCursor cursor(memtable.get());
    state.groups[0].files.push_back(
        {static_cast<uint64_t>(a.Number("order")), tables.Write(&cursor, NumberOf(a.Word(0)))});
  }
  TableLayout layout;
  layout.groups = {{.id = 0, .name = "default", .options = {}}};
  const auto tablet =
      Tablet::Open(&environment, std::make_shared<const TableLayout>(layout), state);
  if (!tablet.ok()) return std::string(tablet.status().ToString());
  const Pin<TabletVersion> version = (*tablet)->Version();
  std::string out;
  for (const SortedRun& run : version->groups()[0].runs) {
    out += "run:";
    for (const Ref<SSTable>& file : run.files) {
      absl::StrAppend(&out, " ", file->info().file_number);
    }
    out += "\n";
  }
  return out.empty() ? "no runs\n" : out;
}

TEST(RunsTest, FilesOfOneOrderAndDisjointAdjacentOrdersAreOneRun) {
  RunTextFile(BIGTABLE_TESTDATA "/runs.txt", Runs);
}

}  // namespace
}  // namespace bigtable
