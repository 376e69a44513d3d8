// All settings of the peers, with the reason for each.
//
// The rules: a write that returned survives a crash of the process, as in this engine. Caches,
// write buffers, indexes and filters stay within the memory limit of the run. Nothing is
// compressed. Within these rules each peer is as fast as we could make it.
#ifndef BIGTABLE_BENCH_PAPER_PEER_SETTINGS_H_
#define BIGTABLE_BENCH_PAPER_PEER_SETTINGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#ifdef BENCH_HAVE_ROCKSDB
#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#endif
#ifdef BENCH_HAVE_LEVELDB
#include "leveldb/cache.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"
#endif

#include "engine.h"

namespace bench {

// One write buffer: the size that both peers' experts use for data of this size, and less if the
// memory limit is small.
inline size_t WriteBufferSize(const OpenOptions& options) {
  return std::min<uint64_t>(64 << 20, options.memory_limit / 4);
}

#ifdef BENCH_HAVE_ROCKSDB

// The figures behind the choices are of Debian's RocksDB 7.8.3, linked statically, with 200,000 to
// 400,000 rows on two cores of an AMD EPYC; single runs, which differ by a quarter from one to the
// next.
// Longer than a screen, so that each setting stands beside its reason.
inline rocksdb::Options RocksDBSettings(const OpenOptions& options) {
  rocksdb::Options s;
  s.create_if_missing = true;
  s.compression = rocksdb::kNoCompression;
  s.info_log_level = rocksdb::WARN_LEVEL;

  // Two buffers of up to 64 MiB: one is filled while the other is flushed.
  s.write_buffer_size = WriteBufferSize(options);
  s.max_write_buffer_number = 2;
  // The kernel begins to write files before they are complete, as with this engine: random writes
  // 139,000 a second instead of 134,000, of two threads 140,000 instead of 121,000 (medians of
  // four).
  s.bytes_per_sync = 1 << 20;

  // One flush and one compaction at a time: as many threads as this engine has, for machines with
  // few cores.
  s.max_background_jobs = 2;

  // Leveled, four runs in level 0, and the base level as large as they are: 119,000 to 122,000
  // random writes a second at a write amplification of 3.3. Twice the base level: 109,000 and 3.9.
  // A trigger of eight: the same throughput, and more runs to read. Universal: 116,000 and 3.0, but
  // a third more CPU for sequential writes, of which it merges what leveled compaction moves.
  s.compaction_style = rocksdb::kCompactionStyleLevel;
  s.level_compaction_dynamic_level_bytes = true;  // the least space, and fewest levels to read
  s.level0_file_num_compaction_trigger = 4;
  s.max_bytes_for_level_base = 4 * s.write_buffer_size;
  s.target_file_size_base = 64 << 20;
  // Compactions that read the page cache gain nothing by compaction_readahead_size (7.1 to 7.3 us a
  // write with it and without), so it stays at its default.

  // The log is written with write() without a sync, so it survives the process, as in this engine.
  // recycle_log_file_num would avoid allocating log files, but RocksDB turns it off in the recovery
  // modes with the guarantee of this engine: a prefix of the writes.
  s.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;

  // Every table stays open.
  s.max_open_files = -1;
  // Mapped files: random reads 270,000 a second against 110,000 to 180,000 through system calls
  // and the cache, scans 1,700,000 rows a second against 600,000. When the cache holds everything,
  // a hit in it is faster than the checksum of a mapped block: 290,000 against 265,000.
  s.allow_mmap_reads = options.purpose != Purpose::kReadsFromMemory;

  rocksdb::BlockBasedTableOptions t;
  t.format_version = 5;
  // Blocks of 2 KiB: random reads no faster, scans at half the speed. Of 8 KiB: scans a quarter
  // faster, random reads a sixth slower.
  t.block_size = 4 << 10;
  // Debian builds without hardware CRC32C, which XXH3 does not need.
  t.checksum = rocksdb::kXXH3;
  // The full filter, one for each file.
  t.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, /*use_block_based_builder=*/false));
  // Binary search in the block and in the index: the hash index within blocks, first keys in the
  // index, shorter restart intervals and optimize_filters_for_hits are all within the noise, or
  // slower, since a block holds four rows.
  t.index_type = rocksdb::BlockBasedTableOptions::kBinarySearch;
  t.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinarySearch;
  // Indexes and filters count against the cache, and never leave it.
  t.cache_index_and_filter_blocks = true;
  t.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                              .partition_pinning = rocksdb::PinningTier::kAll,
                              .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  // The rest of the memory. With everything in it, 290,000 reads a second; the LRU cache 160,000 to
  // 220,000.
  t.block_cache =
      rocksdb::HyperClockCacheOptions(options.memory_limit - 2 * s.write_buffer_size, t.block_size)
          .MakeSharedCache();
  s.table_factory.reset(rocksdb::NewBlockBasedTableFactory(t));
  return s;
}

// Logged and not synced: RocksDB's defaults.
inline rocksdb::WriteOptions RocksDBWriteSettings() { return {}; }

// RocksDB verifies by default what it reads from a file or a mapping, so both kinds of checking are
// the same.
inline rocksdb::ReadOptions RocksDBReadSettings(Checking checking) {
  rocksdb::ReadOptions s;
  if (checking == Checking::kEveryRead) s.verify_checksums = true;
  return s;
}

// pin_data gains nothing where files are mapped, and read-ahead is for those that are not.
inline rocksdb::ReadOptions RocksDBScanSettings(Checking checking) {
  return RocksDBReadSettings(checking);
}

#endif  // BENCH_HAVE_ROCKSDB

#ifdef BENCH_HAVE_LEVELDB

// LevelDB's options, with the objects that they point to and do not own. LevelDB maps its files
// itself, the first thousand of them, and serves uncompressed blocks from there: the cache is for
// the others.
struct LevelDBSettings {
  explicit LevelDBSettings(const OpenOptions& open) : filter(leveldb::NewBloomFilterPolicy(10)) {
    options.create_if_missing = true;
    options.compression = leveldb::kNoCompression;
    // Two of them at a time, one of them being flushed. 64 MiB against 16 MiB: 175,000 random
    // writes a second against 116,000, at a write amplification of 4.1 against 5.5.
    options.write_buffer_size = WriteBufferSize(open);
    // Files of that size, because fewer of them are merged in vain. 16 MiB: the same.
    options.max_file_size = 64 << 20;
    // 2 KiB: scans at 60%. 16 KiB: scans a tenth faster, random reads a sixth slower.
    options.block_size = 4 << 10;
    options.max_open_files = 10000;
    options.filter_policy = filter.get();
    cache.reset(leveldb::NewLRUCache(open.memory_limit - 2 * options.write_buffer_size));
    options.block_cache = cache.get();
  }

  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::Cache> cache;
  leveldb::Options options;
};

// Logged and not synced: LevelDB's defaults.
inline leveldb::WriteOptions LevelDBWriteSettings() { return {}; }

// LevelDB verifies nothing by default.
inline leveldb::ReadOptions LevelDBReadSettings(Checking checking) {
  leveldb::ReadOptions s;
  s.verify_checksums = checking == Checking::kEveryRead;
  return s;
}

#endif  // BENCH_HAVE_LEVELDB

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_PEER_SETTINGS_H_
