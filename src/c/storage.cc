// What families, tables and owners take: Database::Statistics as a sorted list.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bigtable/statistics.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::View;

struct bigtable_storage {
  struct Charge {
    int kind;
    std::string name;
    std::string family;
    bigtable::StorageStatistics bytes;
  };
  std::vector<Charge> charges;
};

namespace bigtable {
namespace {

// In the order of the kinds, and of the maps.
std::vector<bigtable_storage::Charge> ChargesOf(const DatabaseStatistics& statistics) {
  std::vector<bigtable_storage::Charge> charges;
  for (const auto& [table, bytes] : statistics.storage) {
    charges.push_back({BIGTABLE_STORAGE_TABLE, table, "", bytes});
  }
  for (const auto& [table, families] : statistics.families) {
    for (const auto& [family, of] : families) {
      charges.push_back({BIGTABLE_STORAGE_FAMILY, table, family, of.storage});
    }
  }
  for (const auto& [owner, bytes] : statistics.owner_storage) {
    charges.push_back({BIGTABLE_STORAGE_OWNER, owner, "", bytes});
  }
  charges.push_back({BIGTABLE_STORAGE_METADATA, "", "", statistics.metadata_storage});
  return charges;
}

// Nothing, if there are not so many charges.
StorageStatistics BytesAt(const bigtable_storage* storage, size_t index) {
  return index < storage->charges.size() ? storage->charges[index].bytes : StorageStatistics();
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_database_get_storage(bigtable_database* database,
                                              bigtable_storage** storage) {
  BT_C_CHECK_NOT_NULL({"storage", storage});
  *storage = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  *storage = new bigtable_storage{bigtable::ChargesOf(database->database->Statistics())};
  return nullptr;
}
void bigtable_storage_free(bigtable_storage* storage) { delete storage; }

size_t bigtable_storage_count(const bigtable_storage* storage) { return storage->charges.size(); }

size_t bigtable_storage_find(const bigtable_storage* storage, int kind, const char* name,
                             size_t name_size, const char* family, size_t family_size) {
  using Key = std::tuple<int, std::string_view, std::string_view>;
  const Key key(kind, View(name, name_size), View(family, family_size));
  const auto key_of = [](const bigtable_storage::Charge& charge) {
    return Key(charge.kind, charge.name, charge.family);
  };
  const auto found = std::ranges::lower_bound(storage->charges, key, {}, key_of);
  if (found == storage->charges.end() || key_of(*found) != key) return storage->charges.size();
  return static_cast<size_t>(found - storage->charges.begin());
}

int bigtable_storage_kind(const bigtable_storage* storage, size_t index) {
  return index < storage->charges.size() ? storage->charges[index].kind : -1;
}
const char* bigtable_storage_name(const bigtable_storage* storage, size_t index, size_t* size) {
  if (index >= storage->charges.size()) return ReturnNone(size);
  return Return(storage->charges[index].name, size);
}
const char* bigtable_storage_family(const bigtable_storage* storage, size_t index, size_t* size) {
  if (index >= storage->charges.size()) return ReturnNone(size);
  return Return(storage->charges[index].family, size);
}

uint64_t bigtable_storage_disk_bytes(const bigtable_storage* storage, size_t index) {
  return bigtable::BytesAt(storage, index).disk_bytes;
}
uint64_t bigtable_storage_memtable_bytes(const bigtable_storage* storage, size_t index) {
  return bigtable::BytesAt(storage, index).memtable_bytes;
}
uint64_t bigtable_storage_loaded_bytes(const bigtable_storage* storage, size_t index) {
  return bigtable::BytesAt(storage, index).loaded_bytes;
}
