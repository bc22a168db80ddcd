// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/export.hpp"

// What the generators accept, told before anything is allocated. Exported for the unit tests and
// fuzzers only; the header is not installed.
namespace kiln::problems::detail {

/// @throws InvalidArgument `problem.unknown` with the nearest name.
KILN_API void check_gset_name(std::string_view name);
/// @throws InvalidArgument `problem.size`.
KILN_API void check_torus(std::int32_t a, std::int32_t b);
/// @throws InvalidArgument `problem.size` or `problem.value`.
KILN_API void check_random_graph(std::int32_t n, double density_percent);
/// @throws InvalidArgument `problem.size`; `what` names the thing: "a complete graph".
KILN_API void check_complete(std::string_view what, std::int32_t n);
/// @throws InvalidArgument `problem.size`.
KILN_API void check_queen(std::int32_t side);
/// @throws InvalidArgument `problem.size`.
KILN_API void check_mycielski(std::int32_t order);
/// Of a Potts model, or the colours of a colouring. @throws InvalidArgument `problem.size`.
KILN_API void check_values(std::int32_t q, std::int32_t most);
/// @throws InvalidArgument `problem.size` or `problem.value`.
KILN_API void check_palubeckis(std::int32_t n, double density_percent, std::int64_t seed);

}  // namespace kiln::problems::detail
