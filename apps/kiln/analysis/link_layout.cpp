// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/link_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kiln::cli {
namespace {

constexpr int force_steps = 400, overlap_steps = 600;
constexpr double min_distance = 1e-3;

/// The place nearest to another one at which the room of a node is within the area.
Pixel within(const PixelBox& area, const NodeRoom& room, const Pixel& at) {
  const auto nearest = [](double x, double low, double high) {
    return low > high ? (low + high) / 2 : std::clamp(x, low, high);
  };
  return {nearest(at.x, area.x + room.left, area.x + area.width - room.right),
          nearest(at.y, area.y + room.above, area.y + area.height - room.below)};
}

/// The force on each node.
std::vector<Pixel> forces_on(const std::vector<Pixel>& places, const std::vector<LayoutEdge>& edges,
                             const Pixel& center, double length) {
  std::vector<Pixel> forces(places.size());
  const auto add = [&](std::size_t first, std::size_t second, const Pixel& force) {
    forces[first].x += force.x;
    forces[first].y += force.y;
    forces[second].x -= force.x;
    forces[second].y -= force.y;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      const double x = places[i].x - places[j].x, y = places[i].y - places[j].y;
      const double squared = std::max(x * x + y * y, min_distance);
      const double strength = length * length / squared;
      add(i, j, {strength * x, strength * y});
    }
    // Holds parts of the graph together that no edge connects.
    forces[i].x += 0.08 * (center.x - places[i].x);
    forces[i].y += 0.08 * (center.y - places[i].y);
  }
  for (const LayoutEdge& edge : edges) {
    const Pixel &a = places[edge.first], &b = places[edge.second];
    const double x = b.x - a.x, y = b.y - a.y;
    const double strength = (0.3 + 0.7 * edge.weight) * std::sqrt(x * x + y * y) / length;
    add(edge.first, edge.second, {strength * x, strength * y});
  }
  return forces;
}

/// Moves two nodes apart along the axis on which their rooms overlap less; false if they do not.
bool move_apart(const std::vector<NodeRoom>& rooms, std::size_t i, std::size_t j,
                std::vector<Pixel>& places) {
  const PixelBox a = rooms[i].around(places[i]), b = rooms[j].around(places[j]);
  if (!a.overlaps(b)) return false;
  const double right = a.x + a.width - b.x, left = b.x + b.width - a.x;
  const double down = a.y + a.height - b.y, up = b.y + b.height - a.y;
  const double across = std::min(left, right), along = std::min(up, down);
  // A little more than half each, so that rounding ends it.
  if (across < along) {
    const double shift = (right < left ? -0.51 : 0.51) * across;
    places[i].x += shift;
    places[j].x -= shift;
  } else {
    const double shift = (down < up ? -0.51 : 0.51) * along;
    places[i].y += shift;
    places[j].y -= shift;
  }
  return true;
}

void remove_overlaps(const std::vector<NodeRoom>& rooms, const PixelBox& area,
                     std::vector<Pixel>& places) {
  bool overlap = true;
  for (int step = 0; overlap && step < overlap_steps; ++step) {
    overlap = false;
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        if (!move_apart(rooms, i, j, places)) continue;
        overlap = true;
        places[i] = within(area, rooms[i], places[i]);
        places[j] = within(area, rooms[j], places[j]);
      }
    }
  }
}

}  // namespace

std::vector<Pixel> circle_places(std::size_t nodes, const Pixel& center, double radius) {
  std::vector<Pixel> places;
  for (std::size_t i = 0; i < nodes; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(nodes);
    places.push_back({center.x + radius * std::sin(angle), center.y - radius * std::cos(angle)});
  }
  return places;
}

std::vector<Pixel> force_places(const std::vector<NodeRoom>& rooms,
                                const std::vector<LayoutEdge>& edges, const PixelBox& area) {
  const std::size_t nodes = rooms.size();
  if (nodes == 0) return {};
  const Pixel center{area.x + area.width / 2, area.y + area.height / 2};
  std::vector<Pixel> places = circle_places(nodes, center, 0.4 * std::min(area.width, area.height));
  const double length = 0.75 * std::sqrt(area.width * area.height / static_cast<double>(nodes));
  for (int step = 0; step < force_steps; ++step) {
    const std::vector<Pixel> forces = forces_on(places, edges, center, length);
    const double longest = 0.1 * area.width * (1 - static_cast<double>(step) / force_steps);
    for (std::size_t i = 0; i < nodes; ++i) {
      const double size = std::sqrt(forces[i].x * forces[i].x + forces[i].y * forces[i].y);
      const double scale = size > longest ? longest / size : 1;
      places[i] = within(area, rooms[i],
                         {places[i].x + scale * forces[i].x, places[i].y + scale * forces[i].y});
    }
  }
  remove_overlaps(rooms, area, places);
  return places;
}

}  // namespace kiln::cli
