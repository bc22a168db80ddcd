// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/problem.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/model_data.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

#include "run/fixed_values.hpp"

namespace kiln::cli {

/// @throws InvalidArgument with the nearest name unless `name` is a format, or empty.
void check_format_name(const std::string& name);

/// A file that was read, before anything is made of it.
struct LoadedFile {
  std::string name;    ///< for people
  std::string format;  ///< "rudy"
  Model content;
  ModelOutline outline;  ///< of the content
  ReadReport report;
};

/// Reads a file, or standard input for "-".
///
/// @param format  the name of a format, "" to recognise it.
/// @param options  for formats that do not say everything.
/// @throws InputError if it cannot be opened or read; ParseError; InvalidArgument for an unknown
///   format.
LoadedFile load_file(const std::string& path, const std::string& format,
                     const ReaderOptions& options = {});

/// Reads the data of a model, from standard input for "-". @throws as load_file().
ModelData load_data(const std::string& path);

/// A problem to solve, and by what its data are known.
struct LoadedProblem {
  Problem problem;
  std::string fingerprint;         ///< "" if it is not known
  std::vector<std::string> notes;  ///< what the reader noticed
  double seconds = 0;              ///< spent on reading or generating
};

/// Whether the text is meant as `family:parameters`, or as a family without parameters, and not as
/// a path.
bool names_a_family(const std::string& text, const Registry& registry);

/// What a user says about a PROBLEM.
struct ProblemOptions {
  std::string format;               ///< of a file, "" to recognise it
  std::optional<Sense> sense = {};  ///< nothing: the natural one
  ReaderOptions reading = {};       ///< what a file does not say itself
  std::string data = {};            ///< file with the data of a model, "" for none
  ProblemSettings settings = {};    ///< of a family that has options
  FixedOptions fixed = {};          ///< variables that keep a value
};

/// What a file may be told, and no more: --colors where a graph is to be coloured, neither data nor
/// the options of a family. @throws InvalidArgument `cli.conflict`
void check_file_options(const std::string& path, const ProblemOptions& options,
                        const Registry& registry);
void check_colors(const LoadedFile& file, const ProblemOptions& options);

/// What a PROBLEM on the command line stands for: a family of the registry, a path, or "-".
/// @throws as load_file(), and InvalidArgument for families and instances that do not exist, for
///   colours where nothing is to be coloured, for data where no model needs them, and for options
///   of other families.
LoadedProblem load_problem(const std::string& text, const ProblemOptions& options,
                           const Registry& registry);

}  // namespace kiln::cli
