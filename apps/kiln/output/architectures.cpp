// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/architectures.hpp"

#include <algorithm>

namespace kiln::cli {

std::string architectures_text(const std::vector<int>& architectures) {
  std::string text;
  for (const int one : architectures)
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(one);
  return text;
}

std::vector<int> never_run(const std::vector<int>& compiled, const std::vector<int>& tested) {
  std::vector<int> untested = compiled;
  std::erase_if(untested, [&](int one) { return std::ranges::find(tested, one) != tested.end(); });
  return untested;
}

}  // namespace kiln::cli
