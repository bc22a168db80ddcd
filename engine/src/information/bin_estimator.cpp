// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bin_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "kiln/kernels/information/joint_histogram.hpp"
#include "kiln/kernels/information/sorted_orders.hpp"
#include "kiln/kernels/information/surrogates.hpp"

#include "idx.hpp"
#include "significance.hpp"

namespace kiln {
namespace {

// Columns with at most so many values, each of four rows or more in the mean, keep them.
constexpr std::size_t few_values = 64;
// Memory for the counts of a chunk, cells.
constexpr std::int64_t chunk_cells = std::int64_t{1} << 24;

using Codes = std::vector<std::uint8_t>;

struct Binning {
  std::int32_t bins = 2;
  bool is_given = false;  // else by rule, and columns with few values keep them
  bool equal_width = false;
};

// Values as numbers 0, 1, ...: one for each value if there are few, else bins. Bins of equal width
// show how values are spread, which is what their entropy is of; bins of equally many rows see the
// most of a dependence.
Codes codes_of(const std::vector<double>& values, const Binning& binning) {
  const std::int32_t bins = binning.bins;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  std::vector<double> distinct = sorted;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::size_t kept = binning.is_given ? idx(bins) : std::min(few_values, values.size() / 4);
  const bool keeps = distinct.size() <= kept;
  // Halves, because the whole range may be beyond doubles.
  const double low = sorted.front() / 2, range = sorted.back() / 2 - low;
  Codes codes;
  for (const double value : values) {
    std::int64_t code = 0;
    if (keeps) {
      code = std::ranges::lower_bound(distinct, value) - distinct.begin();
    } else if (binning.equal_width) {
      code = std::min<std::int64_t>(bins - 1,
                                    static_cast<std::int64_t>((value / 2 - low) / range * bins));
    } else {
      // Equal values share a bin: that of the first of them.
      code = (std::ranges::lower_bound(sorted, value) - sorted.begin()) * bins / std::ssize(sorted);
    }
    codes.push_back(static_cast<std::uint8_t>(code));
  }
  return codes;
}

struct Entropies {
  double y = 0, x = 0, joint = 0;
  double spread_y = 0, spread_given = 0, spread_mutual = 0;
};

// -sum p ln p with the Miller-Madow term of the cells that are not empty.
double entropy_of(const std::vector<std::int64_t>& counts, double n) {
  double sum = 0, cells = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / n;
    sum -= p * std::log(p);
    cells += 1;
  }
  return sum + (cells - 1) / (2 * n);
}

Entropies entropies_of(const std::int32_t* counts, std::int32_t y_codes, std::int32_t x_codes,
                       std::int64_t n) {
  std::vector<std::int64_t> of_y(idx(y_codes)), of_x(idx(x_codes)), joint;
  for (std::int32_t y = 0; y < y_codes; ++y) {
    for (std::int32_t x = 0; x < x_codes; ++x) {
      const std::int64_t count = counts[y * x_codes + x];
      of_y[idx(y)] += count;
      of_x[idx(x)] += count;
      joint.push_back(count);
    }
  }
  const auto total = static_cast<double>(n);
  Entropies all{entropy_of(of_y, total), entropy_of(of_x, total), entropy_of(joint, total)};
  // Deviations of the means of -ln p(y), -ln p(y | x) and ln p(x, y) / p(x) p(y).
  double m[3] = {}, s[3] = {};
  for (std::int32_t y = 0; y < y_codes; ++y) {
    for (std::int32_t x = 0; x < x_codes; ++x) {
      const auto count = static_cast<double>(counts[y * x_codes + x]);
      if (count == 0) continue;
      const double in_y = static_cast<double>(of_y[idx(y)]),
                   in_x = static_cast<double>(of_x[idx(x)]);
      const double value[3] = {-std::log(in_y / total), -std::log(count / in_x),
                               std::log(count * total / (in_x * in_y))};
      for (int i = 0; i < 3; ++i) {
        m[i] += count / total * value[i];
        s[i] += count / total * value[i] * value[i];
      }
    }
  }
  const auto spread = [&](int i) { return std::sqrt(std::max(0.0, s[i] - m[i] * m[i]) / total); };
  all.spread_y = spread(0);
  all.spread_given = spread(1);
  all.spread_mutual = spread(2);
  return all;
}

// Columns as codes, one for each axis that tasks have.
struct CodedAxes {
  std::map<InformationAxis, std::int32_t> row;
  Codes codes;  // [row][n]
  std::int32_t most = 1;

  std::int32_t of(const InformationAxis& axis, const std::vector<Series>& columns,
                  const PreparedColumns& prepared, const Binning& binning) {
    const auto [found, is_new] = row.try_emplace(axis, static_cast<std::int32_t>(row.size()));
    if (!is_new) return found->second;
    std::vector<double> values;
    for (const std::int32_t time : prepared.times) {
      values.push_back(columns[idx(axis.column)].values[idx(time - axis.lag)]);
    }
    const Codes of_axis = codes_of(values, binning);
    for (const std::uint8_t code : of_axis) most = std::max(most, code + 1);
    codes.insert(codes.end(), of_axis.begin(), of_axis.end());
    return found->second;
  }
};

double value_of(const Entropies& entropies, InformationMeasure measure, double& spread) {
  switch (measure) {
    case InformationMeasure::entropy:
      spread = entropies.spread_y;
      return entropies.y;
    case InformationMeasure::conditional_entropy:
      spread = entropies.spread_given;
      return entropies.joint - entropies.x;
    default:
      spread = entropies.spread_mutual;
      return entropies.y + entropies.x - entropies.joint;
  }
}

// What is known of x lowers the entropy of y: values are compared from below.
void compare(std::vector<double> surrogates, InformationMeasure measure,
             InformationEstimate& estimate) {
  const bool turns = measure == InformationMeasure::conditional_entropy;
  const auto turn = [turns](double& value) { value = turns ? -value : value; };
  std::ranges::for_each(surrogates, turn);
  turn(estimate.value);
  // Counts of few values have no smooth tail.
  compare_with_surrogates(surrogates, {.is_smooth = false}, estimate);
  turn(estimate.value);
  turn(estimate.effective);
  turn(estimate.surrogate_mean);
}

// Counts the pairs of columns of one task: x as it is, then its surrogates.
class PairCounts {
 public:
  PairCounts(const CodedAxes& coded, std::int64_t n, const InformationOptions& options,
             const SurrogatePlan& wish, Queue& queue)
      : n_(n),
        codes_(coded.most),
        options_(options),
        wish_(wish),
        queue_(queue),
        columns_(queue, coded.codes),
        at_once_(
            std::clamp<std::int64_t>(std::min(chunk_cells / (std::int64_t{coded.most} * coded.most),
                                              chunk_cells / std::max<std::int64_t>(n, 1)),
                                     1, wish.count + 1)),
        places_(queue, at_once_ * n),
        counts_(queue, at_once_ * codes_ * codes_),
        room_(queue, queue.on_cpu() ? 0 : SortedOrders::room_bytes(at_once_ * n)) {}

  /// Entropies of the columns y and x, with the surrogates first .. first + count - 1 of x; first
  /// -1: of x as it is.
  std::vector<Entropies> entropies(std::int32_t y, std::int32_t x, std::int32_t source,
                                   std::int64_t first, std::int64_t count) {
    std::vector<JointHistogram::Pair> pairs;
    for (std::int32_t i = 0; i < count; ++i) pairs.push_back({y, x, first < 0 ? -1 : i});
    if (first >= 0) draw(source, first, count);
    const DeviceArray<JointHistogram::Pair> device_pairs(queue_, pairs);
    JointHistogram kernel;
    kernel.codes = {columns_.data(), columns_.size() / n_, n_, n_};
    kernel.pairs = device_pairs.view();
    kernel.surrogates = {places_.data(), at_once_, n_, n_};
    kernel.y_codes = kernel.x_codes = codes_;
    kernel.counts = {counts_.data(), count, std::int64_t{codes_} * codes_,
                     std::int64_t{codes_} * codes_};
    queue_.launch(kernel);
    std::vector<std::int32_t> counts(idx(count * codes_ * codes_));
    queue_.download(counts.data(), counts_.data(), counts.size() * sizeof(std::int32_t));
    std::vector<Entropies> all;
    for (std::int64_t i = 0; i < count; ++i) {
      all.push_back(entropies_of(counts.data() + i * codes_ * codes_, codes_, codes_, n_));
    }
    return all;
  }

  std::int64_t at_once() const { return at_once_; }

 private:
  void draw(std::int32_t source, std::int64_t first, std::int64_t count) {
    Surrogates kernel;
    kernel.places = {places_.data(), count, n_, n_};
    kernel.seed = options_.seed;
    kernel.first = first_surrogate_of(source) + first;
    kernel.kind = wish_.kind;
    kernel.closest = wish_.closest(n_);
    kernel.room = room_.view();
    queue_.launch(kernel);
  }

  const std::int64_t n_;
  const std::int32_t codes_;
  const InformationOptions& options_;
  const SurrogatePlan& wish_;
  Queue& queue_;
  DeviceArray<std::uint8_t> columns_;
  const std::int64_t at_once_;
  DeviceArray<std::int32_t> places_, counts_;
  DeviceArray<std::uint8_t> room_;
};

}  // namespace

std::vector<InformationEstimate> estimate_from_bins(const std::vector<Series>& columns,
                                                    const PreparedColumns& prepared,
                                                    const std::vector<InformationTask>& tasks,
                                                    const InformationOptions& options,
                                                    const SurrogatePlan& wish, Backend& backend) {
  const std::int64_t n = std::ssize(prepared.times);
  const auto by_rule = static_cast<std::int32_t>(std::lround(std::cbrt(static_cast<double>(n))));
  Binning binning{options.bins > 0 ? options.bins : std::clamp(by_rule, 2, 64), options.bins > 0,
                  options.measure != InformationMeasure::binned_mutual_information};
  CodedAxes coded;
  std::vector<std::pair<std::int32_t, std::int32_t>> rows;  // of y and x
  for (const InformationTask& task : tasks) {
    const InformationAxis& y = task.y.front();
    const InformationAxis& x = task.x.empty() ? y : task.x.front();
    const std::int32_t of_y = coded.of(y, columns, prepared, binning);
    rows.emplace_back(of_y, coded.of(x, columns, prepared, binning));
  }
  const std::unique_ptr<Queue> queue = backend.make_queue();
  PairCounts counts(coded, n, options, wish, *queue);
  std::vector<InformationEstimate> estimates(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    InformationEstimate& estimate = estimates[i];
    const auto [y, x] = rows[i];
    const std::int32_t source = tasks[i].x.empty() ? 0 : tasks[i].x.front().column;
    estimate.value =
        value_of(counts.entropies(y, x, source, -1, 1).front(), options.measure, estimate.spread);
    estimate.points = n;
    if (tasks[i].x.empty()) continue;
    std::vector<double> of_surrogates;
    for (std::int64_t s = 0; s < wish.count_of(n); s += counts.at_once()) {
      const std::int64_t count = std::min(counts.at_once(), wish.count_of(n) - s);
      for (const Entropies& entropies : counts.entropies(y, x, source, s, count)) {
        double spread = 0;
        of_surrogates.push_back(value_of(entropies, options.measure, spread));
      }
    }
    compare(of_surrogates, options.measure, estimate);
  }
  return estimates;
}

}  // namespace kiln
