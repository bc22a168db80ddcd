// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <tuple>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "coloring/coloring_bounds.hpp"
#include "models/coloring_graphs.hpp"

// Integers and named draws; the choice among equal moves does not depend on the threads.
KILN_CONFORMANCE_CASE(ColoringTabu, exact)

namespace kiln::test::coloring_tabu_test {
namespace {

class ColoringTabuKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ColoringTabuKernel);

using Colors = std::vector<std::int32_t>;

// What a launch starts from and what it leaves.
struct Search {
  Graph graph;
  std::int32_t values = 3;
  bool fewest = false;
  std::vector<Colors> states;  // of each replica
  std::uint64_t best_key = ~0ull;
  DeviceStop stop = DeviceStop::none;
  std::int32_t max_neighbors = 0;
  std::uint32_t tenure = 10;
  bool in_bytes = false;  // states in Layout::i8
};

struct Outcome {
  std::vector<Colors> states;
  std::vector<double> energies;
  std::vector<std::int64_t> fewest_conflicts;
  std::vector<std::uint64_t> accepted;
  bool operator==(const Outcome&) const = default;
};

constexpr std::uint64_t key = 77;
constexpr double before = -99;

// So many sweeps of `moves` moves each, every sweep in launches of `part` moves.
Outcome run(Queue& queue, const Search& search, std::uint32_t sweeps, std::uint32_t moves,
            std::uint32_t part) {
  ColoringModel model;
  problems::take_graph(search.graph, model);
  const std::int64_t n = search.graph.n_vertices, table = n * search.values;
  const auto replicas = static_cast<std::int64_t>(search.states.size());
  Colors states;
  for (std::size_t v = 0; v < idx(n); ++v) {
    for (const Colors& one : search.states) states.push_back(one[v]);
  }
  std::vector<std::uint32_t> numbers(idx(replicas));
  for (std::size_t r = 0; r < numbers.size(); ++r) numbers[r] = static_cast<std::uint32_t>(r);
  const DeviceArray<std::int64_t> row_begin(queue, model.row_begin);
  const DeviceArray<std::int32_t> neighbor(queue, model.neighbor);
  DeviceArray<std::int32_t> state(queue, states);
  DeviceArray<std::int8_t> bytes(queue, std::vector<std::int8_t>(states.begin(), states.end()));
  DeviceArray<double> energy(queue, std::vector<double>(idx(replicas), before));
  DeviceArray<std::uint64_t> accepted(queue, std::vector<std::uint64_t>(idx(replicas), 0));
  DeviceArray<ColoringWalk> walk(queue, std::vector<ColoringWalk>(idx(replicas)));
  DeviceArray<std::int32_t> color(queue, Colors(idx(replicas * n), 0));
  DeviceArray<std::int32_t> adjacent(queue, Colors(idx(replicas * table), 0));
  DeviceArray<std::uint32_t> tabu(queue, std::vector<std::uint32_t>(idx(replicas * table), 0));
  DeviceArray<std::uint64_t> conflicts(
      queue, std::vector<std::uint64_t>(idx(replicas * ColoringTabu::words_of(n)), 0));
  const DeviceArray<std::uint64_t> keys(queue, std::vector<std::uint64_t>(idx(replicas), key));
  const DeviceArray<std::uint32_t> names(queue, numbers);
  RunControl control;
  control.best_key = search.best_key;
  control.stop = search.stop;
  const DeviceArray<RunControl> on_device = upload_control(queue, control);
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::uint32_t done = 0; done < moves; done += part) {
      ColoringTabu kernel;
      kernel.model = {search.graph.n_vertices, search.values,   search.fewest,
                      row_begin.view(),        neighbor.view(), search.max_neighbors};
      if (search.in_bytes) {
        kernel.state = {.bytes = {bytes.data(), n, replicas, replicas}};
      } else {
        kernel.state = {.words = {state.data(), n, replicas, replicas}};
      }
      kernel.tenure = search.tenure;
      kernel.energy = energy.view();
      kernel.accepted = accepted.view();
      kernel.walk = walk.view();
      kernel.color = color.view();
      kernel.adjacent = adjacent.view();
      kernel.tabu = tabu.view();
      kernel.conflicts = conflicts.view();
      kernel.draw_ids = {keys.view(), names.view()};
      kernel.control = on_device.data();
      kernel.step_offset = sweep;
      kernel.first_move = done;
      kernel.moves = std::min(part, moves - done);
      kernel.last = done + kernel.moves == moves;
      queue.launch(kernel);
    }
  }
  Outcome outcome{{}, energy.download(), {}, accepted.download()};
  Colors after = state.download();
  if (search.in_bytes) std::ranges::copy(bytes.download(), after.begin());
  for (std::size_t r = 0; r < idx(replicas); ++r) {
    Colors one;
    for (std::size_t v = 0; v < idx(n); ++v) one.push_back(after[v * idx(replicas) + r]);
    outcome.states.push_back(one);
  }
  for (const ColoringWalk& one : walk.download()) {
    outcome.fewest_conflicts.push_back(one.fewest_conflicts);
  }
  return outcome;
}

std::uint32_t hash_of(std::uint32_t word, std::uint32_t index) {
  std::uint32_t h = word ^ (index * 2654435761u);
  h = (h ^ (h >> 16)) * 2246822507u;
  h = (h ^ (h >> 13)) * 3266489909u;
  return h ^ (h >> 16);
}

// The rule of the header with a given number of colours, by counting all edges anew for each pair
// of vertex and colour. `forgets`: nothing is forbidden, which is wrong.
Colors plain_search(const Search& search, std::size_t replica, std::uint32_t sweeps,
                    std::uint32_t moves, bool forgets = false) {
  Colors colors = search.states[replica];
  std::map<std::pair<std::size_t, std::int32_t>, std::uint32_t> until;
  std::int64_t fewest = count_conflicts(search.graph, colors);
  std::uint32_t time = 0;
  for (std::uint64_t i = 0; i < std::uint64_t{sweeps} * moves; ++i) {
    const std::int64_t now = count_conflicts(search.graph, colors);
    if (now == 0) break;
    const DrawName draws{key, i / moves, static_cast<std::uint32_t>(replica), RngDomain::choose,
                         ColoringTabu::move_block};
    const Words4 words = draw_quad(draws, static_cast<std::uint32_t>(i % moves));
    std::vector<bool> conflicting(colors.size(), false);
    for (const Edge& e : search.graph.edges) {
      if (colors[idx(e.u)] != colors[idx(e.v)]) continue;
      conflicting[idx(e.u)] = conflicting[idx(e.v)] = true;
    }
    std::optional<std::tuple<std::int64_t, std::uint32_t, std::size_t, std::int32_t>> best;
    for (std::size_t v = 0; v < colors.size(); ++v) {
      if (!conflicting[v]) continue;
      for (std::int32_t c = 0; c < search.values; ++c) {
        if (c == colors[v]) continue;
        Colors moved = colors;
        moved[v] = c;
        const std::int64_t then = count_conflicts(search.graph, moved);
        const auto found = until.find({v, c});
        if (!forgets && found != until.end() && found->second > time && then >= fewest) continue;
        const auto index = static_cast<std::uint32_t>(v * idx(search.values) + idx(c));
        const std::tuple candidate{then - now, hash_of(words[0], index), v, c};
        if (!best || candidate < *best) best = candidate;
      }
    }
    ++time;
    if (!best) continue;
    const auto [change, hash, v, c] = *best;
    const auto many = static_cast<std::uint32_t>(std::ranges::count(conflicting, true));
    until[{v, colors[v]}] = time + many * 600 / 1000 + below(words[1], 10);
    colors[v] = c;
    fewest = std::min(fewest, now + change);
  }
  return colors;
}

Search random_search(std::int32_t n, std::int32_t values, std::size_t replicas) {
  Search search{random_edges(n, 1u << 31, static_cast<std::uint64_t>(n)), values, false, {}};
  for (std::size_t r = 0; r < replicas; ++r) {
    Colors state;
    for (std::size_t v = 0; v < idx(n); ++v) {
      state.push_back(static_cast<std::int32_t>((v * v + r) % idx(values)));
    }
    search.states.push_back(state);
  }
  return search;
}

TEST_P(ColoringTabuKernel, FollowsTheRuleOfTheHeader) {
  for (const auto& [n, values] : {std::pair{5, 2}, {13, 3}, {30, 5}}) {
    const Search search = random_search(n, values, 3);
    const Outcome outcome = run(queue(), search, 4, 25, 25);
    bool differs = false;
    for (std::size_t r = 0; r < 3; ++r) {
      const Colors expected = plain_search(search, r, 4, 25);
      EXPECT_EQ(outcome.states[r], expected) << n << ", replica " << r;
      EXPECT_EQ(outcome.energies[r], static_cast<double>(count_conflicts(search.graph, expected)));
      differs = differs || plain_search(search, r, 4, 25, true) != expected;
    }
    EXPECT_TRUE(differs || n == 5) << "a search that forbids nothing passes";
  }
}

TEST_P(ColoringTabuKernel, MatchesCpuInLaunchesOfAnyLength) {
  const Search search = random_search(90, 12, 9);
  const Outcome whole = run(cpu_queue(), search, 3, 200, 200);

  EXPECT_EQ(run(queue(), search, 3, 200, 200), whole);
  EXPECT_EQ(run(queue(), search, 3, 200, 7), whole);
}

// A GPU keeps the tables in shared memory, with counts of one byte or two, where they fit.
TEST_P(ColoringTabuKernel, MatchesCpuWhereverTheTablesLie) {
  struct Case {
    std::int32_t n, values, max_neighbors;
    std::uint32_t tenure;
  };
  for (const Case& one :
       {Case{90, 12, 89, 10}, Case{300, 25, 255, 10}, Case{300, 25, 299, 10}, Case{520, 48, 0, 10},
        Case{700, 90, 0, 10}, Case{90, 12, 89, 90'000}, Case{40, 2, 39, 0}, Case{33, 33, 32, 3}}) {
    Search search = random_search(one.n, one.values, 3);
    search.max_neighbors = one.max_neighbors;
    search.tenure = one.tenure;
    const Outcome words = run(cpu_queue(), search, 2, 150, 150);
    EXPECT_EQ(run(queue(), search, 2, 150, 64), words) << one.n << ", " << one.values;
    search.in_bytes = true;
    EXPECT_EQ(run(queue(), search, 2, 150, 150), words) << one.n << ", " << one.values;
  }
}

// A vertex that is joined to all 255 others, all of one colour: the largest count of a byte.
TEST_P(ColoringTabuKernel, CountsAsManyNeighborsAsAByteHolds) {
  Search search{{256, {}}, 3, false, {Colors(256, 1), Colors(256, 0)}};
  for (std::int32_t v = 1; v < 256; ++v) search.graph.edges.push_back({0, v, 1.0});
  search.max_neighbors = 255;

  const Outcome outcome = run(queue(), search, 2, 40, 40);

  EXPECT_EQ(outcome, run(cpu_queue(), search, 2, 40, 40));
  EXPECT_EQ(outcome.energies, std::vector<double>(2, 0));
  EXPECT_EQ(outcome.accepted, std::vector<std::uint64_t>(2, 1));
}

TEST_P(ColoringTabuKernel, DropsClassesUntilItHasFewerColorsThanTheBestKnown) {
  Search search{random_edges(60, 1u << 31, 3), 60, true, {Colors(60), Colors(60)}};
  for (std::size_t v = 0; v < 60; ++v) {
    search.states[0][v] = static_cast<std::int32_t>(v);  // proper, whatever the edges
    search.states[1][v] = static_cast<std::int32_t>(v);
  }
  search.best_key = exact::order_key(13);

  const Outcome outcome = run(queue(), search, 20, 60, 60);

  EXPECT_EQ(outcome, run(cpu_queue(), search, 20, 60, 60));
  EXPECT_NE(outcome.states[0], outcome.states[1]);
  for (std::size_t r = 0; r < 2; ++r) {
    const std::int64_t conflicts = count_conflicts(search.graph, outcome.states[r]);
    const auto highest = static_cast<double>(1 + *std::ranges::max_element(outcome.states[r]));
    EXPECT_LE(highest, 12);
    EXPECT_EQ(outcome.energies[r], conflicts == 0 ? 12.0 : 60.0 + static_cast<double>(conflicts));
    EXPECT_LE(outcome.fewest_conflicts[r], conflicts);
  }
}

// 300 colours do not fit into a byte.
TEST_P(ColoringTabuKernel, ColorsWithMoreThanAByteHolds) {
  Search search{complete_graph(300), 300, false, {Colors(300, 0), Colors(300, 7)}};

  const Outcome outcome = run(queue(), search, 2, 600, 600);

  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(outcome.energies[r], 0);
    EXPECT_EQ(count_colors(outcome.states[r]), 300);
    EXPECT_EQ(outcome.accepted[r], 299u);  // one move for every vertex but one
  }
}

TEST_P(ColoringTabuKernel, DoesNothingOnceStopped) {
  Search search = random_search(20, 3, 2);
  search.stop = DeviceStop::step_limit;

  const Outcome outcome = run(queue(), search, 2, 20, 20);

  EXPECT_EQ(outcome.states, search.states);
  EXPECT_EQ(outcome.energies, std::vector<double>(2, before));
  EXPECT_EQ(outcome.accepted, std::vector<std::uint64_t>(2, 0));
}

}  // namespace
}  // namespace kiln::test::coloring_tabu_test
