// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::problems {

inline double squared(double x) { return x * x; }

}  // namespace kiln::problems
