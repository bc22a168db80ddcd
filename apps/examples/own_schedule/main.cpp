// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Your own schedule: threshold accepting. A move is taken if it makes the energy no worse
// than by a threshold, which falls to 0. The same code searches a Max-Cut and an order of towns.
// Source: Dueck, Scheuer, J. Comput. Phys. 90 (1990) 161.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <kiln/kernels/run/propose_move.hpp>
#include <kiln/kiln.hpp>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace {

struct ThresholdOptions {
  double threshold = 1;       ///< at the beginning, in the units of the energy
  std::int64_t sweeps = 300;  ///< until it is 0

  static const kiln::OptionTable<ThresholdOptions>& table() {
    using O = ThresholdOptions;
    static const auto table = [] {
      kiln::OptionTable<O> all;
      all.real("threshold", &O::threshold, {0, 1e300}, "energy",
               "What a move may cost at the beginning.")
          .integer("sweeps", &O::sweeps, {1, 1 << 30}, "sweeps",
                   "Sweeps until a move may cost nothing.");
      return all;
    }();
    return table;
  }
};

class ThresholdAccepting final : public kiln::ScheduleOf<ThresholdOptions> {
 public:
  explicit ThresholdAccepting(ThresholdOptions options = {})
      : ScheduleOf(ThresholdOptions::table().checked(options)) {}

  std::string name() const override { return "threshold-accepting"; }

  kiln::Needs needs(const kiln::Problem&, const kiln::Budget&) override {
    kiln::Needs needs;
    needs.default_sweeps = options_.sweeps;
    needs.pacing = kiln::Pacing::host;  // it decides on the host
    needs.unpacked = true;              // ProposeMove writes single values
    return needs;
  }

  // Everything that a second run must not inherit is made here.
  void allocate(kiln::AllocateContext& run) override {
    if (!run.counts_only() && !run.queue().on_cpu()) {
      throw kiln::InvalidArgument("threshold.device", "threshold accepting decides on the host",
                                  "device cpu");
    }
    const std::int64_t slots = run.batch().slots();
    first_ = run.scratch_zeros<std::int32_t>("first", slots);
    second_ = run.scratch_zeros<std::int32_t>("second", slots);
    before_ = run.scratch_zeros<double>("before", slots);
    trial_ = run.scratch_zeros<double>("trial", slots);
  }

  void enqueue(kiln::TickContext& run) override {
    if (!run.control()->active(0)) return;  // the run has been stopped: a tick changes nothing
    std::uint32_t attempt = 0;              // names the draws of the sweep
    for (int b = 0; b < run.batch().n_blocks(); ++b) {
      const std::int64_t variables = run.batch().state(b).variables;
      for (std::int64_t v = 0; v < variables; ++v) move(run, b, v, attempt++);
    }
    run.track_best();
  }

 private:
  void move(kiln::WorkContext& run, int b, std::int64_t variable, std::uint32_t attempt) {
    kiln::ReplicaBatch& batch = run.batch();
    const kiln::StateBlock block = batch.state(b);
    const kiln::MoveUndo undo{first_, second_, before_};
    run.queue().launch(
        kiln::ProposeMove{block, variable, attempt, undo, batch.draw_ids(), run.control(), 0});
    run.evaluate(trial_, {});
    const double limit = threshold(run);
    for (std::int64_t slot = 0; slot < batch.replicas(); ++slot) {  // padding never counts
      if (trial_[slot] <= batch.energy()[slot] + limit) {
        batch.energy()[slot] = trial_[slot];
        ++batch.accepted()[slot];
      } else if (block.kind == kiln::BlockKind::permutation) {
        kiln::ProposeMove::reverse(block, slot, first_[slot], second_[slot]);
      } else {
        block.set(first_[slot], slot, before_[slot]);
      }
    }
  }

  // Energies in the batch are stored ones: a threshold in the user's units has to become one.
  double threshold(kiln::WorkContext& run) const {
    const double done =
        static_cast<double>(run.control()->step) / static_cast<double>(options_.sweeps);
    return done >= 1 ? 0 : options_.threshold * (1 - done) / run.inverse_scale();
  }

  kiln::View1<std::int32_t> first_, second_;  // these belong to the run
  kiln::View1<double> before_, trial_;
};

kiln::Problem ring_of_towns() {
  return kiln::make_problem(kiln::make_host_objective(
      "ring", kiln::Space::permutation(12), [](std::span<const std::int32_t> order) {
        double length = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
          const int a = order[i], b = order[(i + 1) % order.size()];
          length += 2 * std::sin(std::numbers::pi * std::abs(a - b) / 12);
        }
        return length;
      }));
}

}  // namespace

int main() {
  try {
    kiln::Engine engine({.device = "cpu", .replicas = 32, .seed = 1});
    const kiln::Problem cut = kiln::make_maxcut(kiln::problems::torus_pm1(8, 8, 1), "torus");
    ThresholdAccepting slow({.threshold = 4, .sweeps = 200});
    const kiln::Result found = engine.run(cut, slow, {});
    kiln::SimulatedAnnealing annealing;
    const kiln::Result known = engine.run(cut, annealing, {.sweeps = 1000});
    std::printf("cut of a torus    %.0f, checked: %s; annealing finds %.0f\n", found.objective,
                found.verified ? "yes" : "no", known.objective);

    ThresholdAccepting fine({.threshold = 0.5, .sweeps = 100});
    const kiln::Result tour = engine.run(ring_of_towns(), fine, {});
    std::printf("tour of 12 towns  %.4f, checked: %s; the shortest is %.4f\n", tour.objective,
                tour.verified ? "yes" : "no", 24 * std::sin(std::numbers::pi / 12));
    return found.verified && tour.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
