#include "transaction/observers.h"

#include <memory>
#include <utility>

#include "base/named_registry.h"
#include "base/strings.h"

namespace bigtable {
namespace {

using ObserverRegistry = NamedRegistry<MutationObserver>;

ObserverRegistry& Observers() {
  // For threads that outlive static objects.
  static auto* const registry = new ObserverRegistry("mutation observer");
  return *registry;
}

}  // namespace

absl::StatusOr<std::vector<MutationObserver*>> ObserversOf(const TableLayout& layout) {
  std::vector<MutationObserver*> observers;
  for (const std::string& name : layout.observers) {
    observers.push_back(Observers().Find(name));
    if (observers.back() != nullptr) continue;
    return absl::FailedPreconditionError(
        Cat("table ", layout.name, " has the observer ", Quoted(name),
            ", which this program has not registered (RegisterMutationObserver); registered are: ",
            Listed(MutationObserverNames())));
  }
  return observers;
}

absl::Status CheckObserversAreKnown(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Observers().Find(name) != nullptr) continue;
    return absl::InvalidArgumentError(Cat("there is no mutation observer ", Quoted(name),
                                          "; registered are: ", Listed(MutationObserverNames())));
  }
  return absl::OkStatus();
}

std::string ObserverName(const MutationObserver* observer) {
  for (const std::string& name : MutationObserverNames()) {
    if (Observers().Find(name) == observer) return Quoted(name);
  }
  return "an observer that is not registered any more";
}

void ForgetObserver(std::string_view name) { Observers().Forget(name); }

absl::Status RegisterMutationObserver(std::string_view name,
                                      std::unique_ptr<MutationObserver> observer) {
  return Observers().Register(name, std::move(observer));
}

std::vector<std::string> MutationObserverNames() { return Observers().Names(); }

}  // namespace bigtable
