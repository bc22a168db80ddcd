// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/options.hpp"

// Policies for the inverse temperature beta of an anneal, from beta_min to beta_max, which are
// options of the schedule. docs/schedules/simulated_annealing.md has the formulas.
namespace kiln {

/// Linear where the problem knows its energy scale, geometric elsewhere.
struct AutomaticCooling {
  static constexpr std::string_view option_name = "automatic";
  KILN_API static const OptionTable<AutomaticCooling>& table();
  bool operator==(const AutomaticCooling&) const = default;
};

/// Raises beta by equal differences.
struct LinearCooling {
  static constexpr std::string_view option_name = "linear";
  KILN_API static const OptionTable<LinearCooling>& table();
  bool operator==(const LinearCooling&) const = default;
};

/// Raises beta by equal factors.
struct GeometricCooling {
  static constexpr std::string_view option_name = "geometric";
  KILN_API static const OptionTable<GeometricCooling>& table();
  bool operator==(const GeometricCooling&) const = default;
};

/// Multiplies the temperature by `factor` after each sweep; beta stays at most beta_max.
struct ExponentialCooling {
  double factor = 0;  ///< 0 .. 1; 0 chooses the factor that reaches beta_max in the first anneal

  static constexpr std::string_view option_name = "exponential";
  KILN_API static const OptionTable<ExponentialCooling>& table();
  bool operator==(const ExponentialCooling&) const = default;
};

/// Takes T = T_0 / (1 + rate ln(1 + t)) in sweep t; beta stays at most beta_max.
struct LogarithmicCooling {
  double rate = 1;  ///< >= 0

  static constexpr std::string_view option_name = "logarithmic";
  KILN_API static const OptionTable<LogarithmicCooling>& table();
  bool operator==(const LogarithmicCooling&) const = default;
};

/// Takes given inverse temperatures, each for an equal share of the anneal.
struct ListCooling {
  std::vector<double> betas = {};  ///< at least one, 1/energy, each >= 0

  static constexpr std::string_view option_name = "list";
  KILN_API static const OptionTable<ListCooling>& table();
  bool operator==(const ListCooling&) const = default;
};

/// Steers the acceptance rate: T <- T exp(gain (target - rate)) after each sweep. The target falls
/// from `acceptance_begin` to `acceptance_end` by equal factors.
struct AdaptiveCooling {
  double gain = 0.5;               ///< >= 0
  double acceptance_begin = 0.44;  ///< 1e-9 .. 1
  double acceptance_end = 0.001;   ///< 1e-9 .. 1
  std::int64_t window = 10;        ///< sweeps that the rate is measured over, 1 .. 100000

  static constexpr std::string_view option_name = "adaptive";
  KILN_API static const OptionTable<AdaptiveCooling>& table();
  bool operator==(const AdaptiveCooling&) const = default;
};

/// Steers the acceptance rate to the same target by a proportional-integral-derivative controller.
struct PidCooling {
  double gain = 0.1;               ///< proportional, >= 0
  double integral = 0.01;          ///< >= 0
  double derivative = 0.05;        ///< >= 0
  double acceptance_begin = 0.44;  ///< 1e-9 .. 1
  double acceptance_end = 0.001;   ///< 1e-9 .. 1
  std::int64_t window = 10;        ///< sweeps that the rate is measured over, 1 .. 100000

  static constexpr std::string_view option_name = "pid";
  KILN_API static const OptionTable<PidCooling>& table();
  bool operator==(const PidCooling&) const = default;
};

using CoolingVariant =
    std::variant<AutomaticCooling, LinearCooling, GeometricCooling, ExponentialCooling, ListCooling,
                 LogarithmicCooling, AdaptiveCooling, PidCooling>;

template <class T>
concept CoolingAlternative = std::constructible_from<CoolingVariant, std::in_place_type_t<T>>;

/// One of the cooling policies, a std::variant: std::visit, std::get and std::holds_alternative
/// take it.
///
///     options.cooling = kiln::PidCooling{.gain = 0.2};
class KILN_API CoolingPolicy : public CoolingVariant {
 public:
  CoolingPolicy() = default;  ///< AutomaticCooling
  template <CoolingAlternative Policy>
  CoolingPolicy(Policy policy) : CoolingVariant(std::in_place_type<Policy>, std::move(policy)) {}

  /// The name in option texts: "linear".
  std::string_view name() const noexcept {
    return std::visit([](const auto& policy) { return policy.option_name; },
                      static_cast<const CoolingVariant&>(*this));
  }
  bool operator==(const CoolingPolicy&) const = default;

  /// The policy of this name with its defaults. @throws InvalidArgument for an unknown name
  [[deprecated("assign a policy")]] CoolingPolicy(const char* name);
  [[deprecated("assign a policy")]] CoolingPolicy(const std::string& name);
  [[deprecated("compare name()")]] bool operator==(const char* name) const {
    return this->name() == name;
  }
};

}  // namespace kiln
