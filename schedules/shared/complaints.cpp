// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "complaints.hpp"

#include "kiln/errors.hpp"

namespace kiln {

void complain_unless_ordered(std::vector<std::string>& complaints, const std::string& low_name,
                             double low, const std::string& high_name, double high) {
  if (low > high) complaints.push_back(low_name + " must not be greater than " + high_name);
}

void refuse_if_any(const std::vector<std::string>& complaints) {
  if (complaints.empty()) return;
  std::string all;
  for (const std::string& complaint : complaints) all += (all.empty() ? "" : "\n  ") + complaint;
  throw InvalidArgument("config.option", all);
}

}  // namespace kiln
