// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/map_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

std::string counted(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// "4" or "3 .. 7": of all estimates that have a number.
std::string range_words(const InformationMap& map, std::int32_t InformationEstimate::*number) {
  std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = 0;
  for (const InformationLink& link : map.links) {
    const std::int32_t value = link.estimate.*number;
    if (value <= 0) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (high == 0) return {};
  return low == high ? fmt::format("{}", low) : fmt::format("{} .. {}", low, high);
}

}  // namespace

const char* name_of(InformationUnit unit) noexcept {
  return unit == InformationUnit::bits ? "bits" : "nats";
}

double in_unit(double nats, InformationUnit unit) noexcept {
  constexpr double nats_per_bit = 0.69314718055994530942;
  return unit == InformationUnit::bits ? nats / nats_per_bit : nats;
}

const char* words_of(InformationMeasure measure) noexcept {
  switch (measure) {
    case InformationMeasure::mutual_information:
      return "mutual information";
    case InformationMeasure::conditional_mutual_information:
      return "conditional mutual information";
    case InformationMeasure::transfer_entropy:
      return "transfer entropy";
    case InformationMeasure::active_storage:
      return "active information storage";
    case InformationMeasure::entropy:
      return "entropy";
    case InformationMeasure::conditional_entropy:
      return "conditional entropy";
    case InformationMeasure::binned_mutual_information:
      return "mutual information of bins";
  }
  return "?";
}

bool has_source(InformationMeasure measure) noexcept {
  return measure != InformationMeasure::active_storage && measure != InformationMeasure::entropy;
}

bool is_symmetric(const InformationMap& map) noexcept {
  const bool symmetric = map.measure == InformationMeasure::mutual_information ||
                         map.measure == InformationMeasure::conditional_mutual_information ||
                         map.measure == InformationMeasure::binned_mutual_information;
  return symmetric && !has_lags(map);
}

bool is_tested(const InformationMap& map) noexcept { return map.surrogates > 0; }

bool has_lags(const InformationMap& map) noexcept {
  return std::ranges::any_of(map.links, [](const InformationLink& link) { return link.lag != 0; });
}

bool has_several_lags(const InformationMap& map) noexcept {
  return std::ranges::any_of(
      map.links, [&](const InformationLink& link) { return link.lag != map.links.front().lag; });
}

double strength_of(const InformationLink& link) noexcept {
  const double effective = link.estimate.effective;
  return std::isnan(effective) ? link.estimate.value : effective;
}

std::string strength_words(const InformationMap& map) {
  return fmt::format("{}{}", is_tested(map) ? "effective " : "", words_of(map.measure));
}

std::vector<const InformationLink*> ranked_links(const InformationMap& map) {
  const bool symmetric = is_symmetric(map);
  std::vector<const InformationLink*> links;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const InformationLink& link : map.links) {
    if (symmetric && !seen.insert(std::minmax({link.source, link.target})).second) continue;
    links.push_back(&link);
  }
  const auto rank = [](const InformationLink* link) {
    const double strength = strength_of(*link);
    return std::isnan(strength) ? -std::numeric_limits<double>::infinity() : strength;
  };
  std::ranges::stable_sort(links, std::ranges::greater(), rank);
  return links;
}

std::string column_name(const InformationMap& map, std::int32_t column) {
  const bool known = column >= 0 && static_cast<std::size_t>(column) < map.names.size();
  return known ? clean(map.names[static_cast<std::size_t>(column)]) : "?";
}

std::string link_name(const InformationMap& map, const InformationLink& link) {
  std::string name = column_name(map, link.target);
  if (has_source(map.measure)) {
    name = fmt::format("{} {} {}", column_name(map, link.source), is_symmetric(map) ? "<->" : "->",
                       name);
  }
  return link.lag == 0 ? name : fmt::format("{}, lag {}", name, link.lag);
}

std::string remark_of(const InformationMap& map, const InformationLink& link) {
  switch (link.estimate.status) {
    case InformationStatus::ok:
      return {};
    case InformationStatus::constant:
      return "no information: constant";
    case InformationStatus::unbounded:
      return has_source(map.measure)
                 ? fmt::format("infinite: copy of '{}'", column_name(map, link.source))
                 : "infinite: copy of another column";
    case InformationStatus::biased:
      return "biased: the value changes with k";
  }
  return {};
}

std::string count_words(const InformationMap& map) {
  const std::vector<const InformationLink*> links = ranked_links(map);
  std::string text = fmt::format("{}", links.size());
  if (is_tested(map)) {
    text += fmt::format(", {} of them significant",
                        std::ranges::count_if(links, &InformationLink::significant));
  }
  return text;
}

std::string rate_words(const InformationMap& map) {
  return fmt::format("a false discovery rate of {:.4g} %", 100 * map.false_discovery_rate);
}

std::string basis_words(const InformationMap& map) {
  std::string text = fmt::format("{}, {}", counted(static_cast<std::size_t>(map.rows), "row"),
                                 counted(map.names.size(), "column"));
  if (is_tested(map)) {
    text += ", " + counted(static_cast<std::size_t>(map.surrogates), "surrogate");
  }
  const std::string neighbors = range_words(map, &InformationEstimate::k);
  if (!neighbors.empty()) text += ", k = " + neighbors;
  return text;
}

std::string value_text(double nats, InformationUnit unit) {
  const double value = in_unit(nats, unit);
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::abs(value) >= 1e6) return fmt::format("{:.4g}", value);
  const std::string text = fmt::format("{:.4f}", value);
  return text == "-0.0000" ? "0.0000" : text;
}

std::string probability_text(double probability) {
  return std::isnan(probability) ? "-" : fmt::format("{:.3g}", probability);
}

}  // namespace kiln::cli
