// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/glm_transition.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kiln/device/team.hpp"
#include "kiln/device/tiled_chain.hpp"
#include "kiln/host_scratch.hpp"

#include "glm_tile.hpp"
#include "kernels/isa.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr int lanes = GlmTile::lanes;
static_assert(lanes == glm_chains_per_task);
using TileFunction = void (*)(const GlmTile&);
using Chain = hmc::TiledChain<SingleTeam>;

// Memory for 16 chains, of the size of glm_transition_tasks().
struct Memory {
  Memory(double* memory, int columns)
      : shared(memory), vectors(memory + static_cast<std::ptrdiff_t>(2 * lanes) * columns) {}

  double* shared;   // weights and gradient, [columns][lanes], aligned to 64 bytes
  double* vectors;  // x, z, g, velocity of each chain
};

// The chains first .. first + count - 1, at most 16; the other lanes of the tile copy the first.
class ChainTile {
 public:
  ChainTile(const GlmTransition& kernel, TileFunction function, std::int64_t first, int count,
            const Memory& memory)
      : kernel_(kernel), function_(function), columns_(kernel.density.columns) {
    const GeneralizedLinear& model = kernel.density;
    tile_.link = model.link;
    tile_.precision = model.precision;
    tile_.rows = model.rows;
    tile_.columns = columns_;
    tile_.width = model.width;
    tile_.x = model.x;
    tile_.y = model.y;
    tile_.weights = weights_ = memory.shared;
    tile_.gradient = memory.shared + static_cast<std::ptrdiff_t>(lanes) * columns_;
    chains_.reserve(lanes);
    for (int l = 0; l < count; ++l) {
      double* vectors = memory.vectors + static_cast<std::ptrdiff_t>(4 * l) * columns_;
      chains_.push_back(chain(first + l, vectors));
    }
  }

  void run() {
    bool all_known = true;
    bool known[lanes] = {};
    for_each([&](Chain& chain, int l) { all_known &= known[l] = chain.load(); });
    if (!all_known) {
      pass(true);
      for_each([&](Chain& chain, int l) {
        if (known[l]) return;
        take_forces(chain, l);
        chain.keep(chain.take_energy(energy_[l]));
      });
    }
    std::int32_t most = 0;
    for_each([&](Chain& chain, int) {
      chain.start(kernel_.statistics);
      most = std::max(most, chain.tuning.leapfrogs);
    });
    for (std::int32_t leapfrog = 1; leapfrog <= most; ++leapfrog) {
      for_each([&](Chain& chain, int) { chain.drift(leapfrog); });
      pass(leapfrog == most);
      for_each([&](Chain& chain, int l) {
        take_forces(chain, l);
        chain.kick(leapfrog);
      });
    }
    for_each([&](Chain& chain, int l) {
      chain.finish(kernel_.statistics, chain.take_energy(energy_[l]));
    });
  }

 private:
  Chain chain(std::int64_t slot, double* vectors) const {
    const std::int64_t rung = kernel_.chains.rung_of[slot];
    const std::int64_t pool = rung % kernel_.tuning.size;
    return Chain{{kernel_.density, team_, kernel_.chains, kernel_.metric.of_pool(pool), slot,
                  kernel_.chains.weights(rung), vectors + 3 * columns_, nullptr},
                 {vectors, vectors + columns_, vectors + 2 * columns_},
                 kernel_.tuning[pool]};
  }

  template <class Body>
  void for_each(const Body& body) {
    for (std::size_t l = 0; l < chains_.size(); ++l) body(chains_[l], static_cast<int>(l));
  }

  void pass(bool energies) {
    for (std::size_t l = 0; l < std::size_t{lanes}; ++l) {
      const double* x = chains_[l < chains_.size() ? l : 0].phase.x;
      for (int j = 0; j < columns_; ++j) weights_[static_cast<std::size_t>(j * lanes) + l] = x[j];
    }
    tile_.energy = energies ? energy_ : nullptr;
    function_(tile_);
  }

  void take_forces(const Chain& chain, int lane) const {
    chain.take_forces([&](int j) { return tile_.gradient[j * lanes + lane]; });
  }

  const GlmTransition& kernel_;
  TileFunction function_;
  int columns_;
  SingleTeam team_;
  GlmTile tile_;
  double* weights_;
  double energy_[lanes] = {};
  std::vector<Chain> chains_;
};

}  // namespace

template <>
void launch(const GlmTransition& kernel, Queue& queue) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const TileFunction pass = KILN_VARIANT_FOR_ISA(glm_tile);
  const std::int64_t replicas = kernel.chains.replicas;
  const int columns = kernel.density.columns;
  const HostTasks tasks = glm_transition_tasks(replicas, columns);
  for_each_with_scratch(
      queue, tasks.count, tasks.bytes, [&](std::int64_t task, std::byte* scratch) {
        const Memory memory(reinterpret_cast<double*>(scratch), columns);
        const std::int64_t first = task * lanes;
        const int count = static_cast<int>(std::min<std::int64_t>(lanes, replicas - first));
        ChainTile(kernel, pass, first, count, memory).run();
      });
}

}  // namespace kiln::cpu
