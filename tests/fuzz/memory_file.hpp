// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace kiln::test {

/// A file in memory, under a name that lasts as long as this.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("no file in memory");
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(file_, text.data() + done, text.size() - done);
      if (n <= 0) throw std::runtime_error("the file in memory cannot be written");
      done += static_cast<std::size_t>(n);
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace kiln::test
