// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "density_model.hpp"

#include <iterator>

#include "kiln/options.hpp"

namespace kiln::problems {

Problem to_problem(DensityModel model, std::string name, std::string family) {
  if (model.box.empty()) {
    model.box.resize(static_cast<std::size_t>(model.source->dimension()));
  }
  Problem problem =
      make_problem(make_density_objective(name, std::move(model.source), std::move(model.box)));
  problem.identity.name = std::move(name);
  problem.identity.family = std::move(family);
  problem.units.rounding = model.rounding;
  problem.known.best = model.best_known;
  problem.known.best_source = std::move(model.best_known_source);
  problem.identity.sizes.insert(problem.identity.sizes.end(),
                                std::make_move_iterator(model.sizes.begin()),
                                std::make_move_iterator(model.sizes.end()));
  problem.posterior = std::move(model.posterior);
  if (model.to_written) {
    problem.solution.format = [to_written = std::move(model.to_written)](StateSpan state) {
      std::string text;
      for (const double value : to_written(std::get<Point>(state.front()))) {
        text += kiln::detail::show_real(value) + "\n";
      }
      return text;
    };
    problem.solution.parse = [from_written = std::move(model.from_written)](Point values) {
      return State{from_written(values)};
    };
  }
  problem.solution.verify = [plain = std::move(model.plain)](StateSpan state) {
    return plain(std::get<Point>(state.front()));
  };
  return problem;
}

void append_indexed(std::vector<std::string>& names, const std::string& name, std::size_t count) {
  for (std::size_t i = 1; i <= count; ++i) names.push_back(name + "[" + std::to_string(i) + "]");
}

}  // namespace kiln::problems
