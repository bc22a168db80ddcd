// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kiln/errors.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// 0, or why not all of it was written.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void write_file(const fs::path& path, const Pieces& content, Existing existing) {
  WholeFile file(path);
  for (const std::string_view piece : content) file.write(piece.data(), piece.size());
  file.put_in_place(existing);
}

void write_file(const fs::path& path, std::string_view content, Existing existing) {
  write_file(path, Pieces{content}, existing);
}

void replace_file(const fs::path& path, std::string_view content) {
  WholeFile file(path);
  file.write(content.data(), content.size());
  file.put_in_place(Existing::replace, Durability::none);
}

void check_writable(const fs::path& file) { WholeFile probe(file); }

GrowingFile::GrowingFile(const fs::path& path) : path_(path) {
  const int reason = open(O_CREAT | O_EXCL);
  if (reason != EEXIST) return;
  throw IoError("io.exists", clean(path.string()) + " exists, and Kiln does not overwrite it", {},
                "choose another name, or remove the file");
}

GrowingFile::GrowingFile(const fs::path& path, std::uint64_t kept) : path_(path) {
  if (open(O_CREAT) != 0 || size() <= kept) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(kept)) == 0) return;
  error_ = clean(path_.string()) + ": cannot be shortened: " + std::strerror(errno);
  torn_ = true;
}

std::uint64_t GrowingFile::size() const noexcept {
  struct stat status = {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

// 0, or why there is no such file.
int GrowingFile::open(int flags) {
  // A pipe without a reader must not block.
  do {
    descriptor_ = ::open(path_.c_str(),
                         O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666);
  } while (descriptor_ < 0 && errno == EINTR);
  int reason = descriptor_ < 0 ? errno : 0;
  struct stat status = {};
  if (reason == 0 && (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))) {
    ::close(std::exchange(descriptor_, -1));
    reason = EINVAL;
  }
  if (reason != 0) {
    error_ = clean(path_.string()) + ": cannot be created: " + std::strerror(reason);
  }
  return reason;
}

GrowingFile::~GrowingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void GrowingFile::append(std::string_view text, bool durable) {
  if (path_.empty() || torn_) return;
  pending_ += text;
  if (descriptor_ < 0 && open(O_CREAT | O_EXCL) != 0) return;
  const int reason = write_pending(durable);
  if (reason != 0) {
    error_ = clean(path_.string()) + ": cannot be written: " + std::strerror(reason);
  } else if (!unsynchronized_) {
    error_.clear();
  }
}

// 0, or why what is pending is not on the disk.
int GrowingFile::write_pending(bool durable) {
  const off_t whole = ::lseek(descriptor_, 0, SEEK_END);
  if (const int reason = write_all(descriptor_, pending_); reason != 0) {
    // A reader must not take a part of a line for the whole.
    torn_ = whole < 0 || ::ftruncate(descriptor_, whole) != 0;
    return reason;
  }
  pending_.clear();
  if (!durable) return 0;
  int done = 0;
  do {
    done = ::fdatasync(descriptor_);
  } while (done < 0 && errno == EINTR);
  if (done == 0) return 0;
  unsynchronized_ = true;
  return errno;
}

}  // namespace kiln::cli
