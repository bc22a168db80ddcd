// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/cooling.hpp"

#include <limits>

namespace kiln {
namespace {

constexpr double huge = std::numeric_limits<double>::max();

// The target of policies that steer the acceptance rate, and how they measure the rate.
template <class Policy>
OptionTable<Policy> with_target(OptionTable<Policy> table) {
  return table
      .real("acceptance_begin", &Policy::acceptance_begin, {1e-9, 1}, "",
            "Target of the acceptance rate at the start of an anneal.")
      .formerly("acceptance_begin")
      .real("acceptance_end", &Policy::acceptance_end, {1e-9, 1}, "",
            "Target of the acceptance rate at the end of an anneal.",
            "During an anneal the target falls by equal factors per sweep.")
      .formerly("acceptance_end")
      .integer("window", &Policy::window, {1, 100000}, "sweeps",
               "Number of latest sweeps over which the acceptance rate is measured.")
      .formerly("window");
}

}  // namespace

const OptionTable<AutomaticCooling>& AutomaticCooling::table() {
  static const OptionTable<AutomaticCooling> table;
  return table;
}

const OptionTable<LinearCooling>& LinearCooling::table() {
  static const OptionTable<LinearCooling> table;
  return table;
}

const OptionTable<GeometricCooling>& GeometricCooling::table() {
  static const OptionTable<GeometricCooling> table;
  return table;
}

const OptionTable<ExponentialCooling>& ExponentialCooling::table() {
  static const auto table =
      OptionTable<ExponentialCooling>()
          .real("factor", &ExponentialCooling::factor, {0, 1, Automatic{0}}, "",
                "Factor that multiplies the temperature after each sweep.",
                "0 chooses the factor that reaches beta_max at the end of each anneal.")
          .formerly("cooling_factor");
  return table;
}

const OptionTable<LogarithmicCooling>& LogarithmicCooling::table() {
  static const auto table = OptionTable<LogarithmicCooling>()
                                .real("rate", &LogarithmicCooling::rate, {0, huge}, "",
                                      "Rate r of the temperature T = T_0 / (1 + r ln(1 + t)) in "
                                      "sweep t.",
                                      "T_0 is 1 / beta_min. The temperature stops falling at 1 / "
                                      "beta_max.")
                                .formerly("cooling_rate");
  return table;
}

const OptionTable<ListCooling>& ListCooling::table() {
  static const auto table =
      OptionTable<ListCooling>()
          .reals("betas", &ListCooling::betas, {0, huge}, "1/energy", "none",
                 "Inverse temperatures, each for an equal share of the sweeps of an anneal.",
                 "cooling=list needs at least one value.")
          .formerly("betas", Elsewhere::refused);
  return table;
}

const OptionTable<AdaptiveCooling>& AdaptiveCooling::table() {
  static const auto table =
      with_target(OptionTable<AdaptiveCooling>()
                      .real("gain", &AdaptiveCooling::gain, {0, huge}, "",
                            "Gain of the update T <- T exp(gain (target - rate)) after each sweep.",
                            "T is the temperature, and rate is the acceptance rate of the last "
                            "`window` sweeps.")
                      .formerly("gain"));
  return table;
}

const OptionTable<PidCooling>& PidCooling::table() {
  static const auto table =
      with_target(OptionTable<PidCooling>()
                      .real("gain", &PidCooling::gain, {0, huge}, "",
                            "Proportional gain of the PID controller of the acceptance rate.")
                      .formerly("pid_proportional")
                      .real("integral", &PidCooling::integral, {0, huge}, "",
                            "Integral gain of the PID controller of the acceptance rate.")
                      .formerly("pid_integral")
                      .real("derivative", &PidCooling::derivative, {0, huge}, "",
                            "Derivative gain of the PID controller of the acceptance rate.")
                      .formerly("pid_derivative"));
  return table;
}

namespace {

CoolingPolicy policy_of(const std::string& name) {
  struct Named {
    CoolingPolicy cooling = {};
  };
  static const auto table = OptionTable<Named>().alternatives("cooling", &Named::cooling, "");
  return table.parse({{"cooling", name}}, "a cooling").cooling;
}

}  // namespace

CoolingPolicy::CoolingPolicy(const char* name) : CoolingPolicy(policy_of(name)) {}
CoolingPolicy::CoolingPolicy(const std::string& name) : CoolingPolicy(policy_of(name)) {}

}  // namespace kiln
