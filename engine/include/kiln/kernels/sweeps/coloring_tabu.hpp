// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/coloring_view.hpp"

namespace kiln {

/// The state of the search of one replica.
struct ColoringWalk {
  std::int32_t colors = 0;            ///< number of colours that it tries; 0: not begun
  std::uint32_t moves = 0;            ///< with that many colours
  std::int64_t conflicts = 0;         ///< edges between equal colours
  std::int64_t fewest_conflicts = 0;  ///< with that many colours
};

/// Moves of a tabu search for colourings without conflicts (TabuCol).
///
/// A move gives one vertex with a conflict another colour. It takes the pair of smallest change of
/// the conflicts among those that are not tabu, or that lead below the fewest conflicts so far. The
/// pair of the vertex and its old colour is tabu for tenure_share / 1000 times the number of
/// conflicting vertices plus a random number below `tenure` of moves. `adjacent` counts the
/// neighbours of each vertex in each colour, and a move updates it along one row of the graph.
///
/// If fewer colours are requested a replica first drops classes until it has one colour less than
/// the best colouring of all replicas (control->best_key): a class is drawn, and each of its
/// vertices gets the colour with the fewest of its neighbours. A replica without conflicts rests
/// until the end of the tick, so that its state is recorded.
///
/// Among pairs of equal change the smallest hash of (word, vertex, colour) is taken: the choice
/// does not depend on the number of threads. Words: RngDomain::choose, index: the move within the
/// sweep, draw block 16; 17 with the number of colours for classes. A team of threads works on one
/// replica. Class E.
/// @par Source  Hertz, de Werra, Computing 39 (1987) 345; Galinier, Hao, J. Comb. Optim. 3 (1999)
///   379, for the table and the tenure.
struct KILN_API ColoringTabu {
  static constexpr const char* name = "coloring_tabu";
  static constexpr const char* summary =
      "makes moves of a tabu search for colourings without conflicts";
  static constexpr std::uint8_t move_block = 16;
  static constexpr std::uint8_t class_block = 17;

  ColoringView model;
  ColorStates state;              ///< [vertex][slot], written with the last moves of a sweep
  View1<double> energy;           ///< [slots], likewise
  View1<std::uint64_t> accepted;  ///< [slots], moves are added; may be empty
  View1<ColoringWalk> walk;       ///< [replicas], zero before the first launch
  View1<std::int32_t> color;      ///< [replicas][vertices], likewise, and the next three
  View1<std::int32_t> adjacent;   ///< [replicas][vertices][values]
  View1<std::uint32_t> tabu;      ///< [replicas][vertices][values], tabu before this move
  /// [replicas][words()], a byte for each vertex: whether it has conflicts
  View1<std::uint64_t> conflicts;
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  std::uint32_t first_move = 0;  ///< of the sweep
  std::uint32_t moves = 0;       ///< of this launch
  bool last = true;              ///< whether a sweep ends with it
  std::uint32_t tenure = 10;
  std::uint32_t tenure_share = 600;

  KILN_HD std::int64_t words() const { return words_of(model.vertices); }
  KILN_HD static constexpr std::int64_t words_of(std::int64_t vertices) {
    return (vertices + 7) / 8;
  }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t replica) const {
    if (!control->active(step_offset)) return;
    ColoringWalk now = begun(team, replica);
    const Place at = place_of(replica);
    std::uint64_t done = 0;
    const DrawName draws = draws_of(replica, move_block);
    for (std::uint32_t i = 0; i < moves && now.conflicts > 0; ++i) {
      const Words4 drawn = draw_quad(draws, first_move + i);
      done += move(team, at, now, drawn[0], drawn[1]) ? 1 : 0;
    }
    finish(team, replica, now, done);
  }

  /// The arrays of one replica.
  struct Place {
    std::int64_t replica = 0;
    std::int32_t* color = nullptr;
    std::int32_t* adjacent = nullptr;
    std::uint32_t* tabu = nullptr;
    std::uint64_t* words = nullptr;
    std::uint8_t* conflicting = nullptr;
  };
  KILN_HD Place place_of(std::int64_t replica) const {
    const std::int64_t n = model.vertices, table = n * model.values;
    Place at;
    at.replica = replica;
    at.color = color.data + replica * n;
    at.adjacent = adjacent.data + replica * table;
    at.tabu = tabu.data + replica * table;
    at.words = conflicts.data + replica * words();
    at.conflicting = reinterpret_cast<std::uint8_t*>(at.words);
    return at;
  }

  /// The names of the draws of one replica in this sweep.
  KILN_HD DrawName draws_of(std::int64_t replica, std::uint8_t block) const {
    DrawName draws = draw_ids.at(replica, control->step + step_offset, RngDomain::choose);
    draws.block = block;
    return draws;
  }

  /// Everything of a launch before its moves: the tables of a first launch, classes that are
  /// dropped.
  template <class Team>
  KILN_HD ColoringWalk begun(const Team& team, std::int64_t replica) const {
    ColoringWalk now = walk[replica];
    team.sync();  // all have read it
    const Place at = place_of(replica);
    if (now.colors == 0) begin(team, at, now);
    const std::int32_t goal = goal_of(now);
    while (now.colors > goal) drop_class(team, at, now);
    if (now.moves >= max_moves) forget(team, at, now);
    return now;
  }

  /// Records a replica after `done` moves of a launch.
  template <class Team>
  KILN_HD void finish(const Team& team, std::int64_t replica, const ColoringWalk& now,
                      std::uint64_t done) const {
    team.sync();
    if (team.rank() == 0) {
      walk[replica] = now;
      if (accepted) accepted[replica] += done;
      if (last) energy[replica] = model.energy_of(now.conflicts, now.colors);
    }
    if (!last) return;
    const std::int32_t* const colors = place_of(replica).color;
    for (std::int32_t v = team.rank(); v < model.vertices; v += team.size()) {
      state.set(v, replica, colors[v]);
    }
  }

  /// The number by which a pair of a vertex and a colour wins against others of equal change. Of
  /// one word, no two pairs have the same number.
  KILN_HD static std::uint32_t mixed(std::uint32_t word, std::uint32_t index) {
    std::uint32_t h = word ^ (index * 0x9E3779B1u);
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
  }

 private:
  static constexpr std::uint32_t max_moves = 1u << 31;  // capacity of the table

  /// A change of colour; the least (change, hash) is taken.
  struct Candidate {
    std::int32_t change = INT32_MAX;
    std::uint32_t hash = 0;
    std::int32_t vertex = -1, to = -1;
    std::int32_t conflicting = 0;  ///< examined vertices with conflicts
  };

  KILN_HD std::int64_t row(std::int32_t vertex) const {
    return static_cast<std::int64_t>(vertex) * model.values;
  }

  /// The number of colours that this replica aims at.
  KILN_HD std::int32_t goal_of(const ColoringWalk& now) const {
    if (!model.fewest) return model.values;
    if (control->best_key == ~0ull) return now.colors;
    const double best = exact::from_order_key(control->best_key);
    if (best > static_cast<double>(model.vertices)) return now.colors;  // has conflicts
    return best > 2 ? static_cast<std::int32_t>(best) - 1 : 1;
  }

  template <class Team>
  KILN_HD void begin(const Team& team, const Place& at, ColoringWalk& now) const {
    std::int32_t most = 0;
    for (std::int32_t v = team.rank(); v < model.vertices; v += team.size()) {
      at.color[v] = state.get(v, at.replica);
      if (at.color[v] > most) most = at.color[v];
    }
    now.colors = static_cast<std::int32_t>(1 - team.least(-static_cast<double>(most)));
    if (!model.fewest) now.colors = model.values;
    team.sync();
    std::int64_t ends = 0;
    for (std::int32_t v = team.rank(); v < model.vertices; v += team.size()) {
      std::int32_t* const counts = at.adjacent + row(v);
      for (std::int64_t e = model.row_begin[v]; e < model.row_begin[v + 1]; ++e) {
        ++counts[at.color[model.neighbor[e]]];
      }
      at.conflicting[v] = counts[at.color[v]] > 0 ? 1 : 0;
      ends += counts[at.color[v]];
    }
    now.conflicts = static_cast<std::int64_t>(team.sum(static_cast<double>(ends))) / 2;
    now.fewest_conflicts = now.conflicts;
    team.sync();
  }

  template <class Team>
  KILN_HD void forget(const Team& team, const Place& at, ColoringWalk& now) const {
    const std::int64_t table = row(model.vertices);
    for (std::int64_t i = team.rank(); i < table; i += team.size()) at.tabu[i] = 0;
    now.moves = 0;
    team.sync();
  }

  /// Distributes the vertices of one class among the others.
  template <class Team>
  KILN_HD void drop_class(const Team& team, const Place& at, ColoringWalk& now) const {
    const std::int32_t end = now.colors - 1;
    const DrawName draws = draws_of(at.replica, class_block);
    const Words4 drawn = draw_quad(draws, static_cast<std::uint32_t>(now.colors));
    const auto chosen =
        static_cast<std::int32_t>(below(drawn[0], static_cast<std::uint32_t>(now.colors)));
    for (std::int32_t v = team.rank(); v < model.vertices; v += team.size()) {
      std::int32_t* const counts = at.adjacent + row(v);
      const std::int32_t count = counts[chosen];
      counts[chosen] = counts[end];
      counts[end] = count;
      if (at.color[v] == chosen) {
        at.color[v] = end;
      } else if (at.color[v] == end) {
        at.color[v] = chosen;
      }
    }
    team.sync();
    for (std::int32_t v = 0; v < model.vertices; ++v) {
      if (at.color[v] != end) continue;
      Candidate best;
      for (std::int32_t c = team.rank(); c < end; c += team.size()) {
        consider(best, at.adjacent[row(v) + c], v, c, drawn[1]);
      }
      settle(team, best);
      now.conflicts += at.adjacent[row(v) + best.to] - at.adjacent[row(v) + end];
      recolor(team, at, v, end, best.to);
    }
    now.colors = end;
    now.fewest_conflicts = now.conflicts;
    forget(team, at, now);
  }

  KILN_HD void consider(Candidate& best, std::int32_t change, std::int32_t vertex, std::int32_t to,
                        std::uint32_t word) const {
    const std::uint32_t hash = mixed(word, static_cast<std::uint32_t>(row(vertex) + to));
    if (change > best.change || (change == best.change && hash >= best.hash)) return;
    best.change = change;
    best.hash = hash;
    best.vertex = vertex;
    best.to = to;
  }

  /// The best candidate of the threads of a team; equal hashes go to the first in the table.
  template <class Team>
  KILN_HD void settle(const Team& team, Candidate& best) const {
    if (team.size() == 1) return;
    const double none = exact::infinity();
    const bool any = best.vertex >= 0;
    const double change = team.least(any ? static_cast<double>(best.change) : none);
    const bool among = any && static_cast<double>(best.change) == change;
    const double hash = team.least(among ? static_cast<double>(best.hash) : none);
    const bool mine = among && static_cast<double>(best.hash) == hash;
    const double index = team.least(mine ? static_cast<double>(row(best.vertex) + best.to) : none);
    best.vertex = -1;
    if (!(index < none)) return;
    best.change = static_cast<std::int32_t>(change);
    best.vertex = static_cast<std::int32_t>(static_cast<std::int64_t>(index) / model.values);
    best.to = static_cast<std::int32_t>(static_cast<std::int64_t>(index) % model.values);
  }

  /// Examines the moves of one vertex. Few pairs are as good as the best so far, so the tabu table
  /// is read last.
  template <class Team>
  KILN_HD void look_at(const Team& team, const Place& at, const ColoringWalk& now,
                       std::int32_t vertex, std::uint32_t word, Candidate& best) const {
    const std::int32_t* const counts = at.adjacent + row(vertex);
    const std::uint32_t* const until = at.tabu + row(vertex);
    const std::int32_t own = at.color[vertex], here = counts[own];
    for (std::int32_t c = team.rank(); c < now.colors; c += team.size()) {
      const std::int32_t change = counts[c] - here;
      if (change > best.change || c == own) continue;
      if (until[c] > now.moves && now.conflicts + change >= now.fewest_conflicts) continue;
      consider(best, change, vertex, c, word);
    }
  }

  template <class Team>
  KILN_HD Candidate best_move(const Team& team, const Place& at, const ColoringWalk& now,
                              std::uint32_t word) const {
    Candidate best;
    for (std::int64_t w = 0; w < words(); ++w) {
      if (at.words[w] == 0) continue;
      for (std::int64_t v = 8 * w; v < 8 * w + 8; ++v) {
        if (at.conflicting[v] == 0) continue;
        ++best.conflicting;
        look_at(team, at, now, static_cast<std::int32_t>(v), word, best);
      }
    }
    settle(team, best);
    return best;
  }

  /// Makes one move; returns whether there was one that is not tabu.
  template <class Team>
  KILN_HD bool move(const Team& team, const Place& at, ColoringWalk& now, std::uint32_t word,
                    std::uint32_t length) const {
    const Candidate best = best_move(team, at, now, word);
    ++now.moves;
    if (best.vertex < 0) return false;
    const std::int32_t from = at.color[best.vertex];
    const std::uint32_t share = static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(best.conflicting) * tenure_share / 1000);
    if (team.rank() == 0) {
      at.tabu[row(best.vertex) + from] =
          now.moves + share + (tenure > 0 ? below(length, tenure) : 0u);
    }
    now.conflicts += best.change;
    if (now.conflicts < now.fewest_conflicts) now.fewest_conflicts = now.conflicts;
    team.sync();  // all have read the colour
    recolor(team, at, best.vertex, from, best.to);
    return true;
  }

  template <class Team>
  KILN_HD void recolor(const Team& team, const Place& at, std::int32_t vertex, std::int32_t from,
                       std::int32_t to) const {
    const std::int64_t end = model.row_begin[vertex + 1];
    for (std::int64_t e = model.row_begin[vertex] + team.rank(); e < end; e += team.size()) {
      const std::int32_t other = model.neighbor[e], own = at.color[other];
      std::int32_t* const counts = at.adjacent + row(other);
      --counts[from];
      ++counts[to];
      if (own == from || own == to) at.conflicting[other] = counts[own] > 0 ? 1 : 0;
    }
    if (team.rank() == 0) {
      at.color[vertex] = to;
      at.conflicting[vertex] = at.adjacent[row(vertex) + to] > 0 ? 1 : 0;
    }
    team.sync();
  }
};

}  // namespace kiln
