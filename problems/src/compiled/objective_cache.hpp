// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace kiln::problems::detail {

/// Compiled objectives in a folder that belongs to this user alone, by a hash of their units.
class ObjectiveCache {
 public:
  /// @param compiler  the program whose child process compiles, see compile_objective()
  /// @param file  the user's file, for messages
  /// @throws InvalidArgument `objective.cache` if the folder cannot be made, or others may write it
  ObjectiveCache(std::string compiler, std::string file);

  /// The path of the compiled unit, compiled if it is not there.
  /// @param target  "cpu", or the architecture of a GPU: "90"
  /// @throws InvalidArgument `objective.compile` with the compiler's messages,
  /// `objective.compiler` if there is no compiler
  std::filesystem::path compiled(const std::string& unit, const std::string& target) const;
  /// The same, its contents.
  std::string contents(const std::string& unit, const std::string& target) const;

 private:
  void compile(const std::filesystem::path& unit, const std::string& target,
               const std::filesystem::path& result) const;

  std::filesystem::path folder_;
  std::string compiler_, file_;
};

}  // namespace kiln::problems::detail
