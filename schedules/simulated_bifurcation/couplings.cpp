// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_bifurcation/couplings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/philox.hpp"
#include "kiln/queue.hpp"

namespace kiln {
namespace {

// Multiply-adds of all passes together, and how many passes that may be.
constexpr double multiply_adds = 1e7;
constexpr std::int64_t min_passes = 2, max_passes = 40;

// An array of the device on the host: that of the CPU backend lies there.
template <class T>
class OnHost {
 public:
  OnHost(const RunContext& run, View1<const T> view) {
    if (!run.queue().on_cpu()) copy_ = run.read(view);
    values_ = run.queue().on_cpu()
                  ? std::span<const T>(view.data, static_cast<std::size_t>(view.size))
                  : std::span<const T>(copy_);
  }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
  const T& operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t size() const { return std::ssize(values_); }

 private:
  std::vector<T> copy_;
  std::span<const T> values_;
};

// The rows of a model on the host.
class HostRows {
 public:
  HostRows(const RunContext& run, const PairwiseView& model)
      : queue_(run.queue()),
        n_sites_(model.n_sites),
        row_begin_(run, model.row_begin),
        entries_(run, model.entries),
        weights_(run, model.arithmetic == Arithmetic::wide ? model.weights_f64
                                                           : View1<const double>{}) {}

  std::int64_t sites() const { return n_sites_; }
  std::int64_t entries() const { return entries_.size(); }
  double weight(std::int64_t e) const {
    return weights_.size() > 0 ? weights_[e] : static_cast<double>(entries_[e].weight);
  }

  // out[i] = the sum of term(entry) over row i.
  template <class Term>
  void sum_rows(std::vector<double>& out, const Term& term) const {
    constexpr std::int64_t block = 64;
    queue_.for_each_on_host((n_sites_ + block - 1) / block, [&](std::int64_t b) {
      for (std::int64_t i = b * block; i < std::min(n_sites_, (b + 1) * block); ++i) {
        double sum = 0;
        for (std::int64_t e = row_begin_[i]; e < row_begin_[i + 1]; ++e) sum += term(e);
        out[static_cast<std::size_t>(i)] = sum;
      }
    });
  }
  std::size_t neighbor(std::int64_t e) const { return entries_[e].site; }

 private:
  Queue& queue_;
  std::int64_t n_sites_;
  OnHost<std::int64_t> row_begin_;
  OnHost<PairEntry> entries_;
  OnHost<double> weights_;
};

double norm_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double x : values) squares += x * x;
  return exact::sqrt(squares);
}

// Each |J v| / |v| is a lower bound of the largest |eigenvalue|, and they rise from pass to pass.
double by_power_iteration(const HostRows& rows, double unit) {
  const auto sites = static_cast<std::size_t>(rows.sites());
  std::vector<double> from(sites), to(sites);
  for (std::size_t i = 0; i < sites; ++i) {
    // Of one sign, for couplings whose mean is not 0, and yet with no symmetry.
    from[i] = 0.5 + open_unit(philox4x32_10({{static_cast<std::uint32_t>(i), 0, 0, 0}}, 0)[0]);
  }
  const double fitting = multiply_adds / static_cast<double>(rows.entries());
  const auto passes = static_cast<std::int64_t>(
      std::clamp(fitting, static_cast<double>(min_passes), static_cast<double>(max_passes)));
  double largest = 0;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const double before = norm_of(from);
    rows.sum_rows(to,
                  [&](std::int64_t e) { return rows.weight(e) / unit * from[rows.neighbor(e)]; });
    const double after = norm_of(to);
    if (!(after > 0)) break;
    largest = std::max(largest, after / before);
    for (std::size_t i = 0; i < sites; ++i) from[i] = to[i] / after;
  }
  return largest * unit;
}

}  // namespace

CouplingScale coupling_scale(const RunContext& run, const PairwiseView& model) {
  const HostRows rows(run, model);
  CouplingScale scale;
  double unit = 0;
  for (std::int64_t e = 0; e < rows.entries(); ++e) unit = std::max(unit, std::abs(rows.weight(e)));
  const auto n = static_cast<double>(model.n_variables);
  if (unit > 0) {
    std::vector<double> squares(static_cast<std::size_t>(rows.sites()));
    rows.sum_rows(squares, [&](std::int64_t e) {
      const double w = rows.weight(e) / unit;
      return w * w;
    });
    double sum = 0;
    for (const double square : squares) sum += square;
    scale.force = unit * exact::sqrt(sum / (n - 1));
    scale.largest_eigenvalue = std::max(2 * scale.force, by_power_iteration(rows, unit));
    return scale;
  }
  std::vector<double> fields;
  {
    const OnHost<double> on_host(run, model.field);
    for (std::int64_t i = 0; i < on_host.size(); ++i) fields.push_back(on_host[i]);
  }
  for (const double h : fields) unit = std::max(unit, std::abs(h));
  if (!(unit > 0)) return scale;
  for (double& h : fields) h /= unit;
  scale.force = unit * norm_of(fields) / exact::sqrt(n);
  return scale;
}

}  // namespace kiln
