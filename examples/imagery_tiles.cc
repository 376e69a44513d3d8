// Imagery as in section 8.2 of the paper: one table of raw images, and one of tiles that serves
// them. Rows are named so that neighbouring segments of the Earth are next to each other, images
// are not compressed again, and an index of the tiles is held in memory, so that clients learn
// which tiles exist without a read of the disk. (Here the disk is in memory, too.)
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kLevels = 4;  // each divides a segment into four
constexpr size_t kTileBytes = 20 << 10;

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

// The raw images of the segment and of all within it. A name is a path of quadrants, as "0231":
// segments that share a prefix are near each other.
void Photograph(bigtable::Table* raw, const std::string& segment) {
  if (segment.size() == kLevels) {
    const std::string image(kTileBytes, static_cast<char>('a' + segment.back() - '0'));
    return Check(raw->Apply(bigtable::RowMutation(segment).Set("source:plane", image)));
  }
  for (const char quadrant : {'0', '1', '2', '3'}) Photograph(raw, segment + quadrant);
}

// The step that the paper does by MapReduce: cleans the raw images and makes tiles of them.
void MakeTiles(bigtable::Table* raw, bigtable::Table* tiles) {
  bigtable::RowReader images = raw->ReadRows(bigtable::RowRange::All());
  for (const bigtable::Row& image : images) {
    Check(tiles->Apply(bigtable::RowMutation(image.key())
                           .Set("tile:image", image.cells()[0].value)
                           .Set("index:source", image.cells()[0].qualifier)));
  }
  Check(images.status());
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const auto database = Value(bigtable::Database::Open("/imagery", options));

  bigtable::TableSchema schema;
  schema.locality_groups["images"] = {.compression = bigtable::Compression::kNone,
                                      .block_size = 64 << 10};
  schema.locality_groups["in_memory"] = {.in_memory = true};
  schema.families["tile"] = {.locality_group = "images", .gc = bigtable::GcRule::MaxVersions(1)};
  schema.families["index"] = {.locality_group = "in_memory",
                              .gc = bigtable::GcRule::MaxVersions(1)};
  bigtable::Table* const tiles = Value(database->OpenOrCreateTable("tiles", schema));
  bigtable::TableSchema raw_schema;
  raw_schema.families["source"] = {};
  bigtable::Table* const raw = Value(database->OpenOrCreateTable("raw", raw_schema));

  Photograph(raw, "");
  MakeTiles(raw, tiles);
  Check(database->Flush("tiles"));

  // The tiles of a region. Its index is loaded with the first read, and stays in memory.
  const bigtable::Filter index = bigtable::Filter::Family("index");
  Value(tiles->ReadRow("0231", index));
  bigtable::RowReader region = tiles->ReadRows(bigtable::RowRange::Prefix("02"), index);
  std::string first;
  int count = 0;
  for (const bigtable::Row& tile : region) {
    if (count++ == 0) first = tile.key();
  }
  Check(region.status());
  const bigtable::Row entry = Value(tiles->ReadRow(first, index));
  const bool is_index_in_memory = database->Statistics().memory_in_memory_groups > 0;
  const size_t image_bytes = Value(tiles->Get(first, "tile:image")).size();
  std::cout << count << " tiles, the first is " << first << ", from " << entry.cells()[0].value
            << ", " << image_bytes << " bytes\n";
  return count == 16 && is_index_in_memory && image_bytes == kTileBytes ? EXIT_SUCCESS
                                                                        : EXIT_FAILURE;
}
