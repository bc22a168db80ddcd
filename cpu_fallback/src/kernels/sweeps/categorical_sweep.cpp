// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "launch.hpp"

// A tile is 32 slots. Its values are copied into [site][lane], so that a row of a site is read from
// consecutive bytes; loops over the lanes are written for the vectoriser, the last ones of a batch
// are computed for nothing and not written back.
namespace kiln::cpu {
namespace {

constexpr int lanes = 32;

template <class T>
using Lanes = std::array<T, lanes>;
using Values = Lanes<std::int8_t>;

// Memory of a tile.
struct Scratch {
  Scratch(const CategoricalView& model, std::byte* memory)
      : energy(reinterpret_cast<Lanes<double>*>(memory)),
        tile(reinterpret_cast<Values*>(memory + energy_bytes(model))) {}

  static std::size_t energy_bytes(const CategoricalView& model) {
    return static_cast<std::size_t>(model.values) * sizeof(Lanes<double>);
  }
  static std::size_t bytes(const CategoricalView& model) {
    return energy_bytes(model) + static_cast<std::size_t>(model.n_sites) * sizeof(Values);
  }

  Lanes<double>* energy;  // [value], local energies of the heat bath
  Values* tile;           // [site]
};

struct Tile {
  const CategoricalSweep& kernel;
  std::int64_t first_slot = 0;
  int live = lanes;  // lanes that are slots
  Scratch scratch;
  Lanes<double> beta{};
  Lanes<bool> rests{};
  Lanes<double> change{};  // of the energy
  Lanes<std::uint64_t> changed{};

  Values& at(std::int64_t site) const { return scratch.tile[site]; }
};

template <class Sum>
Sum weight_as(const CategoricalView& model, std::int64_t entry) {
  if constexpr (sizeof(Sum) <= 2) return static_cast<Sum>(model.weights_i16[entry]);
  if constexpr (sizeof(Sum) == 4) return model.entries[entry].weight;
  return static_cast<Sum>(model.weight(entry));
}

// Vectors of the language extension of GCC and Clang, as wide as every processor has them: wider
// ones, and plain loops that compare bytes and add wider numbers, end up as scalar instructions.
constexpr int vector_bytes = 16;
typedef std::int8_t Bytes __attribute__((vector_size(vector_bytes)));
typedef std::int16_t Shorts __attribute__((vector_size(vector_bytes)));
typedef std::int32_t Ints __attribute__((vector_size(vector_bytes)));

// Masks of `size` bytes from masks of one byte, in the order of the lanes: each is written twice.
template <int size>
inline void widen(Bytes mask, Bytes* out) {
  if constexpr (size == 1) {
    out[0] = mask;
  } else if constexpr (size == 2) {
    out[0] = __builtin_shufflevector(mask, mask, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    out[1] = __builtin_shufflevector(mask, mask, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14,
                                     15, 15);
  } else {
    Bytes half[size / 2];
    widen<size / 2>(mask, half);
    for (int i = 0; i < size / 2; ++i) {
      if constexpr (size == 4) {
        const Shorts m = reinterpret_cast<Shorts>(half[i]);
        out[2 * i] = reinterpret_cast<Bytes>(__builtin_shufflevector(m, m, 0, 0, 1, 1, 2, 2, 3, 3));
        out[2 * i + 1] =
            reinterpret_cast<Bytes>(__builtin_shufflevector(m, m, 4, 4, 5, 5, 6, 6, 7, 7));
      } else {
        const Ints m = reinterpret_cast<Ints>(half[i]);
        out[2 * i] = reinterpret_cast<Bytes>(__builtin_shufflevector(m, m, 0, 0, 1, 1));
        out[2 * i + 1] = reinterpret_cast<Bytes>(__builtin_shufflevector(m, m, 2, 2, 3, 3));
      }
    }
  }
}

// Sums of the weights of neighbours that have the value `here`, and of those that have `there`.
template <class Sum>
void sum_two(const Tile& tile, std::int64_t site, const Values& here, const Values& there,
             Lanes<Sum>& sum_here, Lanes<Sum>& sum_there) {
  constexpr int size = sizeof(Sum);
  constexpr int parts = lanes / vector_bytes;
  typedef Sum Sums __attribute__((vector_size(vector_bytes)));
  const CategoricalView& model = tile.kernel.model;
  Bytes a[parts], b[parts];
  std::memcpy(a, here.data(), sizeof a);
  std::memcpy(b, there.data(), sizeof b);
  Sums total_a[parts * size] = {}, total_b[parts * size] = {};
  const std::int64_t end = model.row_begin[site + 1];
  for (std::int64_t e = model.row_begin[site]; e < end; ++e) {
    const Bytes weight = reinterpret_cast<Bytes>(Sums{} + weight_as<Sum>(model, e));
    Bytes x[parts], equal_a[size], equal_b[size];
    std::memcpy(x, tile.at(model.entries[e].site).data(), sizeof x);
    for (int part = 0; part < parts; ++part) {
      widen<size>(reinterpret_cast<Bytes>(x[part] == a[part]), equal_a);
      widen<size>(reinterpret_cast<Bytes>(x[part] == b[part]), equal_b);
      for (int i = 0; i < size; ++i) {
        total_a[part * size + i] += reinterpret_cast<Sums>(equal_a[i] & weight);
        total_b[part * size + i] += reinterpret_cast<Sums>(equal_b[i] & weight);
      }
    }
  }
  std::memcpy(sum_here.data(), total_a, sizeof total_a);
  std::memcpy(sum_there.data(), total_b, sizeof total_b);
}

using Words = Lanes<Words4>;  // of a quad

Words draw_words(const Tile& tile, std::uint8_t block, std::uint32_t quad) {
  Words words{};
  for (int l = 0; l < tile.live; ++l) {
    words[static_cast<std::size_t>(l)] =
        draw_quad(tile.kernel.draws(tile.first_slot + l, block), quad);
  }
  return words;
}

void count(Tile& tile, std::size_t lane, double delta) {
  tile.change[lane] += delta;
  ++tile.changed[lane];
}

template <class Sum>
void metropolis(Tile& tile, std::int32_t site, int k, const Words& decide, const Words& propose) {
  const CategoricalView& model = tile.kernel.model;
  Values& own = tile.at(site);
  Values proposed;
  for (std::size_t l = 0; l < lanes; ++l) {
    proposed[l] = static_cast<std::int8_t>(other_value(own[l], model.values, propose[l].word[k]));
  }
  Lanes<Sum> here, there;
  sum_two(tile, site, own, proposed, here, there);
  for (std::size_t l = 0; l < lanes; ++l) {
    const double before = exact::add(static_cast<double>(here[l]), model.field_of(site, own[l]));
    const double after =
        exact::add(static_cast<double>(there[l]), model.field_of(site, proposed[l]));
    const double delta = exact::sub(after, before);
    if (tile.rests[l] || !exact::accept(tile.beta[l], delta, decide[l].word[k])) continue;
    own[l] = proposed[l];
    count(tile, l, delta);
  }
}

void heat_bath(Tile& tile, std::int32_t site, int k, const Words& decide) {
  const CategoricalView& model = tile.kernel.model;
  Values& own = tile.at(site);
  Lanes<double>* const energy = tile.scratch.energy;
  std::fill_n(energy, model.values, Lanes<double>{});
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const double weight = model.weight(e);
    const Values& x = tile.at(model.entries[e].site);
    for (std::size_t l = 0; l < lanes; ++l) energy[x[l]][l] += weight;
  }
  for (std::int32_t v = 0; model.field && v < model.values; ++v) {
    Lanes<double>& of_value = energy[v];
    const double field = model.field_of(site, v);
    for (double& local : of_value) local = exact::add(local, field);
  }
  for (std::size_t l = 0; l < static_cast<std::size_t>(tile.live); ++l) {
    const std::int32_t drawn =
        draw_value(&energy[0][l], lanes, model.values, tile.beta[l], decide[l].word[k]);
    if (tile.rests[l] || drawn == own[l]) continue;
    count(tile, l, exact::sub(energy[drawn][l], energy[own[l]][l]));
    own[l] = static_cast<std::int8_t>(drawn);
  }
}

template <class Sum>
void sweep_sites(Tile& tile) {
  const CategoricalSweep& kernel = tile.kernel;
  const bool proposes = kernel.rule == SweepRule::metropolis;
  Words propose{};
  for (std::int32_t quad = 0; quad < kernel.model.n_sites / 4; ++quad) {
    const auto index = static_cast<std::uint32_t>(quad);
    const Words decide = draw_words(tile, CategoricalSweep::decide_block, index);
    if (proposes) propose = draw_words(tile, CategoricalSweep::propose_block, index);
    for (int k = 0; k < 4; ++k) {
      const std::int32_t site = 4 * quad + k;
      if (kernel.model.variable[site] < 0) continue;
      if (proposes) {
        metropolis<Sum>(tile, site, k, decide, propose);
      } else {
        heat_bath(tile, site, k, decide);
      }
    }
  }
}

void load(Tile& tile) {
  const CategoricalSweep& kernel = tile.kernel;
  for (std::int32_t site = 0; site < kernel.model.n_sites; ++site) {
    const std::int32_t variable = kernel.model.variable[site];
    Values& row = tile.at(site);
    row.fill(0);
    if (variable < 0) continue;
    std::copy_n(&kernel.state(variable, tile.first_slot), tile.live, row.begin());
  }
  for (int l = 0; l < tile.live; ++l) {
    tile.beta[static_cast<std::size_t>(l)] = kernel.beta_of(tile.first_slot + l);
    tile.rests[static_cast<std::size_t>(l)] = kernel.rests(tile.first_slot + l);
  }
}

void store(const Tile& tile) {
  const CategoricalSweep& kernel = tile.kernel;
  for (std::int32_t site = 0; site < kernel.model.n_sites; ++site) {
    const std::int32_t variable = kernel.model.variable[site];
    if (variable < 0) continue;
    std::copy_n(tile.at(site).begin(), tile.live, &kernel.state(variable, tile.first_slot));
  }
  for (int l = 0; l < tile.live; ++l) {
    const std::int64_t slot = tile.first_slot + l;
    if (kernel.model.integral) kernel.energy[slot] += tile.change[static_cast<std::size_t>(l)];
    if (kernel.accepted) kernel.accepted[slot] += tile.changed[static_cast<std::size_t>(l)];
  }
}

void sweep_tile(const CategoricalSweep& kernel, std::int64_t index, std::byte* memory) {
  const CategoricalView& model = kernel.model;
  const std::int64_t first_slot = index * lanes;
  const std::int64_t live = std::min<std::int64_t>(lanes, kernel.state.columns - first_slot);
  Tile tile{kernel, first_slot, static_cast<int>(live), Scratch(model, memory)};
  load(tile);
  switch (model.arithmetic) {
    case Arithmetic::narrow:
      if (model.max_coupling_sum <= 127) {
        sweep_sites<std::int8_t>(tile);  // no sum of couplings leaves a byte
      } else {
        sweep_sites<std::int16_t>(tile);
      }
      break;
    case Arithmetic::medium:
      sweep_sites<float>(tile);
      break;
    case Arithmetic::wide:
      sweep_sites<double>(tile);
      break;
  }
  store(tile);
}

}  // namespace

template <>
void launch(const CategoricalSweep& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  for_each_with_scratch(
      queue, (kernel.state.columns + lanes - 1) / lanes, Scratch::bytes(kernel.model),
      [&](std::int64_t tile, std::byte* memory) { sweep_tile(kernel, tile, memory); });
}

}  // namespace kiln::cpu
