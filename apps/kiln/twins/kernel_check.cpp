// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "twins/kernel_check.hpp"

#include <array>
#include <cstddef>
#include <exception>

#include "kiln/device/device_fault.hpp"
#include "kiln/errors.hpp"

namespace kiln::cli {
namespace {

// What sums in another order, and functions of the mathematical library of a device, may differ by:
// far more than rounding, and far less than a wrong term.
constexpr double max_relative = 1e-6;
// A GPU computes the forces of trajectories in products of 22 bits (GlmForces::single): the ends of
// 20 leapfrogs differ by 8e-5 (H200). Energies, and so decisions, are in double precision.
constexpr double max_relative_of_path = 3e-4;

template <class... Kernels>
std::vector<CheckedKernel> all_kernels(KernelList<Kernels...>) {
  return {CheckedKernel{Kernels::name, accuracy_of<Kernels>(), &bench_cases<Kernels>}...};
}

}  // namespace

const char* to_string(TwinVerdict verdict) noexcept {
  constexpr std::array<const char*, 5> words{"equal", "close", "DIFFERS", "FAILED", "no result"};
  return words[static_cast<std::size_t>(verdict)];
}

std::vector<CheckedKernel> kernels_to_check(const std::string& only) {
  std::vector<CheckedKernel> kernels = all_kernels(KernelCatalog{});
  std::erase_if(kernels,
                [&](const CheckedKernel& one) { return one.name.find(only) == std::string::npos; });
  return kernels;
}

// A path in double precision may take another decision where two numbers are nearly equal, so of
// class S6 a few of many words may be others.
TwinVerdict judge(const std::string& accuracy, std::uint64_t written,
                  const Difference& difference) {
  if (written == 0) return TwinVerdict::no_result;
  if (difference.unequal == 0) return TwinVerdict::equal;
  if (accuracy == "E") return TwinVerdict::differs;
  const double relative = accuracy == "S6" ? max_relative_of_path : max_relative;
  if (difference.worst <= relative) return TwinVerdict::close;
  const bool few = 1000 * difference.unequal <= written;
  return accuracy == "S6" && few ? TwinVerdict::close : TwinVerdict::differs;
}

KernelCheck failed_check(const CheckedKernel& kernel, const std::string& complaint) {
  KernelCheck check{kernel.name, kernel.accuracy, {}};
  check.verdict = TwinVerdict::failed;
  check.complaint = complaint;
  return check;
}

KernelCheck check_kernel(const CheckedKernel& kernel, Queue& device, Queue& cpu) {
  return check_kernel(kernel, kernel.cases().front(), device, cpu);
}

KernelCheck check_kernel(const CheckedKernel& kernel, const KernelCase& which, Queue& device,
                         Queue& cpu) {
  KernelCheck check{kernel.name, kernel.accuracy, which.shape};
  try {
    ModelQueue models(cpu);
    BenchContext of_models(models);
    PreparedKernel on_cpu;
    if (!device.on_cpu()) {
      on_cpu = which.prepare(of_models);
      if (on_cpu.launches.reset) on_cpu.launches.reset();
      on_cpu.launches.launch(0);
    }
    TwinQueue twins(device, cpu, device.on_cpu() ? nullptr : &models);
    BenchContext context(twins);
    const auto add = [&](const std::vector<TwinLaunch>& launches) {
      for (const TwinLaunch& one : launches) {
        check.written += one.written;
        check.difference += one.difference;
      }
    };
    // The launches of the preparation change memory that later ones leave as it is.
    PreparedKernel prepared;
    add(twins.compare(kernel.name, 2, [&] { prepared = which.prepare(context); }));
    if (prepared.launches.reset) prepared.launches.reset();
    add(twins.compare(kernel.name, 1, [&] { prepared.launches.launch(0); }));
    check.verdict = judge(check.accuracy, check.written, check.difference);
  } catch (const CudaError& error) {
    if (ends_device(error)) throw;
    return failed_check(kernel, error.message());
  } catch (const std::exception& error) {
    return failed_check(kernel, error.what());
  }
  return check;
}

}  // namespace kiln::cli
