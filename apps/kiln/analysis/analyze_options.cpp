// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/analyze_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "kiln/errors.hpp"

#include "output/text.hpp"

namespace kiln::cli {

std::int64_t count_in(const std::string& name, const std::string& text, std::int64_t low,
                      std::int64_t high) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) return value;
  const std::int64_t example = std::clamp<std::int64_t>(4, low, high);
  throw InvalidArgument(
      "cli.range",
      fmt::format("--{} '{}' is no whole number from {} to {}", name, clean(text), low, high), {},
      fmt::format("for example --{} {}", name, example));
}

std::int64_t count_option(const Arguments& arguments, const std::string& name, std::int64_t low,
                          std::int64_t high, std::int64_t otherwise) {
  return arguments.has(name) ? count_in(name, arguments.text(name), low, high) : otherwise;
}

double rate_option(const Arguments& arguments) {
  if (!arguments.has("fdr")) return 0.05;
  const std::optional<double> rate = number_in(arguments.text("fdr"));
  if (rate && *rate > 0 && *rate <= 1) return *rate;
  throw InvalidArgument(
      "cli.range",
      fmt::format("--fdr '{}' is no rate above 0 and at most 1", clean(arguments.text("fdr"))), {},
      "for example --fdr 0.05");
}

RunOptions device_options(const Arguments& arguments) {
  RunOptions options;
  if (arguments.has("device")) options.device = arguments.text("device");
  options.threads = static_cast<int>(count_option(arguments, "threads", 1, 4096, 0));
  options.seed = static_cast<std::uint64_t>(
      count_option(arguments, "seed", 0, std::numeric_limits<std::int64_t>::max(), 1));
  return options;
}

}  // namespace kiln::cli
