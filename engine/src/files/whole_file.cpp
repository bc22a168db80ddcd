// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/files/whole_file.hpp"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t early_bytes = std::size_t{8} << 20;

// A path as messages show it.
std::string shown(const fs::path& path) {
  std::string text = path.string();
  std::ranges::replace_if(
      text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }, '?');
  return text;
}

[[noreturn]] void refuse_to_write(const fs::path& path, const char* what, int reason) {
  throw IoError("io.write", shown(path) + ": " + what + ": " + std::strerror(reason), {},
                "choose a writable folder with free space");
}

// The result of a call that a signal may cut short, made again until none does.
template <class Call>
int uninterrupted(const Call& call) {
  for (;;) {
    const int result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// Makes the new name itself durable. File systems that cannot are not worse off than without.
void synchronize_folder(const fs::path& folder) {
  const int descriptor =
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return;
  uninterrupted([&] { return ::fsync(descriptor); });
  ::close(descriptor);
}

}  // namespace

fs::path previous_of(const fs::path& path) {
  return path.parent_path() / (path.stem().string() + ".prev" + path.extension().string());
}

WholeFile::WholeFile(fs::path target) : target_(std::move(target)) {
  descriptor_ = uninterrupted(
      [&] { return ::open(folder_of(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666); });
  // A name is given through /proc. Not all file systems have files without a name.
  if (descriptor_ >= 0 && ::access(own_path().c_str(), F_OK) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  path_ = other_name();
  descriptor_ = uninterrupted([&] {
    return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  });
  if (descriptor_ >= 0) return;
  path_.clear();
  refuse_to_write(target_, "cannot be created", errno);
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

void WholeFile::write(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min(bytes, early_bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_to_write(target_, "cannot be written", errno);
    at += written;
    bytes -= static_cast<std::size_t>(written);
    written_ += static_cast<std::uint64_t>(written);
    write_early();
  }
}

// The disk works on what is there while the caller makes the rest. A system that cannot do so
// writes all of it at the end.
void WholeFile::write_early() noexcept {
  if (written_ - early_ < early_bytes) return;
  ::sync_file_range(descriptor_, static_cast<off_t>(early_), static_cast<off_t>(written_ - early_),
                    SYNC_FILE_RANGE_WRITE);
  early_ = written_;
}

void WholeFile::put_in_place(Existing existing, Durability durability) {
  const bool durable = durability == Durability::synchronized;
  if (durable && uninterrupted([&] { return ::fsync(descriptor_); }) != 0) {
    refuse_to_write(target_, "cannot be written", errno);
  }
  const bool nameless = path_.empty();
  if (nameless && existing == Existing::refuse) {
    check(link_to(target_));
    if (durable) synchronize_folder(folder_of(target_));
    return;
  }
  if (nameless) {
    const fs::path name = other_name();
    check(link_to(name));
    path_ = name;
  }
  close();
  if (existing == Existing::keep_previous) keep_previous();
  check(existing == Existing::refuse ? rename_to_new()
                                     : ::rename(path_.c_str(), target_.c_str()) == 0);
  path_.clear();
  if (durable) synchronize_folder(folder_of(target_));
}

// The old file keeps its own name, too, until the new one takes that: both are there at any moment.
// File systems without links have the old one by its new name alone for that time.
void WholeFile::keep_previous() const {
  const fs::path previous = previous_of(target_), link = other_name();
  if (::link(target_.c_str(), link.c_str()) == 0) {
    if (::rename(link.c_str(), previous.c_str()) == 0) {
      ::unlink(link.c_str());  // still there if both names were the same file
      return synchronize_folder(folder_of(target_));
    }
    ::unlink(link.c_str());
  }
  if (::rename(target_.c_str(), previous.c_str()) == 0) {
    return synchronize_folder(folder_of(target_));
  }
  if (errno != ENOENT) {
    refuse_to_write(target_, "cannot be kept as the previous one", errno);
  }
}

std::string WholeFile::own_path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

// Not that of another process, nor one that a process of the same number left.
fs::path WholeFile::other_name() const {
  std::random_device random;
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "%08x", random());
  return target_.parent_path() / ("." + target_.filename().string() + "." + suffix + ".tmp");
}

bool WholeFile::link_to(const fs::path& name) const {
  return ::linkat(AT_FDCWD, own_path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// Network file systems report a full disk here.
void WholeFile::close() {
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) refuse_to_write(target_, "cannot be written", errno);
}

void WholeFile::check(bool done) const {
  if (done) return;
  if (errno == EEXIST) {
    throw IoError("io.exists", shown(target_) + " exists, and Kiln does not overwrite it", {},
                  "choose another name, or remove the file");
  }
  refuse_to_write(target_, "cannot be renamed from its temporary name", errno);
}

bool WholeFile::rename_to_new() const {
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

}  // namespace kiln
