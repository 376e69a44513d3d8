// bigtable_c_test [TEST...]: runs these tests, or all.
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests.h"

struct Test {
  const char* name;
  void (*run)(const char* directory);
};

#define TEST_ENTRY(name) {#name, name},
static const struct Test kTests[] = {FOR_EACH_TEST(TEST_ENTRY)};
static const size_t kTestCount = sizeof(kTests) / sizeof(kTests[0]);

static int RemoveEntry(const char* path, const struct stat* status, int kind, struct FTW* walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

// Returns whether the test could be run; a test that fails ends the process.
static int Run(const struct Test* test) {
  const char* const parent = getenv("TMPDIR");
  char directory[4096];
  snprintf(directory, sizeof(directory), "%s/bigtable-c-XXXXXX", parent == NULL ? "/tmp" : parent);
  if (mkdtemp(directory) == NULL) {
    perror(directory);
    return 0;
  }
  // What a test makes beside its directory is removed, too.
  char own[sizeof(directory) + 8];
  snprintf(own, sizeof(own), "%s/test", directory);
  if (mkdir(own, 0700) != 0) {
    perror(own);
    return 0;
  }
  printf("%s\n", test->name);
  fflush(stdout);
  test->run(own);
  return nftw(directory, RemoveEntry, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

int main(int argc, char** argv) {
  int found = 0;
  for (size_t i = 0; i < kTestCount; ++i) {
    int wanted = argc == 1;
    for (int k = 1; k < argc; ++k) wanted |= strcmp(argv[k], kTests[i].name) == 0;
    if (!wanted) continue;
    if (!Run(&kTests[i])) return EXIT_FAILURE;
    ++found;
  }
  if (argc > 1 && found != argc - 1) {
    fprintf(stderr, "no such test\n");
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
