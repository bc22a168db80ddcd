// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/archive.hpp"

namespace kiln {

const std::vector<std::byte>& Archive::section(const std::string& name) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) {
    throw InvalidArgument("archive.missing", "the archive has no section '" + name + "'",
                          "it was saved by another schedule or another version");
  }
  return found->second;
}

void Archive::wrong_size(const std::string& name) {
  throw InvalidArgument("archive.size", "section '" + name + "' of the archive has another size",
                        "replicas, groups and problem must be those of the run that was saved");
}

}  // namespace kiln
