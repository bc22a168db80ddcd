// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/dense_gaussian.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <variant>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"
#include "kiln/objectives/batched_transition.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

class BoundDenseGaussian final
    : public Offers<BoundObjective, Evaluates, Differentiates, HamiltonianMoves> {
 public:
  BoundDenseGaussian(const std::vector<double>& precision, std::int64_t dimension,
                     std::int32_t limit, Queue& queue)
      : precision_(queue, precision), dimension_(dimension), limit_(limit) {}

  void prepare(ReplicaBatch& batch, Queue& queue) override {
    slots_ = batch.slots();
    gradient_ = DeviceArray<double>(queue, dimension_ * slots_);
    gradient_.zero();
    gradient_weights_ = DeviceArray<double>(queue, 2 * slots_);
    gradient_weights_.zero();
    parts_ = DeviceArray<double>(queue, 2 * slots_);
    parts_.zero();  // the base stays 0
    transition_ = BatchedTransition(queue, dimension_, slots_, limit_);
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    const View2<double> x = positions(args.batch);
    MatrixProduct product = product_with({x.data, x.rows, x.columns, x.stride});
    product.c = transition_.scratch();
    queue.launch(product);
    QuadraticEnergy energy;
    energy.position = product.b.view<double>();
    energy.product = product.c.view<double>();
    energy.replicas = args.batch.replicas();
    energy.energy = args.energy;
    queue.launch(energy);
  }

  void hmc_transition(const TransitionArgs& args, Queue& queue) override {
    ChainState chains;
    chains.position = positions(args.batch);
    chains.gradient = gradient();
    chains.gradient_base_weight = row(gradient_weights_, 0);
    chains.gradient_term_weight = row(gradient_weights_, 1);
    chains.energy = args.batch.energy();
    chains.base = row(parts_, 0);
    chains.term = row(parts_, 1);
    chains.beta = args.beta;
    chains.lambda = args.parameter;
    chains.rung_of = args.batch.rung_of();
    chains.draw_ids = args.batch.draw_ids();
    chains.replicas = args.batch.replicas();
    chains.control = args.control;
    chains.step_offset = args.step_offset;
    GaussianTransition transition{
        transition_.arguments(chains, args.metric, args.tuning, args.statistics),
        {precision_.data(), dimension_, dimension_, dimension_}};
    queue.launch(transition);
  }

  View1<double> gradient_weight() const noexcept override {
    return {const_cast<double*>(gradient_weights_.data()), slots_};
  }
  View2<double> gradient() const noexcept override {
    return {const_cast<double*>(gradient_.data()), dimension_, slots_, slots_};
  }

  void save(Archive& archive) const override {
    archive.put("gaussian.gradient", gradient_);
    archive.put("gaussian.gradient_weights", gradient_weights_);
    archive.put("gaussian.parts", parts_);
  }
  void load(const Archive& archive) override {
    archive.restore("gaussian.gradient", gradient_);
    archive.restore("gaussian.gradient_weights", gradient_weights_);
    archive.restore("gaussian.parts", parts_);
  }

 private:
  View2<double> positions(ReplicaBatch& batch) const {
    const StateBlock block = batch.state(0);
    return {block.as<double>(), block.variables, block.slots, block.slots};
  }
  View1<double> row(DeviceArray<double>& pair, int index) {
    return {pair.data() + index * slots_, slots_};
  }
  MatrixProduct product_with(View2<const double> x) const {
    MatrixProduct product;
    product.a = {precision_.data(), dimension_, dimension_, dimension_};
    product.b = x;
    return product;
  }

  DeviceArray<double> precision_;
  std::int64_t dimension_;
  std::int32_t limit_;
  std::int64_t slots_ = 0;
  DeviceArray<double> gradient_, gradient_weights_, parts_;
  BatchedTransition transition_;
};

class DenseGaussian final : public Offers<Objective, LimitsLeapfrogs> {
 public:
  DenseGaussian(std::string name, std::vector<double> precision, std::int64_t dimension,
                std::int32_t limit)
      : name_(std::move(name)),
        precision_(std::make_shared<const std::vector<double>>(std::move(precision))),
        dimension_(dimension),
        limit_(limit),
        space_(Space::reals(dimension, -infinity, infinity)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::f64}}; }
  InterfaceSet abilities() const override { return BoundDenseGaussian::interfaces(); }
  int leapfrog_limit() const override { return limit_; }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    return std::make_unique<BoundDenseGaussian>(*precision_, dimension_, limit_, queue);
  }
  std::uint64_t device_bytes(const DeviceShape&, std::int64_t replicas) const override {
    const std::int64_t slots = (replicas + 31) / 32 * 32;
    const auto own = static_cast<std::uint64_t>((dimension_ + 4) * slots);
    return (own + precision_->size()) * sizeof(double) +
           BatchedTransition::device_bytes(dimension_, slots);
  }
  EnergyAndGradient gradient_reference() const override {
    return [precision = precision_, n = dimension_](std::span<const double> x,
                                                    std::span<double> gradient) {
      double twice = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        double y = 0;
        for (std::int64_t j = 0; j < n; ++j) y += (*precision)[idx(i * n + j)] * x[idx(j)];
        if (!gradient.empty()) gradient[idx(i)] = y;
        twice += x[idx(i)] * y;
      }
      return 0.5 * twice;
    };
  }
  std::function<double(StateSpan)> reference() const override {
    return [energy = gradient_reference()](StateSpan state) {
      return energy(std::get<std::span<const double>>(state.front()), {});
    };
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  std::string name_;
  std::shared_ptr<const std::vector<double>> precision_;
  std::int64_t dimension_;
  std::int32_t limit_;
  Space space_;
};

void check(const std::vector<double>& precision, std::int64_t dimension, std::int32_t limit) {
  if (dimension < 1 || precision.size() != idx(dimension * dimension)) {
    throw InvalidArgument("objective.shape",
                          "a precision matrix of " + std::to_string(precision.size()) +
                              " values was given for " + std::to_string(dimension) + " dimensions",
                          "dimension x dimension values, at least one");
  }
  if (limit < 1) {
    throw InvalidArgument("objective.value", "leapfrog_limit is " + std::to_string(limit),
                          "at least 1");
  }
  for (std::int64_t i = 0; i < dimension; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double a = precision[idx(i * dimension + j)], b = precision[idx(j * dimension + i)];
      if (std::isfinite(a) && a == b) continue;
      throw InvalidArgument("objective.value",
                            "the precision matrix has " + std::to_string(a) + " at (" +
                                std::to_string(i + 1) + ", " + std::to_string(j + 1) + ") and " +
                                std::to_string(b) + " at (" + std::to_string(j + 1) + ", " +
                                std::to_string(i + 1) + ")",
                            "finite and symmetric values");
    }
  }
}

}  // namespace

std::shared_ptr<const Objective> make_dense_gaussian(std::string name,
                                                     std::vector<double> precision,
                                                     std::int64_t dimension,
                                                     std::int32_t leapfrog_limit) {
  check(precision, dimension, leapfrog_limit);
  return std::make_shared<DenseGaussian>(std::move(name), std::move(precision), dimension,
                                         leapfrog_limit);
}

}  // namespace kiln
