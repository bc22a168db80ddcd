// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sweeps/plane_words.hpp"

#include "kiln/device/plane_draws.hpp"
#include "kiln/device/shared_draws.hpp"

namespace kiln::cpu {
namespace {

DrawName name_of(std::uint64_t key, std::uint32_t replica, std::uint64_t step) {
  return {key, step, replica, RngDomain::metropolis, 0};
}

}  // namespace

void draw_site_by_planes(const std::uint64_t* key, const std::uint32_t* replica, std::uint64_t step,
                         std::uint32_t site, std::uint32_t* words) {
  Words4 planes[2];
  for (int l = 0; l < 32; ++l) {
    const DrawName name = name_of(key[l], replica[l], step);
    const bool shared = l > 0 && key[l] == key[l - 1] && replica[l] / 32 == replica[l - 1] / 32;
    for (std::uint8_t block = 0; !shared && block < 2; ++block) {
      planes[block] = draw_planes(name, site, block);
    }
    std::uint32_t word = draw_rest(name, site);
    for (std::uint32_t k = 0; k < planes_of_word; ++k) {
      word |= (planes[k / 4][k % 4] >> replica[l] % 32 & 1u) << (rest_bits + k);
    }
    words[l] = word;
  }
}

void draw_site_shared(const std::uint64_t* key, const std::uint32_t* replica, std::uint64_t step,
                      std::uint32_t site, std::uint32_t* words) {
  for (int l = 0; l < 32; ++l) {
    const bool known = l > 0 && key[l] == key[l - 1] && replica[l] / 32 == replica[l - 1] / 32;
    words[l] = known ? words[l - 1]
                     : draw_named(DrawNaming::shared, name_of(key[l], replica[l], step), site);
  }
}

}  // namespace kiln::cpu
