// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/folder_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>  // flock
#include <unistd.h>

#include <cerrno>

namespace kiln::cli {

std::optional<bool> is_claimed(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const int reason = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
  ::close(descriptor);
  if (reason != 0 && reason != EWOULDBLOCK) return std::nullopt;
  return reason == EWOULDBLOCK;
}

}  // namespace kiln::cli
