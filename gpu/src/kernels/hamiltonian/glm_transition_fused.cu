// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

#include <algorithm>
#include <string>

#include "kiln/cuda/queue.cuh"
#include "kiln/device/tiled_chain.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/hamiltonian/glm_transition.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "glm_energy.cuh"
#include "glm_forces.cuh"
#include "launch.hpp"

namespace kiln::cuda {
namespace {

// The eight threads of a chain: lane l of each warp of the block has chain l.
struct SharedTeam {
  using shares_barriers = void;
  double* sums;  // [warps][chains]

  __device__ static int rank() { return static_cast<int>(threadIdx.x) / glm_chains; }
  __device__ static constexpr int size() { return glm_warps; }
  __device__ static void sync() { __syncthreads(); }
  __device__ static int most(int value) {
    // All warps have the same 32 chains, so they agree.
    return __reduce_max_sync(0xFFFFFFFFu, value);
  }
  __device__ double sum(double value) const {
    sums[threadIdx.x] = value;
    __syncthreads();
    double total = 0;
#pragma unroll
    for (int w = 0; w < glm_warps; ++w) total += sums[w * glm_chains + threadIdx.x % glm_chains];
    __syncthreads();
    return total;
  }
};
using Chain = hmc::TiledChain<SharedTeam>;

// What a block has in shared memory.
template <class Shape>
struct BlockMemory {
  // Chains lie an odd number of doubles apart, so that lanes that read the same column of 16 chains
  // do not meet in a bank.
  static constexpr int stride = Shape::width + 1;
  static constexpr int vector_doubles = glm_chains * stride;
  static constexpr int energy_doubles = Shape::row_groups * glm_chains;
  static constexpr int exchange_doubles = (Shape::width + 1) * glm_chains;  // energies come last

  float *tiles, *partial;
  double *x, *z, *g, *velocity, *sums, *energy, *exchange;

  __device__ explicit BlockMemory(double* memory) {
    x = memory;
    z = x + vector_doubles;
    g = z + vector_doubles;
    velocity = g + vector_doubles;
    sums = velocity + vector_doubles;
    energy = sums + glm_threads;
    tiles = reinterpret_cast<float*>(energy + energy_doubles);
    partial = tiles + glm_stages * Shape::tile_floats;
    exchange = reinterpret_cast<double*>(partial + Shape::partial_floats);
  }

  static constexpr std::size_t bytes(bool exchanges) {
    return sizeof(double) * (4 * vector_doubles + glm_threads + energy_doubles +
                             (exchanges ? 2 * exchange_doubles : 0)) +
           sizeof(float) * (glm_stages * Shape::tile_floats + Shape::partial_floats);
  }
  static_assert((4 * vector_doubles + glm_threads + energy_doubles) % 2 == 0);
  static_assert(Shape::tile_floats % 4 == 0 && Shape::partial_floats % 2 == 0);
};

// Blocks of a cluster have the same chains, do the same with them, and share the rows of X: after
// each pass they exchange what they have of the gradients. Only the first writes results.
template <class Shape, bool exact>
class GlmBlock {
 public:
  __device__ GlmBlock(const GlmTransition& kernel, double* memory, int cluster)
      : kernel_(kernel),
        memory_(memory),
        cluster_(cluster),
        rank_(static_cast<int>(blockIdx.x) % cluster),
        lane_(static_cast<int>(threadIdx.x) % glm_chains),
        team_{memory_.sums},
        first_(first_row(rank_)),
        count_(first_row(rank_ + 1) - first_),
        forces_(kernel_.density, first_, count_, memory_.tiles, memory_.partial) {}

  __device__ void run() {
    const std::int64_t of_lane =
        static_cast<std::int64_t>(blockIdx.x) / cluster_ * glm_chains + lane_;
    const bool there = of_lane < kernel_.chains.replicas;
    Chain chain = chain_of(there ? of_lane : kernel_.chains.replicas - 1);
    chain.writes = there && rank_ == 0;
    for (int i = static_cast<int>(threadIdx.x); i < memory_.vector_doubles; i += glm_threads) {
      memory_.x[i] = 0;
    }
    __syncthreads();
    forces_.begin();
    const bool known = chain.load();
    if (__syncthreads_and(known ? 1 : 0) == 0) {
      const EnergyParts energies = chain.take_energy(evaluate(chain, true, !known));
      if (!known) chain.keep(energies);
    }
    move(chain);
    wait_for_copies<0>();
    // Others may still read what this block has to exchange.
    sync_cluster();
  }

 private:
  __device__ std::int64_t first_row(int rank) const {
    const std::int64_t eights = (kernel_.density.rows + 7) / 8;
    const std::int64_t each = (eights + cluster_ - 1) / cluster_;
    return 8 * (rank * each < eights ? rank * each : eights);
  }

  __device__ Chain chain_of(std::int64_t slot) const {
    const std::int64_t rung = kernel_.chains.rung_of[slot];
    const std::int64_t pool = rung % kernel_.tuning.size;
    const int at = lane_ * memory_.stride;
    return Chain{{kernel_.density, team_, kernel_.chains, kernel_.metric.of_pool(pool), slot,
                  kernel_.chains.weights(rung), memory_.velocity + at, nullptr},
                 {memory_.x + at, memory_.z + at, memory_.g + at},
                 kernel_.tuning[pool]};
  }

  __device__ void move(Chain& chain) {
    const int most = team_.most(chain.tuning.leapfrogs);
    double likelihood = 0;
    chain.start(kernel_.statistics);
    for (int leapfrog = 1; leapfrog <= most; ++leapfrog) {
      chain.drift(leapfrog);
      likelihood = evaluate(chain, leapfrog == most, true);
      chain.kick(leapfrog);
    }
    chain.finish(kernel_.statistics, chain.take_energy(likelihood));
  }

  // Forces at the present points for the chains that want them, and if wanted minus the log
  // likelihood of each.
  __device__ double evaluate(Chain& chain, bool energies, bool wanted) {
    forces_.pass(memory_.x, memory_.stride);
    if (energies) {
      glm_energy_pass<Shape>(kernel_.density, first_, count_, memory_.x, memory_.stride,
                             memory_.energy);
    }
    __syncthreads();
    forces_.begin();
    double energy = 0;
    if (energies) {
#pragma unroll
      for (int r = 0; r < Shape::row_groups; ++r) energy += memory_.energy[r * glm_chains + lane_];
    }
    if (cluster_ == 1) {
      chain.take_forces([&](int column) { return forces_.gradient(lane_, column); }, wanted);
      return energy;
    }
    return exchange(chain, energy, wanted);
  }

  __device__ double exchange(Chain& chain, double energy, bool wanted) {
    // Two places in turn: who is late still reads the one, who is early writes the other.
    double* mine = memory_.exchange + (turn_ ^= 1) * memory_.exchange_doubles;
    chain.mover.each(
        [&](int column) { mine[column * glm_chains + lane_] = forces_.gradient(lane_, column); });
    if (team_.rank() == 0) mine[Shape::width * glm_chains + lane_] = energy;
    sync_cluster();
    chain.take_forces([&](int column) { return total(mine, column); }, wanted);
    return total(mine, Shape::width);
  }

  __device__ double total(double* mine, int column) const {
    double sum = 0;
#if __CUDA_ARCH__ >= 900
    for (int r = 0; r < cluster_; ++r) {
      sum += cooperative_groups::this_cluster().map_shared_rank(
          mine, static_cast<unsigned>(r))[column * glm_chains + lane_];
    }
#endif
    return sum;
  }

  __device__ void sync_cluster() const {
#if __CUDA_ARCH__ >= 900
    if (cluster_ > 1) cooperative_groups::this_cluster().sync();
#endif
  }

  const GlmTransition& kernel_;
  BlockMemory<Shape> memory_;
  int cluster_, rank_, lane_, turn_ = 0;
  SharedTeam team_;
  std::int64_t first_, count_;
  GlmForcePass<Shape, exact> forces_;
};

template <int width, bool exact>
__global__ void __launch_bounds__(glm_threads, 1)
    move_chains(const __grid_constant__ GlmTransition kernel, int cluster) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  extern __shared__ __align__(16) double glm_memory[];
  GlmBlock<GlmShape<width>, exact>(kernel, glm_memory, cluster).run();
}

// Few chains: several blocks to the same 32, as long as multiprocessors are left and every warp has
// rows.
int cluster_size(const GlmTransition& kernel, const DeviceLimits& limits) {
  if (!limits.has_clusters()) return 1;
  const std::int64_t processors = limits.multiprocessors;
  const std::int64_t blocks = (kernel.chains.replicas + glm_chains - 1) / glm_chains;
  const std::int64_t eights = (kernel.density.rows + 7) / 8;
  int cluster = 1;
  while (cluster < 8 && 2 * cluster * blocks <= processors && eights >= 2 * cluster * glm_warps) {
    cluster *= 2;
  }
  return cluster;
}

template <int width, bool exact>
void launch_shape(const GlmTransition& kernel, Queue& queue) {
  const int cluster = cluster_size(kernel, limits_of(queue));
  const std::int64_t groups = (kernel.chains.replicas + glm_chains - 1) / glm_chains;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(groups * cluster));
  config.blockDim = dim3(glm_threads);
  config.dynamicSmemBytes = BlockMemory<GlmShape<width>>::bytes(cluster > 1);
  config.stream = stream_of(queue);
  cudaLaunchAttribute of_cluster{};
  of_cluster.id = cudaLaunchAttributeClusterDimension;
  of_cluster.val.clusterDim.x = static_cast<unsigned>(cluster);
  of_cluster.val.clusterDim.y = of_cluster.val.clusterDim.z = 1;
  config.attrs = &of_cluster;
  config.numAttrs = cluster > 1 ? 1 : 0;
  reserve_shared(queue, move_chains<width, exact>, config.dynamicSmemBytes, GlmTransition::name);
  cuda_check(cudaLaunchKernelEx(&config, move_chains<width, exact>, kernel, cluster),
             "launch glm_transition");
}

template <int width>
void launch_forces(const GlmTransition& kernel, Queue& queue) {
  if (kernel.forces == GlmForces::tf32) return launch_shape<width, false>(kernel, queue);
  launch_shape<width, true>(kernel, queue);
}

}  // namespace

template <>
void launch(const GlmTransition& kernel, Queue& queue) {
  if (kernel.chains.replicas <= 0) return;
  switch (kernel.density.x_single != nullptr ? kernel.density.width : 0) {
    case 8:
      return launch_forces<8>(kernel, queue);
    case 16:
      return launch_forces<16>(kernel, queue);
    case 24:
      return launch_forces<24>(kernel, queue);
    case 32:
      return launch_forces<32>(kernel, queue);
    case 48:
      return launch_forces<48>(kernel, queue);
    case 64:
      return launch_forces<64>(kernel, queue);
    default:
      throw InvalidArgument(
          "glm.width",
          "glm_transition on a GPU was given a model of " + std::to_string(kernel.density.columns) +
              " columns",
          "at most " + std::to_string(GlmTransition::max_columns) + ", with x in single precision",
          "launch hmc_transition");
  }
}

}  // namespace kiln::cuda
