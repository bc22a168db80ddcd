// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/minimize_batch.hpp"

#include <algorithm>
#include <limits>

namespace kiln {

BatchedMinimizer::BatchedMinimizer(Queue& queue, std::int64_t n, const std::vector<double>& starts,
                                   const std::vector<double>& lower,
                                   const std::vector<double>& upper)
    : queue_(queue),
      n_(n),
      items_(static_cast<std::int64_t>(starts.size()) / n),
      point_(queue, items_ * n),
      gradient_(queue, items_ * n),
      own_gradient_(queue, items_ * n),
      direction_(queue, items_ * n),
      pair_(queue, items_ * LbfgsStep::pair_size(n)),
      trial_(queue, starts),
      value_(queue, items_),
      lower_(queue, lower),
      upper_(queue, upper),
      state_(queue, items_),
      running_(queue, std::vector<std::int32_t>(static_cast<std::size_t>(items_), 1)) {
  state_.zero();
  step_.items = items_;
  step_.point = {point_.data(), items_, n, n};
  step_.gradient = {own_gradient_.data(), items_, n, n};
  step_.direction = {direction_.data(), items_, n, n};
  step_.pair = {pair_.data(), items_, LbfgsStep::pair_size(n), LbfgsStep::pair_size(n)};
  step_.trial = {trial_.data(), items_, n, n};
  step_.trial_gradient = {gradient_.data(), items_, n, n};
  step_.trial_value = value_.view();
  step_.lower = {lower_.data(), lower_.size() / n, n, n};
  step_.upper = {upper_.data(), upper_.size() / n, n, n};
  step_.state = state_.view();
  step_.running = running_.view();
}

void BatchedMinimizer::run(int max_rounds, const std::function<void()>& evaluate, bool expensive) {
  // Looking costs a wait, which on a GPU is worth more rounds than on a CPU.
  const int between_looks = expensive || queue_.on_cpu() ? 1 : 8;
  for (int round = 1; round <= max_rounds; ++round) {
    evaluate();
    queue_.launch(step_);
    if (round % between_looks != 0 || round == max_rounds) continue;
    const std::vector<std::int32_t> running = running_.download();
    if (std::ranges::all_of(running, [](std::int32_t r) { return r == 0; })) return;
  }
  // Whoever still runs has its last trial where its best point belongs.
  if (items_ > 0) queue_.copy(trial_.data(), point_.data(), trial_.bytes());
}

std::vector<double> BatchedMinimizer::values() const {
  std::vector<double> all;
  for (const LbfgsState& state : state_.download()) {
    const double none = std::numeric_limits<double>::infinity();
    all.push_back(step_.sign * (state.begun != 0 ? state.value : none));
  }
  return all;
}

}  // namespace kiln
