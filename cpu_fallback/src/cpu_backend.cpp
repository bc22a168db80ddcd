// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/kernels/catalog.hpp"
#include "kiln/objectives/functor_launch.hpp"
#include "kiln/tuning/tuned_shapes.hpp"

#include "backends/builtin_functors.hpp"
#include "backends/cpu_backend_factory.hpp"
#include "cpu_queue.hpp"
#include "host/control_group.hpp"
#include "kernels/isa.hpp"
#include "launch.hpp"

namespace kiln {
namespace cpu {
namespace {

struct Launchers {
  template <class Kernel>
  static constexpr Launcher<Kernel> choose() {
    if constexpr (carries_functor<Kernel>) {
      return &launch_functor<Kernel>;
    } else {
      return &launch<Kernel>;
    }
  }
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = choose<Kernel>();
};

KernelSets kernel_sets() {
  KernelSets sets = kernel_sets_of<Launchers>(Components{});
  add_cpu_functors(sets);
  return sets;
}

std::uint64_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

// What the system would give, caches included; 0 where it does not say.
std::uint64_t available_host_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// "AMD EPYC 9654 96-Core Processor"; the file is long on machines with many processors, and its
// first lines have the name.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  for (int i = 0; i < 32 && std::getline(file, line); ++i) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

// Shapes depend on how many threads share the work.
std::shared_ptr<const TunedShapes> open_shapes(int threads) {
  TuneDevice device;
  device.name = "CPU " + processor_name() + ", " + std::to_string(threads) +
                (threads == 1 ? " thread" : " threads");
  device.limits.parallel_units = threads;
  return open_tuned_shapes("cpu", std::move(device));
}

class CpuBackend final : public Backend {
 public:
  // 0 threads: as many as the process may use.
  explicit CpuBackend(int threads)
      : Backend(kernel_sets()),
        asked_(threads > 0 ? threads : granted_processors()),
        pool_(std::make_shared<ThreadPool>(std::min(asked_, max_threads()))) {
    constants_.name = "cpu";
    const int n = pool_->threads();
    const std::string fewer = n < asked_ ? " of " + std::to_string(asked_) : "";
    constants_.description =
        std::to_string(n) + fewer + (n + asked_ == 2 ? " thread, " : " threads, ") + isa_name();
    constants_.parallel_units = n;
    shapes_ = open_shapes(n);
    const ControlGroupLimits limits = control_group_limits();
    constants_.memory_total = limits.bound_memory(host_memory(), limits.memory_total);
  }

  DeviceInfo info() const override {
    DeviceInfo info = constants_;
    const ControlGroupLimits limits = control_group_limits();
    info.memory_free = limits.bound_memory(available_host_memory(), limits.memory_free);
    if (info.memory_free > 0) info.memory_free += idle_bytes();
    return info;
  }
  DeviceInfo constants() const override { return constants_; }
  std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CpuQueue>(kernels(), pool_, idle_, shapes_);
  }
  std::uint64_t idle_bytes() const override {
    return idle_->sum([](const Arena& arena) { return arena.touched_bytes(); });
  }
  bool has_idle(std::uint64_t piece, std::uint64_t all) const override {
    return idle_->any([=](const Arena& arena) { return arena.has_free(piece, all); });
  }
  void trim() noexcept override { idle_->clear(); }

 private:
  int asked_;
  DeviceInfo constants_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const TunedShapes> shapes_;
  std::shared_ptr<IdleList<Arena>> idle_ = std::make_shared<IdleList<Arena>>();
};

}  // namespace
}  // namespace cpu

std::shared_ptr<Backend> make_cpu_backend(int threads) {
  if (threads < 0 || threads > 4096) {
    throw InvalidArgument("device.threads", "threads must be 1 .. 4096, or 0 for all");
  }
  return std::make_shared<cpu::CpuBackend>(threads);
}

}  // namespace kiln
