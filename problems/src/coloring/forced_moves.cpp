// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/forced_moves.hpp"

#include <cstddef>
#include <cstdint>

namespace kiln::problems {
namespace {

constexpr std::size_t max_small = 8;

// Looks at the components of a model one after the other. A component that mixes is left as soon as
// that is known, so that rows of dense models are not read to their end.
class Components {
 public:
  Components(const PairwisePlan& plan, const std::vector<double>& fields)
      : plan_(plan), fields_(fields), seen_by_(plan.variable.size(), nobody) {}

  bool any_may_be_forced() {
    for (std::size_t site = 0; site < seen_by_.size(); ++site) {
      if (seen_by_[site] != nobody || plan_.variable[site] < 0) continue;
      if (may_be_forced(site)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  struct Neighbor {
    std::size_t site = 0;
    double weight = 0;
  };

  // By weights other than 0; no more of them than tell a small component from others.
  std::vector<Neighbor> neighbors_of(std::size_t site) const {
    std::vector<Neighbor> neighbors;
    const std::int64_t end = plan_.row_begin[site + 1];
    for (std::int64_t e = plan_.row_begin[site]; e < end && neighbors.size() < max_small; ++e) {
      const double weight = plan_.weight(e);
      if (weight == 0) continue;
      const auto other = plan_.entries[static_cast<std::size_t>(e)].site;
      neighbors.push_back({static_cast<std::size_t>(other), weight});
    }
    return neighbors;
  }

  // Whether every variable of the component of a site can be without preference, and the component
  // is a ring or small. Pairs and single variables reach all their states.
  bool may_be_forced(std::size_t first) {
    std::vector<std::size_t> sites{first};
    seen_by_[first] = first;
    bool is_ring = true;
    for (std::size_t next = 0; next < sites.size(); ++next) {
      const std::vector<Neighbor> neighbors = neighbors_of(sites[next]);
      is_ring &= neighbors.size() == 2;
      if (neighbors.size() >= max_small || !can_tie(sites[next], neighbors)) return false;
      for (const Neighbor& neighbor : neighbors) {
        if (seen_by_[neighbor.site] == first) continue;
        // Somebody else saw it, and left the component as one that mixes.
        if (seen_by_[neighbor.site] != nobody) return false;
        seen_by_[neighbor.site] = first;
        sites.push_back(neighbor.site);
      }
      if (sites.size() > max_small && !is_ring) return false;
    }
    return sites.size() >= 3;
  }

  bool can_tie(std::size_t site, const std::vector<Neighbor>& neighbors) const {
    for (std::uint32_t signs = 0; signs < 1u << neighbors.size(); ++signs) {
      double sum = fields_.empty() ? 0 : fields_[site];
      for (std::size_t k = 0; k < neighbors.size(); ++k) {
        sum += (signs >> k & 1u) != 0 ? neighbors[k].weight : 0 - neighbors[k].weight;
      }
      if (sum == 0) return true;
    }
    return false;
  }

  const PairwisePlan& plan_;
  const std::vector<double>& fields_;
  std::vector<std::size_t> seen_by_;  // [sites], the first site of a component
};

}  // namespace

bool moves_may_be_forced(const PairwisePlan& plan, const std::vector<double>& fields) {
  return Components(plan, fields).any_may_be_forced();
}

}  // namespace kiln::problems
