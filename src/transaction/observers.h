// The observers that the program has registered (bigtable/mutation_observer.h). Thread-safe.
#ifndef BIGTABLE_TRANSACTION_OBSERVERS_H_
#define BIGTABLE_TRANSACTION_OBSERVERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/mutation_observer.h"

#include "schema/table_layout.h"

namespace bigtable {

// The observers of a table, in call order. FailedPrecondition: one is not registered.
absl::StatusOr<std::vector<MutationObserver*>> ObserversOf(const TableLayout& layout);
// InvalidArgument: one of these names is not registered.
absl::Status CheckObserversAreKnown(const std::vector<std::string>& names);
// The name of an observer, in quotes, for messages.
std::string ObserverName(const MutationObserver* observer);
// For tests: as if the observer had never been registered. It is not deleted.
void ForgetObserver(std::string_view name);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_OBSERVERS_H_
