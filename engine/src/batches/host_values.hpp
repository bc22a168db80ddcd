// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/space.hpp"

namespace kiln {

/// The layout that holds canonical host values of a kind without loss.
Layout host_layout(BlockKind kind);

/// Zeros of the type that canonical values of a kind have.
BlockValues empty_values(BlockKind kind, std::int64_t count);

/// @throws InvalidArgument if a state does not belong to the space
void check_state(const Space& space, const State& state);

}  // namespace kiln
