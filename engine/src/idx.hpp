// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {

/// Index into a std::vector.
inline std::size_t idx(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace kiln
