// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/expression.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// An objective as source text, which is compiled while the program runs.
struct SourceOptions {
  std::string file;  ///< path, UTF-8 text of at most 1 MiB
  std::vector<ExpressionVariable> variables;
  Sense sense = Sense::minimize;
  /// The program `kiln`, which compiles in a child process with limits: compile_objective().
  std::string compiler = "kiln";
};

/// A problem from a file that defines, for any number type T, the value at x[0], ..., x[n - 1]:
///
///     template <class T>
///     T objective(const T* x, int n);
///
/// or a value that comes with its gradient, which may be null:
///
///     double objective(const double* x, double* gradient, int n);
///
/// The host's compiler (CXX, else c++) compiles it for the CPU, and NVRTC for the GPU of the run
/// when it launches the first kernel. Results are kept in KILN_CACHE_DIR, else XDG_CACHE_HOME/kiln,
/// else ~/.cache/kiln, by a hash of all that they are made of.
/// @throws InvalidArgument `objective.*`: the file cannot be read, has directives of the
/// preprocessor, or does not compile; `objective.compiler`: there is no compiler
KILN_API Problem make_source_problem(const SourceOptions& options);

/// The problem of a file with the settings `var` and `sense`, and the program that compiles in
/// `allow-jit`.
/// @throws InvalidArgument `objective.refused` without `allow-jit`: source text can do anything
KILN_API Problem source_by_name(const std::string& file, const ProblemSettings& settings);

/// What make_source_problem() calls SourceOptions::compiler with; compile_objective() has the rest.
inline constexpr const char* compile_objective_verb = "--compile-objective";
/// Compiles a unit, in this process, whose limits it lowers: 10 s of processor time, 4 GiB of
/// memory, files of 64 MiB. For the child process of make_source_problem().
/// @param words  "gpu", an architecture ("90"), or "cpu"; the path of the unit; that of the result
/// @return 0, or 1 with messages on standard error, or 3 if there is no compiler
KILN_API int compile_objective(const std::vector<std::string>& words);

}  // namespace kiln::problems
