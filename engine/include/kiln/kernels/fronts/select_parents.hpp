// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/nondominated_ranks.hpp"
#include "kiln/kernels/fronts/variation_rules.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"

namespace kiln {

/// Selects the parents of the child in each slot, for VariationOperator, and the slots of
/// immigrants.
///
/// By tournament, each parent is the better of two members of the group: lower rank, then greater
/// score. With neighbourhoods, all parents of a pair come from those of its first member with
/// probability `neighbor_share`, else from the whole group. Children of a pair have the same two
/// parents, which differ if the group has two members. For differential evolution row 0 is the slot
/// itself, and rows 1 to 3 are other members, all different if there are four members.
///
/// Every `migrate_every` steps the first `migrants` slots of each group get copies of members of
/// the group before it, chosen by tournament (a ring of islands).
///
/// Draws are named by slot: RngDomain::mate and the step, block 0 of the even replica of a pair for
/// parents, block 1 for differential evolution, block 2 for immigrants. Class E.
/// @par Source  Binary tournaments by rank and crowding: Deb, Pratap, Agarwal, Meyarivan, IEEE
/// Trans. Evol. Comput. 6 (2002) 182. Mating in neighbourhoods: Li, Zhang, IEEE Trans. Evol.
/// Comput. 13 (2009) 284.
struct KILN_API SelectParents {
  static constexpr const char* name = "select_parents";
  static constexpr const char* summary = "selects the parents of each child, and the migrants";

  std::int64_t replicas = 0;            ///< slots of all groups
  std::int64_t group_size = 1;          ///< must divide them
  PointColumns columns;                 ///< of the members among the points
  View1<const std::int32_t> rank;       ///< [columns]; empty: no tournaments
  View1<const double> score;            ///< [columns], larger is better
  View2<const std::int32_t> neighbors;  ///< [neighbours][group_size], members; null: the group
  double neighbor_share = 0.9;
  View2<std::int32_t> parents;     ///< [2, or 4 for differential evolution][slots], slots
  View1<std::int32_t> immigrants;  ///< [slots], slot to copy or -1; may be empty
  std::int64_t migrate_every = 0;  ///< steps; 0: never
  std::int64_t migrants = 0;       ///< of each group
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    if (parents.rows == 4) {
      choose_others(slot);
    } else {
      choose_pair(slot);
    }
    if (immigrants) immigrants[slot] = immigrant(slot);
  }

 private:
  KILN_HD std::int64_t first_slot(std::int64_t slot) const {
    return slot / group_size * group_size;
  }
  KILN_HD DrawName draws(std::int64_t slot, std::uint8_t block) const {
    DrawName name_of = draw_ids.at(slot, control->step + step_offset, RngDomain::mate);
    name_of.block = block;
    return name_of;
  }
  /// A member of the group that begins at slot `first`, by a word.
  KILN_HD std::int64_t member(std::int64_t first, std::int64_t centre, bool near,
                              std::uint32_t word) const {
    if (near) {
      return first + neighbors(below(word, static_cast<std::uint32_t>(neighbors.rows)), centre);
    }
    return first + below(word, static_cast<std::uint32_t>(group_size));
  }
  KILN_HD std::int64_t winner(std::int64_t a, std::int64_t b) const {
    if (!rank) return a;
    const std::int64_t i = columns[a], j = columns[b];
    if (rank[i] != rank[j]) return rank[i] < rank[j] ? a : b;
    return score[j] > score[i] ? b : a;
  }
  KILN_HD bool mates_near(std::uint32_t word) const {
    return neighbors.data != nullptr && happens(neighbor_share, word);
  }

  KILN_HD void choose_pair(std::int64_t slot) const {
    const std::int64_t first = first_slot(slot), centre = (slot - first) / 2 * 2;
    DrawName pair = draws(slot, 0);
    pair.replica &= ~1u;
    const Words4 words = draw_quad(pair, 0), more = draw_quad(pair, 1);
    const bool near = mates_near(more[0]);
    const std::int64_t a =
        winner(member(first, centre, near, words[0]), member(first, centre, near, words[1]));
    const std::int64_t c = member(first, centre, near, words[2]);
    const std::int64_t d = member(first, centre, near, words[3]);
    std::int64_t b = winner(c, d);
    if (b == a) b = b == c ? d : c;
    if (b == a) b = first + (a - first + 1) % group_size;
    parents(0, slot) = static_cast<std::int32_t>(a);
    parents(1, slot) = static_cast<std::int32_t>(b);
  }

  KILN_HD void choose_others(std::int64_t slot) const {
    const std::int64_t first = first_slot(slot), own = slot - first;
    const Words4 words = draw_quad(draws(slot, 1), 0);
    const bool near = mates_near(words[3]);
    std::int64_t taken[4] = {slot, 0, 0, 0};
    for (std::uint32_t k = 1; k < 4; ++k) {
      std::int64_t one = member(first, own, near, words[k - 1]);
      for (std::uint32_t tries = 0; tries < k; ++tries) {
        for (std::uint32_t j = 0; j < k; ++j) {
          if (taken[j] == one) one = first + (one - first + 1) % group_size;
        }
      }
      taken[k] = one;
    }
    for (int k = 0; k < 4; ++k) parents(k, slot) = static_cast<std::int32_t>(taken[k]);
  }

  KILN_HD std::int32_t immigrant(std::int64_t slot) const {
    const std::int64_t groups = replicas / group_size, group = slot / group_size;
    const std::uint64_t step = control->step + step_offset + 1;
    if (migrate_every == 0 || groups < 2 || slot % group_size >= migrants) return -1;
    if (step % static_cast<std::uint64_t>(migrate_every) != 0) return -1;
    const std::int64_t from = (group + groups - 1) % groups * group_size;
    const Words4 words = draw_quad(draws(slot, 2), 0);
    return static_cast<std::int32_t>(
        winner(member(from, 0, false, words[0]), member(from, 0, false, words[1])));
  }
};

}  // namespace kiln
