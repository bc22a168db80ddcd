// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_warning.hpp"

#include <fmt/format.h>

#include "kiln/tuning/tune_file.hpp"
#include "kiln/tuning/tuned_shapes.hpp"

#include "output/text.hpp"
#include "tune/tune_report.hpp"

namespace kiln::cli {

std::string tuning_command(const DeviceInfo& device) {
  const std::string fix = tune_remedy(device).fix;
  return fix.empty() ? "kiln tune --device " + device.name : fix;
}

std::string tuning_warning(const DeviceInfo& device) {
  const auto shapes = tuned_shapes_of(device);
  if (!shapes || shapes->complaint().empty()) return {};
  return fmt::format("warning[{}]: {}; fix: {}\n", tune_remedy(device).code,
                     clean(shapes->complaint()), tuning_command(device));
}

bool has_tuned_shapes(const DeviceInfo& device) {
  const auto shapes = tuned_shapes_of(device);
  return shapes && !shapes->choices().empty();
}

std::string tuning_text(const DeviceInfo& device) {
  const auto shapes = tuned_shapes_of(device);
  if (!shapes || shapes->choices().empty()) return "no launch shape is tuned: all are defaults";
  std::string text;
  for (const TunedShapes::Choice& one : shapes->choices()) {
    text += fmt::format("{}{} {} for {}", text.empty() ? "" : ", ", one.tunable->name(),
                        one.tunable->text_of(one.shape), short_bucket(one.bucket));
  }
  return text;
}

}  // namespace kiln::cli
