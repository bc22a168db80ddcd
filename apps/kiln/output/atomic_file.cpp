// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what, int reason) {
  throw IoError("io.write", clean(path.string()) + ": " + what + ": " + std::strerror(reason), {},
                "choose a writable folder with free space");
}

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

/// A file that vanishes again unless it is put in its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path target) : target_(std::move(target)) {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    descriptor_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    // A name is given through /proc. Not all file systems have files without a name.
    if (descriptor_ >= 0 && ::access(own_path().c_str(), F_OK) == 0) return;
    if (descriptor_ >= 0) ::close(descriptor_);
    path_ = other_name();
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(target_, "cannot be created", errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view content) {
    if (const int reason = write_all(descriptor_, content); reason != 0) {
      fail(target_, "cannot be written", reason);
    }
  }

  void synchronize() const {
    if (::fsync(descriptor_) != 0) fail(target_, "cannot be written", errno);
  }

  void put_in_place(Existing existing) {
    const bool nameless = path_.empty();
    if (nameless && existing == Existing::refuse) return check(link_to(target_));
    if (nameless) {
      const fs::path name = other_name();
      check(link_to(name));
      path_ = name;
    }
    close();
    check(existing == Existing::refuse ? rename_to_new()
                                       : ::rename(path_.c_str(), target_.c_str()) == 0);
    path_.clear();
  }

 private:
  std::string own_path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

  // Not that of another process, nor one that a process of the same number left.
  fs::path other_name() const {
    std::random_device random;
    return target_.parent_path() /
           fmt::format(".{}.{:08x}.tmp", target_.filename().string(), random());
  }

  bool link_to(const fs::path& name) const {
    return ::linkat(AT_FDCWD, own_path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

  // Network file systems report a full disk here.
  void close() {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(target_, "cannot be written", errno);
  }

  void check(bool done) const {
    if (done) return;
    if (errno == EEXIST) {
      throw IoError("io.exists",
                    clean(target_.string()) + " exists, and Kiln does not overwrite it", {},
                    "choose another name, or remove the file");
    }
    fail(target_, "cannot be renamed from its temporary name", errno);
  }

  bool rename_to_new() const {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) {
      return true;
    }
    // Some file systems cannot do this in one step.
    if (errno != EINVAL && errno != ENOSYS) return false;
    if (fs::symlink_status(target_).type() != fs::file_type::not_found) {
      errno = EEXIST;
      return false;
    }
    return ::rename(path_.c_str(), target_.c_str()) == 0;
  }

  fs::path target_;
  fs::path path_;  // "": it has no name yet, or is in its place
  int descriptor_ = -1;
};

// Makes the new name itself durable. File systems that cannot are not worse off than without.
void synchronize_folder(const fs::path& folder) {
  const fs::path name = folder.empty() ? fs::path(".") : folder;
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void write_file(const fs::path& path, std::string_view content, Existing existing) {
  TemporaryFile file(path);
  file.write(content);
  file.synchronize();
  file.put_in_place(existing);
  synchronize_folder(path.parent_path());
}

void replace_file(const fs::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.write(content);
  file.put_in_place(Existing::replace);
}

void check_writable(const fs::path& folder) { TemporaryFile probe(folder / "probe"); }

GrowingFile::GrowingFile(const fs::path& path) : path_(path) {
  const int reason = open();
  if (reason != EEXIST) return;
  throw IoError("io.exists", clean(path.string()) + " exists, and Kiln does not overwrite it", {},
                "choose another name, or remove the file");
}

// 0, or why there is no such file.
int GrowingFile::open() {
  descriptor_ =
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  const int reason = descriptor_ < 0 ? errno : 0;
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
  if (descriptor_ < 0 && open() != 0) return;
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
  if (!durable || ::fdatasync(descriptor_) == 0) return 0;
  unsynchronized_ = true;
  return errno;
}

}  // namespace kiln::cli
