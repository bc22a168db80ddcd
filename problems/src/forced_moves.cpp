// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "forced_moves.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kiln::problems {
namespace {

constexpr std::size_t most_of_small = 8;

class Components {
 public:
  Components(const PairwisePlan& plan, const std::vector<double>& fields)
      : plan_(plan), fields_(fields), seen_(plan.variable.size()) {}

  bool any_may_be_forced() {
    for (std::size_t site = 0; site < seen_.size(); ++site) {
      if (seen_[site] || plan_.variable[site] < 0) continue;
      if (may_be_forced(component_of(site))) return true;
    }
    return false;
  }

 private:
  // Neighbours by weights other than 0.
  template <class Each>
  void for_each_neighbor(std::size_t site, Each&& each) const {
    for (std::int64_t e = plan_.row_begin[site]; e < plan_.row_begin[site + 1]; ++e) {
      const double weight = plan_.weight(e);
      if (weight != 0) each(plan_.entries[static_cast<std::size_t>(e)].site, weight);
    }
  }

  std::vector<std::size_t> component_of(std::size_t first) {
    std::vector<std::size_t> sites{first};
    seen_[first] = true;
    for (std::size_t next = 0; next < sites.size(); ++next) {
      for_each_neighbor(sites[next], [&](auto neighbor, double) {
        const auto other = static_cast<std::size_t>(neighbor);
        if (seen_[other]) return;
        seen_[other] = true;
        sites.push_back(other);
      });
    }
    return sites;
  }

  // Pairs and single variables reach all their states.
  bool may_be_forced(const std::vector<std::size_t>& sites) const {
    if (sites.size() < 3) return false;
    const auto is_of_ring = [&](std::size_t site) {
      int degree = 0;
      for_each_neighbor(site, [&](auto, double) { ++degree; });
      return degree == 2;
    };
    const bool looked_at = sites.size() <= most_of_small || std::ranges::all_of(sites, is_of_ring);
    return looked_at && std::ranges::all_of(sites, [&](std::size_t site) { return can_tie(site); });
  }

  // Whether its neighbours can leave it no preference.
  bool can_tie(std::size_t site) const {
    std::vector<double> weights;
    for_each_neighbor(site, [&](auto, double weight) { weights.push_back(weight); });
    for (std::uint32_t signs = 0; signs < 1u << weights.size(); ++signs) {
      double sum = fields_.empty() ? 0 : fields_[site];
      for (std::size_t k = 0; k < weights.size(); ++k) {
        sum += (signs >> k & 1u) != 0 ? weights[k] : 0 - weights[k];
      }
      if (sum == 0) return true;
    }
    return false;
  }

  const PairwisePlan& plan_;
  const std::vector<double>& fields_;
  std::vector<bool> seen_;
};

}  // namespace

bool moves_may_be_forced(const PairwisePlan& plan, const std::vector<double>& fields) {
  return Components(plan, fields).any_may_be_forced();
}

}  // namespace kiln::problems
