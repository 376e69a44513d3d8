#include "transaction/observed_apply.h"

#include <utility>

#include "backend/failed_rows.h"
#include "backend/option_limits.h"
#include "base/catch_thrown.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "rpc/move_wait.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_check.h"
#include "schema/mutation_format.h"
#include "schema/observed_operations.h"
#include "transaction/observers.h"

namespace bigtable {
namespace {

constexpr int kMaxDepth = 8;

// The table for the program itself, whoever the caller is.
absl::StatusOr<Table*> ForProgram(const TransactionDomain& domain, Table* table) {
  const TableImpl& impl = *TableImpl::Of(*table);
  if (!impl.caller.has_value()) return table;
  BT_ASSIGN_OR_RETURN(Table* const opened, domain.tables->OpenTable(impl.name(), {}));
  if (TableImpl::Of(*opened)->route->table_id() == impl.route->table_id()) return opened;
  return impl.DeletedError();
}

}  // namespace

ObservedMutation::ObservedMutation(Table* table, const RowMutation& mutation)
    : table_(table), mutation_(mutation), operations_(ObservedOperationsOf(mutation_)) {}

// --- ObserverContext ---

// The context of the calls of Before for one mutation.
class ObserverContextImpl {
 public:
  ObserverContextImpl(TransactionImpl* transaction, const ObservedMutation* mutation,
                      std::vector<ObservedApply::Addition>* additions)
      : transaction_(transaction), mutation_(mutation), additions_(additions) {}

  absl::Status Call(MutationObserver* observer, std::string_view name) {
    name_ = name;
    ObserverContext context(this);
    const size_t before = additions_->size();
    absl::Status status = WithoutConflict(
        CatchThrownStatus([&] { return Cat("MutationObserver::Before of ", Quoted(name)); },
                          [&] { return observer->Before(*mutation_, &context); }));
    for (size_t i = before; i < additions_->size(); ++i) {
      if (IsOfRow((*additions_)[i])) own_row_.push_back(i);
    }
    return status;
  }

  // Whether an addition is to the observed row.
  bool IsOfRow(const ObservedApply::Addition& addition) const {
    return addition.mutation.row() == mutation_->row() &&
           TableImpl::Of(*addition.table)->route->table_id() == table().route->table_id();
  }

  absl::StatusOr<Row> ReadAfter(const Filter& filter) {
    std::vector<const RowMutation*> mutations = {&mutation_->mutation()};
    for (const size_t i : own_row_) mutations.push_back(&(*additions_)[i].mutation);
    return transaction_->ReadRowWith(table(), mutation_->row(), mutations, filter, options());
  }
  absl::Status Apply(Table* to, const RowMutation& mutation) {
    BT_RETURN_IF_ERROR(mutation.status());
    BT_RETURN_IF_ERROR(TableImpl::CheckEmbedded(*to));
    if (TableImpl::Of(*to)->database.get() != transaction_->database()) {
      return absl::InvalidArgumentError(
          Cat("table ", to->name(), " is of another database than the observed mutation"));
    }
    if (additions_->size() == WriteBatch::kMaxMutations) {
      return absl::InvalidArgumentError(
          Cat("observers must add at most ", WriteBatch::kMaxMutations, " mutations"));
    }
    additions_->push_back({to, mutation, name_});
    return absl::OkStatus();
  }

  TransactionImpl* transaction() const { return transaction_; }
  const ObservedMutation& mutation() const { return *mutation_; }
  const TableImpl& table() const { return *TableImpl::Of(*mutation_->table()); }
  // For a read that begins now.
  ReadOptions options() const {
    ReadOptions options;
    options.deadline = transaction_->limits().deadline.wall();
    options.cancellation = transaction_->limits().cancellation;
    return options;
  }

 private:
  TransactionImpl* const transaction_;
  const ObservedMutation* const mutation_;
  std::vector<ObservedApply::Addition>* const additions_;
  std::string_view name_;  // of the observer that is called
  // The additions to the observed row by the observers before it.
  std::vector<size_t> own_row_;
};

absl::StatusOr<Row> ObserverContext::ReadBefore(const Filter& filter) {
  return impl_->transaction()->ReadRow(impl_->table(), impl_->mutation().row(), filter,
                                       impl_->options());
}

absl::StatusOr<Row> ObserverContext::ReadAfter(const Filter& filter) {
  return impl_->ReadAfter(filter);
}

absl::StatusOr<Row> ObserverContext::ReadRow(Table* table, std::string_view row,
                                             const Filter& filter) {
  BT_RETURN_IF_ERROR(TableImpl::CheckEmbedded(*table));
  return impl_->transaction()->ReadRow(*TableImpl::Of(*table), row, filter, impl_->options());
}

RowReader ObserverContext::ReadRows(Table* table, const RowSet& rows, const Filter& filter) {
  const absl::Status checked = TableImpl::CheckEmbedded(*table);
  if (!checked.ok()) return RowSource::ToReader(std::make_unique<FailedRows>(checked));
  return RowSource::ToReader(
      impl_->transaction()->ReadRows(TableImpl::Of(*table), rows, filter, impl_->options()));
}

absl::StatusOr<Table*> ObserverContext::OpenTable(std::string_view name) {
  return impl_->transaction()->domain()->tables->OpenTable(name, {});
}

absl::Status ObserverContext::Apply(Table* table, const RowMutation& mutation) {
  return impl_->Apply(table, mutation);
}

// --- ObservedApply ---

absl::Status ObservedApply::Apply(Table* table, const RowMutation& mutation, const Link* link) {
  const TableImpl& impl = *TableImpl::Of(*table);
  // Without observers nothing needs to be known here: the commit checks the mutation.
  if (!impl.route->is_observed()) return transaction_->Add(table, mutation, 0);
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      CheckedLayout(impl, mutation));
  if (layout->observers.empty()) {
    impl.route->SetObserved(false);
    return transaction_->Add(table, mutation, 0);
  }
  if (CommitOrder::IsCalling()) {
    return absl::FailedPreconditionError(Cat(
        "table ", impl.name(), " has observers, and MutationObserver::After must not write to it"));
  }
  if (link != nullptr && link->depth == kMaxDepth) return TooDeepError(link);
  std::vector<Addition> additions;
  BT_RETURN_IF_ERROR(Observe(table, mutation, *layout, &additions));
  BT_RETURN_IF_ERROR(transaction_->Add(table, mutation, layout->observers_id));
  for (const Addition& addition : additions) {
    const Link next{.parent = link,
                    .table = layout->name,
                    .observer = addition.observer,
                    .depth = link == nullptr ? 1 : link->depth + 1};
    const bool is_of_row =
        addition.mutation.row() == mutation.row() &&
        TableImpl::Of(*addition.table)->route->table_id() == impl.route->table_id();
    BT_RETURN_IF_ERROR(
        is_of_row ? transaction_->Add(addition.table, addition.mutation, layout->observers_id)
                  : Apply(addition.table, addition.mutation, &next));
  }
  return absl::OkStatus();
}

absl::Status ObservedApply::Observe(Table* table, const RowMutation& mutation,
                                    const TableLayout& layout, std::vector<Addition>* additions) {
  BT_ASSIGN_OR_RETURN(std::vector<MutationObserver*> observers, ObserversOf(layout));
  BT_ASSIGN_OR_RETURN(Table* const for_program, ForProgram(*transaction_->domain(), table));
  std::unique_ptr<const ObservedMutation> observed(new ObservedMutation(for_program, mutation));
  ObserverContextImpl context(transaction_, observed.get(), additions);
  for (size_t i = 0; i < observers.size(); ++i) {
    BT_RETURN_IF_ERROR(context.Call(observers[i], layout.observers[i]));
  }
  BT_RETURN_IF_ERROR(CatchThrown("MutationObserver::ObservesCommits", [&] {
    std::erase_if(observers,
                  [](const MutationObserver* observer) { return !observer->ObservesCommits(); });
  }));
  if (!observers.empty()) transaction_->AddCall({std::move(observers), std::move(observed)});
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const TableLayout>> ObservedApply::CheckedLayout(
    const TableImpl& table, const RowMutation& mutation) {
  const CallLimits& limits = transaction_->limits();
  const CallGate::Pass pass(&table.database->gate);
  if (!pass) return table.database->ClosedError();
  BT_RETURN_IF_ERROR(limits.Check("the write"));
  for (MoveWait wait;;) {
    const ServedTable& tablets = *table.route->Get();
    const ServedTablet& served = tablets.tablets()[tablets.Find(mutation.row())];
    if (served.tablet != nullptr && !served.tablet->flags().ended()) {
      std::shared_ptr<const TableLayout> layout = served.tablet->Layout();
      EncodedMutation encoded = EncodedMutation::Of(mutation);
      encoded.observers = layout->observers_id;
      BT_RETURN_IF_ERROR(served.path->CheckWrite(*layout, encoded, table.caller, limits));
      return layout;
    }
    if (served.tablet == nullptr && table.database->locations.is_remote()) {
      return absl::UnimplementedError(
          Cat("table ", table.name(), " has observers, and its tablets are reached by messages"));
    }
    if (served.tablet != nullptr && served.tablet->flags().removed()) return table.DeletedError();
    BT_RETURN_IF_ERROR(table.Relocate(mutation.row(), &wait, limits));
  }
}

absl::Status ObservedApply::TooDeepError(const Link* link) const {
  std::string chain;
  for (; link != nullptr; link = link->parent) {
    chain = Cat("table ", link->table, " (observer ", link->observer, ")",
                chain.empty() ? "" : " -> ", chain);
  }
  return absl::FailedPreconditionError(
      Cat("observers add mutations that are observed in their turn more than ", kMaxDepth,
          " deep: ", chain));
}

}  // namespace bigtable
