// Encryption at rest: a file system that encrypts the contents of files and keeps them in another
// one. Link bigtable::encryption beside the library; it needs OpenSSL.
//
//   auto key = bigtable::MasterKey::Create("2026-01", bytes);  // 32 bytes, from where you keep
//   keys bigtable::KeyRing keys(*key); bigtable::EncryptedFileSystem
//   files(bigtable::FileSystem::Posix(), &keys); bigtable::DatabaseOptions options;
//   options.file_system = &files;
//   auto database = bigtable::Database::Open("/var/lib/pages", options);
//
// Each file has a random key of its own, which its header holds encrypted under a master key. So
// another master key (rotation) takes effect with the next file, and changes no file.
//
// What it protects: whoever gets the disk, a copy of the files or a backup reads no row, key,
// schema or message of the info log. What it does not protect: the names, sizes and times of files;
// the memory of the process; the lock file, which has the process id. A change of a file that is
// written once (SSTables, the lock service's files) is detected, except that a file is cut off
// after a whole Append, or replaced by an older file of the same key. A change of a commit log is
// detected by the checksums of its records, which stop damage and not an attacker. See
// docs/encryption.md.
#ifndef BIGTABLE_ENCRYPTED_FILE_SYSTEM_H_
#define BIGTABLE_ENCRYPTED_FILE_SYSTEM_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/file_system_wrapper.h"

namespace bigtable {

// A master key and the name by which files refer to it. Every copy overwrites its bytes when it is
// destroyed. Encrypt at most 2^32 files under one key: each takes a random 96-bit nonce.
class MasterKey {
 public:
  static constexpr size_t kSize = 32;
  static constexpr size_t kLongestId = 127;

  // InvalidArgument unless `id` has 1 to kLongestId bytes and `bytes` has kSize. The id is not
  // secret: each file has it in clear. The bytes must be random; a password is no key.
  static absl::StatusOr<MasterKey> Create(std::string_view id, std::string_view bytes);
  // A new random key. Internal: the system has no randomness.
  static absl::StatusOr<MasterKey> Generate(std::string_view id);

  MasterKey(const MasterKey&) = default;
  MasterKey& operator=(const MasterKey&) = default;
  ~MasterKey();

  const std::string& id() const { return id_; }
  std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

 private:
  MasterKey() = default;

  std::string id_;
  std::array<char, kSize> bytes_ = {};
};

// Where master keys come from: a KeyRing, or a program's own class, which asks a key management
// service, say. Called once for each file that is created or opened, by any thread, so it should
// not wait long: keep keys that were used lately. Thread-safe.
class KeyProvider {
 public:
  virtual ~KeyProvider() = default;

  // The key for new files. An error fails the creation of the file.
  virtual absl::StatusOr<MasterKey> Current() = 0;
  // The key with this id. NotFound: there is none; the call on the file then returns
  // FailedPrecondition. Other errors fail that call with their code, so that Unavailable is retried
  // where the engine retries.
  virtual absl::StatusOr<MasterKey> Find(std::string_view id) = 0;
};

// Master keys in memory. Thread-safe.
class KeyRing final : public KeyProvider {
 public:
  explicit KeyRing(const MasterKey& current);

  // Adds a key for files that were written under it. Replaces the key of the same id.
  void Add(const MasterKey& key);
  // Adds a key and makes it that of new files.
  void Rotate(const MasterKey& key);
  // Forgets a key. Files under it can no longer be opened; those that are open stay readable.
  // FailedPrecondition if it is the current one. OK if there is none.
  absl::Status Remove(std::string_view id);

  absl::StatusOr<MasterKey> Current() override;
  absl::StatusOr<MasterKey> Find(std::string_view id) override;

 private:
  std::mutex mutex_;
  std::string current_;                                 // guarded by mutex_
  std::map<std::string, MasterKey, std::less<>> keys_;  // guarded by mutex_
};

// Encrypts what FileSystem::NewWritableFile and NewLogFile write, and decrypts it where files are
// read. Everything else is passed on. Thread-safe.
//
// Files written once: AES-256-GCM in chunks of 4 KiB, each with its position in its nonce. 256
// bytes longer than their contents, and 16 bytes for each chunk, and 48 for each Append. All that
// file_system.h promises holds, also that an Append which returned OK survives a crash of the
// process. Log files: AES-256-XTS, 4096 bytes longer. Files are not mapped: reads decrypt into the
// reader's buffer, and the engine keeps blocks in its cache.
//
// Errors, beside those of the base, each with the path:
//   FailedPrecondition  the file is not encrypted, has an unknown version of the format, or is
//   under
//                       a master key that the provider does not have (with the key's id)
//   DataLoss            the bytes are damaged, or not those of the key (with the offset)
//   Internal            OpenSSL failed, for want of memory or randomness
//
// An empty file of the base is an empty file. A log file that a power loss left with a header of
// zeros, which happens only before its first Sync, reads as zeros.
class EncryptedFileSystem final : public FileSystemWrapper {
 public:
  // Both outlive this.
  EncryptedFileSystem(FileSystem* base, KeyProvider* keys);
  ~EncryptedFileSystem() override;

  // How many files in `directory` and below it are under each master key, by its id; "" for those
  // that are not encrypted, such as the lock file. Needs no key. A key that is not listed for a
  // database, its checkpoints and its backups can be destroyed. Reads the header of each file.
  absl::StatusOr<std::map<std::string, uint64_t>> KeysInUse(std::string_view directory);
  // Writes each encrypted file in `directory` and below it that is not under the current key again
  // under that, and returns how many. No database may be open there. Each file is replaced by a
  // rename, so an error or a crash leaves every file whole, under either key; then call it again. A
  // file needs space for its copy while it is written. A file with several links loses the one.
  absl::StatusOr<uint64_t> RewriteUnderCurrentKey(std::string_view directory);

  absl::StatusOr<std::unique_ptr<FileSystem>> HoldDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override;
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override;
  absl::StatusOr<std::string> ReadFile(std::string_view path) override;
  // Opens the file, and so needs its key.
  absl::StatusOr<uint64_t> FileSize(std::string_view path) override;

 private:
  // The result of HoldDirectory: the same keys over a directory that is held below.
  EncryptedFileSystem(std::unique_ptr<FileSystem> held, KeyProvider* keys);

  absl::Status Rewrite(const std::string& path);

  const std::unique_ptr<FileSystem> held_;  // null: the caller's file system is below this one
  KeyProvider* const keys_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTED_FILE_SYSTEM_H_
