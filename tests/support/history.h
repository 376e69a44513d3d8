// Checks that a history of transactions is serializable: that there is an order in which the
// committed ones, one after another, read and write what they did.
//
// Every transaction has a number above 0, and writes its number to rows. A row that was never
// written has 0. The order of the versions of each row is known at the end.
//
// In any such order a transaction comes after those whose versions it has read, and before those
// that have replaced them; and the versions of a row come in their order. So the history is
// serializable if and only if these relations have no circle.
#ifndef BIGTABLE_TESTS_SUPPORT_HISTORY_H_
#define BIGTABLE_TESTS_SUPPORT_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace bigtable {

struct HistoryTransaction {
  enum class Outcome { kCommitted, kAborted, kUnknown };

  uint64_t number = 0;
  std::map<std::string, uint64_t> reads;  // row, the version that was read
  std::set<std::string> writes;           // rows
  Outcome outcome = Outcome::kUnknown;
};

// The versions of each row, from the first to the last.
using HistoryVersions = std::map<std::string, std::vector<uint64_t>>;

class HistoryChecker {
 public:
  // `transactions` outlive this.
  HistoryChecker(const std::vector<HistoryTransaction>& transactions, HistoryVersions versions)
      : versions_(std::move(versions)) {
    for (const HistoryTransaction& transaction : transactions) {
      all_[transaction.number] = &transaction;
    }
  }

  // The first thing that is wrong; empty if there is nothing.
  std::string Check() {
    std::string wrong = FindCommitted();
    if (wrong.empty()) wrong = Relate();
    return wrong.empty() ? FindCircle() : wrong;
  }
  size_t committed() const { return committed_.size(); }

 private:
  using Outcome = HistoryTransaction::Outcome;

  // All of a transaction is there, or none.
  std::string FindCommitted() {
    std::map<uint64_t, size_t> found;  // rows
    for (const auto& [row, versions] : versions_) {
      for (const uint64_t number : versions) {
        const auto of = all_.find(number);
        if (of == all_.end() || !of->second->writes.contains(row)) {
          return absl::StrCat("row ", row, " has a version ", number, " that nobody wrote");
        }
        ++found[number];
      }
    }
    for (const auto& [number, transaction] : all_) {
      const size_t rows = found.contains(number) ? found[number] : 0;
      if (rows != 0 && rows != transaction->writes.size()) {
        return absl::StrCat("transaction ", number, " is in ", rows, " of its ",
                            transaction->writes.size(), " rows");
      }
      if (transaction->outcome == Outcome::kAborted && rows != 0) {
        return absl::StrCat("transaction ", number, " was aborted, and is there");
      }
      if (transaction->outcome == Outcome::kCommitted && rows != transaction->writes.size()) {
        return absl::StrCat("transaction ", number, " has committed, and is lost");
      }
      if (transaction->outcome == Outcome::kCommitted || rows != 0) committed_.insert(number);
    }
    return "";
  }

  // Fills later_.
  std::string Relate() {
    for (const auto& [row, versions] : versions_) {
      for (size_t i = 1; i < versions.size(); ++i) later_[versions[i - 1]].insert(versions[i]);
    }
    for (const uint64_t number : committed_) {
      for (const auto& [row, version] : all_[number]->reads) {
        const auto of_row = versions_.find(row);
        const std::vector<uint64_t> none;
        const std::vector<uint64_t>& versions = of_row == versions_.end() ? none : of_row->second;
        size_t next = 0;
        if (version != 0) {
          const auto at = std::find(versions.begin(), versions.end(), version);
          if (at == versions.end()) {
            return absl::StrCat("transaction ", number, " has read version ", version, " of row ",
                                row, ", which is not there");
          }
          if (version != number) later_[version].insert(number);
          next = static_cast<size_t>(at - versions.begin()) + 1;
        }
        if (next < versions.size() && versions[next] != number) {
          later_[number].insert(versions[next]);
        }
      }
    }
    return "";
  }

  std::string FindCircle() {
    enum class State { kNew, kOpen, kDone };
    std::map<uint64_t, State> states;
    struct Frame {
      uint64_t number;
      std::set<uint64_t>::const_iterator next;
    };
    for (const uint64_t start : committed_) {
      if (states[start] != State::kNew) continue;
      std::vector<Frame> path;
      states[start] = State::kOpen;
      path.push_back({start, later_[start].begin()});
      while (!path.empty()) {
        Frame& frame = path.back();
        if (frame.next == later_[frame.number].end()) {
          states[frame.number] = State::kDone;
          path.pop_back();
          continue;
        }
        const uint64_t next = *frame.next++;
        if (states[next] == State::kOpen) {
          std::string circle = "not serializable:";
          auto from = std::find_if(path.begin(), path.end(),
                                   [&](const Frame& f) { return f.number == next; });
          for (; from != path.end(); ++from) absl::StrAppend(&circle, " ", from->number, " before");
          return absl::StrCat(circle, " ", next);
        }
        if (states[next] == State::kDone) continue;
        states[next] = State::kOpen;
        path.push_back({next, later_[next].begin()});
      }
    }
    return "";
  }

  const HistoryVersions versions_;
  std::map<uint64_t, const HistoryTransaction*> all_;
  std::set<uint64_t> committed_;
  std::map<uint64_t, std::set<uint64_t>> later_;  // of each, some that come after it
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_HISTORY_H_
