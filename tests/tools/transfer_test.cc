// Import and export of whole tables, in a directory and on a server: any bytes, kills, other
// processes.
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/database.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"

#include "support/random.h"
#include "support/text_driven.h"
#include "tools/csv.h"
#include "tools/program.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

// Each row with its cells, as JSON lines.
std::string Contents(Shell* shell, const std::string& table) {
  return shell->Output("bigtable read " + table + " --json");
}

// A table `from` of rows, columns and values of any bytes, with the timestamps given.
void WriteAnyBytes(Shell* shell, int versions) {
  shell->Output("bigtable createtable from families=f,g");
  shell->Output("bigtable createtable to families=f,g");
  const auto database = shell->OpenDatabase();
  ASSERT_TRUE(database.ok()) << database.status();
  const auto table = (*database)->OpenTable("from");
  ASSERT_TRUE(table.ok()) << table.status();
  Random random(5);
  const std::string alphabet = "ab,\"\n\r\0\xff\xc3\xbc@1\\"s;
  const auto text = [&](uint64_t least) {
    std::string bytes;
    for (uint64_t n = least + random.Below(5); n > 0; --n) bytes += random.Pick(alphabet);
    return bytes;
  };
  std::vector<std::string> qualifiers = {""};
  for (int i = 0; i < 8; ++i) qualifiers.push_back(text(0));
  for (int i = 0; i < 300; ++i) {
    RowMutation mutation(text(1));
    for (int version = 1; version <= versions; ++version) {
      mutation.Set("f:" + random.Pick(qualifiers), Timestamp(version * 1000), text(0));
      mutation.Set("g:" + random.Pick(qualifiers), Timestamp(version * 1000 + 7000), text(0));
    }
    ASSERT_TRUE((*table)->Apply(mutation).ok());
  }
}

class TransferTest : public testing::TestWithParam<Place> {};

INSTANTIATE_TEST_SUITE_P(Places, TransferTest, testing::ValuesIn(Places()),
                         [](const auto& place) { return NameOf(place.param); });

TEST_P(TransferTest, JsonKeepsAllBytesVersionsAndTimestamps) {
  Shell shell(GetParam());
  WriteAnyBytes(&shell, /*versions=*/4);
  shell.Output("bigtable export from rows.jsonl");
  shell.Output("bigtable import to rows.jsonl");
  EXPECT_EQ(Contents(&shell, "to"), Contents(&shell, "from"));
}

TEST_P(TransferTest, CsvKeepsAllBytesOfTheNewestVersionsAndTheirTimestampsIfAsked) {
  Shell shell(GetParam());
  WriteAnyBytes(&shell, /*versions=*/1);
  shell.Output("bigtable export from rows.csv timestamp=value-encoded");
  shell.Output("bigtable import to rows.csv timestamp=value-encoded batch-size=7");
  EXPECT_EQ(Contents(&shell, "to"), Contents(&shell, "from"));
  // Without them, through a pipe. Values are compared as CSV again.
  shell.Output("bigtable deleteallrows to");
  shell.Output("bigtable -q export from - > plain.csv && bigtable -q import to - < plain.csv");
  EXPECT_EQ(shell.Output("bigtable -q export to -"), shell.Read("plain.csv"));
}

// Starts the verb as a process of its own, and kills it as soon as `reached` is true. False: it has
// ended by itself before.
template <typename Reached>
bool KillWhen(Shell* shell, const std::vector<std::string>& verb, const Reached& reached) {
  std::vector<std::string> words = shell->LocationOptions();
  words.insert(words.begin(), "bigtable");
  words.insert(words.end(), verb.begin(), verb.end());
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(shell->path().c_str()) != 0) _exit(99);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(BIGTABLE_PROGRAM_DIRECTORY "/bigtable", arguments.data());
    _exit(98);
  }
  int status = 0;
  while (!reached()) {
    if (waitpid(child, &status, WNOHANG) == child) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

uint64_t RowsOfToken(Shell* shell, const std::string& name) {
  const std::string text = shell->Read(name);
  const size_t rows = text.find("\"rows\":");
  return rows == std::string::npos ? 0 : std::strtoull(text.c_str() + rows + 7, nullptr, 10);
}

constexpr int kRows = 10000;

std::string RowName(int i) { return "row" + std::to_string(10000 + i); }

TEST_P(TransferTest, AnImportThatIsKilledAndResumedLosesAndRepeatsNothing) {
  Shell shell(GetParam());
  shell.Output("bigtable createtable t families=f");
  std::string csv = ",f,\n,a,b\n";
  for (int i = 0; i < kRows; ++i) {
    csv += RowName(i) + "," + std::to_string(i) + ",\"two\nlines\"\n";
  }
  shell.Write("rows.csv", csv);
  int kills = 0;
  for (uint64_t target = 1;; target += 900) {
    const bool killed =
        KillWhen(&shell, {"import", "t", "rows.csv", "batch-size=20", "--resume", "position"},
                 [&] { return RowsOfToken(&shell, "position") >= target; });
    if (!killed) break;
    ASSERT_LT(++kills, 20);
  }
  EXPECT_GE(kills, 1);  // about ten, unless the machine is very busy
  EXPECT_EQ(shell.Run("bigtable import t rows.csv --resume position").err,
            "imported 10,000 rows, 10,000 of them by earlier runs\n");

  // Each cell is there once, all of one timestamp, with its value.
  const auto database = shell.OpenDatabase();
  ASSERT_TRUE(database.ok()) << database.status();
  RowReader reader = (*(*database)->OpenTable("t"))->ReadRows(RowRange::All());
  int rows = 0;
  Timestamp timestamp;
  for (const Row& row : reader) {
    ASSERT_EQ(row.key(), RowName(rows));
    ASSERT_EQ(row.cells().size(), 2u) << row.key();
    EXPECT_EQ(row.cells()[0].value, std::to_string(rows));
    EXPECT_EQ(row.cells()[1].value, "two\nlines");
    if (rows++ == 0) timestamp = row.cells()[0].timestamp;
    EXPECT_EQ(row.cells()[1].timestamp, timestamp);
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  EXPECT_EQ(rows, kRows);
}

TEST_P(TransferTest, AnExportThatIsKilledAndResumedWritesEachRowOnce) {
  for (const std::string format : {"csv", "json"}) {
    Shell shell(GetParam());
    shell.Output("bigtable createtable t families=f");
    std::string csv = ",f\n,a\n";
    for (int i = 0; i < kRows; ++i) csv += RowName(i) + "," + std::to_string(i) + "\n";
    shell.Write("rows.csv", csv);
    shell.Output("bigtable import t rows.csv batch-size=20000");
    shell.Output("bigtable export t whole format=" + format);
    int kills = 0;
    for (uint64_t target = 1;; target += 900) {
      const bool killed = KillWhen(
          &shell,
          {"export", "t", "out", "batch-size=20", "format=" + format, "--resume", "position"},
          [&] { return RowsOfToken(&shell, "position") >= target; });
      if (!killed) break;
      // What comes after the token is written again.
      if (shell.Read("position").find("\"done\":false") != std::string::npos) {
        shell.Write("out", shell.Read("out") + "half a ro");
      }
      ASSERT_LT(++kills, 20);
    }
    EXPECT_GE(kills, 1);  // about ten, unless the machine is very busy
    EXPECT_EQ(shell.Read("out"), shell.Read("whole"));
  }
}

TEST_P(TransferTest, AnExportContinuesOnlyInItsFileAndWithTheColumnsOfItsHeader) {
  Shell shell(GetParam());
  shell.Output("bigtable createtable t families=f");
  std::string csv = ",f\n,a\n";
  for (int i = 0; i < kRows; ++i) csv += RowName(i) + "," + std::to_string(i) + "\n";
  shell.Write("rows.csv", csv);
  shell.Output("bigtable import t rows.csv batch-size=20000");
  const auto killed_halfway = [&] {
    shell.Output("rm -f position");
    return KillWhen(&shell, {"export", "t", "out.csv", "batch-size=20", "--resume", "position"},
                    [&] { return RowsOfToken(&shell, "position") >= 1; });
  };
  const auto is_done = [&] {
    return shell.Read("position").find("\"done\":true") != std::string::npos;
  };
  // A busy machine may not come to the kill in time.
  for (int tries = 0; (!killed_halfway() || is_done()) && tries < 20;) ++tries;
  ASSERT_FALSE(is_done());
  const std::string position = shell.Read("position");

  shell.Output("bigtable set t row19999 f:new=1");
  const ProgramResult other_columns = shell.Run("bigtable export t out.csv --resume position");
  EXPECT_EQ(other_columns.code, 1);
  EXPECT_EQ(other_columns.err,
            "bigtable export: row \"row19999\" has the column f:new, which the header of out.csv "
            "does not have: the table has changed; begin anew\n");

  shell.Write("position", position);
  shell.Write("out.csv", ",f\n,a\n");
  const ProgramResult short_file = shell.Run("bigtable export t out.csv --resume position");
  EXPECT_EQ(short_file.code, 1);
  EXPECT_NE(short_file.err.find(" bytes at least, and has 6; remove position to begin anew"),
            std::string::npos)
      << short_file.err;
}

// Through sorted files that are ingested.
TEST(LargeImportTest, ALargeFileIsThereAsAWholeOrUpToTheDamage) {
  Shell shell(Place::kDirectory);
  shell.Output("bigtable createtable t families=f,g");
  shell.Output("bigtable set t row00005 f:q=old f:other=stays");
  // 17 MB, not in order.
  shell.Output(
      "(echo ,f,g; echo ,q,q; for i in $(seq 1700); do "
      "printf 'row%05d,%010000d,%d\\n' $((i * 7 % 1709)) $i $i; done) > large.csv");
  EXPECT_EQ(shell.Output("bigtable import t large.csv 2>&1 | tail -n 1"), "imported 1,700 rows\n");
  EXPECT_EQ(shell.Output("bigtable count t"), "1700\n");
  EXPECT_EQ(
      shell.Output("bigtable lookup t row00005 columns=g:q,f:other --json | grep -c '\"489\"'"),
      "1\n");
  EXPECT_EQ(shell.Output("bigtable lookup t row00005 --json | grep -c stays"), "1\n");
  EXPECT_EQ(shell.Output("ls -d ./*.import 2>&1 | grep -c import$ || true"), "0\n");
  shell.Output("bigtable createtable u families=f,g; echo x,y,z,too-many >> large.csv");
  const std::string error = shell.Output("bigtable import u large.csv 2>&1 || true");
  EXPECT_NE(error.find("line 1703"), std::string::npos) << error;
  EXPECT_NE(error.find("imported before it: 1700 rows"), std::string::npos) << error;
  EXPECT_EQ(shell.Output("bigtable count u"), "1700\n");
}

TEST(TransferLockTest, ADatabaseThatAProgramHasOpenIsReadAsItIsAndNotWritten) {
  Shell shell;
  shell.Output("bigtable createtable t families=f");
  const auto database = Database::Open(shell.database());
  ASSERT_TRUE(database.ok()) << database.status();
  const auto table = (*database)->OpenTable("t");
  ASSERT_TRUE(table.ok()) << table.status();
  for (const char* const row : {"a", "b"}) {
    ASSERT_TRUE((*table)->Apply(RowMutation(row).Set("f:q", Timestamp(1000), "v")).ok());
    EXPECT_EQ(shell.Output("bigtable count t"), row == std::string("a") ? "1\n" : "2\n");
  }
  shell.Output("bigtable export t out.jsonl");
  EXPECT_EQ(shell.Output("wc -l < out.jsonl"), "2\n");
  EXPECT_EQ(shell.Output("bigtable ls"), "t\n");
  EXPECT_EQ(shell.Run("bigtable verify").code, 0);
  EXPECT_EQ(shell.Run("bigtable tablets t").code, 0);
  EXPECT_EQ(shell.Run("bigtable stats").code, 0);
  shell.Output("bigtable backup store");
  shell.Output("bigtable checkpoint copy");
  EXPECT_EQ(shell.Output("bigtable --directory copy count t"), "2\n");
  const ProgramResult result = shell.Run("bigtable set t r f:a=1");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "bigtable set: db/LOCK: lock: held by process " + std::to_string(getpid()) + "\n");
  EXPECT_EQ(shell.Run("bigtable restoretable store 1 t u").code, 1);
}

}  // namespace
}  // namespace bigtable
