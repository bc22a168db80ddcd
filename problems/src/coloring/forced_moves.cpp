// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/forced_moves.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/host_threads.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t max_small = 8;

// The neighbours of a site by weights other than 0; no more of them than tell a small component
// from others.
struct Ties {
  std::array<std::uint32_t, max_small> site;
  std::array<double, max_small> weight;
  std::size_t size = 0;

  bool is_full() const { return size == max_small; }
  // Whether the signs of the neighbours can leave the site without preference.
  bool can_tie(double field) const {
    for (std::uint32_t signs = 0; signs < 1u << size; ++signs) {
      double sum = field;
      for (std::size_t k = 0; k < size; ++k) {
        sum += (signs >> k & 1u) != 0 ? weight[k] : 0 - weight[k];
      }
      if (sum == 0) return true;
    }
    return false;
  }
};

// Looks at the components of a model. A component that mixes is left as soon as that is known, so
// that rows of dense models are not read to their end.
class Components {
 public:
  Components(const PairwisePlan& plan, std::span<const double> fields)
      : plan_(plan), fields_(fields) {}

  bool any_may_be_forced() const {
    const std::vector<Seen> seen =
        of_each_block(plan_.n_sites(), [&](std::int64_t begin, std::int64_t end) {
          Seen all = Seen::mixes;
          for (std::int64_t site = begin; site < end && all != Seen::forced; ++site) {
            all = std::max(all, look_at_small(static_cast<std::uint32_t>(site)));
          }
          return all;
        });
    const Seen all = seen.empty() ? Seen::mixes : std::ranges::max(seen);
    return all == Seen::forced || (all == Seen::maybe_ring && any_ring_may_be_forced());
  }

 private:
  enum class Seen { mixes, maybe_ring, forced };

  Ties ties_of(std::uint32_t site) const {
    Ties ties;
    const std::int64_t end = plan_.row_begin[site + 1];
    for (std::int64_t e = plan_.row_begin[site]; e < end && !ties.is_full(); ++e) {
      const double weight = plan_.weight(e);
      if (weight == 0) continue;
      ties.site[ties.size] = plan_.entries[static_cast<std::size_t>(e)].site;
      ties.weight[ties.size++] = weight;
    }
    return ties;
  }
  double field_of(std::uint32_t site) const { return fields_.empty() ? 0 : fields_[site]; }

  // Whether every variable of a small component can be without preference. Pairs and single
  // variables reach all their states. The first site of a component looks at it for all of them.
  Seen look_at_small(std::uint32_t first) const {
    if (plan_.variable[first] < 0) return Seen::mixes;
    std::array<std::uint32_t, max_small> sites{first};
    std::size_t size = 1;
    bool is_ring = true;
    for (std::size_t next = 0; next < size; ++next) {
      const Ties ties = ties_of(sites[next]);
      is_ring = is_ring && ties.size == 2;
      if (ties.is_full()) return Seen::mixes;
      for (std::size_t k = 0; k < ties.size; ++k) {
        const std::uint32_t site = ties.site[k];
        if (site < first) return Seen::mixes;
        if (std::find(sites.begin(), sites.begin() + size, site) != sites.begin() + size) continue;
        if (size == max_small) return is_ring ? Seen::maybe_ring : Seen::mixes;
        sites[size++] = site;
      }
      if (!ties.can_tie(field_of(sites[next]))) return Seen::mixes;
    }
    return size >= 3 ? Seen::forced : Seen::mixes;
  }

  // The same of rings that are not small. Each site is walked over once.
  bool any_ring_may_be_forced() const {
    std::vector<bool> walked(plan_.variable.size(), false);
    for (std::uint32_t first = 0; first < walked.size(); ++first) {
      std::uint32_t site = first, last = first;
      for (std::size_t length = 1; !walked[site]; ++length) {
        walked[site] = true;
        const Ties ties = ties_of(site);
        if (ties.size != 2 || !ties.can_tie(field_of(site))) break;
        last = std::exchange(site, ties.site[ties.site[0] == last ? 1 : 0]);
        if (site == first && length > max_small) return true;
      }
    }
    return false;
  }

  const PairwisePlan& plan_;
  std::span<const double> fields_;
};

}  // namespace

bool moves_may_be_forced(const PairwisePlan& plan, std::span<const double> fields) {
  return Components(plan, fields).any_may_be_forced();
}

}  // namespace kiln::problems
