// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// How the 32-bit words that decide the attempts of a sweep are named. Each naming gives a replica
/// independent uniform words; the answer of a seed depends on which one a run has.
enum class DrawNaming : std::uint8_t {
  words,   ///< one word for each site and replica: draw_word()
  planes,  ///< eight high bits from planes of 32 replicas, the others from a word: plane_draws.hpp
  shared,  ///< one word for each site and 32 replicas: shared_draws.hpp. For searches only
};

constexpr const char* to_string(DrawNaming naming) noexcept {
  return naming == DrawNaming::planes   ? "planes"
         : naming == DrawNaming::shared ? "shared"
                                        : "words";
}

/// The largest |h| + sum |J| of a site for which a run draws by planes or has shared noise:
/// counters have eight bits.
inline constexpr std::int32_t max_sum_of_planes = 255;

}  // namespace kiln
