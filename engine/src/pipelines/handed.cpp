// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run keeps of earlier stages, in an archive.
#include "pipelines/handed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"
#include "kiln/pipelines/stages.hpp"

namespace kiln {
namespace {

// A stage in numbers; its name is a line of "run.stage.names".
struct SavedStage {
  std::int64_t sweeps;
  double run_s, best;  // best: NaN if there is none
};

std::vector<char> characters(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<std::string> lines_of(const Archive& archive, const std::string& name) {
  std::vector<std::string> lines(1);
  for (const char c : archive.get<char>(name)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  lines.pop_back();  // after the last end of a line
  return lines;
}

[[noreturn]] void refuse() {
  throw InvalidArgument("archive.stage", "the stages of the archive do not fit together",
                        "an archive of a run of the same pipeline");
}

}  // namespace

std::uint64_t stage_seed(std::uint64_t seed, std::int64_t stage) noexcept {
  if (stage == 0) return seed;
  // Keys of groups are drawn for replica 0.
  const DrawName name{seed, 0, static_cast<std::uint32_t>(stage), RngDomain::group_key, 0};
  const Words4 words = draw_quad(name, 0);
  return (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
}

void EarlierStages::save(Archive& archive) const {
  if (stages == 0) return;
  std::vector<SavedStage> saved;
  std::string names, texts;
  for (const StageResult& one : results) {
    saved.push_back({one.sweeps, one.run_s, one.best.value_or(std::nan(""))});
    names += one.schedule + "\n";
  }
  for (const auto& [name, value] : parameters) texts += name + "=" + value + "\n";
  archive.put("run.stage",
              std::vector<std::int64_t>{stage, stages, sweeps, ticks, gradients.value_or(-1),
                                        std::bit_cast<std::int64_t>(accepted),
                                        std::bit_cast<std::int64_t>(not_finite)});
  archive.put("run.stage.betas", betas);
  archive.put("clock.stages", saved);
  archive.put("run.stage.names", characters(names));
  archive.put("run.stage.parameters", characters(texts));
}

EarlierStages EarlierStages::from(const Archive& archive) {
  EarlierStages earlier;
  const auto numbers = archive.get<std::int64_t>("run.stage");
  if (numbers.size() != 7 || numbers[0] < 0 || numbers[0] >= numbers[1] || numbers[2] < 0) refuse();
  earlier.stage = numbers[0];
  earlier.stages = numbers[1];
  earlier.sweeps = numbers[2];
  earlier.ticks = numbers[3];
  if (numbers[4] >= 0) earlier.gradients = numbers[4];
  earlier.accepted = std::bit_cast<std::uint64_t>(numbers[5]);
  earlier.not_finite = std::bit_cast<std::uint64_t>(numbers[6]);
  earlier.betas = archive.get<double>("run.stage.betas");
  const auto saved = archive.get<SavedStage>("clock.stages");
  const std::vector<std::string> names = lines_of(archive, "run.stage.names");
  if (names.size() != saved.size() || static_cast<std::int64_t>(saved.size()) != earlier.stage) {
    refuse();
  }
  for (std::size_t i = 0; i < saved.size(); ++i) {
    StageResult& one = earlier.results.emplace_back();
    one.schedule = names[i];
    one.sweeps = saved[i].sweeps;
    one.run_s = saved[i].run_s;
    if (!std::isnan(saved[i].best)) one.best = saved[i].best;
  }
  for (const std::string& line : lines_of(archive, "run.stage.parameters")) {
    const std::size_t sign = line.find('=');
    if (sign == std::string::npos) refuse();
    earlier.parameters[line.substr(0, sign)] = line.substr(sign + 1);
  }
  return earlier;
}

}  // namespace kiln
