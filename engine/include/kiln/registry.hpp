// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/options.hpp"
#include "kiln/problem.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// What a schedule of the version before and its parameters are called now.
struct RenamedSchedule {
  struct Parameter {
    std::string former;
    std::string name;  ///< empty: it has no effect any more
    std::string text;
  };
  std::string name;
  std::vector<Parameter> parameters;  ///< all that were given
};

/// A schedule that can be made by name.
struct ScheduleEntry {
  std::string name;
  std::string sentence;
  std::vector<FieldInfo> fields;
  /// Makes one from texts; unknown names and bad values are InvalidArgument with every complaint.
  std::function<std::unique_ptr<Schedule>(const std::map<std::string, std::string>&)> make;
  bool samples = false;  ///< whether it draws from densities (Result::sample)
  /// Whether it takes problems of several objectives, and no others.
  bool several_objectives = false;
  bool constraints = false;  ///< whether it takes constraints of an objective with one value
  /// Whether it is for expensive objectives: it records every evaluation (Result::evaluations),
  /// begins with past ones, and ends by itself.
  bool few_evaluations = false;
  /// Other names that people know it by: "pt". Names of schedules and aliases are distinct.
  std::vector<std::string> aliases = {};
  std::string example = {};  ///< a problem that it is for: "gset:G22"
  /// Where a user names no schedule, this one is chosen of those that take several objectives.
  bool is_default = false;
  /// Names of the version before, which schedule() still takes.
  std::vector<std::string> former_names = {};
  /// The present names for parameters that the version before gave to this schedule; nothing where
  /// they are the same now. May be empty.
  std::function<std::optional<RenamedSchedule>(const std::map<std::string, std::string>&)> renamed =
      {};
  /// OptionTable::former_names_in() of its table.
  std::function<std::vector<std::pair<std::string, std::string>>(const OptionTexts&)>
      former_names_in = {};
};

class ModelData;

/// A name and what it stands for, in a few words.
struct NamedSentence {
  std::string name;
  std::string sentence;
};

/// Options that a user gives beside the name of a problem: the texts of each, in order, unparsed.
/// An option that is given once has one text.
using ProblemSettings = std::map<std::string, std::vector<std::string>>;

/// A request to a family for one of its problems. A text alone converts to one: `make("G22")`.
struct ProblemRequest {
  ProblemRequest(std::string text, const ModelData* given = nullptr, ProblemSettings options = {})
      : parameters(std::move(text)), data(given), settings(std::move(options)) {}
  ProblemRequest(const char* text) : parameters(text) {}

  std::string parameters;           ///< the text after the colon: "G22"
  const ModelData* data = nullptr;  ///< for families that take data; null: the family's own data
  ProblemSettings settings = {};    ///< for families that have options
};

/// A family of problems that can be made by name: `gset:G22`.
struct ProblemEntry {
  std::string name;        ///< the text before the colon
  std::string parameters;  ///< the form of the text after it, for people: "G1 .. G81"
  std::string sentence;
  std::vector<std::string> examples = {};
  /// Makes a problem. Callers give data only if `takes_data`, and no settings but `settings`.
  std::function<Problem(const ProblemRequest&)> make = {};
  /// Valid parameters, if the family has a fixed list of instances.
  std::vector<NamedSentence> names = {};
  std::vector<std::string> settings = {};  ///< names of the options that the family has
  bool takes_data = false;                 ///< whether it makes models of a user's data
};

/// Schedules and problems that can be made by name. An ordinary value: programs start from a copy
/// of builtin_registry() and add their own.
class KILN_API Registry {
 public:
  /// @throws InvalidArgument if the name is taken, or one of the aliases and former names.
  void add(ScheduleEntry entry);
  void add(ProblemEntry entry);

  /// By name or alias. @throws InvalidArgument with the nearest name.
  const ScheduleEntry& schedule(const std::string& name) const;
  const ProblemEntry& problem(const std::string& name) const;
  bool has_problem(const std::string& name) const { return problems_.contains(name); }
  /// Whether a schedule has this name or alias.
  bool has_schedule(const std::string& name) const {
    return schedules_.contains(name) || aliases_.contains(name);
  }

  /// The schedule for a problem where the user names none: its own, or for several objectives the
  /// default of those that take them. Empty: any.
  std::string default_schedule(const Problem& problem) const;

  std::vector<const ScheduleEntry*> schedules() const;
  std::vector<const ProblemEntry*> problems() const;

 private:
  std::map<std::string, ScheduleEntry> schedules_;
  std::map<std::string, std::string> aliases_;  // of schedules, to their names
  std::map<std::string, ProblemEntry> problems_;
};

/// The schedules and problem families that come with Kiln.
KILN_API Registry builtin_registry();

}  // namespace kiln
