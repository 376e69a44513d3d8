// The options of a database that are plain values, as text: by their names in DatabaseOptions,
// which Database::SetOptions and the file OPTIONS (options/options_file.h) use. The others are
// objects of the program: file system, clock, sinks, listener.
//
// To make another option changeable: a field in LiveOptions (cluster/live_options.h), and
// BT_CHANGEABLE_OPTION for its line in option_table.cc.
#ifndef BIGTABLE_OPTIONS_OPTION_TABLE_H_
#define BIGTABLE_OPTIONS_OPTION_TABLE_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"

#include "bigtable/options.h"

#include "cluster/live_options.h"

namespace bigtable {

// Plain value. Its functions are pure, but for their outputs.
struct OptionEntry {
  std::string_view name;
  std::string (*to_text)(const DatabaseOptions& options);

  // Only of options that can be changed while the database is open; otherwise null.
  //
  // False: the text is not a value of the option's type, which `rule` describes.
  bool (*read)(const std::string& text, DatabaseOptions* options) = nullptr;
  std::string_view rule = {};
  void (*apply)(const DatabaseOptions& options, LiveOptions* live) = nullptr;
  void (*load)(const LiveOptions& live, DatabaseOptions* options) = nullptr;

  bool changeable() const { return read != nullptr; }
};

// Sorted by name.
absl::Span<const OptionEntry> AllOptions();
// Those that can be changed while the database is open.
absl::Span<const OptionEntry> AllChangeableOptions();

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_OPTION_TABLE_H_
