// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kiln::cli {

/// What the sensors of a GPU say at one moment. A quantity that was not told is absent.
struct SensorReading {
  std::optional<double> energy_j;  ///< of the GPU since its driver was loaded
  std::optional<double> power_w, sm_clock_mhz, temperature_c;
  std::optional<std::uint64_t> clock_reasons;  ///< why its clock is not higher: bits of NVML
};

/// One GPU as NVML, the library of the driver, shows it. The library is opened at run time.
class Nvml {
 public:
  static constexpr const char* default_library = "libnvidia-ml.so.1";

  /// @param pci_bus_id  of the GPU; its number would be another one under CUDA_VISIBLE_DEVICES
  /// @param complaint  why there is none, if null is returned
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id, std::string& complaint,
                                    const std::string& library = default_library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  SensorReading read();
  /// What was not told, and why; a sentence for each quantity.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

  /// The reasons among bits of NVML for which a GPU slows down: "power", "heat", ...
  static std::vector<std::string> slowdowns(std::uint64_t clock_reasons);

 private:
  struct Api;
  explicit Nvml(std::unique_ptr<Api> api);
  void note_partition();
  void note(const std::string& quantity, int status);
  template <class Value, class Function, class... Arguments>
  std::optional<double> ask(const char* quantity, Function function, double unit,
                            Arguments... arguments);

  std::unique_ptr<Api> api_;
  std::set<std::string> noted_;
  std::vector<std::string> notes_;
};

}  // namespace kiln::cli
