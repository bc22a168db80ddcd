// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// The problem searched for its other end: maximised if it is minimised, and the reverse. Its value
/// is Problem::verify, called on the host; constraints stay as they are, and no best value is
/// known. Problems with a model of their own turn it themselves, where that is faster
/// (make_pairwise()).
///
/// @throws InvalidArgument `problem.sense` for several objectives, each of which has a sense of its
///   own, and for densities, whose other end is where nothing is.
KILN_API Problem turned(const Problem& problem);

}  // namespace kiln
