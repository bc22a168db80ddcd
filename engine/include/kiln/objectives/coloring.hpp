// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// A graph whose vertices are coloured, with known bounds and a first colouring, on the host.
struct ColoringModel {
  static constexpr std::int32_t max_colors = 65535;

  std::int32_t vertices = 0;
  std::int32_t values = 2;  ///< 2 .. max_colors, values of a variable
  bool fewest = false;      ///< minimise the number of colours, else use `values` of them
  std::vector<std::int64_t> row_begin;  ///< [vertices + 1]
  std::vector<std::int32_t> neighbor;   ///< both directions of every edge, rising in each row
  std::vector<std::int32_t> first;      ///< [vertices], the initial colouring of a search
  std::int32_t lower_bound = 1;  ///< vertices of a clique, hence the number of colours needed
};

/// Ability of objectives whose state is a colouring, for schedules with special moves for them.
///
/// One block of categories in Layout::i32 or Layout::i8. With `fewest` the energy is the highest
/// colour + 1 if no edge joins equal colours, else vertices + conflicts, which is more than any
/// colouring needs. With a given number of colours it is the number of conflicts.
class KILN_API ColoringModelled {
 public:
  static constexpr std::string_view interface_name = "colouring model";
  virtual const ColoringModel& coloring_model() const = 0;

 protected:
  ~ColoringModelled() = default;
};

}  // namespace kiln
