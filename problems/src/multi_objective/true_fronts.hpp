// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kiln/fronts/front.hpp"
#include "kiln/problems/vector_functions/dtlz.hpp"
#include "kiln/problems/vector_functions/wfg.hpp"
#include "kiln/problems/vector_functions/zdt.hpp"

// The fronts of benchmarks whose front follows from the formula. The header is not installed.
namespace kiln::problems::detail {

/// What is known of a front: its box, and about so many points spread over it. Empty is unknown.
struct TrueFront {
  std::vector<double> ideal, nadir;
  std::function<Points(std::int64_t count)> points;
};

TrueFront front_of(const Zdt& function);
TrueFront front_of(const Dtlz& function);
TrueFront front_of(const Wfg& function);

}  // namespace kiln::problems::detail
