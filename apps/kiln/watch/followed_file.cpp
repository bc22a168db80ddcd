// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/followed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>

namespace kiln::cli {
namespace {

constexpr std::size_t block_bytes = 64 << 10, look_bytes = 4 << 20, longest_line = 1 << 20;
constexpr off_t tail_bytes = 8192;

/// A regular file that is open for reading, or none.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      // A pipe without a writer must not block.
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0) return;
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) return;
    ::close(descriptor_);
    descriptor_ = -1;
  }
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  // Fewer bytes at the end of the file and after an error.
  std::string read(off_t offset, std::size_t size) const {
    std::string text(size, '\0');
    ssize_t count = -1;
    do {
      count = ::pread(descriptor_, text.data(), size, offset);
    } while (count < 0 && errno == EINTR);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

  struct stat status = {};

 private:
  int descriptor_ = -1;
};

}  // namespace

void FollowedFile::take(std::string_view text, News& news) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    is_too_long_ = is_too_long_ || partial_.size() + part.size() > longest_line;
    if (is_too_long_) {
      partial_.clear();
    } else {
      partial_ += part;
    }
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
    if (is_too_long_) {
      ++long_lines_;
    } else {
      news.lines.push_back(std::move(partial_));
    }
    partial_.clear();
    is_too_long_ = false;
  }
}

FollowedFile::News FollowedFile::read() {
  News news;
  const OpenFile file(path_);
  if (!file) return news;
  const bool same = file.status.st_dev == device_ && file.status.st_ino == inode_;
  if (inode_ != 0 && (!same || file.status.st_size < offset_)) {
    news.restarted = true;
    offset_ = 0;
    partial_.clear();
    is_too_long_ = false;
  }
  device_ = file.status.st_dev;
  inode_ = file.status.st_ino;
  for (std::size_t total = 0; total < look_bytes;) {
    const std::string block = file.read(offset_, block_bytes);
    if (block.empty()) return news;
    take(block, news);
    offset_ += static_cast<off_t>(block.size());
    total += block.size();
  }
  news.more = true;
  return news;
}

std::optional<double> FollowedFile::age_s() const {
  const OpenFile file(path_);
  if (!file) return std::nullopt;
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec& changed = file.status.st_mtim;
  return static_cast<double>(now.tv_sec - changed.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec - changed.tv_nsec);
}

LastLines last_lines(const std::filesystem::path& path) {
  LastLines lines;
  const OpenFile file(path);
  if (!file) return lines;
  const off_t begin = std::max<off_t>(0, file.status.st_size - tail_bytes);
  std::string text = file.read(begin, static_cast<std::size_t>(tail_bytes));
  // Neither the part of a line at the beginning, nor one at the end.
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
  const std::size_t first = begin == 0 ? 0 : text.find('\n') + 1;
  if (text.empty() || (begin > 0 && first == 0)) return lines;
  lines.first = text.substr(first, text.find('\n', first) - first);
  const std::size_t last = text.rfind('\n');
  lines.last = last == std::string::npos ? text : text.substr(last + 1);
  return lines;
}

}  // namespace kiln::cli
