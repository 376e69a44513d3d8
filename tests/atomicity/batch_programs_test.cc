// Every short program of batches, flushes and a Resume, and then a loss of power that takes all
// that was not synced. A batch lies in several tablets, tables and logs, each of which may be
// flushed, or begin anew, by itself: which of these meet is not left to chance.
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "atomicity/batch_machine.h"
#include "support/expect_status.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

// The steps of a program. Batches are buffered, and touch all tablets:
//
//   b  a batch                                         t  a flush of the table t
//   s  a synced batch                                  u  a flush of the table u
//   h  a batch that touches one tablet of t and of u   r  a failed sync, with its batch, and Resume
constexpr std::string_view kSteps = "bshtur";

class ProgramRun {
 public:
  explicit ProgramRun(int servers) { EXPECT_OK(machine_.Start(servers)); }

  void Take(char step) {
    switch (step) {
      case 'b':
        EXPECT_OK(Apply(kAll, Durability::kBuffered));
        break;
      case 's':
        EXPECT_OK(Apply(kAll, Durability::kSync));
        break;
      case 'h':
        EXPECT_OK(Apply({0, 3}, Durability::kBuffered));
        break;
      case 'r':
        FailAndResume();
        break;
      default:
        Flush(step);
    }
  }
  void ExpectWholeAfterLossOfPower() const {
    BatchMachine after(machine_.Crash(1, Unsynced::kNothing), true);
    ASSERT_OK(after.Start(2));
    const auto found = after.Read();
    ExpectWhole(operations_, found);
    ExpectPrefix(operations_, found, false, [](size_t place) { return static_cast<int>(place); });
    ExpectPrefix(operations_, found, false,
                 [&](size_t place) { return machine_.server_of(place); });
  }

 private:
  inline static const std::vector<size_t> kAll = {0, 1, 2, 3, 4, 5};

  absl::Status Apply(const std::vector<size_t>& places, Durability durability) {
    operations_.push_back({.places = places});
    return machine_.Apply(&operations_.back(), operations_.size() - 1, durability);
  }
  void Flush(char table) {
    EXPECT_OK(machine_.database()->Flush(std::string(1, table)));
    for (BatchOperation& operation : operations_) {
      for (const size_t place : operation.places) {
        if (kBatchPlaces[place].table[0] == table)
          operation.is_promised = operation.is_acknowledged;
      }
    }
  }
  void FailAndResume() {
    machine_.faults().FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "server-"},
                                absl::UnavailableError("sync fault"));
    EXPECT_FALSE(Apply(kAll, Durability::kSync).ok());
    machine_.faults().ClearFaults();
    EXPECT_OK(machine_.database()->Resume());
  }

  BatchMachine machine_{std::make_unique<InMemoryFileSystem>(), true};
  std::vector<BatchOperation> operations_;
};

TEST(BatchProgramsTest, EachLeavesBatchesWholeAfterALossOfPower) {
  const size_t length = kSlow ? 2 : 3;
  const auto programs = static_cast<size_t>(std::pow(kSteps.size(), length));
  for (const int servers : {1, 2}) {
    for (size_t number = 0; number < programs && !testing::Test::HasFailure(); ++number) {
      std::string program;
      for (size_t n = number; program.size() < length; n /= kSteps.size()) {
        program += kSteps[n % kSteps.size()];
      }
      SCOPED_TRACE(program + " on " + std::to_string(servers) + " servers");
      ProgramRun run(servers);
      for (const char step : program) run.Take(step);
      run.ExpectWholeAfterLossOfPower();
    }
  }
  Tally("power losses", 2 * programs);
}

}  // namespace
}  // namespace bigtable
