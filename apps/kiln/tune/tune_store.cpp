// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "kiln/errors.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw IoError("io.write",
                fmt::format("trials cannot be kept in {}: {}", clean(path.string()), clean(why)),
                "a folder that you can write", "KILN_CACHE_DIR=FOLDER kiln tune");
}

}  // namespace

TuneStore::TuneStore(const TuneDevice& device) : path_(tune_file(device)) {
  if (path_.empty()) refuse("~/.cache/kiln", "HOME is not set");
  std::error_code failed;
  fs::create_directories(path_.parent_path(), failed);
  if (failed) refuse(path_.parent_path(), failed.message());
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (descriptor_ < 0) refuse(path_, std::strerror(errno));
  // A file system without locks has whole lines of several processes, since each is one write.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw IoError(
        "tune.busy",
        clean(path_.string()) + " belongs to another kiln tune, which measures this device",
        "one measurement at a time", "wait until it has ended, or end it");
  }
  try {
    records_ = read_tune_records(read_tune_text(path_));
    struct stat there = {};
    const auto bytes = static_cast<off_t>(records_.complete_bytes);
    if (::fstat(descriptor_, &there) == 0 && there.st_size > bytes &&
        ::ftruncate(descriptor_, bytes) != 0) {
      refuse(path_, std::strerror(errno));
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  if (records_.header_of(key_of(device)) == nullptr) header_ = line_of(device);
}

TuneStore::~TuneStore() { ::close(descriptor_); }

void TuneStore::add(const TuneTrial& trial) {
  append(line_of(trial));
  records_.trials.push_back(trial);
}

void TuneStore::add(const TuneOutcome& outcome) {
  append(line_of(outcome));
  records_.outcomes.push_back(outcome);
}

void TuneStore::append(std::string_view line) {
  if (!header_.empty()) {
    write(header_);
    header_.clear();
  }
  write(line);
}

void TuneStore::write(std::string_view text) {
  ssize_t count = 0;
  do {
    count = ::write(descriptor_, text.data(), text.size());
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(text.size())) return;
  const int reason = count < 0 ? errno : ENOSPC;
  // A part of a line goes again; if that fails, the next kiln tune takes it away.
  struct stat there = {};
  if (count > 0 && ::fstat(descriptor_, &there) == 0) {
    static_cast<void>(::ftruncate(descriptor_, there.st_size - count) == 0);
  }
  refuse(path_, std::strerror(reason));
}

}  // namespace kiln::cli
