// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/tuning/tune_file.hpp"

#include "bench/kernel_case.hpp"
#include "bench/timing.hpp"
#include "twins/twin_queue.hpp"

namespace kiln::cli {

/// Where shapes are tested.
struct TestBench {
  Queue& device;
  const TunedShapes& shapes;  ///< of the device
  /// Launches the default on copies of the same memory: another queue of the same GPU, or the CPU
  /// with one thread.
  Queue& twin;
  const TunedShapes& twin_shapes;
  LaunchTimer& timer;  ///< of the device
  /// Seconds that the samples of one shape may take; ten pairs are measured in any case.
  double limit_s = 4;
};

/// The half-decades of sizes for which a launch of a case asks for a tunable.
std::vector<int> buckets_of(const KernelCase& which, const Tunable& tunable, Queue& device,
                            const TunedShapes& shapes);

/// Verifies and measures shapes of a tunable by a case of the benchmark of its kernel.
class ShapeTester {
 public:
  /// Prepares the case. @throws what the preparation throws
  /// @param bench, tunable  outlive this
  /// @param which  the case
  /// @param bucket  of sizes, for which launches have the shape
  ShapeTester(const TestBench& bench, const KernelCase& which, const Tunable& tunable, int bucket);

  /// First launches the kernel once on the device with the shape, and on the twin with the default,
  /// and compares the bits of all memory that it can reach. Then takes times of the shape and of
  /// the default in turns, until both are known to 2 %.
  /// @param ended  whether to give up
  /// @return nothing if `ended` said so
  /// @throws CudaError if the device is lost for this process; `failed` gets the trial before
  std::optional<TuneTrial> test(const LaunchShape& shape, const std::function<bool()>& ended,
                                const std::function<void(const TuneTrial&)>& failed);

 private:
  struct Compared {
    std::uint64_t written = 0;
    Difference difference = {};
  };
  Compared compare(std::size_t launches, const std::function<void()>& work);
  TuneTrial verify(const LaunchShape& shape);
  std::optional<TuneTrial> measure(const LaunchShape& shape, const std::function<bool()>& ended);

  const TestBench& bench_;
  const KernelCase which_;
  const Tunable& tunable_;
  const int bucket_;
  TwinQueue twins_;
  BenchContext context_;
  PreparedKernel prepared_;
  TwinQueue::Contents contents_;  // as it was prepared
  // Of the default; made with its first shape.
  std::optional<LaunchTimer::Batch> standard_;
};

}  // namespace kiln::cli
