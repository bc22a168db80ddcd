// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The passes over the data of a generalised linear model. Included by one translation unit per
// instruction set; everything is in an unnamed namespace, see TileJob. A chain is one lane of a
// vector, and each of its numbers comes from the same operations in the same order for any vector
// width, so all variants have the same bits.
#include <cstdint>

#include "glm_tile.hpp"

namespace kiln::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
constexpr int kRows = 8;  // rows of one product: as many as there are registers for
#elif defined(__AVX2__)
constexpr int kBytes = 32;
constexpr int kRows = 2;
#else
constexpr int kBytes = 16;
constexpr int kRows = 1;
#endif
constexpr int kWidth = kBytes / 8;
constexpr int kParts = GlmTile::lanes / kWidth;

typedef double Reals __attribute__((vector_size(kBytes)));
typedef std::int64_t Bits __attribute__((vector_size(kBytes)));

inline Reals all(double value) { return Reals{} + value; }
inline Reals choose(Bits mask, Reals yes, Reals no) {
  return reinterpret_cast<Reals>((mask & reinterpret_cast<Bits>(yes)) |
                                 (~mask & reinterpret_cast<Bits>(no)));
}
inline Reals magnitude(Reals a) {
  return reinterpret_cast<Reals>(reinterpret_cast<Bits>(a) & 0x7FFFFFFFFFFFFFFF);
}

// e^x, relative error below 2^-51; 8.2e307 above 709 and 3e-308 below -708. NaN stays NaN.
inline Reals exponential(Reals x) {
  x = choose(x > 709.0, all(709.0), x);
  x = choose(x < -708.0, all(-708.0), x);
  const Reals shift =
      all(0x1.8p52);  // adding it rounds to an integer, which its last bits then are
  const Reals shifted = x * 0x1.71547652b82fep+0 + shift;
  const Reals k = shifted - shift;
  const Reals r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
  Reals p = all(1.0 / 6227020800.0);  // 1/n!, |r| <= ln2 / 2
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const Bits exponent = reinterpret_cast<Bits>(shifted) - reinterpret_cast<Bits>(shift) + 1023;
  return p * reinterpret_cast<Reals>(exponent << 52);
}

// The sum of the energies of rows. A sum of log(1 + e) is stored as the logarithm of a product, one
// for many rows; each factor is at most 2.
struct EnergySum {
  static constexpr int max_factors = 512;
  Reals sum[kParts] = {};
  Reals product[kParts];
  int factors = 0;

  EnergySum() { forget(); }
  void forget() {
    for (Reals& p : product) p = all(1.0);
    factors = 0;
  }
  void take_logarithm() {
    for (int part = 0; part < kParts; ++part) {
      for (int l = 0; l < kWidth; ++l) sum[part][l] += __builtin_log(product[part][l]);
    }
    forget();
  }
};

// Computes the energies of a row, if requested, and the residuals of 16 chains.
template <GlmLink link, bool kEnergy>
inline void take_row(const GlmTile& tile, double observed, Reals (&z)[kParts], EnergySum& energy) {
  for (int part = 0; part < kParts; ++part) {
    const Reals at = z[part];
    if constexpr (link == GlmLink::logistic) {
      const Reals e = exponential(-magnitude(at));
      const Reals up = 1.0 / (1.0 + e);
      z[part] = choose(at < 0.0, e * up, up) - observed;
      if constexpr (kEnergy) {
        energy.sum[part] += choose(at < 0.0, all(0.0), at) - observed * at;
        energy.product[part] *= 1.0 + e;
      }
    } else if constexpr (link == GlmLink::identity) {
      const Reals error = at - observed;
      z[part] = tile.precision * error;
      if constexpr (kEnergy) energy.sum[part] += 0.5 * tile.precision * error * error;
    } else {
      const Reals mean = exponential(at);
      z[part] = mean - observed;
      if constexpr (kEnergy) energy.sum[part] += mean - observed * at;
    }
  }
  if constexpr (kEnergy && link == GlmLink::logistic) {
    if (++energy.factors == EnergySum::max_factors) energy.take_logarithm();
  }
}

// Rows first .. first + kRows - 1: products with the weights, residuals, and their terms of the
// gradient, row by row.
template <GlmLink link, bool kEnergy>
inline void take_rows(const GlmTile& tile, std::int64_t first, EnergySum& energy) {
  const double* x = tile.x + first * tile.width;
  const auto* weights = reinterpret_cast<const Reals*>(tile.weights);
  auto* gradient = reinterpret_cast<Reals*>(tile.gradient);
  Reals z[kRows][kParts] = {};
  for (int j = 0; j < tile.columns; ++j) {
    for (int r = 0; r < kRows; ++r) {
      const double value = x[r * tile.width + j];
      for (int part = 0; part < kParts; ++part) z[r][part] += value * weights[j * kParts + part];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t row = first + r;
    if (row < tile.rows) {
      take_row<link, kEnergy>(tile, tile.y[row], z[r], energy);
    } else {
      for (Reals& none : z[r]) none = all(0.0);
    }
  }
  for (int j = 0; j < tile.columns; ++j) {
    for (int part = 0; part < kParts; ++part) {
      Reals sum = gradient[j * kParts + part];
      for (int r = 0; r < kRows; ++r) sum += x[r * tile.width + j] * z[r][part];
      gradient[j * kParts + part] = sum;
    }
  }
}

template <GlmLink link, bool kEnergy>
void take_all(const GlmTile& tile) {
  EnergySum energy;
  for (int j = 0; j < tile.columns * GlmTile::lanes; ++j) tile.gradient[j] = 0;
  for (std::int64_t row = 0; row < tile.rows; row += kRows) {
    take_rows<link, kEnergy>(tile, row, energy);
  }
  if constexpr (kEnergy) {
    energy.take_logarithm();
    for (int part = 0; part < kParts; ++part) {
      for (int l = 0; l < kWidth; ++l) tile.energy[part * kWidth + l] = energy.sum[part][l];
    }
  }
}

template <GlmLink link>
void take_all(const GlmTile& tile) {
  return tile.energy != nullptr ? take_all<link, true>(tile) : take_all<link, false>(tile);
}

inline void glm_tile(const GlmTile& tile) {
  switch (tile.link) {
    case GlmLink::logistic:
      return take_all<GlmLink::logistic>(tile);
    case GlmLink::identity:
      return take_all<GlmLink::identity>(tile);
    case GlmLink::log:
      return take_all<GlmLink::log>(tile);
  }
}

}  // namespace
}  // namespace kiln::cpu
