// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/landscape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kiln/kernels/landscape/local_entropy.hpp"
#include "kiln/kernels/landscape/sublevel_persistence.hpp"

namespace kiln::cli {
namespace {

using Pixels = std::vector<std::int32_t>;

constexpr std::int32_t none = -1;

std::size_t idx(std::int32_t i) { return static_cast<std::size_t>(i); }

struct Persistence {
  Pixels basin, death;  // as of SublevelPersistence
};

Persistence persistence_of(const PixelGrid& grid, View1<double> value, Queue& queue) {
  const std::int64_t pixels = grid.pixels();
  DeviceArray<std::int32_t> basin(queue, pixels), death(queue, pixels);
  DeviceArray<std::byte> room(queue, queue.on_cpu() ? 0 : SublevelPersistence::room_bytes(1, grid));
  queue.launch(SublevelPersistence{{value.data, 1, pixels, pixels},
                                   grid,
                                   {basin.data(), 1, pixels, pixels},
                                   {death.data(), 1, pixels, pixels},
                                   room.view()});
  return {basin.download(), death.download()};
}

double mean_entropy(const PixelGrid& grid, View1<double> value, const Landscape& landscape,
                    Queue& queue) {
  const std::int64_t pixels = grid.pixels();
  const std::int32_t window = landscape.options.window;
  const DeviceArray<std::int64_t> table(queue, LocalEntropy::table(window));
  DeviceArray<double> entropy(queue, pixels);
  queue.launch(LocalEntropy{{value.data, 1, pixels, pixels},
                            grid,
                            window,
                            landscape.least,
                            landscape.greatest,
                            table.view(),
                            {entropy.data(), 1, pixels, pixels}});
  double sum = 0;
  std::int64_t count = 0;
  for (const double at : entropy.download()) {
    if (std::isnan(at)) continue;
    sum += at;
    ++count;
  }
  return sum / static_cast<double>(count);
}

// The minima in the order in which their components die, and which minimum lies on the other side
// of the saddle of each.
class Merging {
 public:
  Merging(const PixelGrid& grid, const std::vector<double>& value, const Persistence& found)
      : grid_(grid),
        value_(value),
        found_(found),
        elder_(value.size(), none),
        across_(value.size(), none) {
    Pixels dying;
    for (std::int32_t pixel = 0; pixel < grid.pixels(); ++pixel) {
      if (found.basin[idx(pixel)] != pixel) continue;
      elder_[idx(pixel)] = pixel;
      if (found.death[idx(pixel)] != none) dying.push_back(pixel);
    }
    const auto death = [&](std::int32_t minimum) { return found_.death[idx(minimum)]; };
    std::ranges::sort(dying, [&](std::int32_t a, std::int32_t b) {
      return death(a) != death(b) ? precedes(death(a), death(b)) : a < b;
    });
    for (auto at = dying.begin(); at != dying.end();) {
      const auto end =
          std::find_if(at, dying.end(), [&](auto m) { return death(m) != death(*at); });
      join({at, end}, death(*at));
      at = end;
    }
  }

  // Of a minimum that dies.
  std::int32_t across(std::int32_t minimum) const { return across_[idx(minimum)]; }

 private:
  bool precedes(std::int32_t a, std::int32_t b) const {
    const double of_a = value_[idx(a)], of_b = value_[idx(b)];
    return of_a < of_b || (of_a == of_b && a < b);
  }

  std::int32_t first_of(std::int32_t minimum) {
    while (elder_[idx(minimum)] != minimum) {
      elder_[idx(minimum)] = elder_[idx(elder_[idx(minimum)])];
      minimum = elder_[idx(minimum)];
    }
    return minimum;
  }

  // All that die at one saddle join the eldest there.
  void join(const Pixels& dying, std::int32_t saddle) {
    std::int32_t eldest = none, lowest = none;
    for (std::int32_t direction = 0; direction < PixelGrid::directions; ++direction) {
      const std::int32_t next = grid_.neighbor(saddle, direction);
      if (next == PixelGrid::none || found_.basin[idx(next)] == none) continue;
      if (!precedes(next, saddle)) continue;
      const std::int32_t first = first_of(found_.basin[idx(next)]);
      const bool elder = eldest == none || precedes(first, eldest);
      if (!elder && (first != eldest || !precedes(next, lowest))) continue;
      eldest = first;
      lowest = next;
    }
    for (const std::int32_t minimum : dying) {
      across_[idx(minimum)] = found_.basin[idx(lowest)];
      elder_[idx(minimum)] = eldest;
    }
  }

  const PixelGrid& grid_;
  const std::vector<double>& value_;
  const Persistence& found_;
  Pixels elder_, across_;  // [pixels], at minima
};

// Which basin a minimum is in: that across its saddle where it is none itself.
class BasinNumbers {
 public:
  BasinNumbers(const std::vector<Basin>& basins, const Merging& merging, std::size_t pixels)
      : merging_(merging), number_(pixels, none) {
    for (std::size_t i = 0; i < basins.size(); ++i) {
      number_[idx(basins[i].minimum)] = static_cast<std::int32_t>(i);
    }
  }
  std::int32_t of(std::int32_t minimum) {
    Pixels passed;
    while (number_[idx(minimum)] == none) {
      passed.push_back(minimum);
      minimum = merging_.across(minimum);
    }
    for (const std::int32_t pixel : passed) number_[idx(pixel)] = number_[idx(minimum)];
    return number_[idx(minimum)];
  }

 private:
  const Merging& merging_;
  Pixels number_;
};

void find_basins(const PixelGrid& grid, const Persistence& found, Landscape& landscape) {
  const std::vector<double>& value = landscape.slice.value;
  for (std::int32_t pixel = 0; pixel < grid.pixels(); ++pixel) {
    if (found.basin[idx(pixel)] != pixel) continue;
    Basin basin{pixel};
    basin.saddle = found.death[idx(pixel)];
    if (basin.saddle != none) basin.barrier = value[idx(basin.saddle)] - value[idx(pixel)];
    const bool shallow = basin.barrier && !(*basin.barrier > landscape.threshold);
    landscape.shallow += shallow ? 1 : 0;
    if (!shallow) landscape.basins.push_back(basin);
  }
  std::ranges::stable_sort(landscape.basins, {},
                           [&](const Basin& basin) { return value[idx(basin.minimum)]; });
  const Merging merging(grid, value, found);
  BasinNumbers numbers(landscape.basins, merging, value.size());
  std::vector<std::int64_t> size(landscape.basins.size());
  std::int64_t all = 0;
  for (const std::int32_t minimum : found.basin) {
    landscape.basin_of.push_back(minimum == none ? none : numbers.of(minimum));
    if (minimum == none) continue;
    ++size[idx(landscape.basin_of.back())];
    ++all;
  }
  for (std::size_t i = 0; i < landscape.basins.size(); ++i) {
    Basin& basin = landscape.basins[i];
    basin.share = static_cast<double>(size[i]) / static_cast<double>(all);
    if (basin.barrier) basin.behind_it = numbers.of(merging.across(basin.minimum));
  }
}

}  // namespace

double Landscape::highest_barrier() const {
  double highest = 0;
  for (const Basin& basin : basins) highest = std::max(highest, basin.barrier.value_or(0));
  return slice.energy_difference(highest);
}

Landscape landscape_of(Slice slice, const LandscapeOptions& options, Queue& queue) {
  Landscape landscape;
  landscape.slice = std::move(slice);
  landscape.options = options;
  landscape.least = std::numeric_limits<double>::infinity();
  landscape.greatest = -landscape.least;
  for (const double value : landscape.slice.value) {
    if (std::isnan(value)) continue;
    landscape.least = std::min(landscape.least, value);
    landscape.greatest = std::max(landscape.greatest, value);
  }
  landscape.threshold = options.threshold * (landscape.greatest - landscape.least);
  const PixelGrid grid{landscape.slice.resolution, landscape.slice.resolution, true};
  DeviceArray<double> value(queue, landscape.slice.value);
  find_basins(grid, persistence_of(grid, value.view(), queue), landscape);
  landscape.ruggedness = mean_entropy(grid, value.view(), landscape, queue);
  landscape.max_ruggedness =
      std::log(std::min(options.window * options.window, LocalEntropy::bins));
  return landscape;
}

std::vector<std::string> advice_of(const Landscape& landscape) {
  const double barrier = landscape.highest_barrier();
  if (!(barrier > 0)) return {};
  const Slice& slice = landscape.slice;
  std::vector<std::string> advice{
      fmt::format("The highest barrier is {0:.4g}. At the temperature T a climb of B is accepted "
                  "with the probability exp(-B / T), which is 0.37 at T = B: begin at T = {0:.4g} "
                  "or above, which is beta_min = {1:.4g} or below.",
                  barrier, 1 / barrier)};
  if (slice.default_beta > 0) {
    advice.push_back(fmt::format(
        "Without beta_min, simulated-annealing begins at {:.4g}, where the probability is {:.2g}.",
        slice.default_beta, std::exp(-slice.default_beta * barrier)));
  }
  if (slice.variables > 2) {
    advice.push_back(
        "Only this slice was looked at: a way around a barrier may lead through other variables, "
        "and there are other barriers.");
  }
  return advice;
}

}  // namespace kiln::cli
