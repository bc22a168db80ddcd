// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/heat_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace kiln::cli {
namespace {

using Columns = std::vector<std::int32_t>;

/// Columns of the table in the order in which they are first seen: with the strongest link first.
class SeenColumns {
 public:
  void add(std::int32_t column) {
    if (known_.insert(column).second) order_.push_back(column);
  }
  /// The first `most` of them, in the order of the table.
  Columns kept(std::size_t most) const {
    Columns columns(order_.begin(),
                    order_.begin() + static_cast<std::ptrdiff_t>(std::min(most, order_.size())));
    std::ranges::sort(columns);
    return columns;
  }
  std::size_t count() const { return order_.size(); }

 private:
  Columns order_;
  std::set<std::int32_t> known_;
};

std::optional<std::size_t> place_of(std::int32_t column, const Columns& columns) {
  const auto found = std::ranges::lower_bound(columns, column);
  if (found == columns.end() || *found != column) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

HeatMatrix heat_matrix(const InformationMap& map, std::size_t most) {
  const std::vector<const InformationLink*> links = ranked_links(map);
  const bool pairs = has_source(map.measure);
  SeenColumns sources, targets, both;
  for (const InformationLink* link : links) {
    sources.add(pairs ? link->source : -1);
    targets.add(link->target);
    both.add(link->source);
    both.add(link->target);
  }
  // With one target a symmetric map is a row of it, else a square.
  const bool square = is_symmetric(map) && sources.count() > 1 && targets.count() > 1;
  const SeenColumns &rows = square ? both : sources, &columns = square ? both : targets;
  HeatMatrix matrix;
  matrix.sources = rows.kept(most);
  matrix.targets = columns.kept(most);
  matrix.left_out = rows.count() - matrix.sources.size();
  if (!square) matrix.left_out += columns.count() - matrix.targets.size();
  matrix.cells.resize(matrix.sources.size() * matrix.targets.size());
  const auto put = [&](const InformationLink* link, std::int32_t source, std::int32_t target) {
    const auto row = place_of(source, matrix.sources), column = place_of(target, matrix.targets);
    if (!row || !column) return;
    const InformationLink*& cell = matrix.cells[*row * matrix.targets.size() + *column];
    if (cell == nullptr) cell = link;  // the strongest comes first
    const double strength = strength_of(*link);
    if (std::isfinite(strength)) matrix.top = std::max(matrix.top, strength);
  };
  for (const InformationLink* link : links) {
    put(link, pairs ? link->source : -1, link->target);
    if (square) put(link, link->target, link->source);
  }
  return matrix;
}

}  // namespace kiln::cli
