// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "kiln/errors.hpp"
#include "kiln/files/whole_file.hpp"

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
  try {
    open_readable();
    if (records_.bad_lines > 0) {
      drop_bad_lines();
      open();
    }
    struct stat there = {};
    const auto bytes = static_cast<off_t>(records_.complete_bytes);
    if (::fstat(descriptor_, &there) == 0 && there.st_size > bytes &&
        ::ftruncate(descriptor_, bytes) != 0) {
      refuse(path_, std::strerror(errno));
    }
    write_lost_header(device);
  } catch (...) {
    close();
    throw;
  }
}

// Records without it have no device in a report, also if no trial is needed any more.
void TuneStore::write_lost_header(const TuneDevice& device) {
  const std::string key = key_of(device);
  if (records_.header_of(key) != nullptr) return;
  header_ = line_of(device);
  const auto is_mine = [&](const auto& one) { return one.subject.key == key; };
  if (std::ranges::any_of(records_.outcomes, is_mine) ||
      std::ranges::any_of(records_.trials, is_mine)) {
    append({});
  }
}

void TuneStore::open() {
  // Until the file that was locked is the one of that name: another process may replace it.
  for (struct stat mine = {}, named = {};;) {
    close();
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (descriptor_ < 0) refuse(path_, std::strerror(errno));
    // A file system without locks has whole lines of several processes, since each is one write.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw IoError(
          "tune.busy",
          clean(path_.string()) + " belongs to another kiln tune, which measures this device",
          "one measurement at a time", "wait until it has ended, or end it");
    }
    if (::fstat(descriptor_, &mine) != 0 || ::stat(path_.c_str(), &named) != 0) continue;
    if (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) break;
  }
  records_ = read_tune_records(read_tune_text(path_));
}

// A file that is too large to be read stays beside a new one.
void TuneStore::open_readable() {
  try {
    open();
  } catch (const IoError& error) {
    if (error.code() != "tune.large") throw;
    const fs::path file = fs::canonical(path_);
    std::error_code failed;
    fs::rename(file, previous_of(file), failed);
    if (failed) refuse(path_, failed.message());
    open();
  }
}

// Runs would warn of them for ever. The damaged file stays beside the new one.
void TuneStore::drop_bad_lines() {
  const std::string text = read_tune_text(path_);
  WholeFile file(fs::canonical(path_));  // a link stays a link
  std::string_view rest = text;
  for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end + 1);
    if (is_tune_record(rest.substr(0, end))) file.write(line.data(), line.size());
    rest.remove_prefix(end + 1);
  }
  file.put_in_place(Existing::keep_previous);
}

void TuneStore::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

TuneStore::~TuneStore() { close(); }

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
  if (!line.empty()) write(line);
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
