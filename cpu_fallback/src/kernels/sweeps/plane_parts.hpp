// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sweeps/slice_tile.hpp"

namespace kiln::cpu {

/// Whether two words have the same key and temperature.
bool are_alike(const SliceJob& job, int word, int other);

/// Words from `first` on that can be swept together: each of one key, one temperature and replicas
/// 32 k .. 32 k + 31 in order, and with shared noise all alike. 0: that one cannot.
int words_together(const SliceJob& job, int first, bool shared);

/// Makes `part`, a copy of the job, that of some of the words. A job is long beside the sweep of a
/// small model, so that one copy serves all parts.
void take_part(const SliceJob& job, int first, int n, SliceJob& part);

}  // namespace kiln::cpu
