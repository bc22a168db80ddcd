// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// The words of the 32 slots of a word of the batch for a site, by planes (plane_draws.hpp) or
/// shared (shared_draws.hpp). Functions of this type are called by the vectorised translation
/// units, see SliceJob.
using DrawSite = void (*)(const std::uint64_t* key, const std::uint32_t* replica,
                          std::uint64_t step, std::uint32_t site, std::uint32_t* words);
void draw_site_by_planes(const std::uint64_t* key, const std::uint32_t* replica, std::uint64_t step,
                         std::uint32_t site, std::uint32_t* words);
void draw_site_shared(const std::uint64_t* key, const std::uint32_t* replica, std::uint64_t step,
                      std::uint32_t site, std::uint32_t* words);

}  // namespace kiln::cpu
