// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// The source text of a user's objective.
struct ObjectiveText {
  std::string file;  ///< its name, for messages
  std::string text;
  int dimension = 1;
  bool negated = false;  ///< the compiled value has the other sign
};

/// Refuses text with directives of the preprocessor, or without a function `objective`.
/// @throws InvalidArgument with the line
KILN_TEST_API void check_objective_text(const ObjectiveText& objective);

/// A translation unit with a C function `kiln_objective(x, gradient)`, for the host's compiler.
KILN_TEST_API std::string host_unit(const ObjectiveText& objective);

/// A translation unit with one kernel of the objective, for the run-time compiler of CUDA.
/// @param kernel  Kernel::name of one of DensityKernelList
/// @param form  "thread", "lanes", "warp" or "block", see CompiledCode::gpu_code()
KILN_TEST_API std::string gpu_unit(const ObjectiveText& objective, std::string_view kernel,
                                   std::string_view form);

}  // namespace kiln::problems::detail
