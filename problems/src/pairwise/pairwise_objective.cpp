// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/pairwise_objective.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>

#include "kiln/host_scratch.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"
#include "kiln/kernels/sweeps/sweep_scratch.hpp"
#include "kiln/objectives/device_bundle.hpp"
#include "kiln/objectives/ladder_end.hpp"

#include "beta_range.hpp"
#include "coloring/forced_moves.hpp"
#include "pairwise/group_rows.hpp"
#include "pairwise/packed_states.hpp"
#include "pairwise/pair_rows.hpp"
#include "pairwise/slice_rows.hpp"
#include "sum_of_terms.hpp"

namespace kiln::problems {
namespace {

// Bytes of the numbers that hold every weight of a matrix; 0 where sweeps do not go through all
// sites in order, or weights are no integers.
std::int32_t matrix_weight_bytes(const PairwisePlan& plan) {
  if (!plan.sequential || !plan.integral) return 0;
  if (plan.arithmetic == Arithmetic::wide) return 8;
  float largest = 0;
  for (const PairEntry& entry : plan.entries) largest = std::max(largest, std::abs(entry.weight));
  return largest <= 127 ? 1 : largest <= 32767 ? 2 : 8;
}

std::uint64_t field_bytes(std::int32_t weight_bytes) { return weight_bytes == 8 ? 8 : 4; }

// The matrix, and the fields and states that are kept for each replica.
std::uint64_t dense_bytes(const WorkShape& work, std::int64_t replicas) {
  const auto sites = static_cast<std::uint64_t>(work.sites);
  return sites * sites * static_cast<std::uint64_t>(work.matrix_weight_bytes) +
         static_cast<std::uint64_t>(replicas) * sites * (field_bytes(work.matrix_weight_bytes) + 1);
}

template <class Weight>
std::vector<Weight> dense_matrix(const PairwisePlan& plan) {
  const auto sites = static_cast<std::size_t>(plan.n_sites());
  std::vector<Weight> matrix(sites * sites, Weight{0});
  for (std::size_t site = 0; site < sites; ++site) {
    for (std::int64_t e = plan.row_begin[site]; e < plan.row_begin[site + 1]; ++e) {
      const PairEntry& entry = plan.entries[static_cast<std::size_t>(e)];
      const double weight = plan.weight(e);
      if (weight != 0) matrix[site * sites + entry.site] = static_cast<Weight>(weight);
    }
  }
  return matrix;
}

// Rows for a GPU: those of sweeps and those of energies.
struct GroupPair {
  GroupRows whole, half;

  std::uint64_t bytes() const {
    return (whole.sites.size() + half.sites.size()) * sizeof(GroupSite) +
           (whole.terms.size() + half.terms.size()) * sizeof(std::uint32_t);
  }
};

class GroupPlaces {
 public:
  GroupPlaces(const GroupRows& rows, DeviceBundle& bundle)
      : sites_(bundle.add_lasting(rows.sites)), terms_(bundle.add_lasting(rows.terms)) {}
  GroupView view(const GroupRows& rows, DeviceBundle& bundle) const {
    return {rows.max_sum, rows.one_plane, bundle.view(sites_), bundle.view(terms_)};
  }

 private:
  DeviceBundle::Place<GroupSite> sites_;
  DeviceBundle::Place<std::uint32_t> terms_;
};

class BoundPairwise final : public Offers<BoundObjective, Evaluates, Sweeps, PairwiseModelled> {
 public:
  /// @param matrix_bytes  of a weight in the matrix; 0: none is made.
  /// @param slices, groups  rows for counting on the CPU and on a GPU; empty: none
  /// @pre plan, slices and groups outlive the object.
  BoundPairwise(const PairwisePlan& plan, std::int32_t matrix_bytes, const SliceRows& slices,
                const GroupPair& groups, bool may_be_forced, Queue& queue)
      : integral_(plan.integral), may_be_forced_(may_be_forced) {
    const PairRows rows(plan, model_);
    const auto base = model_.add_lasting(plan.base);
    const auto field = model_.add_lasting(plan.field);
    const auto slice_sites = model_.add_lasting(slices.sites);
    const auto slice_runs = model_.add_lasting(slices.runs);
    const auto slice_terms = model_.add_lasting(slices.terms);
    const GroupPlaces whole(groups.whole, model_), half(groups.half, model_);
    model_.upload(queue);
    rows.describe(plan, model_, view_);
    view_.total_sum = plan.total_sum;
    view_.integral = plan.integral;
    view_.base = model_.view(base);
    view_.field = model_.view(field);
    view_.slices = {slices.max_local, model_.view(slice_sites), model_.view(slice_runs),
                    model_.view(slice_terms)};
    view_.groups = whole.view(groups.whole, model_);
    view_.half_groups = half.view(groups.half, model_);
    if (matrix_bytes == 0) return;
    view_.dense.bytes_per_weight = matrix_bytes;
    if (matrix_bytes == 1) {
      matrix_i8_ = DeviceArray<std::int8_t>(queue, dense_matrix<std::int8_t>(plan));
      view_.dense.matrix = matrix_i8_.data();
    } else if (matrix_bytes == 2) {
      matrix_i16_ = DeviceArray<std::int16_t>(queue, dense_matrix<std::int16_t>(plan));
      view_.dense.matrix = matrix_i16_.data();
    } else {
      matrix_f64_ = DeviceArray<double>(queue, dense_matrix<double>(plan));
      view_.dense.matrix = matrix_f64_.data();
    }
  }

  void prepare(ReplicaBatch& batch, Queue& queue) override {
    packed_.prepare(batch, queue);
    if (view_.dense.matrix == nullptr) return;
    const std::int64_t cells = batch.slots() * view_.n_sites;
    const auto bytes = static_cast<std::int64_t>(field_bytes(view_.dense.bytes_per_weight));
    dense_fields_ = DeviceArray<std::byte>(queue, cells * bytes);
    dense_bits_ = DeviceArray<std::uint32_t>(queue, cells / 4);
    dense_valid_ = DeviceArray<std::uint32_t>(queue, batch.slots());
    dense_valid_.zero();
    view_.dense.fields = dense_fields_.data();
    view_.dense.bits = dense_bits_.data();
    view_.dense.valid = dense_valid_.data();
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    queue.launch(PairwiseEnergy{view_, packed_.of(args.batch, queue), args.energy,
                                args.batch.rung_of(), args.active_rungs, args.control});
  }

  void metropolis_sweep(const SweepArgs& args, Queue& queue) override {
    ReplicaBatch& batch = args.batch;
    queue.launch(MetropolisSweep{view_, PackedStates::in_place(batch), batch.energy(),
                                 batch.accepted(), args.beta, batch.rung_of(), batch.draw_ids(),
                                 args.inverse_scale, args.control, args.step_offset,
                                 rule_without_force(may_be_forced_, args), args.active_rungs});
    if (!integral_ && args.energies_needed) {
      evaluate(EvaluateArgs{batch, batch.energy(), {}, args.control}, queue);
    }
  }

  const PairwiseView& pairwise_model() const noexcept override { return view_; }

 private:
  bool integral_, may_be_forced_;
  PackedStates packed_;
  DeviceBundle model_;
  DeviceArray<std::int8_t> matrix_i8_;
  DeviceArray<std::int16_t> matrix_i16_;
  DeviceArray<double> matrix_f64_;
  DeviceArray<std::byte> dense_fields_;
  DeviceArray<std::uint32_t> dense_bits_, dense_valid_;
  PairwiseView view_;
};

// Smallest non-zero energy change of each spin that has couplings: local fields are base - 2 * (a
// sum of weights), so with integer weights of greatest common divisor g they are base modulo 2 g.
std::vector<double> smallest_changes(const PairwisePlan& plan) {
  std::vector<double> changes;
  if (!plan.integral) return changes;
  for (std::int32_t site = 0; site < plan.n_sites(); ++site) {
    const auto i = static_cast<std::size_t>(site);
    if (plan.variable[i] < 0) continue;
    const std::int64_t divisor = plan.divisor_of_row(i);
    if (divisor == 0) continue;
    const std::int64_t period = 2 * divisor;
    const std::int64_t rest = std::abs(static_cast<std::int64_t>(plan.base[i])) % period;
    const std::int64_t field = rest == 0 ? period : std::min(rest, period - rest);
    changes.push_back(2 * static_cast<double>(field));
  }
  return changes;
}

// The field on a spin among random spins has standard deviation sqrt(sum J^2) about h.
AutomaticRange range_of(const Ising& model, const PairwisePlan& plan) {
  double largest = largest_weight(model.couplings);
  for (const double h : model.fields) largest = std::max(largest, std::abs(h));
  const double unit = unit_of(largest);
  Spreads spreads{std::vector<double>(static_cast<std::size_t>(model.n), 0.0), {}, unit};
  for (const double h : model.fields) spreads.fields.push_back(h / unit * (h / unit));
  spreads.fields.resize(spreads.couplings.size(), 0.0);
  add_squares_of(model.couplings, unit, 1, spreads.couplings);
  return automatic_range(spreads, smallest_changes(plan));
}

class PairwiseObjective final : public Offers<Objective, HostScratch, EndsLadders> {
 public:
  PairwiseObjective(std::string name, const Ising& model, BlockKind kind)
      : name_(std::move(name)),
        space_(kind == BlockKind::spin ? Space::spins(model.n) : Space::binary(model.n)),
        plan_(plan_pairwise(model)),
        may_be_forced_(moves_may_be_forced(plan_, plan_.field)),
        matrix_weight_bytes_(matrix_weight_bytes(plan_)),
        range_(range_of(model, plan_)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::packed32}}; }
  InterfaceSet abilities() const override { return BoundPairwise::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    const bool dense = choose_shape(work_shape(), queue.device_shape()).dense;
    static const SliceRows no_slices;
    static const GroupPair no_groups;
    return std::make_unique<BoundPairwise>(
        plan_, dense ? matrix_weight_bytes_ : 0, queue.on_cpu() ? slices() : no_slices,
        queue.on_cpu() ? no_groups : groups(), may_be_forced_, queue);
  }
  // The CPU reads the plan in place.
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const override {
    const WorkShape work = work_shape();
    const std::uint64_t dense = choose_shape(work, device).dense ? dense_bytes(work, replicas) : 0;
    if (!device.gpu) return dense;
    return plan_.entries.size() * sizeof(PairEntry) + plan_.weights_f64.size() * 8 +
           plan_.variable.size() * 32 + groups().bytes() + dense;
  }
  std::uint64_t host_scratch_bytes(std::int64_t words, std::int64_t threads) const override {
    PairwiseView sizes;
    sizes.n_sites = plan_.n_sites();
    sizes.max_coupling_sum = plan_.max_coupling_sum;
    sizes.arithmetic = plan_.arithmetic;
    sizes.entries.size = std::ssize(plan_.entries);
    sizes.slices.runs.size = std::ssize(slices().runs);
    sizes.slices.terms.size = std::ssize(slices().terms);
    return metropolis_sweep_scratch(sizes, words, threads);
  }
  WorkShape work_shape() const override {
    return {.unit = WorkUnit::packed_sweep,
            .variables = plan_.n_variables,
            .sites = plan_.n_sites(),
            .entries = static_cast<std::int64_t>(plan_.entries.size()),
            .matrix_weight_bytes = matrix_weight_bytes_};
  }
  double sweep_cost() const override { return static_cast<double>(plan_.entries.size()); }
  BetaRange beta_range() const override { return range_.anneal; }
  double ladder_end() const override { return range_.ladder_end; }

 private:
  std::string name_;
  Space space_;
  PairwisePlan plan_;
  // Only the CPU reads slices and only a GPU reads groups: made with the first run or plan there.
  const SliceRows& slices() const {
    std::call_once(sliced_, [this] { slices_ = slice_rows(plan_); });
    return slices_;
  }
  const GroupPair& groups() const {
    std::call_once(grouped_, [this] {
      // A model that is swept in order has a kernel of its own kind.
      if (!plan_.sequential) groups_.whole = group_rows(plan_);
      groups_.half = group_rows(plan_, RowPart::half);
    });
    return groups_;
  }
  mutable std::once_flag sliced_, grouped_;
  mutable SliceRows slices_;
  mutable GroupPair groups_;
  bool may_be_forced_;
  std::int32_t matrix_weight_bytes_;
  AutomaticRange range_;
};

}  // namespace

std::shared_ptr<const Objective> make_pairwise_objective(std::string name, const Ising& model,
                                                         BlockKind kind) {
  return std::make_shared<PairwiseObjective>(std::move(name), model, kind);
}

}  // namespace kiln::problems
