// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/queue.hpp"

namespace kiln::test {

/// The backends that kernel tests run on, as test parameters.
enum class Device { cpu, cuda };

const char* to_string(Device device);
inline void PrintTo(Device device, std::ostream* out) { *out << to_string(device); }

/// A queue of the device, or the reason why there is none. Both are kept until the program ends.
struct DeviceQueue {
  Queue* queue = nullptr;
  std::string reason;
};
DeviceQueue open_device(Device device);

/// Closes what open_device() opened. main() calls it while the CUDA runtime is still there.
void close_devices();

/// KILN_REQUIRE_GPU=1: a GPU case without a GPU is a failure instead of being skipped.
bool gpu_required();

/// Ends the test as skipped, or as failed where a GPU is required, unless `device` can be used.
void skip_without(Device device);

/// A test that runs on one backend. Without the backend it is skipped with the reason, never
/// passed.
class DeviceTest : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override { skip_without(GetParam()); }
  Queue& queue() const { return *open_device(GetParam()).queue; }
  /// What a result is compared with where only the bits of the other backend can tell.
  static Queue& cpu_queue() { return *open_device(Device::cpu).queue; }
};

/// Instances Cpu/<Suite> and Cuda/<Suite>.
#define KILN_ON_EVERY_BACKEND(Suite)                                                 \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::Values(::kiln::test::Device::cpu),   \
                           testing::PrintToStringParamName());                       \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values(::kiln::test::Device::cuda), \
                           testing::PrintToStringParamName())

/// Sets an environment variable for a scope; an empty value removes it.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const std::string& value);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Any integer as an index of a std::vector.
template <std::integral Integer>
constexpr std::size_t idx(Integer i) {
  return static_cast<std::size_t>(i);
}

/// The control block of a run in device memory.
inline DeviceArray<RunControl> upload_control(Queue& queue, const RunControl& control) {
  return DeviceArray<RunControl>(queue, std::vector<RunControl>{control});
}

/// Bit patterns, for comparisons in which -0.0 differs from 0.0 and a NaN equals itself.
inline std::vector<std::uint64_t> bits_of(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

/// Numbers for test data: the same on every platform, unlike the distributions of <random>.
class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t word() { return engine_(); }
  /// In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kiln::test
