// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

namespace kiln::cli {

// What this build knows, as `list`, `describe` and the help show it.

/// A kernel as its arguments in kiln/kernels/ describe it.
struct KernelInfo {
  std::string name;
  std::string sentence;
  std::string accuracy;    ///< "E", "D" or "S6", as in docs/kernels/
  std::string equal_bits;  ///< which results are class "E" all the same, a clause; mostly empty
  std::string component;   ///< "sweeps": the folder of its header and of its page
};

/// All kernels, in the order of the catalogue.
std::vector<KernelInfo> kernels();

/// The class of accuracy of a kernel and what it means: "class E: the same bits on ...".
std::string accuracy_text(const KernelInfo& kernel);

/// The variants of a kernel, and the models that each one serves, in lines of at most `columns`
/// characters, or of 40; empty if it has one.
std::string variants_text(const KernelInfo& kernel, std::size_t columns);

/// "kiln/kernels/run/track_best.hpp": the arguments of a kernel.
std::string header_of(const KernelInfo& kernel);

nlohmann::ordered_json json_of(const ScheduleEntry& entry);
nlohmann::ordered_json json_of(const ProblemEntry& entry);
nlohmann::ordered_json json_of(const FormatInfo& info);
nlohmann::ordered_json json_of(const KernelInfo& kernel);

/// "torus:AxB,SEED", or "k2000" without parameters.
std::string pattern_of(const ProblemEntry& entry);

/// The problem that people mean by a name without its family: "posterior:eight-schools" for
/// "eight-schools", "gset:G22" for "G22"; "" where there is none.
std::string problem_of_instance(const std::string& instance, const Registry& registry);

/// Parameters with type, unit, range, default and sentence, two columns wide.
std::string fields_text(const std::vector<FieldInfo>& fields);

}  // namespace kiln::cli
