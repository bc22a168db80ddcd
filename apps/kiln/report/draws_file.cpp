// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/draws_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string_view>
#include <utility>

#include "kiln/host_threads.hpp"

namespace kiln::cli {
namespace {

// The highest bars then have errors of 1 to 2 %, and a quantity takes some 3 ms.
constexpr std::int64_t max_histogram_draws = std::int64_t{1} << 16;
constexpr std::int64_t max_rank_draws = std::int64_t{1} << 14, min_rank_draws = 200;
constexpr std::int64_t max_block_values = std::int64_t{1} << 17;
constexpr std::int64_t max_extent = std::int64_t{1} << 40;

struct Shape {
  std::int64_t chains = 0, draws = 0, quantities = 0;
};

/// The next whole number of a header, with the character that ends it.
bool take_number(std::string_view& text, char end, std::int64_t& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > max_extent) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (!text.starts_with(end)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Shape> shape_in(std::string_view header) {
  const bool doubles = header.find("'descr': '<f8'") != std::string_view::npos;
  const bool rows = header.find("'fortran_order': False") != std::string_view::npos;
  constexpr std::string_view begin = "'shape': (";
  const std::size_t at = header.find(begin);
  if (!doubles || !rows || at == std::string_view::npos) return std::nullopt;
  header.remove_prefix(at + begin.size());
  Shape shape;
  const bool whole = take_number(header, ',', shape.chains) &&
                     take_number(header, ',', shape.draws) &&
                     take_number(header, ')', shape.quantities);
  return whole ? std::optional(shape) : std::nullopt;
}

/// The shape, with the file at its first value; nothing if the header is none.
std::optional<Shape> read_header(std::ifstream& file, std::uint64_t& data_begin) {
  std::array<char, 10> start{};
  constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
  if (!file.read(start.data(), start.size())) return std::nullopt;
  if (std::string_view(start.data(), magic.size()) != magic) return std::nullopt;
  const std::size_t length = static_cast<unsigned char>(start[8]) +
                             std::size_t{256} * static_cast<unsigned char>(start[9]);
  std::string header(length, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(length))) return std::nullopt;
  data_begin = start.size() + length;
  return shape_in(header);
}

/// The values of the first quantities, [quantity][chain x kept draw]; false if the file ends. The
/// file is read in pieces of bounded size.
bool read_columns(std::ifstream& file, std::uint64_t begin, const Shape& shape, std::int64_t stride,
                  std::vector<std::vector<double>>& columns) {
  const std::int64_t block = std::max(max_block_values / shape.quantities, std::int64_t{1});
  const auto width = static_cast<std::size_t>(shape.quantities);
  std::vector<double> values;
  file.seekg(static_cast<std::streamoff>(begin));
  for (std::int64_t c = 0; c < shape.chains; ++c) {
    for (std::int64_t first = 0; first < shape.draws; first += block) {
      const std::int64_t count = std::min(block, shape.draws - first);
      values.resize(static_cast<std::size_t>(count) * width);
      const auto bytes = static_cast<std::streamsize>(values.size() * sizeof(double));
      if (!file.read(reinterpret_cast<char*>(values.data()), bytes)) return false;
      const std::int64_t skipped = (stride - first % stride) % stride;
      for (std::int64_t t = skipped; t < count; t += stride) {
        const double* const draw = values.data() + static_cast<std::size_t>(t) * width;
        for (std::size_t q = 0; q < columns.size(); ++q) columns[q].push_back(draw[q]);
      }
    }
  }
  return true;
}

double chi_square(const std::vector<std::int64_t>& counts) {
  const auto sum = static_cast<double>(std::reduce(counts.begin(), counts.end()));
  const double expected = sum / static_cast<double>(counts.size());
  double total = 0;
  for (const std::int64_t count : counts) {
    const double deviation = static_cast<double>(count) - expected;
    total += deviation * deviation / std::max(expected, 1.0);
  }
  return total;
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Which draws are ranked: of `chains` chains evenly spread over all, every `step`-th draw.
struct RankChoice {
  std::int64_t chains = 0, step = 1;
};

/// As many chains as leave each enough draws to fill the bins.
RankChoice rank_choice(std::int64_t chains, std::int64_t draws) {
  const std::int64_t wanted = std::max(max_rank_draws / chains, min_rank_draws);
  const std::int64_t step = ceil_divide(draws, std::min(draws, wanted));
  const std::int64_t most = std::max(max_rank_draws / ceil_divide(draws, step), std::int64_t{1});
  return {std::min(chains, most), step};
}

void rank(const std::vector<double>& values, std::int64_t chains, const RankChoice& choice,
          QuantityDraws& into) {
  const auto draws = static_cast<std::int64_t>(values.size()) / chains;
  const auto chain_at = [&](std::int64_t i) { return i * chains / choice.chains; };
  std::vector<double> chosen;
  for (std::int64_t i = 0; i < choice.chains; ++i) {
    for (std::int64_t t = 0; t < draws; t += choice.step) {
      chosen.push_back(values[static_cast<std::size_t>(chain_at(i) * draws + t)]);
    }
  }
  count_ranks(chosen, choice.chains, into);
  for (std::int64_t& chain : into.rank_chains) chain = chain_at(chain);
}

}  // namespace

QuantityDraws histogram_of(const std::string& name, const std::vector<double>& values) {
  QuantityDraws result;
  result.name = name;
  result.counts.resize(histogram_bins);
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite),
                       [](double x) { return std::isfinite(x); });
  result.not_finite = static_cast<std::int64_t>(values.size() - finite.size());
  if (finite.empty()) return result;
  std::vector<double> ordered = finite;
  const std::size_t outermost = finite.size() / 1000;
  const auto nth = [&](std::size_t n) {
    std::nth_element(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(n),
                     ordered.end());
    return ordered[n];
  };
  result.low = nth(outermost);
  result.high = nth(finite.size() - 1 - outermost);
  const double width = result.high - result.low;
  for (const double x : finite) {
    if (x < result.low) {
      ++result.below;
    } else if (x > result.high) {
      ++result.above;
    } else {
      const double at =
          width > 0 ? (x - result.low) / width * static_cast<double>(histogram_bins) : 0;
      const auto bin = std::isfinite(at) ? static_cast<std::size_t>(at) : 0;
      ++result.counts[std::min(bin, histogram_bins - 1)];
    }
  }
  return result;
}

void count_ranks(const std::vector<double>& values, std::int64_t chains, QuantityDraws& into) {
  const std::size_t n = values.size();
  if (chains <= 0 || n == 0) return;
  const std::size_t length = n / static_cast<std::size_t>(chains);
  std::vector<std::pair<double, std::uint32_t>> order(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i];
    order[i] = {std::isnan(x) ? -HUGE_VAL : x, static_cast<std::uint32_t>(i)};
  }
  std::ranges::sort(order);
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(chains),
                                                std::vector<std::int64_t>(rank_bins));
  for (std::size_t rank = 0; rank < n; ++rank) {
    ++counts[order[rank].second / length][rank * rank_bins / n];
  }
  std::vector<std::int64_t> shown(counts.size());
  std::iota(shown.begin(), shown.end(), std::int64_t{0});
  const auto deviation = [&](std::int64_t c) {
    return -chi_square(counts[static_cast<std::size_t>(c)]);
  };
  std::ranges::stable_sort(shown, {}, deviation);
  shown.resize(std::min(shown.size(), max_rank_chains));
  into.rank_chains = shown;
  for (const std::int64_t c : shown) into.ranks.push_back(counts[static_cast<std::size_t>(c)]);
}

std::optional<DrawsFile> read_draws_file(const std::filesystem::path& path,
                                         const std::vector<std::string>& names, std::string& why) {
  why.clear();
  std::ifstream file(path, std::ios::binary);
  std::uint64_t begin = 0;
  const std::optional<Shape> shape = read_header(file, begin);
  if (!shape) {
    why = "it has no header of an array of doubles, chains x draws x quantities";
    return std::nullopt;
  }
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  const long double values = static_cast<long double>(shape->chains) *
                             static_cast<long double>(shape->draws) *
                             static_cast<long double>(shape->quantities);
  if (error || static_cast<long double>(size - std::min(size, begin)) != 8 * values) {
    why = "its size is not that of its shape";
    return std::nullopt;
  }
  if (static_cast<std::size_t>(shape->quantities) != names.size()) {
    why = "it has another number of quantities than result.json";
    return std::nullopt;
  }
  if (values == 0) return std::nullopt;
  DrawsFile result;
  result.chains = shape->chains;
  result.draws = shape->draws;
  result.quantities = shape->quantities;
  const std::int64_t all = shape->chains * shape->draws;
  result.stride = ceil_divide(all, max_histogram_draws);
  const RankChoice choice = rank_choice(shape->chains, ceil_divide(shape->draws, result.stride));
  result.rank_stride = result.stride * choice.step;
  result.ranked_chains = choice.chains;
  std::vector<std::vector<double>> columns(std::min(names.size(), max_quantities));
  if (!read_columns(file, begin, *shape, result.stride, columns)) {
    why = "it cannot be read to its end";
    return std::nullopt;
  }
  result.all.resize(columns.size());
  const auto show = [&](std::int64_t quantity) {
    const auto q = static_cast<std::size_t>(quantity);
    result.all[q] = histogram_of(names[q], columns[q]);
    rank(columns[q], shape->chains, choice, result.all[q]);
  };
  for_each_on_threads(HostThreads::count(), static_cast<std::int64_t>(columns.size()), show);
  return result;
}

}  // namespace kiln::cli
