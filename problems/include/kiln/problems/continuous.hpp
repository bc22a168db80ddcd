// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/densities/test_function.hpp"
#include "kiln/problems/model_data.hpp"
#include "kiln/registry.hpp"

namespace kiln {

/// Makes a test function, minimised in its customary box, with the value of its optimum.
/// @throws InvalidArgument `problem.size` for an invalid number of dimensions.
KILN_API Problem make_test_function(TestFunctionKind kind, int dimension);

namespace problems {

/// The valid parameters of `function:`, `density:` and `posterior:`, each with its description.
KILN_API std::vector<NamedSentence> function_names();
KILN_API std::vector<NamedSentence> density_names();
KILN_API std::vector<NamedSentence> posterior_names();

/// Makes the function of `function:NAME` or `function:NAME-D`: "rastrigin-30".
/// @throws InvalidArgument with the nearest name, or the expected form.
KILN_API Problem function_by_name(const std::string& text);

/// Makes the density with known moments of `density:NAME...`: "funnel-10", "gaussian-100,1e4".
/// @throws InvalidArgument as function_by_name().
KILN_API Problem density_by_name(const std::string& text);

/// Makes the posterior of `posterior:NAME`: "eight-schools".
/// @param text  the part after the colon: "eight-schools"
/// @param data  the observations; null for models that come with their data.
/// @throws InvalidArgument as function_by_name(), and `data.missing` if data are needed; ParseError
/// if they do not fit the model.
KILN_API Problem posterior_by_name(const std::string& text, const ModelData* data = nullptr);

}  // namespace problems
}  // namespace kiln
