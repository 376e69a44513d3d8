// What reads of rows have touched, counted rather than timed: the same on every machine.
#ifndef BIGTABLE_BENCH_COMPACTION_READ_TOUCHES_H_
#define BIGTABLE_BENCH_COMPACTION_READ_TOUCHES_H_

namespace bench {

// Plain value.
struct ReadTouches {
  double filters = 0;  // that were asked, of files
  double files = 0;    // that were searched, as no filter excluded them
  double blocks = 0;   // of data, from wherever they came
  double bytes = 0;    // of blocks that were read from a file, or decompressed
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_READ_TOUCHES_H_
