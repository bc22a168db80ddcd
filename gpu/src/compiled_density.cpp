// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled_density.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "kiln/cuda/chain_launch.hpp"
#include "kiln/objectives/compiled_density.hpp"
#include "kiln/objectives/density_kernels.hpp"

#include "cuda_check.hpp"
#include "cuda_queue.hpp"

namespace kiln::cuda {
namespace {

using detail::ChainLaunch;

/// A kernel from code that was compiled while the program runs. The driver puts it on each device
/// that launches it.
class LoadedKernel {
 public:
  LoadedKernel(const std::string& code, const char* name) {
    cuda_check(
        cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "load the compiled objective");
    const cudaError_t status = cudaLibraryGetKernel(&kernel_, library_, name);
    if (status != cudaSuccess) static_cast<void>(cudaLibraryUnload(library_));
    cuda_check(status, "find a kernel of the compiled objective");
  }
  ~LoadedKernel() { static_cast<void>(cudaLibraryUnload(library_)); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  const void* kernel() const { return reinterpret_cast<const void*>(kernel_); }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

int architecture_of(int device) {
  int major = 0, minor = 0;
  cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
             "read the device's architecture");
  cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
             "read the device's architecture");
  return 10 * major + minor;
}

// Only short kernels keep a chain in a thread's registers: the others would take many times as long
// to compile as the rest.
template <class Kernel>
inline constexpr bool runs_by_threads =
    std::is_same_v<Kernel, DensityEnergy> || std::is_same_v<Kernel, DensitySweep>;

struct CompiledLaunchers {
  template <class Kernel>
  static void launch(const Kernel& kernel, const void* functor, Queue& queue) {
    const auto& density = *static_cast<const CompiledDensity*>(functor);
    const bool by_threads = runs_by_threads<Kernel> && kernel.layout == ChainLayout::thread;
    const bool by_blocks = kernel.layout == ChainLayout::block;
    const bool by_lanes = kernel.layout == ChainLayout::lanes;
    const char* const form = by_threads  ? "thread"
                             : by_blocks ? "block"
                             : by_lanes  ? "lanes"
                                         : "warp";
    auto& own = static_cast<CudaQueue&>(queue);
    const int architecture = architecture_of(own.device().ordinal());
    const auto code = std::static_pointer_cast<LoadedKernel>(density.code->loaded(
        std::string(Kernel::name) + " " + form + " " + std::to_string(architecture), [&] {
          return std::make_shared<LoadedKernel>(
              density.code->gpu_code(Kernel::name, form, architecture), Kernel::name);
        }));
    const std::int64_t chains = kernel.chain_count();
    if (chains <= 0) return;
    const std::int64_t memory = Kernel::scratch_size(density.n, density.workspace()) *
                                static_cast<std::int64_t>(sizeof(double));
    const auto [blocks, threads, shared] =
        by_threads ? ChainLaunch::by_threads(chains)
                   : (by_blocks ? ChainLaunch::by_blocks(chains, memory)
                                : ChainLaunch::by_teams(chains, by_lanes ? 8 : 1, memory));
    void* arguments[] = {const_cast<Kernel*>(&kernel)};
    cuda_check(cudaLaunchKernel(code->kernel(), dim3(blocks), dim3(threads), arguments, shared,
                                static_cast<cudaStream_t>(queue.native_handle())),
               "launch a kernel of the compiled objective");
  }
};

}  // namespace

void add_compiled_density(KernelSets& sets) {
  sets.add_functor<CompiledDensity>(FunctorKernels<DensityFamily>::from<CompiledLaunchers>());
}

}  // namespace kiln::cuda
