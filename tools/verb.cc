#include "tools/verb.h"

namespace bigtable::tools {

std::vector<Verb> AllVerbs() {
  std::vector<Verb> all;
  for (const auto& group : {TableVerbs(), CellVerbs(), ReadVerbs(), ChangeVerbs(), TransferVerbs(),
                            TabletVerbs(), OperateVerbs(), BackupVerbs(), FollowVerbs(),
                            RepairVerbs(), SSTableVerbs(), LogVerbs(), OptionVerbs()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace bigtable::tools
