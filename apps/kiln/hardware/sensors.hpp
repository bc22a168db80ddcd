// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/profile/hardware.hpp"

#include "hardware/nvml.hpp"

namespace kiln::cli {

/// Reads the sensors of a GPU while a run uses it: at its beginning, at report points a second
/// apart at least, and at its end. What it reads is shown, and decides nothing.
class Sensors {
 public:
  /// @param pci_bus_id  empty: there is no GPU, and nothing is read
  explicit Sensors(const std::string& pci_bus_id,
                   const std::string& library = Nvml::default_library);

  /// The run has begun.
  void begin() { read(0); }
  /// A report point. @param time_s  since the beginning
  void update(double time_s);
  /// Why the GPU was slowed down at the last reading.
  std::vector<std::string> slowdowns() const { return Nvml::slowdowns(last_reasons_); }
  /// The end of the run; null if nothing was read.
  std::shared_ptr<const HardwareReadings> finish(double time_s);
  /// Why nothing is read; empty otherwise, and for the CPU.
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  struct Range {
    ReadingRange values;
    int count = 0;
    void add(const std::optional<double>& value);
    std::optional<ReadingRange> get() const;
  };
  void read(double time_s);

  std::string complaint_;
  std::unique_ptr<Nvml> nvml_;
  double last_s_ = 0;
  std::optional<double> first_energy_j_, last_energy_j_, last_power_w_;
  double integral_j_ = 0;  // of power, by the trapezoidal rule
  Range power_w_, sm_clock_mhz_, temperature_c_;
  std::uint64_t reasons_ = 0, last_reasons_ = 0;
};

/// One line for --verbose: "812 J   power 655 W (mean 412 W)   ...".
std::string hardware_text(const HardwareReadings& readings);

}  // namespace kiln::cli
