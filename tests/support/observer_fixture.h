// A test with a table that is observed, and one that is not.
#ifndef BIGTABLE_TESTS_SUPPORT_OBSERVER_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_OBSERVER_FIXTURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

#include "support/tablets_fixture.h"
#include "support/test_observers.h"

namespace bigtable {

// Table "t" is observed by hook 0, and "u" by none.
class ObserverFixture : public TabletsFixture {
 protected:
  void SetUp() override {
    HookObserver::ClearAll();
    IndexObserver::Register();
    Open(WithServers(2));
    t_ = CreateObserved("t", {HookObserver::NameOf(0)});
    u_ = CreateObserved("u", {});
  }
  void TearDown() override {
    database_.reset();
    HookObserver::ClearAll();
  }
  Table* CreateObserved(std::string_view name, const std::vector<std::string>& observers) {
    TableSchema schema = StillSchema();
    schema.families["g"] = {};
    schema.observers = observers;
    return CreateTable(name, schema);
  }
  static HookObserver* Hook(int i) { return HookObserver::Get(i); }
  static RowMutation Write(std::string_view row, std::string_view value) {
    return RowMutation(row).Set("f:q", Timestamp(1), value);
  }
  // All rows of a table: "a=f:q@1=v b=...".
  static std::string Rows(Table* table) {
    std::string text;
    RowReader reader = table->ReadRows(RowSet(RowRange::All()));
    for (const Row& row : reader) {
      absl::StrAppend(&text, text.empty() ? "" : " ", ToAbsl(row.key()), "=", Show(row));
    }
    EXPECT_OK(reader.status());
    return text;
  }
  // Records the rows of the mutations that are observed by hook 0.
  void RecordRows() {
    Hook(0)->before = [this](const ObservedMutation& mutation, ObserverContext* /*context*/) {
      seen_ += Cat(mutation.row(), " ");
      return absl::OkStatus();
    };
  }

  Table* t_ = nullptr;
  Table* u_ = nullptr;
  std::string seen_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_OBSERVER_FIXTURE_H_
