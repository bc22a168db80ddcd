// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A run that continues with more draws than it was planned for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kiln/errors.hpp"

#include "draw_recorder.hpp"

namespace kiln::hmc {
namespace {

constexpr std::array<std::string_view, 7> kept_arrays{
    "draws.position",  "draws.energy", "draws.hamiltonian", "draws.acceptance",
    "draws.leapfrogs", "draws.depth",  "draws.divergent"};

}  // namespace

bool DrawRecorder::grows(std::string_view array) const {
  return std::ranges::find(kept_arrays, array) != kept_arrays.end();
}

// Moments have two halves, so that they depend on the number of draws. They can be made anew where
// no draw is missing.
void DrawRecorder::require_extendable(std::int64_t draws, std::uint64_t sweeps) const {
  const std::int64_t made = static_cast<std::int64_t>(sweeps) - setting_.warmup;
  if (draws > setting_.draws || made > draws) {
    throw InvalidArgument("resume.draws",
                          fmt::format("the saved run has {} draws, and this run {}",
                                      std::max(draws, made), setting_.draws),
                          "at least as many draws as the saved run has");
  }
  const std::int64_t chains = setting_.pools.members;
  if (trace_.thin == 1 && trace_.kept == chains) return;
  const std::int64_t most = room_of_draws(dimension_) / chains;
  const std::string kept =
      trace_.thin == 1 ? "every draw" : fmt::format("draw 1 of {}", trace_.thin);
  throw InvalidArgument(
      "resume.draws",
      fmt::format("a run of {} draws keeps {} of {} of {} chains, and more draws can follow only "
                  "where every draw of every chain is kept",
                  setting_.draws, kept, trace_.kept, chains),
      setting_.keep == 0 && most > draws
          ? fmt::format("at most {} draws", most)
          : std::string("a new run, with -p thin=1 and -p keep equal to its chains if it is to "
                        "have more draws later"));
}

// In the order and by the arithmetic of RecordDraws.
void DrawRecorder::extend(Queue& queue, std::uint64_t sweeps) {
  const auto chains = static_cast<std::size_t>(setting_.pools.members);
  const auto size = static_cast<std::size_t>(dimension_) * chains;
  const auto warmup = static_cast<std::uint64_t>(setting_.warmup);
  const std::uint64_t made = sweeps > warmup ? sweeps - warmup : 0;
  const auto half = static_cast<std::uint64_t>(setting_.draws / 2);
  std::vector<double> position(static_cast<std::size_t>(made) * size), mean(2 * size),
      square(2 * size);
  const auto bytes = [](const std::vector<double>& values) {
    return values.size() * sizeof(double);
  };
  if (made > 0) queue.download(position.data(), trace_.position.data, bytes(position));
  const RecordDraws kernel = moments_on_host(mean, square, half);
  for (std::uint64_t draw = 0; draw < made; ++draw) {
    const double* const now = position.data() + static_cast<std::size_t>(draw) * size;
    for (std::size_t i = 0; i < size; ++i) {
      kernel.add(static_cast<std::int64_t>(i), draw, now[i]);
    }
  }
  queue.upload(moments_.mean.data, mean.data(), bytes(mean));
  queue.upload(moments_.square.data, square.data(), bytes(square));
}

RecordDraws DrawRecorder::moments_on_host(std::vector<double>& mean, std::vector<double>& square,
                                          std::uint64_t half) const {
  RecordDraws kernel;
  kernel.pools = setting_.pools;
  kernel.half = half;
  kernel.dimension = dimension_;
  kernel.moments = {{mean.data(), static_cast<std::int64_t>(mean.size())},
                    {square.data(), static_cast<std::int64_t>(square.size())}};
  return kernel;
}

}  // namespace kiln::hmc
