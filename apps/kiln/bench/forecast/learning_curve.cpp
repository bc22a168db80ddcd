// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "bench/forecast/families.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t inputs = 4;
constexpr int training_rows = 96, validation_rows = 96, batch_rows = 8, training_epochs = 64;

struct Row {
  std::array<double, inputs> x{};
  double y = 0;
};

// A network with one hidden layer of tanh units that learns a noisy wave of its inputs.
class SmallNetwork {
 public:
  explicit SmallNetwork(std::uint64_t seed) : words_(seed) {
    const auto width = static_cast<std::size_t>(4 + words_() % 29);
    rate_ = 0.01 * std::exp(3.5 * unit());  // 0.01 .. 0.33
    noise_ = 0.3 * unit();
    const double frequency = 0.5 + 1.5 * unit();
    for (double& w : wave_) w = frequency * normal();
    units_.resize(width);
    for (Unit& one : units_) {
      for (double& w : one.in) w = normal() / 2;
      one.out = normal() / std::sqrt(static_cast<double>(width));
    }
    for (int i = 0; i < training_rows + validation_rows; ++i) rows_.push_back(draw());
  }

  void train_epoch() {
    for (int i = training_rows - 1; i > 0; --i) {
      std::swap(rows_[static_cast<std::size_t>(i)],
                rows_[words_() % static_cast<std::uint64_t>(i + 1)]);
    }
    for (int first = 0; first < training_rows; first += batch_rows) step(first);
  }

  /// Mean squared error on rows that train nothing.
  double validation_error() const {
    double sum = 0;
    for (int i = training_rows; i < training_rows + validation_rows; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      sum += std::pow(output(row.x) - row.y, 2) / validation_rows;
    }
    return sum;
  }

 private:
  struct Unit {
    std::array<double, inputs> in{};
    double bias = 0, out = 0;
  };

  double unit() { return (static_cast<double>(words_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
  }

  Row draw() {
    Row row;
    double phase = 0;
    for (std::size_t j = 0; j < inputs; ++j) {
      row.x[j] = normal();
      phase += wave_[j] * row.x[j];
    }
    row.y = std::sin(phase) + noise_ * normal();
    return row;
  }

  static double activity(const Unit& one, const std::array<double, inputs>& x) {
    double sum = one.bias;
    for (std::size_t j = 0; j < inputs; ++j) sum += one.in[j] * x[j];
    return std::tanh(sum);
  }

  double output(const std::array<double, inputs>& x) const {
    double sum = bias_;
    for (const Unit& one : units_) sum += one.out * activity(one, x);
    return sum;
  }

  void step(int first) {
    std::vector<Unit> gradient(units_.size());
    double bias_gradient = 0;
    for (int i = first; i < first + batch_rows; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      const double error = (output(row.x) - row.y) / batch_rows;
      bias_gradient += error;
      for (std::size_t u = 0; u < units_.size(); ++u) {
        const double active = activity(units_[u], row.x);
        const double back = error * units_[u].out * (1 - active * active);
        gradient[u].out += error * active;
        gradient[u].bias += back;
        for (std::size_t j = 0; j < inputs; ++j) gradient[u].in[j] += back * row.x[j];
      }
    }
    bias_ -= rate_ * bias_gradient;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      units_[u].out -= rate_ * gradient[u].out;
      units_[u].bias -= rate_ * gradient[u].bias;
      for (std::size_t j = 0; j < inputs; ++j) units_[u].in[j] -= rate_ * gradient[u].in[j];
    }
  }

  std::mt19937_64 words_;
  double rate_ = 0, noise_ = 0, bias_ = 0;
  std::array<double, inputs> wave_{};
  std::vector<Unit> units_;
  std::vector<Row> rows_;  // those of the training come first
};

}  // namespace

RunCurve learning_curve(std::uint64_t seed) {
  SmallNetwork network(seed);
  RunCurve curve;
  const double start = network.validation_error();
  curve.add({0, start, start, 0});
  for (int epoch = 1; epoch <= training_epochs; ++epoch) {
    network.train_epoch();
    const double error = network.validation_error();
    curve.add({static_cast<double>(epoch), error, error, 0});
  }
  return curve;
}

}  // namespace kiln::cli
