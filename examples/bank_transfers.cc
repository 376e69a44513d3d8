// Transfers between the accounts of a bank, by several threads: each is a transaction that reads
// two accounts and writes both and an entry of the journal, in another table. However the transfers
// come, no money is made or lost, and no account is overdrawn. The database is in memory; with a
// path and without `file_system` it would be on disk, and nothing else would change.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kAccounts = 10;
constexpr int64_t kBalance = 100;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  std::exit(EXIT_FAILURE);
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

std::string Account(int number) { return absl::StrCat("account-", number); }

bigtable::RowMutation SetBalance(const std::string& account, int64_t balance) {
  return bigtable::RowMutation(account).Set("f:balance", bigtable::EncodeBigEndian(balance));
}

absl::StatusOr<int64_t> Balance(const absl::StatusOr<bigtable::Row>& account) {
  if (!account.ok()) return account.status();
  if (account->empty()) return absl::NotFoundError("there is no such account");
  return bigtable::DecodeBigEndian(account->cells()[0].value);
}

// FailedPrecondition: the account would be overdrawn. Then nothing is written.
absl::Status Transfer(bigtable::Database* database, bigtable::Table* accounts,
                      bigtable::Table* journal, const std::string& from, const std::string& to,
                      int64_t amount) {
  return database->RunTransaction([&](bigtable::Transaction* transaction) -> absl::Status {
    const absl::StatusOr<int64_t> payer = Balance(transaction->ReadRow(accounts, from));
    const absl::StatusOr<int64_t> payee = Balance(transaction->ReadRow(accounts, to));
    if (!payer.ok()) return payer.status();
    if (!payee.ok()) return payee.status();
    if (*payer < amount) return absl::FailedPreconditionError(from + " would be overdrawn");
    Check(transaction->Apply(accounts, SetBalance(from, *payer - amount)));
    Check(transaction->Apply(accounts, SetBalance(to, *payee + amount)));
    return transaction->Apply(journal, bigtable::RowMutation(from).Set("f:" + to, "paid"));
  });
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const std::unique_ptr<bigtable::Database> database =
      Value(bigtable::Database::Open("/bank", options));
  bigtable::TableSchema schema;
  schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  bigtable::Table* const accounts = Value(database->OpenOrCreateTable("accounts", schema));
  bigtable::Table* const journal = Value(database->OpenOrCreateTable("journal", schema));
  bigtable::WriteBatch opening;
  for (int i = 0; i < kAccounts; ++i) opening.Apply(accounts, SetBalance(Account(i), kBalance));
  Check(database->Apply(opening));

  std::vector<std::thread> tellers;
  for (int teller = 0; teller < 4; ++teller) {
    tellers.emplace_back([&, teller] {
      for (int i = 0; i < 500; ++i) {
        const int from = (teller + i) % kAccounts;
        const int to = (from + 1 + i % (kAccounts - 1)) % kAccounts;
        const absl::Status done =
            Transfer(database.get(), accounts, journal, Account(from), Account(to), 1 + i % 7);
        if (!absl::IsFailedPrecondition(done)) Check(done);
      }
    });
  }
  for (std::thread& teller : tellers) teller.join();

  int64_t sum = 0;
  for (int i = 0; i < kAccounts; ++i) {
    const int64_t balance = Value(Balance(accounts->ReadRow(Account(i))));
    std::cout << Account(i) << " " << balance << "\n";
    if (balance < 0) return EXIT_FAILURE;
    sum += balance;
  }
  return sum == kAccounts * kBalance ? EXIT_SUCCESS : EXIT_FAILURE;
}
