// Requests that are repeated: carried out once, answered each time.
#include "serving/outcome_window.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

MutateResponse ResponseOf(std::string_view text) {
  return {.verdict = MutateResponse::Verdict::kDone,
          .statuses = {absl::NotFoundError(ToAbsl(text))}};
}

class OutcomeWindowTest : public testing::Test {
 protected:
  // Sends a request that would be answered with `text` if it were carried out.
  absl::StatusOr<MutateResponse> Run(const RequestId& id, std::string_view text) {
    return window_.Run(id, {}, [&] {
      ++applied_;
      return ResponseOf(text);
    });
  }

  OutcomeWindow window_;
  std::atomic<int> applied_{0};
};

TEST_F(OutcomeWindowTest, ARepeatedRequestGetsTheFirstResponse) {
  ASSERT_OK_AND_ASSIGN(const MutateResponse first, Run({7, 0, 1}, "first"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const MutateResponse again, Run({7, 0, 1}, "again"));
    EXPECT_EQ(again, first);
  }
  EXPECT_EQ(applied_, 1);
}

TEST_F(OutcomeWindowTest, ASupersededTabletIsAResponseToo) {
  const auto moved = [&] {
    ++applied_;
    return MutateResponse{.verdict = MutateResponse::Verdict::kMoved, .statuses = {}};
  };
  ASSERT_OK(window_.Run({7, 0, 1}, {}, moved).status());
  ASSERT_OK_AND_ASSIGN(const MutateResponse again, Run({7, 0, 1}, "applied after all"));
  EXPECT_EQ(again.verdict, MutateResponse::Verdict::kMoved);
  EXPECT_EQ(applied_, 1);
}

TEST_F(OutcomeWindowTest, ClientsAndSlotsAreSeparate) {
  EXPECT_OK(Run({7, 0, 1}, "a").status());
  EXPECT_OK(Run({7, 1, 1}, "b").status());
  EXPECT_OK(Run({8, 0, 1}, "c").status());
  EXPECT_EQ(applied_, 3);
  EXPECT_EQ(*Run({7, 1, 1}, ""), ResponseOf("b"));
  EXPECT_EQ(*Run({8, 0, 1}, ""), ResponseOf("c"));
  EXPECT_EQ(applied_, 3);
}

TEST_F(OutcomeWindowTest, AnObsoleteRequestIsRefusedAndForgotten) {
  for (uint64_t number : {1, 2, 9, 100}) EXPECT_OK(Run({7, 0, number}, "").status());
  EXPECT_EQ(applied_, 4);
  EXPECT_EQ(window_.slots(), 1u);
  // Whether it came before or not.
  for (uint64_t number : {1, 2, 9, 10, 99}) {
    EXPECT_STATUS(kFailedPrecondition, "100 has come", Run({7, 0, number}, "").status());
  }
  EXPECT_EQ(applied_, 4);
  EXPECT_OK(Run({7, 0, 100}, "").status());
}

TEST_F(OutcomeWindowTest, SlotsAndNumbersHaveLimits) {
  EXPECT_STATUS(kInvalidArgument, "number 0", Run({7, 0, 0}, "").status());
  EXPECT_STATUS(kInvalidArgument, "slot 65536", Run({7, 1 << 16, 1}, "").status());
  EXPECT_EQ(applied_, 0);
}

TEST(OutcomeWindowForgetTest, AClientThatIsSilentIsForgotten) {
  OutcomeWindow window(absl::Milliseconds(1));
  const auto apply = [] { return ResponseOf(""); };
  ASSERT_OK(window.Run({7, 0, 1}, {}, apply).status());
  absl::SleepFor(absl::Milliseconds(2));
  ASSERT_OK(window.Run({8, 0, 1}, {}, apply).status());
  EXPECT_EQ(window.slots(), 1u);
}

// The time counts from its last request, also if that was a copy.
TEST(OutcomeWindowForgetTest, AClientThatIsHeardAgainIsNotForgotten) {
  constexpr absl::Duration kForgetAfter = absl::Milliseconds(400);
  OutcomeWindow window(kForgetAfter);
  const auto apply = [] { return ResponseOf(""); };
  ASSERT_OK(window.Run({7, 0, 1}, {}, apply).status());
  const absl::Time begin = absl::Now();
  absl::Time heard = begin;
  while (absl::Now() - begin < kForgetAfter + absl::Milliseconds(50)) {
    heard = absl::Now();
    ASSERT_OK(window.Run({7, 0, 1}, {}, apply).status());
    absl::SleepFor(absl::Milliseconds(10));
  }
  ASSERT_OK(window.Run({8, 0, 1}, {}, apply).status());
  // Unless this thread was not scheduled meanwhile.
  if (absl::Now() - heard < kForgetAfter) {
    EXPECT_EQ(window.slots(), 2u);
  }
}

TEST(OutcomeWindowForgetTest, AClientWithARequestUnderWayIsNotForgotten) {
  OutcomeWindow window(absl::Milliseconds(1));
  const auto apply_slowly = [&] {
    absl::SleepFor(absl::Milliseconds(2));
    EXPECT_OK(window.Run({8, 0, 1}, {}, [] { return ResponseOf(""); }).status());
    return ResponseOf("slow");
  };
  ASSERT_OK(window.Run({7, 0, 1}, {}, apply_slowly).status());
  EXPECT_EQ(window.slots(), 2u);
  ASSERT_OK_AND_ASSIGN(const MutateResponse again,
                       window.Run({7, 0, 1}, {}, [] { return ResponseOf("again"); }));
  EXPECT_EQ(again, ResponseOf("slow"));
}

// A request that is under way until Finish().
class OutcomeWindowConcurrencyTest : public OutcomeWindowTest {
 protected:
  void BeginSlowly(const RequestId& id) {
    slow_ = std::thread([this, id] {
      const auto response = window_.Run(id, {}, [&] {
        is_under_way_ = true;
        while (!may_end_) absl::SleepFor(absl::Milliseconds(1));
        return ResponseOf("slow");
      });
      EXPECT_EQ(*response, ResponseOf("slow"));
    });
    while (!is_under_way_) absl::SleepFor(absl::Milliseconds(1));
  }
  void Finish() {
    may_end_ = true;
    slow_.join();
  }

  std::thread slow_;
  std::atomic<bool> is_under_way_{false}, may_end_{false};
};

TEST_F(OutcomeWindowConcurrencyTest, ACopyWaitsForTheOneThatIsUnderWay) {
  BeginSlowly({7, 0, 1});
  std::vector<std::thread> copies;
  for (int i = 0; i < 3; ++i) {
    copies.emplace_back([&] { EXPECT_EQ(*Run({7, 0, 1}, "again"), ResponseOf("slow")); });
  }
  absl::SleepFor(absl::Milliseconds(5));
  Finish();
  for (std::thread& copy : copies) copy.join();
  EXPECT_EQ(applied_, 0);
}

TEST_F(OutcomeWindowConcurrencyTest, ACopyWaitsNoLongerThanItsDeadline) {
  BeginSlowly({7, 0, 1});
  const CallLimits limits{.deadline = absl::Now() + absl::Milliseconds(20)};
  EXPECT_STATUS(kDeadlineExceeded, "came before",
                window_.Run({7, 0, 1}, limits, [] { return ResponseOf("again"); }).status());
  Finish();
}

// The client has given up the first request.
TEST_F(OutcomeWindowConcurrencyTest, TheNextRequestDoesNotWaitForOneThatIsUnderWay) {
  BeginSlowly({7, 0, 1});
  EXPECT_EQ(*Run({7, 0, 2}, "next"), ResponseOf("next"));
  EXPECT_STATUS(kFailedPrecondition, "2 has come", Run({7, 0, 1}, "").status());
  Finish();
  EXPECT_EQ(*Run({7, 0, 2}, "again"), ResponseOf("next"));
}

TEST_F(OutcomeWindowConcurrencyTest, OfManyCopiesOneIsCarriedOut) {
  constexpr int kNumbers = 300;
  std::vector<std::atomic<int>> times(kNumbers + 1);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t);
      for (uint64_t number = 1; number <= kNumbers; ++number) {
        const auto response = window_.Run({7, 0, number}, {}, [&] {
          ++times[number];
          if (random.OneIn(10)) absl::SleepFor(absl::Microseconds(100));
          return ResponseOf(std::to_string(number));
        });
        if (response.ok()) {
          EXPECT_EQ(*response, ResponseOf(std::to_string(number)));
        } else {
          EXPECT_STATUS(kFailedPrecondition, "is obsolete", response.status());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int number = 1; number <= kNumbers; ++number) EXPECT_LE(times[number], 1);
  EXPECT_EQ(times[kNumbers], 1);
}

}  // namespace
}  // namespace bigtable
