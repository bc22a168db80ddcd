// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/pairwise_objective.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <optional>

#include "kiln/host_scratch.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"
#include "kiln/kernels/sweeps/sign_rows.hpp"
#include "kiln/kernels/sweeps/sweep_scratch.hpp"
#include "kiln/objectives/device_bundle.hpp"
#include "kiln/objectives/draws_planes.hpp"
#include "kiln/objectives/ladder_end.hpp"
#include "kiln/option_info.hpp"

#include "beta_range.hpp"
#include "coloring/forced_moves.hpp"
#include "pairwise/group_rows.hpp"
#include "pairwise/median_of_sites.hpp"
#include "pairwise/packed_states.hpp"
#include "pairwise/pair_rows.hpp"
#include "pairwise/plan_rows.hpp"
#include "pairwise/sign_rows.hpp"
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

// The common divisor of all weights if it makes a matrix of signed bytes of them, else 0.
std::int32_t byte_matrix_unit(const PairwisePlan& plan) {
  if (!plan.sequential || !plan.integral || plan.arithmetic == Arithmetic::wide) return 0;
  std::int32_t divisor = 0, largest = 0;
  for (const PairEntry& entry : plan.entries) {
    const std::int32_t size = std::abs(static_cast<std::int32_t>(entry.weight));
    largest = std::max(largest, size);
    if (divisor != 1) divisor = std::gcd(divisor, size);
  }
  return divisor > 0 && largest / divisor <= 127 ? divisor : 0;
}

std::uint64_t field_bytes(std::int32_t weight_bytes) { return weight_bytes == 8 ? 8 : 4; }

// The matrix, and the fields and states that are kept for each replica.
std::uint64_t dense_bytes(const WorkShape& work, std::int64_t replicas) {
  const auto sites = static_cast<std::uint64_t>(work.sites);
  return sites * sites * static_cast<std::uint64_t>(work.matrix_weight_bytes) +
         static_cast<std::uint64_t>(replicas) * sites * (field_bytes(work.matrix_weight_bytes) + 1);
}

template <class Weight>
LargeVector<Weight> matrix_of(const PairwisePlan& plan, std::size_t behind = 0) {
  const auto sites = static_cast<std::size_t>(plan.n_sites());
  LargeVector<Weight> matrix(sites * sites + behind);
  const auto fill_rows = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      Weight* const row = matrix.data() + site * sites;
      std::fill_n(row, sites, Weight{0});
      for (std::int64_t e = plan.row_begin[site]; e < plan.row_begin[site + 1]; ++e) {
        const double weight = plan.weight(e);
        if (weight == 0) continue;
        row[plan.entries[static_cast<std::size_t>(e)].site] = static_cast<Weight>(weight);
      }
    }
  };
  for_each_block(plan.n_sites(), fill_rows,
                 std::max<std::int64_t>(1, elements_for_a_thread / plan.n_sites()));
  return matrix;
}

// The matrix of a dense model, in the numbers that hold its weights; the others are empty.
struct DenseMatrix {
  LargeVector<std::int8_t> i8;
  LargeVector<std::int16_t> i16;
  LargeVector<double> f64;
};

DenseMatrix dense_matrix(const PairwisePlan& plan, std::int32_t bytes_per_weight,
                         std::int32_t sign_planes) {
  DenseMatrix matrix;
  if (sign_planes > 0) {
    const SignRows rows{plan.n_sites()};
    matrix.i8 = matrix_of<std::int8_t>(plan, static_cast<std::size_t>(rows.bytes()));
    write_sign_rows(matrix.i8.data(), plan.n_sites());
    return matrix;
  }
  if (bytes_per_weight == 1) matrix.i8 = matrix_of<std::int8_t>(plan);
  if (bytes_per_weight == 2) matrix.i16 = matrix_of<std::int16_t>(plan);
  if (bytes_per_weight == 8) matrix.f64 = matrix_of<double>(plan);
  return matrix;
}

// What a run needs beside the plan; all of it lasts as long as the objective.
struct PairwiseParts {
  const SliceRows& slices;  // of the CPU
  const GroupPair& groups;  // of a GPU
  const DenseMatrix& matrix;
  std::int32_t matrix_bytes = 0;  // of a weight; 0: no matrix
  std::int32_t sign_planes = 0;
};

class BoundPairwise final : public Offers<BoundObjective, Evaluates, Sweeps, PairwiseModelled> {
 public:
  /// @pre plan and parts outlive the object.
  BoundPairwise(const PairwisePlan& plan, const PairwiseParts& parts, bool may_be_forced,
                Queue& queue)
      : integral_(plan.integral), may_be_forced_(may_be_forced) {
    const PairRows rows(plan, model_);
    const auto base = model_.add_lasting(plan.base);
    const auto field = model_.add_lasting(plan.field);
    const auto slice_sites = model_.add_lasting(parts.slices.sites);
    const auto slice_runs = model_.add_lasting(parts.slices.runs);
    const auto slice_terms = model_.add_lasting(parts.slices.terms);
    const GroupPlaces whole(parts.groups.whole, model_), half(parts.groups.half, model_);
    const auto staged_sites = model_.add_lasting(parts.groups.staged.sites);
    const auto stage_begin = model_.add_lasting(parts.groups.staged.begin);
    const auto i8 = model_.add_lasting(parts.matrix.i8);
    const auto i16 = model_.add_lasting(parts.matrix.i16);
    const auto f64 = model_.add_lasting(parts.matrix.f64);
    model_.upload(queue);
    rows.describe(plan, model_, view_);
    view_.total_sum = plan.total_sum;
    view_.integral = plan.integral;
    view_.has_fields = plan.has_fields;
    view_.max_neighbors = static_cast<std::int32_t>(plan.longest_row);
    view_.base = model_.view(base);
    view_.field = model_.view(field);
    view_.slices = {parts.slices.max_local, model_.view(slice_sites), model_.view(slice_runs),
                    model_.view(slice_terms)};
    view_.groups = whole.view(parts.groups.whole, model_);
    view_.half_groups = half.view(parts.groups.half, model_);
    view_.staged = {model_.view(staged_sites), model_.view(stage_begin)};
    if (parts.matrix_bytes == 0) return;
    view_.dense.bytes_per_weight = parts.matrix_bytes;
    view_.dense.sign_planes = parts.sign_planes;
    if (parts.matrix_bytes == 1) view_.dense.matrix = model_.view(i8).data;
    if (parts.matrix_bytes == 2) view_.dense.matrix = model_.view(i16).data;
    if (parts.matrix_bytes == 8) view_.dense.matrix = model_.view(f64).data;
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
    queue.launch(kernel_of(args));
    if (!integral_ && args.energies_needed) {
      evaluate(EvaluateArgs{batch, batch.energy(), {}, args.control}, queue);
    }
  }
  std::optional<MetropolisSweep> sweep_kernel(const SweepArgs& args) const override {
    return integral_ ? std::optional(kernel_of(args)) : std::nullopt;
  }

  // A launch has one rule, and sweeps that may be forced have two in turn.
  bool takes_several() const noexcept override { return !may_be_forced_; }

  const PairwiseView& pairwise_model() const noexcept override { return view_; }

 private:
  MetropolisSweep kernel_of(const SweepArgs& args) const {
    ReplicaBatch& batch = args.batch;
    return {view_,
            PackedStates::in_place(batch),
            batch.energy(),
            batch.accepted(),
            args.beta,
            batch.rung_of(),
            batch.draw_ids(),
            args.inverse_scale,
            args.control,
            args.step_offset,
            rule_without_force(may_be_forced_, args),
            args.active_rungs,
            args.sweeps,
            args.beta_stride,
            args.naming,
            integral_};
  }

  bool integral_, may_be_forced_;
  PackedStates packed_;
  DeviceBundle model_;
  DeviceArray<std::byte> dense_fields_;
  DeviceArray<std::uint32_t> dense_bits_, dense_valid_;
  PairwiseView view_;
};

// The median of the smallest non-zero energy changes of the spins that have couplings: local fields
// are base - 2 * (a sum of weights), so with integer weights of greatest common divisor g they are
// base modulo 2 g.
std::optional<double> smallest_change(const PairwisePlan& plan) {
  if (!plan.integral) return std::nullopt;
  return median_of_sites(plan.n_sites(), [&](std::size_t site) {
    const std::int64_t divisor = plan.divisor_of_row(site);
    if (divisor == 0) return -1.0;
    const std::int64_t period = 2 * divisor;
    const std::int64_t rest = std::abs(static_cast<std::int64_t>(plan.base[site])) % period;
    const std::int64_t field = rest == 0 ? period : std::min(rest, period - rest);
    return 2 * static_cast<double>(field);
  });
}

// The median of h^2 + sum J^2 over the spins where it is not 0, in units of `unit` squared.
std::optional<double> median_square(const Ising& model, const PairwisePlan& plan, double unit) {
  const auto square = [&](double x) { return x / unit * (x / unit); };
  if (plan.arithmetic != Arithmetic::wide) {  // the sums are exact, in any order
    return median_of_sites(plan.n_sites(), [&](std::size_t site) {
      double sum = square(plan.field[site]);
      for (const PairEntry& entry : row_of(plan, site)) sum += square(entry.weight);
      return sum == 0 ? -1.0 : sum;
    });
  }
  std::vector<double> squares;
  for (const double h : model.fields) squares.push_back(square(h));
  squares.resize(static_cast<std::size_t>(model.n), 0.0);
  add_squares_of(model.couplings, unit, 1, squares);
  std::erase(squares, 0.0);
  return squares.empty() ? std::nullopt : std::optional(median(std::move(squares)));
}

// The field on a spin among random spins has standard deviation sigma = sqrt(h^2 + sum J^2).
AutomaticRange range_of(const Ising& model, const PairwisePlan& plan, double largest) {
  const double unit = unit_of(largest);
  const std::optional<double> square = median_square(model, plan, unit);
  return automatic_range(square ? std::optional(unit * std::sqrt(*square)) : std::nullopt,
                         smallest_change(plan));
}

class PairwiseObjective final : public Offers<Objective, HostScratch, EndsLadders, DrawsPlanes> {
 public:
  PairwiseObjective(std::string name, const Ising& model, const CoefficientSizes& sizes,
                    PairwisePlan plan, BlockKind kind)
      : name_(std::move(name)),
        space_(kind == BlockKind::spin ? Space::spins(model.n) : Space::binary(model.n)),
        plan_(std::move(plan)),
        may_be_forced_(moves_may_be_forced(plan_, plan_.field)),
        matrix_weight_bytes_(matrix_weight_bytes(plan_)),
        byte_matrix_unit_(byte_matrix_unit(plan_)),
        range_(range_of(model, plan_, sizes.largest)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::packed32}}; }
  InterfaceSet abilities() const override { return BoundPairwise::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    const bool dense = choose_shape(work_shape(), queue.device_shape()).dense;
    static const SliceRows no_slices;
    static const GroupPair no_groups;
    static const DenseMatrix no_matrix;
    const PairwiseParts parts{queue.on_cpu() ? slices() : no_slices,
                              queue.on_cpu() ? no_groups : groups(), dense ? matrix() : no_matrix,
                              dense ? matrix_weight_bytes_ : 0, dense ? planes_of_signs() : 0};
    return std::make_unique<BoundPairwise>(plan_, parts, may_be_forced_, queue);
  }
  // The CPU reads the plan in place.
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const override {
    const WorkShape work = work_shape();
    std::uint64_t dense = choose_shape(work, device).dense ? dense_bytes(work, replicas) : 0;
    if (!device.gpu) return dense;
    if (dense > 0 && planes_of_signs() > 0) {
      dense += static_cast<std::uint64_t>(SignRows{plan_.n_sites()}.bytes());
    }
    return plan_.entries.size() * sizeof(PairEntry) + plan_.weights_f64.size() * 8 +
           plan_.variable.size() * 32 + groups().bytes() + dense;
  }
  std::uint64_t host_scratch_bytes(std::int64_t words, std::int64_t threads,
                                   DrawNaming naming) const override {
    PairwiseView sizes;
    sizes.n_sites = plan_.n_sites();
    sizes.max_coupling_sum = plan_.max_coupling_sum;
    sizes.arithmetic = plan_.arithmetic;
    sizes.entries.size = std::ssize(plan_.entries);
    sizes.slices.runs.size = std::ssize(slices().runs);
    sizes.slices.terms.size = std::ssize(slices().terms);
    return metropolis_sweep_scratch(sizes, words, threads, naming);
  }
  WorkShape work_shape() const override {
    return {.unit = WorkUnit::packed_sweep,
            .variables = plan_.n_variables,
            .sites = plan_.n_sites(),
            .entries = static_cast<std::int64_t>(plan_.entries.size()),
            .matrix_weight_bytes = matrix_weight_bytes_,
            .byte_matrix_unit = byte_matrix_unit_};
  }
  double sweep_cost() const override { return static_cast<double>(plan_.entries.size()); }
  BetaRange beta_range() const override { return range_.anneal; }
  double ladder_end() const override { return range_.ladder_end; }
  std::string obstacle_to_planes() const override {
    if (plan_.sequential) return reason_of_sequence();
    if (may_be_forced_) {
      return "a ring or a small even component makes sweeps use the heat bath (ADR 0023)";
    }
    if (plan_.arithmetic != Arithmetic::narrow) return "the weights are no small integers";
    if (plan_.max_sum <= max_sum_of_planes) return {};
    return "a variable has |h| + sum |J| = " + kiln::detail::show_real(plan_.max_sum) +
           ", and counters hold at most " + std::to_string(max_sum_of_planes);
  }
  SweepOrder sweep_order() const override {
    return {.classes = plan_.sequential ? 0 : plan_.n_classes, .largest_sum = plan_.max_sum};
  }

 private:
  std::string reason_of_sequence() const {
    const std::int32_t n = plan_.n_variables;
    return (plan_.dense
                ? std::string("at least an eighth of all pairs are coupled")
                : "a colouring of the " + std::to_string(n) + " variables takes more than " +
                      std::to_string(n / 8) + (n / 8 == 1 ? " colour" : " colours")) +
           ", so the variables are swept one by one";
  }

  std::string name_;
  Space space_;
  PairwisePlan plan_;
  // Only the CPU reads slices, only a GPU reads groups, and only some devices read the matrix: made
  // with the first run or plan there.
  const SliceRows& slices() const {
    std::call_once(sliced_, [this] { slices_ = slice_rows(plan_); });
    return slices_;
  }
  const GroupPair& groups() const {
    std::call_once(grouped_, [this] { groups_ = group_pair(plan_); });
    return groups_;
  }
  const DenseMatrix& matrix() const {
    std::call_once(filled_, [this] {
      matrix_ = dense_matrix(plan_, matrix_weight_bytes_, planes_of_signs());
    });
    return matrix_;
  }
  std::int32_t planes_of_signs() const {
    std::call_once(signed_, [this] { sign_planes_ = sign_planes(plan_); });
    return sign_planes_;
  }
  mutable std::once_flag sliced_, grouped_, filled_, signed_;
  mutable SliceRows slices_;
  mutable GroupPair groups_;
  mutable DenseMatrix matrix_;
  mutable std::int32_t sign_planes_ = 0;
  bool may_be_forced_;
  std::int32_t matrix_weight_bytes_, byte_matrix_unit_;
  AutomaticRange range_;
};

}  // namespace

std::shared_ptr<const Objective> make_pairwise_objective(std::string name, const Ising& model,
                                                         BlockKind kind) {
  const CoefficientSizes sizes = sizes_of(model);
  return make_pairwise_objective(std::move(name), model, sizes, plan_pairwise(model, sizes), kind);
}
std::shared_ptr<const Objective> make_pairwise_objective(std::string name, const Ising& model,
                                                         const CoefficientSizes& sizes,
                                                         PairwisePlan plan, BlockKind kind) {
  return std::make_shared<PairwiseObjective>(std::move(name), model, sizes, std::move(plan), kind);
}

}  // namespace kiln::problems
