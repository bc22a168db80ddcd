// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/queue.hpp"

#include "analysis/slice.hpp"

namespace kiln::cli {

struct LandscapeOptions {
  double threshold = 0.01;  ///< share of the range of values, 0 .. 1: lower barriers make no basin
  std::int32_t window = 9;  ///< of the local entropy, points along a side
};

/// A region of a slice from which all ways down lead to one minimum, together with the regions
/// that only a barrier below the threshold divides from it.
struct Basin {
  std::int32_t minimum = 0;  ///< a point of the grid
  double share = 0;          ///< of the points that have a value
  /// How far one must climb from the minimum to reach a deeper one, in stored units; nothing where
  /// no way leads to a deeper one within the slice.
  std::optional<double> barrier{};
  std::int32_t saddle = -1;     ///< the point where that way is highest
  std::int32_t behind_it = -1;  ///< the number of the basin on the other side
};

/// What a slice looks like.
struct Landscape {
  Slice slice;
  LandscapeOptions options;
  double least = 0, greatest = 0;      ///< values of the slice, stored units
  double threshold = 0;                ///< of barriers, stored units
  std::vector<Basin> basins;           ///< deepest first
  std::int64_t shallow = 0;            ///< further minima, with barriers below the threshold
  std::vector<std::int32_t> basin_of;  ///< [y][x], a number of a basin; -1 without a value
  /// Mean of the local entropy of all points with a value, nats, and the most that it could be.
  double ruggedness = 0, max_ruggedness = 0;

  /// The highest barrier, in units of the energy; 0 if there is none.
  double highest_barrier() const;
};

/// Finds basins, barriers and ruggedness of a slice. Points are neighbours along and across.
Landscape landscape_of(Slice slice, const LandscapeOptions& options, Queue& queue);

/// Advice on the barriers, in sentences.
std::vector<std::string> advice_of(const Landscape& landscape);

/// For a terminal. @param columns  of a line
std::string text_of(const Landscape& landscape, std::size_t columns);
nlohmann::ordered_json json_of(const Landscape& landscape);
/// A document with the values as bands of colour, the minima, the saddles and a scale.
std::string landscape_svg(const Landscape& landscape);

}  // namespace kiln::cli
