// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// The version of the library: "0.2.0".
KILN_API const char* version() noexcept;

/// How this libkiln was built, for reports of defects.
struct BuildInfo {
  std::string compiler;  ///< "GCC 12.2.0"
  bool shared = true;
  bool checked = false;                   ///< KILN_CHECKED: indices are checked
  bool cuda = false;                      ///< there is a matching CUDA module
  std::string cuda_off_reason;            ///< one sentence if there is none
  std::vector<int> cuda_architectures;    ///< architectures that the module has code for: 80, 90
  std::vector<int> tested_architectures;  ///< of GPUs on which all tests of Kiln have passed
};

KILN_API BuildInfo build_info();

}  // namespace kiln
