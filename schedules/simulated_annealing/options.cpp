// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_annealing/options.hpp"

#include <cstdint>
#include <limits>
#include <optional>

#include "shared/complaints.hpp"

namespace kiln {

const OptionTable<SimulatedAnnealingOptions>& SimulatedAnnealingOptions::table() {
  using O = SimulatedAnnealingOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr std::int64_t many = std::int64_t{1} << 53;
  static const auto table =
      OptionTable<O>()
          .alternatives("cooling", &O::cooling,
                        "Rule by which the inverse temperature beta rises during an anneal.",
                        "Automatic takes `linear` if Kiln knows the energy scale of the problem "
                        "before the run, else `geometric`.")
          .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
                "Inverse temperature at the start of an anneal.",
                "0 chooses a value at which most moves are accepted.")
          .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
                "Inverse temperature at the end of an anneal.",
                "0 chooses a value at which few uphill moves are accepted.")
          .real("beta_min_last", &O::beta_min_last, {0, huge, Automatic{0}}, "1/energy",
                "Value of beta_min for the last group.",
                "From the first group to the last group the values are spaced by equal factors. 0 "
                "takes beta_min for all groups.")
          .real("beta_max_last", &O::beta_max_last, {0, huge, Automatic{0}}, "1/energy",
                "Value of beta_max for the last group.",
                "From the first group to the last group the values are spaced by equal factors. 0 "
                "takes beta_max for all groups.")
          .integer(
              "anneal_sweeps", &O::anneal_sweeps, {0, many, Automatic{0}}, "sweeps",
              "Number of sweeps of one anneal.",
              "0 takes the value of --sweeps. If --sweeps is not set, 0 takes 1000 sweeps for "
              "the first round, 512 with at least 512 replicas in a group, or 256 with at least "
              "1024, and `growth` sets "
              "the lengths of later rounds.")
          .integer("polish_sweeps", &O::polish_sweeps, {-1, many, Automatic{-1}}, "sweeps",
                   "Number of final sweeps of each anneal that accept no uphill move.",
                   "-1 takes a twentieth of the sweeps of the first anneal, at most 16 sweeps.")
          .integer("growth", &O::growth, {0, 16, Automatic{0}}, "",
                   "Length of each round divided by the length of the round before.",
                   "0 takes 2 if neither --sweeps nor anneal_sweeps is set, else 1.")
          .choice("restart", &O::restart, {"automatic", "random", "best", "current", "crossover"},
                  "Initial states of every round after the first.",
                  "`random` draws new states. `best` takes the best state of each replica. "
                  "`current` takes the final states of the round before. `crossover` takes "
                  "clusters of spins from pairs of states, and reheats 16 times before it draws "
                  "new states. Automatic takes `crossover` for large sparse models, else `random`.")
          .real("reheat", &O::reheat, {0, 1, Automatic{0}}, "",
                "Fraction of the range beta_min .. beta_max that later rounds reheat.",
                "0 takes 1 for restart=random, 0.5 for restart=best and restart=current, and "
                "derives the fraction from the couplings for restart=crossover.")
          .integer("groups", &O::groups, {1, INT32_MAX}, "",
                   "Number of groups of replicas: independent anneals in one batch.",
                   "Each group has separate random numbers. The number of groups must divide the "
                   "number of replicas.")
          .choice("moves", &O::moves, {"metropolis", "heat-bath"},
                  "Rule by which a sweep updates a variable.",
                  "`metropolis` accepts or rejects a proposed value. `heat-bath` draws a value "
                  "from the conditional Boltzmann distribution of the variable.")
          .choice("noise", &O::noise, {"independent", "shared"},
                  "Random numbers that decide the attempts of a sweep.",
                  "`independent` gives each replica separate numbers. `shared` gives 32 replicas "
                  "the same number for a variable and sweep: sweeps are faster, and the "
                  "replicas depend on each other. `shared` needs a sparse model with small "
                  "integers, and groups of 32, 64, ... replicas.");
  return table;
}

std::int64_t window_of(const SimulatedAnnealingOptions& options) {
  if (const auto* adaptive = std::get_if<AdaptiveCooling>(&options.cooling)) {
    return adaptive->window;
  }
  const auto* pid = std::get_if<PidCooling>(&options.cooling);
  return pid != nullptr ? pid->window : 0;
}

bool cools_by_position(const SimulatedAnnealingOptions& options) {
  return std::holds_alternative<AutomaticCooling>(options.cooling) ||
         std::holds_alternative<LinearCooling>(options.cooling) ||
         std::holds_alternative<GeometricCooling>(options.cooling);
}

namespace {

/// Moves the former fields of the policy that is visited.
class FormerFields {
 public:
  FormerFields(const SimulatedAnnealingOptions& options, std::vector<std::string>& complaints)
      : former_(options), complaints_(complaints) {}

  void operator()(ExponentialCooling& policy) {
    move("cooling_factor", former_.cooling_factor.given(), "factor", policy,
         &ExponentialCooling::factor);
  }
  void operator()(LogarithmicCooling& policy) {
    move("cooling_rate", former_.cooling_rate.given(), "rate", policy, &LogarithmicCooling::rate);
  }
  void operator()(ListCooling& policy) {
    move("betas", former_.betas.given(), "betas", policy, &ListCooling::betas);
  }
  void operator()(AdaptiveCooling& policy) {
    move("gain", former_.gain.given(), "gain", policy, &AdaptiveCooling::gain);
    move_target(policy);
  }
  void operator()(PidCooling& policy) {
    move("pid_proportional", former_.pid_proportional.given(), "gain", policy, &PidCooling::gain);
    move("pid_integral", former_.pid_integral.given(), "integral", policy, &PidCooling::integral);
    move("pid_derivative", former_.pid_derivative.given(), "derivative", policy,
         &PidCooling::derivative);
    move_target(policy);
  }
  void operator()(const auto&) {}

 private:
  template <class Policy>
  void move_target(Policy& policy) {
    move("acceptance_begin", former_.acceptance_begin.given(), "acceptance_begin", policy,
         &Policy::acceptance_begin);
    move("acceptance_end", former_.acceptance_end.given(), "acceptance_end", policy,
         &Policy::acceptance_end);
    move("window", former_.window.given(), "window", policy, &Policy::window);
  }

  template <class Policy, class Value>
  void move(const std::string& former_name, const std::optional<Value>& former,
            const std::string& name, Policy& policy, Value Policy::*member) {
    if (!former || *former == policy.*member) return;
    if (policy.*member != Policy{}.*member) {
      const std::string now = std::string(Policy::option_name) + "." + name;
      complaints_.push_back(detail::given_twice(former_name, now));
    }
    policy.*member = *former;
  }

  const SimulatedAnnealingOptions& former_;
  std::vector<std::string>& complaints_;
};

void move_former_fields(SimulatedAnnealingOptions& options, std::vector<std::string>& complaints) {
  std::visit(FormerFields(options, complaints), static_cast<CoolingVariant&>(options.cooling));
  if (options.betas.given() && !std::holds_alternative<ListCooling>(options.cooling)) {
    complaints.push_back("'betas' is a member of ListCooling, and cooling is " +
                         std::string(options.cooling.name()) +
                         "; give cooling = ListCooling{betas}");
  }
  options.cooling_factor = options.cooling_rate = options.gain = {};
  options.acceptance_begin = options.acceptance_end = {};
  options.pid_proportional = options.pid_integral = options.pid_derivative = {};
  options.window = {};
  options.betas = {};
}

}  // namespace

void settle(SimulatedAnnealingOptions& options, std::vector<std::string>& complaints) {
  move_former_fields(options, complaints);
  for (std::string& complaint : SimulatedAnnealingOptions::table().validate(options)) {
    complaints.push_back(std::move(complaint));
  }
  complain_about_betas(complaints, options);
  const auto* list = std::get_if<ListCooling>(&options.cooling);
  if (list != nullptr && list->betas.empty()) {
    complaints.push_back(
        "list.betas is empty; expected inverse temperatures, for example list.betas=0.1,0.5,1,2");
  }
  if (options.anneal_sweeps > 0 && options.polish_sweeps >= options.anneal_sweeps) {
    complaints.push_back("polish_sweeps must be smaller than anneal_sweeps");
  }
  if (options.restart == "crossover" && !cools_by_position(options)) {
    complaints.push_back("restart=crossover needs cooling=automatic, linear or geometric");
  }
  if (options.noise == "shared" && options.moves == "heat-bath") {
    complaints.push_back(
        "noise=shared needs moves=metropolis: heat-bath replicas with the same random numbers "
        "become equal");
  }
  const bool spread = options.beta_min_last > 0 || options.beta_max_last > 0;
  if (spread && options.groups < 2) {
    complaints.push_back("beta_min_last and beta_max_last need groups, for example groups=16");
  }
}

void complain_unless_shared(const SimulatedAnnealingOptions& first,
                            const SimulatedAnnealingOptions& other,
                            std::vector<std::string>& complaints) {
  const bool shared = first.anneal_sweeps == other.anneal_sweeps &&
                      first.polish_sweeps == other.polish_sweeps && first.growth == other.growth &&
                      first.restart == other.restart && first.moves == other.moves &&
                      first.noise == other.noise;
  if (shared) return;
  complaints.push_back(
      "anneal_sweeps, polish_sweeps, growth, restart, moves and noise must equal those of group 0");
}

}  // namespace kiln
