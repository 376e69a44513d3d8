// The names of the tablet servers that this process starts. A name is never used twice. It contains
// a number that is larger than every sequence number so far, and so larger than the number of any
// server whose redo points METADATA may still have.
#ifndef BIGTABLE_CLUSTER_SERVER_NAMES_H_
#define BIGTABLE_CLUSTER_SERVER_NAMES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/server_directory.h"
#include "cluster/server_role.h"

namespace bigtable {

// Thread-safe.
class ServerNames {
 public:
  // `sequences` outlives this.
  explicit ServerNames(SequenceSource* sequences) : sequences_(sequences) {}

  // Names continue after this number. Before the first Take.
  void StartAfter(uint64_t number) {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(live_.empty() && "it is called before the first name is taken");
    last_number_ = number;
  }
  // Returns a new name, which is live until Remove.
  std::string Take(ServerRole role) {
    MutexLock lock(&mutex_);
    last_number_ = std::max(last_number_, sequences_->last()) + 1;
    sequences_->AdvanceTo(last_number_);
    std::string name = ServerDirectory::NameOf(role, last_number_);
    [[maybe_unused]] const bool is_new = live_.insert(name).second;
    ABSL_ASSERT(is_new && "no two servers have one name");
    return name;
  }
  // The server with this name has ended, or could not be started.
  void Remove(std::string_view name) {
    MutexLock lock(&mutex_);
    if (const auto found = live_.find(name); found != live_.end()) live_.erase(found);
  }
  // Whether a server of this process has this name, or is about to, and has not ended.
  bool IsLive(std::string_view name) const {
    MutexLock lock(&mutex_);
    return live_.find(name) != live_.end();
  }

 private:
  SequenceSource* const sequences_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> live_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_NAMES_H_
