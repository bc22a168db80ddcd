// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// The run-time compiler of CUDA, a library of the toolkit that need not be there: KILN_NVRTC, else
/// what the system finds, else CUDA_PATH, CUDA_HOME or /usr/local/cuda. Stays open once it is.
class KILN_TEST_API Nvrtc {
 public:
  Nvrtc();
  bool found() const { return library_ != nullptr; }
  /// Whether it would be found. Does not open it where its file is seen: that takes 8 ms.
  static bool is_installed();

  /// Compiles a translation unit to a cubin.
  /// @param architecture  "90"
  /// @param log  receives messages
  bool compile(const std::string& unit, const std::string& architecture, std::string& code,
               std::string& log) const;

 private:
  void* library_;
};

}  // namespace kiln::problems::detail
