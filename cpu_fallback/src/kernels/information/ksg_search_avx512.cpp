// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ksg_search_impl.hpp"

namespace kiln::cpu {

const KsgSearch ksg_search_avx512{neighbors, condition, block};

}  // namespace kiln::cpu
