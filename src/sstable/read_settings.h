// How the blocks of an SSTable are read by one cursor. Plain value.
#ifndef BIGTABLE_SSTABLE_READ_SETTINGS_H_
#define BIGTABLE_SSTABLE_READ_SETTINGS_H_

namespace bigtable {

struct ReadSettings {
  // Verify the checksum whenever a block is taken from the file or the mapping, even if it was
  // verified before. False: a mapped block is verified when it is touched for the first time since
  // the file was opened; what is read by position is verified in any case.
  bool verify_checksums = false;
  // The read is traced: files and blocks are noted in CurrentTrace().
  bool is_traced = false;
  // Leave the blocks that were read in the block cache. False for those who read everything once.
  bool fill_cache = true;
  // What comes next is asked for ahead of time, from memory and from the file. False for those who
  // read one row.
  bool read_ahead = true;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_READ_SETTINGS_H_
