// The results of writes in random tests, compared with those of the model (support/model_write.h),
// and the calls of After that the commits must make. One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_COMMITS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_COMMITS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_engine_observers.h"
#include "support/model_write.h"

namespace bigtable {

// Each function returns what is wrong, or nothing.
class ModelCommits {
 public:
  ModelCommits() { ModelEngineObserver::TakeCalls(); }

  // A write has returned `status`. `refusal`: the expected error of observers. The model keeps the
  // write if it was committed.
  std::string Settle(ModelWrite* write, const absl::Status& refusal, const absl::Status& status) {
    std::set<absl::StatusCode> errors = write->commit_errors();
    // Which of several errors is found first is not defined.
    if (!errors.empty()) errors.insert(absl::StatusCode::kOutOfRange);
    if (!refusal.ok()) errors.insert(refusal.code());
    if (write->may_be_refused() && absl::IsResourceExhausted(status)) return StorageError(status);
    if (errors.contains(status.code())) return "";
    if (errors.empty() && !status.ok()) return Cat("a write: ", status.ToString());
    if (!errors.empty()) {
      return Cat("a write: ", status.ToString(), "\n  expected: ",
                 absl::StrJoin(errors, " or ", [](std::string* text, absl::StatusCode code) {
                   absl::StrAppend(text, absl::StatusCodeToString(code));
                 }));
    }
    ModelCommitCalls calls = write->Commit();
    if (!calls.empty()) commits_.push_back(std::move(calls));
    return "";
  }

  // Compares the calls of After with the commits since the last comparison.
  std::string CheckCalls() {
    const std::vector<ModelEngineObserver::Call> calls = ModelEngineObserver::TakeCalls();
    const std::vector<ModelCommitCalls> commits = std::exchange(commits_, {});
    size_t next = 0;
    for (const ModelCommitCalls& commit : commits) {
      for (size_t i = 0; i < commit.size(); ++i, ++next) {
        if (next == calls.size()) return "After was not called for a committed mutation";
        if (std::string wrong = Compare(commit[i], calls[next]); !wrong.empty()) return wrong;
        const bool is_same = last_sequence_ == calls[next].sequence;
        if (is_same != (i > 0) || last_sequence_ > calls[next].sequence) {
          return Cat("After was called with ", calls[next].sequence, " behind ", last_sequence_);
        }
        last_sequence_ = calls[next].sequence;
      }
    }
    if (next == calls.size()) return "";
    return Cat("After was called without a commit, for ", Text(calls[next]));
  }

 private:
  static std::string StorageError(const absl::Status& status) {
    const std::string_view message = ToStd(status.message());
    if (message.starts_with("the storage quota of 1 bytes of ") &&
        !RetryAfter(status).has_value()) {
      return "";
    }
    return Cat("not the error of a quota of storage: ", status.ToString());
  }
  static std::string Compare(const ModelCommitCall& expected,
                             const ModelEngineObserver::Call& call) {
    const std::string what = Cat("After for ", Text(expected));
    if (call.table != expected.table || call.mutation.row != expected.mutation.row) {
      return Cat(what, ", but it was called for ", Text(call));
    }
    if (!IsSame(expected.mutation, call.mutation)) return Cat(what, ": another mutation");
    if (!call.status.ok()) return Cat(what, ": ", call.status.ToString());
    const std::string wrong = Difference({call.mutation.row, expected.row}, call.row);
    return wrong.empty() ? "" : Cat(what, " reads ", wrong);
  }
  template <typename Call>
  static std::string Text(const Call& call) {
    return Cat(call.table, " row ", Quoted(std::string_view(call.mutation.row).substr(0, 20)));
  }
  static bool IsSame(const ModelMutation& a, const ModelMutation& b) {
    const auto fields = [](const ModelOperation& op) {
      return std::tuple(op.kind, op.family, op.qualifier, op.timestamp, op.value.view(), op.end);
    };
    return std::ranges::equal(a.operations, b.operations, {}, fields, fields);
  }

  std::vector<ModelCommitCalls> commits_;
  uint64_t last_sequence_ = 0;  // of a call
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_COMMITS_H_
