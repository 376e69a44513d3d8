// Cursors over several sorted sequences: testdata/merge.txt.
//
//   memtable NAME      with these entries (support/entry_text.h)
//   sstable NAME       the same, as a file
//   run NAME FILE...   a sorted run of SSTables
//   iterate NAME...    a MergingCursor over memtables and runs. Each line moves it, and its entry
//   is
//                      printed: first, last, next, seek TARGET, seek-before TARGET, seek-forward
//                      TARGET, rest. A target is an entry, or the beginning of a row.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/merging_cursor.h"
#include "compaction/sorted_run.h"
#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/test_sstables.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string TargetOf(const std::string& text) {
  const std::optional<TextEntry> entry = ParseEntry(text);
  return entry.has_value() ? entry->key : RowPrefix(text);
}

class Merge {
 public:
  std::string Run(const TextCommand& command) {
    const std::string name = command.Word(0);
    if (command.name == "memtable" || command.name == "sstable") {
      const Ref<Memtable> memtable = NewTestMemtable();
      for (const std::string& line : command.input) {
        const std::optional<TextEntry> entry = ParseEntry(line);
        if (!entry.has_value()) return "not an entry: " + line;
        memtable->Add(entry->key, entry->value);
      }
      if (command.name == "memtable") {
        memtables_[name] = memtable;
      } else {
        MemtableCursor cursor(memtable.get());
        files_[name] = tables_.Open(tables_.Write(&cursor, ++last_number_));
      }
      return "";
    }
    if (command.name == "run") {
      SortedRun run;
      for (size_t i = 1; i < command.words().size(); ++i) {
        run.files.push_back(files_.at(command.words()[i]));
      }
      runs_[name] = run;
      return "";
    }
    return command.name == "iterate" ? Iterate(command) : "unknown command";
  }

 private:
  std::string Iterate(const TextCommand& command) {
    MergingCursor cursor;
    std::vector<std::unique_ptr<EntryCursor>> children;
    for (const std::string& name : command.words()) {
      if (memtables_.contains(name)) {
        children.push_back(std::make_unique<MemtableCursor>(memtables_[name].get()));
      } else {
        children.push_back(std::make_unique<RunCursor>(&runs_.at(name), ReadSettings()));
      }
      cursor.Add(children.back().get());
    }
    std::string out;
    for (const std::string& line : command.input) {
      const size_t space = line.find(' ');
      const std::string verb = line.substr(0, space);
      const std::string target = space == std::string::npos ? "" : TargetOf(line.substr(space + 1));
      if (verb == "rest") {
        out += RestText(&cursor) + "end\n";
        continue;
      }
      if ((verb == "next" || verb == "seek-forward") && !cursor.valid()) return "is at the end";
      if (verb == "first") cursor.SeekToFirst();
      if (verb == "last") cursor.SeekToLast();
      if (verb == "next") cursor.Next();
      if (verb == "seek") cursor.Seek(target);
      if (verb == "seek-before") cursor.SeekBefore(target);
      if (verb == "seek-forward") cursor.SeekForward(target);
      out += line + ": " +
             (cursor.valid() ? EntryText(cursor.key(), cursor.value()) : std::string("none")) +
             "\n";
    }
    return out;
  }

  TestSSTables tables_;
  uint64_t last_number_ = 0;
  std::map<std::string, Ref<Memtable>> memtables_;
  std::map<std::string, Ref<SSTable>> files_;
  std::map<std::string, SortedRun> runs_;
};

TEST(MergeTest, SeveralSequencesAreReadAsOne) {
  Merge merge;
  RunTextFile(BIGTABLE_TESTDATA "/merge.txt",
              [&](const TextCommand& command) { return merge.Run(command); });
}

}  // namespace
}  // namespace bigtable
