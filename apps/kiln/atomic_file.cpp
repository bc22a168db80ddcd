// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "atomic_file.hpp"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "errors.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what, int reason) {
  throw IoError("io.write", clean(path.string()) + ": " + what + ": " + std::strerror(reason), {},
                "choose a place that can be written to, and has room");
}

/// A file that vanishes again unless it is renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : path_(target.parent_path() /
              ("." + target.filename().string() + "." + std::to_string(::getpid()) + ".tmp")) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(target, "cannot be created", errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view content, const fs::path& target) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(target, "cannot be written", errno);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail(target, "cannot be written", errno);
    // Network file systems report a full disk here.
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(target, "cannot be written", errno);
  }

  void rename_to(const fs::path& target, Existing existing) {
    renamed_ = existing == Existing::refuse ? rename_to_new(target)
                                            : ::rename(path_.c_str(), target.c_str()) == 0;
    if (!renamed_ && errno == EEXIST) {
      throw IoError("io.exists", clean(target.string()) + " exists and is not overwritten", {},
                    "choose another name, or remove the file");
    }
    if (!renamed_) fail(target, "cannot be renamed into place", errno);
  }

 private:
  bool rename_to_new(const fs::path& target) const {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
      return true;
    }
    // Some file systems cannot do this in one step.
    if (errno != EINVAL && errno != ENOSYS) return false;
    if (fs::symlink_status(target).type() != fs::file_type::not_found) {
      errno = EEXIST;
      return false;
    }
    return ::rename(path_.c_str(), target.c_str()) == 0;
  }

  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
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
  file.write(content, path);
  file.rename_to(path, existing);
  synchronize_folder(path.parent_path());
}

void check_writable(const fs::path& folder) { TemporaryFile probe(folder / "probe"); }

}  // namespace kiln::cli
