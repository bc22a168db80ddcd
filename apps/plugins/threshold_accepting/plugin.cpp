// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kiln/abilities.hpp>
#include <kiln/archive.hpp>
#include <kiln/errors.hpp>
#include <kiln/plugins/plugin.hpp>
#include <kiln/run_context.hpp>
#include <kiln/schedule.hpp>

#include "demon_sweep.hpp"
#include "launchers.hpp"

namespace threshold_accepting {
namespace {

struct Options {
  double threshold = 0;     ///< bound when it begins to fall, units of the energy; 0: automatic
  std::int64_t sweeps = 0;  ///< of each fall of the bound; 0: automatic

  static const kiln::OptionTable<Options>& table() {
    static const auto table = [] {
      kiln::OptionTable<Options> all;
      all.real("threshold", &Options::threshold, {0, 1e300, kiln::Automatic{0}}, "energy",
               "Bound of a demon's energy when it begins to fall.")
          .integer("sweeps", &Options::sweeps, {0, 1'000'000'000, kiln::Automatic{0}}, "sweeps",
                   "Sweeps of each fall of the bound to 0, after which it begins again.");
      return all;
    }();
    return table;
  }
};

class ThresholdAccepting final : public kiln::ScheduleOf<Options> {
 public:
  explicit ThresholdAccepting(Options options = {})
      : ScheduleOf(Options::table().checked(options)) {}

  std::string name() const override { return "threshold-accepting"; }

  kiln::Needs needs(const kiln::Problem&, const kiln::Budget& budget) override {
    resolved_ = options_;
    if (resolved_.sweeps == 0) resolved_.sweeps = budget.sweeps.value_or(1000);
    kiln::Needs needs;
    needs.require<kiln::PairwiseModelled>("a demon looks up the neighbours of a spin");
    needs.launches<DemonComponent>();
    needs.default_sweeps = resolved_.sweeps;
    return needs;
  }

  void allocate(kiln::AllocateContext& run) override {
    if (run.counts_only()) return;
    const kiln::PairwiseView& model = run.objective<kiln::PairwiseModelled>().pairwise_model();
    // What half of the couplings of an average spin can cost.
    if (resolved_.threshold == 0) {
      resolved_.threshold =
          model.total_sum / std::max(1, model.n_variables) / 2 * run.inverse_scale();
    }
  }

  void enqueue(kiln::TickContext& run) override {
    kiln::ReplicaBatch& batch = run.batch();
    DemonSweep sweep;
    sweep.model = run.objective<kiln::PairwiseModelled>().pairwise_model();
    sweep.state = batch.state(0).packed();
    sweep.energy = batch.energy();
    sweep.accepted = batch.accepted();
    sweep.draw_ids = batch.draw_ids();
    sweep.control = run.control();
    sweep.start = resolved_.threshold / run.inverse_scale();
    sweep.length = static_cast<std::uint64_t>(resolved_.sweeps);
    run.queue().launch(sweep);
    if (!sweep.model.integral) run.evaluate(batch.energy(), {});
    run.finish_tick();
  }

  // A run that continues with another limit goes on with the fall that it began with.
  void save(kiln::Archive& archive) const override {
    archive.put_value("threshold_accepting.sweeps", resolved_.sweeps);
    archive.put_value("threshold_accepting.threshold", resolved_.threshold);
  }
  void load(const kiln::Archive& archive) override {
    resolved_.sweeps = archive.get_value<std::int64_t>("threshold_accepting.sweeps");
    resolved_.threshold = archive.get_value<double>("threshold_accepting.threshold");
    if (resolved_.sweeps < 1 || !(resolved_.threshold >= 0)) {
      throw kiln::InvalidArgument("checkpoint.schedule",
                                  "the saved threshold or its sweeps are impossible");
    }
  }
};

void add(kiln::PluginRegistrar& plugin) {
  kiln::ScheduleEntry entry;
  entry.name = "threshold-accepting";
  entry.sentence = "accepts what a demon pays for; the bound of its energy falls to 0";
  entry.fields = Options::table().fields();
  entry.make = [](const std::map<std::string, std::string>& texts) {
    return std::make_unique<ThresholdAccepting>(
        Options::table().parse(texts, "schedule 'threshold-accepting'"));
  };
  entry.example = "gset:G22";
  plugin.add(std::move(entry));
  plugin.add_cpu_kernels(kiln::KernelSet<DemonComponent>(&demon_sweep_on_cpu));
#if defined(WITH_CUDA)
  plugin.add_cuda_kernels(kiln::KernelSet<DemonComponent>(&demon_sweep_on_cuda));
#endif
}

}  // namespace
}  // namespace threshold_accepting

KILN_PLUGIN("threshold_accepting", "1.0", "threshold accepting with demons, for pairwise models",
            threshold_accepting::add)
