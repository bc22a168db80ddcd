// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

/// The draws of one quantity as the report shows them.
struct QuantityDraws {
  std::string name;
  double low = 0, high = 0;  ///< the range of the histogram
  std::vector<std::int64_t>
      counts;  ///< [bin] draws of all chains; each bin but the last is half open
  std::int64_t below = 0, above = 0;  ///< finite draws outside the range
  std::int64_t not_finite = 0;
  /// [shown chain][bin] draws by their rank among the draws of all chains
  std::vector<std::vector<std::int64_t>> ranks;
  std::vector<std::int64_t> rank_chains;  ///< the shown chains, those farthest from uniform first
};

/// What the report reads of draws.npy.
struct DrawsFile {
  std::int64_t chains = 0, draws = 0;
  std::int64_t quantities = 0;     ///< of the file; at most `max_quantities` are read
  std::int64_t stride = 1;         ///< every how many draws of a chain are in the histograms
  std::int64_t rank_stride = 1;    ///< the same of the ranks
  std::int64_t ranked_chains = 0;  ///< evenly spread over all chains
  std::vector<QuantityDraws> all;
};

inline constexpr std::size_t max_quantities = 20;
inline constexpr std::size_t histogram_bins = 40, rank_bins = 20, max_rank_chains = 8;

/// Counts values into equal bins over [low, high]: all values of a column of draws, by the range
/// that holds all but the outermost thousandth at each end.
QuantityDraws histogram_of(const std::string& name, const std::vector<double>& values);

/// Rank histograms of chains of equal length, one after the other in `values`: a draw's rank among
/// all of them, ties by their order, in `rank_bins` bins. Of more than `max_rank_chains` chains
/// those are kept whose counts deviate most from equal ones by chi-square.
/// @par Source  Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Analysis 16 (2021) 667.
void count_ranks(const std::vector<double>& values, std::int64_t chains, QuantityDraws& into);

/// Reads chains x draws x quantities of little-endian doubles. Long files are thinned by whole
/// draws, so that time and memory are bounded.
/// @param why  the reason, where the file is no such array; "" otherwise
std::optional<DrawsFile> read_draws_file(const std::filesystem::path& path,
                                         const std::vector<std::string>& names, std::string& why);

}  // namespace kiln::cli
