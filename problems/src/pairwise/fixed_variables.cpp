// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/fixed_variables.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

#include "sha256.hpp"
#include "sum_of_terms.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse_fixed(const std::string& message, const std::string& expected) {
  throw InvalidArgument("problem.fixed", message, expected);
}

[[noreturn]] void refuse_model(const std::string& name) {
  refuse_fixed(name + ": variables of this model cannot be fixed",
               "a QUBO, an Ising model or a graph for Max-Cut");
}

/// Which variables are left, and what the others are.
class Places {
 public:
  /// @param low  the lower of the two values; the upper one is 1
  Places(std::int32_t n, std::span<const FixedVariable> fixed, std::int8_t low)
      : values_(static_cast<std::size_t>(n)), places_(static_cast<std::size_t>(n), 0) {
    for (const FixedVariable& one : fixed) {
      const std::string name = "variable " + std::to_string(one.variable);
      if (one.variable < 0 || one.variable >= n) {
        refuse_fixed(name + " is fixed and does not exist", "0 .. " + std::to_string(n - 1));
      }
      if (one.value != low && one.value != 1) {
        refuse_fixed(name + " is fixed at " + std::to_string(static_cast<int>(one.value)),
                     std::to_string(static_cast<int>(low)) + " or 1");
      }
      std::int32_t& place = places_[static_cast<std::size_t>(one.variable)];
      if (place == none) refuse_fixed(name + " is fixed twice", "each variable once");
      place = none;
      values_[static_cast<std::size_t>(one.variable)] = one.value;
    }
    for (std::int32_t& place : places_) place = place == none ? none : left_++;
  }

  std::int32_t left() const { return left_; }
  std::int64_t all() const { return std::ssize(places_); }
  bool is_fixed(std::int32_t i) const { return places_[static_cast<std::size_t>(i)] == none; }
  std::int32_t place(std::int32_t i) const { return places_[static_cast<std::size_t>(i)]; }
  double value(std::int32_t i) const { return values_[static_cast<std::size_t>(i)]; }

  /// All values, of the values of those that are left.
  std::vector<std::int8_t> whole(std::span<const std::int8_t> some) const {
    std::vector<std::int8_t> all = values_;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (places_[i] != none) all[i] = some[static_cast<std::size_t>(places_[i])];
    }
    return all;
  }
  /// The values of those that are left. @throws InvalidArgument for another number of values, and
  /// for other values of fixed ones.
  std::vector<std::int8_t> part(std::span<const std::int8_t> all) const {
    if (all.size() != places_.size()) {
      throw InvalidArgument("state.size", "a state has " + std::to_string(all.size()) + " values",
                            std::to_string(places_.size()) + ", those of fixed variables included");
    }
    std::vector<std::int8_t> some(static_cast<std::size_t>(left_));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] != none) {
        some[static_cast<std::size_t>(places_[i])] = all[i];
      } else if (all[i] != values_[i]) {
        refuse_fixed("value " + std::to_string(i + 1) + " of " + std::to_string(all.size()) +
                         " in a state is " + std::to_string(static_cast<int>(all[i])) +
                         ", but this variable is fixed",
                     "its fixed value " + std::to_string(static_cast<int>(values_[i])));
      }
    }
    return some;
  }

 private:
  static constexpr std::int32_t none = -1;
  std::vector<std::int8_t> values_;   // of fixed variables
  std::vector<std::int32_t> places_;  // among those that are left
  std::int32_t left_ = 0;
};

/// Adds up what is left of linear coefficients and of pairs.
/// @param make  a pair of two places and a coefficient
template <class Pair, class Make>
void reduce(const Places& places, const std::vector<double>& linear, const std::vector<Pair>& pairs,
            std::vector<double>& left, std::vector<Pair>& left_pairs, double& offset, Make make) {
  problems::TermSum constant;
  constant.add(offset);
  left.assign(static_cast<std::size_t>(places.left()), 0.0);
  const auto add = [&](std::int32_t i, double value) {
    if (places.is_fixed(i)) {
      constant.add(value * places.value(i));
    } else {
      left[static_cast<std::size_t>(places.place(i))] += value;
    }
  };
  for (std::size_t i = 0; i < linear.size(); ++i) add(static_cast<std::int32_t>(i), linear[i]);
  for (const Pair& pair : pairs) {
    const auto [i, j, value] = pair;
    if (places.is_fixed(i)) {
      add(j, value * places.value(i));
    } else if (places.is_fixed(j)) {
      add(i, value * places.value(j));
    } else {
      left_pairs.push_back(make(places.place(i), places.place(j), value));
    }
  }
  offset = constant.value();
}

Qubo reduced(const Qubo& qubo, const Places& places) {
  Qubo left{places.left(), {}, {}, qubo.offset};
  reduce(places, qubo.linear, qubo.quadratic, left.linear, left.quadratic, left.offset,
         [](std::int32_t i, std::int32_t j, double value) {
           return QuboTerm{i, j, value};
         });
  problems::canonicalize(left);
  return left;
}

Ising reduced(const Ising& ising, const Places& places) {
  Ising left{places.left(), {}, {}, ising.offset};
  reduce(places, ising.fields, ising.couplings, left.fields, left.couplings, left.offset,
         [](std::int32_t i, std::int32_t j, double value) {
           return Edge{i, j, value};
         });
  problems::canonicalize(left);
  return left;
}

/// cut(x) = sum of w (x_u + x_v - 2 x_u x_v)
Qubo qubo_of_cut(const Graph& graph) {
  Qubo qubo{
      graph.n_vertices, std::vector<double>(static_cast<std::size_t>(graph.n_vertices)), {}, 0};
  for (const Edge& edge : graph.edges) {
    qubo.linear[static_cast<std::size_t>(edge.u)] += edge.weight;
    qubo.linear[static_cast<std::size_t>(edge.v)] += edge.weight;
    qubo.quadratic.push_back({edge.u, edge.v, -2 * edge.weight});
  }
  return qubo;
}

/// Sides 0 and 1 are the spins +1 and -1.
void turn_to_spins(std::vector<std::int8_t>& sides) {
  for (std::int8_t& side : sides) side = side == 0 ? std::int8_t{1} : std::int8_t{-1};
}

void turn_to_sides(std::vector<std::int8_t>& spins) {
  for (std::int8_t& spin : spins) spin = spin > 0 ? std::int8_t{0} : std::int8_t{1};
}

/// @param low  the lower of the two values
std::vector<std::int8_t> two_values(std::span<const double> values, double low) {
  std::vector<std::int8_t> bytes;
  for (const double value : values) {
    if (value != low && value != 1) {
      throw InvalidArgument("state.value", "a variable is " + detail::show_real(value),
                            low < 0 ? "-1 or 1" : "0 or 1");
    }
    bytes.push_back(static_cast<std::int8_t>(value));
  }
  return bytes;
}

std::span<const std::int8_t> bytes_of(StateSpan state) {
  return std::get<std::span<const std::int8_t>>(state.front());
}

/// Solutions with all variables, from the functions of the whole problem.
void write_whole_solutions(Problem& problem, const Problem& whole, const Places& places,
                           bool sides) {
  const auto all = [places, sides](StateSpan state) -> State {
    std::vector<std::int8_t> values = places.whole(bytes_of(state));
    if (sides) turn_to_spins(values);
    return {std::move(values)};
  };
  problem.solution = {};
  problem.solution.whole = all;
  problem.solution.whole_variables = places.all();
  problem.solution.verify = [all, verify = whole.solution.verify](StateSpan state) {
    const State full = all(state);
    return verify(spans_of(full));
  };
  problem.solution.format = [all, format = whole.solution.format](StateSpan state) {
    const State full = all(state);
    return format(spans_of(full));
  };
  const bool spins = whole.objective->space().blocks().front().kind == BlockKind::spin;
  problem.solution.parse = [places, sides, spins,
                            parse = whole.solution.parse](std::span<const double> values) -> State {
    if (!sides) return {places.part(two_values(values, spins ? -1 : 0))};
    State full = parse(values);
    auto& bytes = std::get<std::vector<std::int8_t>>(full.front());
    turn_to_sides(bytes);
    return {places.part(bytes)};
  };
  // Of sums that are rounded both the reduced coefficients and the values of the whole differ; a
  // sum of fractions may be a whole number only because it is rounded.
  problem.units.rounding += whole.units.rounding;
  problem.units.integral = problem.units.integral && whole.units.integral;
}

/// Tells models with other fixed variables, or other values of them, apart.
std::string fingerprint_of(const Model& model, std::span<const FixedVariable> fixed) {
  std::vector<FixedVariable> in_order(fixed.begin(), fixed.end());
  std::ranges::sort(in_order, {}, &FixedVariable::variable);
  problems::detail::Sha256 hash;
  hash.update(model.fingerprint());
  for (const FixedVariable& one : in_order) {
    hash.update(" " + std::to_string(one.variable) + "=" + std::to_string(int{one.value}));
  }
  return hash.hex().substr(0, 16);
}

}  // namespace

namespace problems {

Qubo fix_variables(const Qubo& qubo, std::span<const FixedVariable> fixed) {
  Qubo whole = qubo;
  canonicalize(whole);
  return reduced(whole, Places(whole.n, fixed, 0));
}

Ising fix_variables(const Ising& ising, std::span<const FixedVariable> fixed) {
  Ising whole = ising;
  canonicalize(whole);
  return reduced(whole, Places(whole.n, fixed, -1));
}

}  // namespace problems

Problem make_pairwise_fixed(PairwiseModel model, std::span<const FixedVariable> fixed, Sense sense,
                            std::string name) {
  const auto* const graph = std::get_if<Graph>(&model);
  const auto* const ising = std::get_if<Ising>(&model);
  const auto* const qubo = std::get_if<Qubo>(&model);
  if (graph == nullptr && ising == nullptr && qubo == nullptr) {
    refuse_model(name);
  }
  const std::int32_t n = graph != nullptr   ? graph->n_vertices
                         : ising != nullptr ? ising->n
                                            : qubo->n;
  const Places places(n, fixed, ising != nullptr ? std::int8_t{-1} : std::int8_t{0});
  if (places.left() == 0)
    refuse_fixed(name + ": all variables are fixed", "at least one variable that is not fixed");
  PairwiseModel left;
  if (ising != nullptr) {
    left = problems::fix_variables(*ising, fixed);
  } else {
    left = problems::fix_variables(graph != nullptr ? qubo_of_cut(*graph) : *qubo, fixed);
  }
  Problem problem = make_pairwise(std::move(left), sense, name);
  const bool sides = graph != nullptr;
  const Problem whole = make_pairwise(std::move(model), sense, name);
  problem.identity.family = whole.identity.family;
  problem.identity.sizes.emplace_back("fixed", std::to_string(fixed.size()));
  problem.units.value_name = whole.units.value_name;
  problem.known = {};
  write_whole_solutions(problem, whole, places, sides);
  return problem;
}

Problem make_fixed(const Model& model, std::span<const FixedVariable> fixed, Sense sense,
                   std::string name) {
  PairwiseModel data;
  if (const auto* const graph = model.as<Graph>()) {
    data = *graph;
  } else if (const auto* const qubo = model.as<Qubo>()) {
    data = *qubo;
  } else if (const auto* const ising = model.as<Ising>()) {
    data = *ising;
  } else {
    refuse_model(name);
  }
  Problem problem = make_pairwise_fixed(std::move(data), fixed, sense, std::move(name));
  problem.identity.fingerprint = fingerprint_of(model, fixed);
  return problem;
}

}  // namespace kiln
