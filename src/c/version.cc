#include "bigtable/c.h"

// BIGTABLE_VERSION is from CMakeLists.txt.
const char* bigtable_version() { return BIGTABLE_VERSION; }
