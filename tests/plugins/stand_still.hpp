// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/plugins/plugin.hpp"
#include "kiln/queue.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedule.hpp"

namespace kiln::test {

struct StandStillOptions {
  std::int64_t ticks = 1;

  static const OptionTable<StandStillOptions>& table() {
    static const auto table = [] {
      OptionTable<StandStillOptions> all;
      all.integer("ticks", &StandStillOptions::ticks, {1, 100}, "ticks", "Has no effect.");
      return all;
    }();
    return table;
  }
};

#define KILN_TEST_PLUGIN_KERNELS(KERNEL) KERNEL(CountTicks)
KILN_COMPONENT(TestPluginComponent, "test_plugin", KILN_TEST_PLUGIN_KERNELS)

/// Counts the ticks of a run: a kernel that can be seen to have run.
struct CountTicks {
  static constexpr const char* name = "count_ticks";
  View1<double> count;
};

/// Draws new states in each tick, and counts ticks by a kernel.
class StandStill final : public ScheduleOf<StandStillOptions> {
 public:
  explicit StandStill(StandStillOptions options = {})
      : ScheduleOf(StandStillOptions::table().checked(options)) {}
  std::string name() const override { return "stand-still"; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.launches<TestPluginComponent>();
    return needs;
  }
  void allocate(AllocateContext& run) override {
    count_ = run.scratch<double>("count", {0.0});
    run.show_beta(count_);
  }
  void enqueue(TickContext& run) override {
    run.queue().launch(CountTicks{count_});
    run.redraw({});
    run.finish_tick();
  }

 private:
  View1<double> count_;
};

inline ScheduleEntry stand_still_entry(const std::string& name = "stand-still") {
  ScheduleEntry entry;
  entry.name = name;
  entry.sentence = "draws new states, for tests of plug-ins";
  entry.fields = StandStillOptions::table().fields();
  entry.make = [](const auto& texts) {
    return std::make_unique<StandStill>(StandStillOptions::table().parse(texts, "stand-still"));
  };
  return entry;
}

inline KernelSet<TestPluginComponent> count_ticks_on_cpu() {
  return KernelSet<TestPluginComponent>(
      +[](const CountTicks& kernel, Queue&) { kernel.count[0] += 1; });
}

}  // namespace kiln::test
