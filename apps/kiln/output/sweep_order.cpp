// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/sweep_order.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/objectives/draws_planes.hpp"

namespace kiln::cli {

std::string sweep_order_text(const Objective& objective) {
  const auto* const model = objective.as<DrawsPlanes>();
  if (model == nullptr) return {};
  const SweepOrder order = model->sweep_order();
  std::string text = order.classes == 0
                         ? std::string("Variables are swept one by one.\n")
                         : fmt::format("Variables are swept in {} colour class{}.\n", order.classes,
                                       order.classes == 1 ? "" : "es");
  text += fmt::format("The largest |h| + sum |J| of a variable is {:.6g} in stored units.\n",
                      order.largest_sum);
  const std::string obstacle = model->obstacle_to_planes();
  if (!obstacle.empty()) return text + fmt::format("Runs draw by words: {}.\n", obstacle);
  return text +
         "Runs draw by planes: simulated and population annealing with groups of a multiple of 32 "
         "replicas, and parallel tempering with a multiple of 32 ladders. Other runs draw by "
         "words.\n";
}

nlohmann::ordered_json sweep_order_json(const Objective& objective) {
  using Json = nlohmann::ordered_json;
  const auto* const model = objective.as<DrawsPlanes>();
  if (model == nullptr) return nullptr;
  const SweepOrder order = model->sweep_order();
  const std::string obstacle = model->obstacle_to_planes();
  const DrawNaming naming = obstacle.empty() ? DrawNaming::planes : DrawNaming::words;
  return {{"classes", order.classes == 0 ? Json(nullptr) : Json(order.classes)},
          {"largest_sum", order.largest_sum},
          {"draws", to_string(naming)},
          {"obstacle", obstacle.empty() ? Json(nullptr) : Json(obstacle)}};
}

}  // namespace kiln::cli
