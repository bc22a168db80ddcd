// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/random_search.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/result.hpp"
#include "kiln/run_context.hpp"

namespace kiln {
namespace {

// Standard deviations on both sides of the mean that the bins reach: sums of many terms hardly ever
// lie beyond.
constexpr double reach = 8;

/// Where the bins begin, and how wide each is.
struct Bins {
  double low = 0, width = 1;
};

/// Where stored energies can lie: at `first` and whole multiples of `step` from it. 0: anywhere.
struct Lattice {
  double first = 0, step = 0;
};

// Values that are integers may lie further apart as energies: a cut is two of them.
Lattice lattice_of(const Problem& problem) {
  if (!problem.units.stored_integers) return {};
  const Affine& value = problem.units.objective_of_stored;
  if (!problem.units.integral || !(std::abs(value.slope()) < 1)) return {0, 1};
  return {value.inverse(0), 1 / std::abs(value.slope())};
}

// From the energies of some states. Each bin has as many places of the lattice, none at its edge.
Bins bins_for(const std::vector<double>& energies, const Lattice& lattice, std::int64_t bins) {
  double n = 0, sum = 0;
  for (const double e : energies) {
    if (!std::isfinite(e)) continue;
    sum += e;
    ++n;
  }
  if (n == 0) return {};
  const double mean = sum / n;
  double squares = 0;
  for (const double e : energies) {
    if (std::isfinite(e)) squares += (e - mean) * (e - mean);
  }
  const auto number = static_cast<double>(bins);
  Bins made{mean, 2 * reach * std::sqrt(squares / n) / number};
  const double step = lattice.step;
  if (step > 0) made.width = step * std::max(1.0, std::ceil(made.width / step));
  // Equal values, or such that differ by less than their rounding.
  if (!(made.width > std::abs(mean) * 0x1p-40)) made.width = std::max(std::abs(mean), 1.0) / number;
  made.low = mean - made.width * number / 2;
  if (step > 0) {
    made.low = lattice.first + step * (std::round((made.low - lattice.first) / step) - 0.5);
  }
  return made;
}

}  // namespace

const OptionTable<RandomSearchOptions>& RandomSearchOptions::table() {
  using O = RandomSearchOptions;
  static const auto table =
      OptionTable<O>().integer("bins", &O::bins, {1, EnergyHistogram::shared_cells - 2}, "",
                               "Number of bins of the histogram of values in the result.");
  return table;
}

RandomSearch::RandomSearch(RandomSearchOptions options)
    : ScheduleOf(RandomSearchOptions::table().checked(options)) {}

RandomSearch::~RandomSearch() = default;

Needs RandomSearch::needs(const Problem&, const Budget&) { return {}; }

void RandomSearch::allocate(AllocateContext& run) {
  const std::int64_t columns = options_.bins + 2;
  range_ = run.scratch_zeros<double>("range", 2);
  // Bins are counted from it; with other numbers their place may be negative.
  run.require_saved<double>("range", [](const std::vector<double>& saved) {
    return saved[0] == saved[0] && saved[1] >= 0;
  });
  count_ = run.scratch_zeros<std::uint64_t>("histogram", columns);
  histogram_ = {};
  histogram_.energy = run.batch().energy();
  histogram_.rung_of = run.batch().rung_of();
  histogram_.range = range_;
  histogram_.count = {count_.data, 1, columns, columns};
  histogram_.replicas = run.batch().replicas();
  histogram_.control = run.control();
}

// States that are known or given are no random ones.
void RandomSearch::initialize(InitializeContext& run) {
  if (run.given_states() > 0) run.redraw({});
  std::vector<double> energies = run.batch().read_energies(false);
  energies.resize(static_cast<std::size_t>(run.batch().replicas()));
  const Bins bins = bins_for(energies, lattice_of(run.problem()), options_.bins);
  const double range[] = {bins.low, 1 / bins.width};
  run.queue().upload(range_.data, range, sizeof(range));
}

void RandomSearch::enqueue(TickContext& run) {
  run.redraw({});
  run.queue().launch(histogram_);
  run.finish_tick();
}

void RandomSearch::annotate(ReportPoint& point) const {
  point.notes.emplace_back("states", static_cast<double>(point.sweeps * histogram_.replicas));
}

void RandomSearch::report(ReportContext& run, Result& result) {
  // Of several objectives what was counted is a weighed sum, and no value of the result.
  if (run.problem().objectives) return;
  const std::vector<std::uint64_t> counts = run.read(count_);
  const std::vector<double> range = run.read(range_);
  const Affine& objective = run.problem().units.objective_of_stored;
  const double step = lattice_of(run.problem()).step;
  double width = 1 / range[1];
  if (step > 0) width = step * std::round(width / step);
  std::vector<double>&value = result.series["histogram_value"],
  &count = result.series["histogram_count"];
  for (std::size_t b = 0; b + 2 < counts.size(); ++b) {
    value.push_back(objective(range[0] + (static_cast<double>(b) + 0.5) * width));
    count.push_back(static_cast<double>(counts[b + 1]));
  }
  result.diagnostics["histogram_better"] = static_cast<double>(counts.front());
  result.diagnostics["histogram_worse"] = static_cast<double>(counts.back());
}

}  // namespace kiln
