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
  problem.name = std::move(name);
  problem.family = std::move(family);
  problem.rounding = model.rounding;
  problem.best_known = model.best_known;
  problem.best_known_source = std::move(model.best_known_source);
  problem.sizes.insert(problem.sizes.end(), std::make_move_iterator(model.sizes.begin()),
                       std::make_move_iterator(model.sizes.end()));
  problem.quantities = std::move(model.quantities);
  problem.posterior = model.posterior;
  if (model.to_written) {
    problem.format_solution = [to_written = std::move(model.to_written)](StateSpan state) {
      std::string text;
      for (const double value : to_written(std::get<Point>(state.front()))) {
        text += kiln::detail::show_real(value) + "\n";
      }
      return text;
    };
    problem.parse_solution = [from_written = std::move(model.from_written)](Point values) {
      return State{from_written(values)};
    };
  }
  problem.verify = [plain = std::move(model.plain)](StateSpan state) {
    return plain(std::get<Point>(state.front()));
  };
  return problem;
}

void append_indexed(std::vector<std::string>& names, const std::string& name, std::size_t count) {
  for (std::size_t i = 1; i <= count; ++i) names.push_back(name + "[" + std::to_string(i) + "]");
}

}  // namespace kiln::problems
