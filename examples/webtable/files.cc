#include "files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <zlib.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace webtable {
namespace {

namespace fs = std::filesystem;

absl::Status FileError(const std::string& path, const std::error_code& error) {
  return absl::UnavailableError(absl::StrFormat("%s: %s", path, error.message()));
}

bool IsHtmlName(const fs::path& path) {
  std::string extension = path.extension().string();
  absl::AsciiStrToLower(&extension);
  return extension == ".html" || extension == ".htm";
}

// Calls visit(entry) for everything below `directory`, until an error.
template <typename Visit>
absl::Status Walk(const std::string& directory, Visit visit) {
  std::error_code error;
  fs::recursive_directory_iterator it(directory, error);
  while (!error && it != fs::recursive_directory_iterator()) {
    const absl::Status status = visit(*it);
    if (!status.ok()) return status;
    it.increment(error);
  }
  return error ? FileError(directory, error) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PageFile>> FindPages(const std::string& directory, const Url& base,
                                                uint64_t limit) {
  std::vector<PageFile> pages;
  const absl::Status status = Walk(directory, [&](const fs::directory_entry& entry) {
    std::error_code error;
    if (!IsHtmlName(entry.path()) || !entry.is_regular_file(error)) return absl::OkStatus();
    PageFile page;
    page.path = entry.path().string();
    page.url = base;
    page.url.path += EscapeFilePath(entry.path().lexically_relative(directory).string());
    page.row = RowKey(page.url);
    page.size = entry.file_size(error);
    pages.push_back(std::move(page));
    return error ? FileError(pages.back().path, error) : absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (pages.empty()) {
    return absl::NotFoundError(
        absl::StrFormat("%s: no files *.html or *.htm in it or below it", directory));
  }
  std::sort(pages.begin(), pages.end(),
            [](const PageFile& a, const PageFile& b) { return a.row < b.row; });
  if (limit > 0 && limit < pages.size()) pages.resize(limit);
  return pages;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  const auto fail = [&path] { return FileError(path, {errno, std::system_category()}); };
  if (file == nullptr) return fail();
  std::string content;
  char buffer[64 << 10];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) content.append(buffer, n);
  if (std::ferror(file.get()) != 0) return fail();
  return content;
}

uint64_t GzipSize(std::string_view data) {
  constexpr int kLevel = 6;
  constexpr int kGzipFormat = 15 + 16;  // the window's bits, and a gzip header
  constexpr int kDefaultMemory = 8;
  z_stream stream = {};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipFormat, kDefaultMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return 0;
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  const uint64_t size = stream.total_out;
  deflateEnd(&stream);
  return size;
}

absl::StatusOr<DiskUsage> MeasureDatabase(const std::string& directory) {
  DiskUsage usage;
  const auto count = [&usage](const std::string& path, bool of_tables) {
    constexpr uint64_t kBlock = 512;  // the unit of st_blocks, whatever the file system's own is
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) return FileError(path, {errno, std::system_category()});
    usage.whole += static_cast<uint64_t>(info.st_blocks) * kBlock;
    if (of_tables && S_ISREG(info.st_mode)) usage.tables += static_cast<uint64_t>(info.st_size);
    return absl::OkStatus();
  };
  absl::Status status = count(directory, false);
  if (status.ok()) {
    status = Walk(directory, [&](const fs::directory_entry& entry) {
      const fs::path top = *entry.path().lexically_relative(directory).begin();
      return count(entry.path().string(), top == "sst" || top == "lockservice");
    });
  }
  if (!status.ok()) return status;
  return usage;
}

}  // namespace webtable
