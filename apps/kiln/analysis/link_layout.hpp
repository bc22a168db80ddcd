// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "front/svg_canvas.hpp"

// Where the nodes of a graph are drawn. The same graph gets the same places.
namespace kiln::cli {

struct LayoutEdge {
  std::size_t first = 0, second = 0;  ///< nodes
  double weight = 1;                  ///< 0 .. 1; heavier edges pull more
};

/// Nodes on a circle, clockwise, the first at the top.
std::vector<Pixel> circle_places(std::size_t nodes, const Pixel& center, double radius);

/// How much room a node takes around its place: its mark and its name.
struct NodeRoom {
  double left = 0, right = 0, above = 0, below = 0;

  PixelBox around(const Pixel& at) const {
    return {at.x - left, at.y - above, left + right, above + below};
  }
};

/// Nodes that repel each other and are pulled together along edges, a fixed number of steps from a
/// circle; then those whose rooms overlap are moved apart.
/// @param area  no room of a node leaves it, if it is large enough
/// @par Source  T. M. J. Fruchterman and E. M. Reingold, "Graph drawing by force-directed
/// placement", Software: Practice and Experience 21 (1991).
std::vector<Pixel> force_places(const std::vector<NodeRoom>& rooms,
                                const std::vector<LayoutEdge>& edges, const PixelBox& area);

}  // namespace kiln::cli
