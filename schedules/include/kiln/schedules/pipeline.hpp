// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/pipelines/stages.hpp"
#include "kiln/registry.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

namespace detail {
template <class Options, class... Interfaces>
Options options_of_schedule(const ScheduleOf<Options, Interfaces...>&);
}

/// A stage by value: `stage<SimulatedAnnealing>({.cooling = PidCooling{}}, {.sweeps = 2000})`.
template <class S, class Options = decltype(detail::options_of_schedule(std::declval<const S&>()))>
Stage stage(Options options = {}, StageLimit limit = {}) {
  return {std::make_shared<S>(std::move(options)), limit};
}

/// Schedules that follow each other on the same replicas. See docs/schedules/pipelines.md.
///
///     Pipeline pipeline{stage<SimulatedAnnealing>({.cooling = PidCooling{}}, {.sweeps = 2000}),
///                       stage<ParallelTempering>()};
///     const Result result = engine.run(problem, pipeline, {.sweeps = 10000});
///
/// A stage hands its replicas on when it reaches its limit. A budget of the run is that of all
/// stages together, and the last stage gets what is left of it; only the last stage may have no
/// limit, and only in a run with a budget. A pipeline serves one run at a time, as its stages do.
class KILN_API Pipeline final : public Offers<Schedule, HasStages> {
 public:
  /// @throws InvalidArgument for no stage, and for a stage that is a pipeline.
  explicit Pipeline(std::vector<Stage> stages);
  Pipeline(std::initializer_list<Stage> stages) : Pipeline(std::vector<Stage>(stages)) {}

  /// "simulated-annealing > parallel-tempering".
  std::string name() const override;
  /// That of the stages; "step" where these differ.
  std::string_view step_name() const override;
  /// Those of all stages: "1.cooling", "2.rungs".
  std::map<std::string, std::string> parameters() const override;
  const std::vector<Stage>& stages() const noexcept override { return stages_; }

  // A run asks the stages. Asked directly, a pipeline is its first stage.
  Needs needs(const Problem& problem, const Budget& budget) override;
  WorkKind work_kind() const noexcept override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;

 private:
  std::vector<Stage> stages_;
};

/// A stage as a text names it.
struct StageText {
  std::string schedule;  ///< by its name, not an alias
  std::map<std::string, std::string> parameters;
  StageLimit limit;
};

/// A pipeline as a text: `simulated-annealing(sweeps=2000, cooling=pid) > parallel-tempering`.
///
/// Stages are separated by `>`. Each is the name of a schedule; in brackets follow its parameters
/// and limits, `name=value`, separated by commas. The limits are `sweeps` and `time_limit` (in
/// seconds, or with a unit: `500ms`, `10s`, `2m`, `1h`). A value with commas, brackets or `>` is
/// put in quotes, of either kind.
class KILN_API PipelineText {
 public:
  /// @throws InvalidArgument (`schedule.text`) with the column of what is wrong.
  PipelineText(std::string_view text, const Registry& registry);

  /// Whether a text is more than the name of a schedule.
  static bool is_one(std::string_view text) noexcept {
    return text.find_first_of(">()") != std::string_view::npos;
  }
  const std::vector<StageText>& stages() const noexcept { return stages_; }
  /// The text with full names, one space after commas and around `>`.
  const std::string& canonical() const noexcept { return canonical_; }
  /// Makes the pipeline. Several runs need several.
  std::unique_ptr<Pipeline> make() const;
  /// An entry by the name canonical(), for Registry::add. It takes no parameters.
  ScheduleEntry entry() const;

 private:
  std::vector<StageText> stages_;
  std::vector<std::shared_ptr<const ScheduleEntry>> entries_;
  std::string canonical_;
};

}  // namespace kiln
