// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// A graph whose vertices are coloured, with what is known of its colourings, on the host.
struct ColoringModel {
  static constexpr std::int32_t max_colors = 65535;

  std::int32_t vertices = 0;
  std::int32_t values = 2;              ///< 2 .. max_colors, values of a variable
  bool fewest = false;                  ///< as few colours as possible, else `values` of them
  std::vector<std::int64_t> row_begin;  ///< [vertices + 1]
  std::vector<std::int32_t> neighbor;   ///< both directions of every edge, rising in each row
  std::vector<std::int32_t> first;      ///< [vertices], the colouring that a search begins with
  std::int32_t lower_bound = 1;         ///< vertices of a clique: so many colours are needed
};

/// Of objectives whose state is a colouring: for schedules that have moves of their own for it.
///
/// One block of categories in Layout::i32. Energy of `fewest`: the highest colour + 1 where no edge
/// joins equal colours, else vertices + conflicts, which is more than any colouring needs. Energy
/// of a given number of colours: the conflicts.
class KILN_API ColoringModelled {
 public:
  static constexpr std::string_view interface_name = "colouring model";
  virtual const ColoringModel& coloring_model() const = 0;

 protected:
  ~ColoringModelled() = default;
};

}  // namespace kiln
