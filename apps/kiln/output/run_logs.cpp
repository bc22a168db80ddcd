// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/run_logs.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "kiln/telemetry/reader.hpp"

namespace kiln::cli {
namespace {

// The state in which the replica of an incumbent found it, unless the replica has found a better
// one since.
std::optional<State> state_of(const Incumbent& one, Run& run) {
  const std::vector<std::int32_t> replica_of = run.batch().read_replica_of();
  const std::int64_t size = run.batch().group_size(), first = one.group * size;
  for (std::int64_t slot = first; slot < first + size; ++slot) {
    if (replica_of[static_cast<std::size_t>(slot)] != one.replica) continue;
    const Replica replica = run.batch()[slot];
    if (run.problem().units.energy_of_stored(replica.best_energy()) != one.energy) return {};
    return replica.best_state();
  }
  return {};
}

}  // namespace

std::string incumbent_line(const Incumbent& one, bool integral) {
  const bool whole = integral && std::abs(one.value) < 0x1p53;
  nlohmann::ordered_json line = {{"time_s", std::round(one.time_s * 1e6) / 1e6},
                                 {"sweeps", one.sweeps}};
  if (whole) {
    line["value"] = static_cast<std::int64_t>(one.value);
  } else {
    line["value"] = one.value;
  }
  line.update({{"replica", one.replica}, {"group", one.group}, {"rung", one.rung}});
  return line.dump() + "\n";
}

void TelemetryLog::take(std::span<const TelemetryRecord> records) {
  pending_.append(reinterpret_cast<const char*>(records.data()), records.size_bytes());
}

void TelemetryLog::go_on(RunFolder& folder) {
  pending_.clear();
  if (std::filesystem::exists(folder.place_of("telemetry.bin"))) {
    file_ = folder.grow("telemetry.bin");
  }
}

void TelemetryLog::write(RunFolder& folder, const Run& run) {
  if (pending_.empty()) return;
  if (!file_) file_ = folder.grow("telemetry.bin");
  if (file_->size() == 0) file_->append(telemetry_head(run.telemetry_header()));
  file_->append(std::exchange(pending_, {}));
}

void IncumbentLog::append(RunFolder& folder, const std::vector<Incumbent>& all, std::size_t count) {
  if (written_ >= count) return;
  if (!file_) file_ = folder.grow("incumbents.ndjson");
  std::string lines;
  for (; written_ < count; ++written_) {
    lines += incumbent_line(all[written_], problem_.units.integral);
  }
  file_->append(lines);
}

void IncumbentLog::write_solution(RunFolder& folder, std::size_t number, State state) {
  if (problem_.solution.canonical) problem_.solution.canonical(state);
  const std::string text = problem_.solution.format(spans_of(state));
  folder.write(fmt::format("incumbents/{:06}.txt", number), Pieces{text}, "incumbents");
}

void IncumbentLog::go_on(const RunFolder& folder, const Run& run) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.place_of("incumbents"), ignored)) {
    const std::string name = entry.path().filename().string();
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && std::string_view(end) == ".txt" &&
        number > run.incumbents().kept().size()) {
      fs::remove(entry.path(), ignored);
    }
  }
}

void IncumbentLog::update(RunFolder& folder, Run& run) {
  const IncumbentList& list = run.incumbents();
  append(folder, list.kept(), list.settled());
  if (!solutions_ || !problem_.solution.format || list.kept().empty()) return;
  const Incumbent& last = list.kept().back();
  if (has_solution_ && last.energy == solved_energy_) return;
  std::optional<State> state = state_of(last, run);
  if (!state) return;
  write_solution(folder, list.kept().size(), std::move(*state));
  solved_energy_ = last.energy;
  has_solution_ = true;
}

void IncumbentLog::finish(RunFolder& folder, const Result& result) {
  append(folder, result.incumbents, result.incumbents.size());
  const bool wanted = solutions_ && problem_.solution.format && !result.incumbents.empty();
  if (!wanted || (has_solution_ && result.incumbents.back().energy == solved_energy_)) return;
  write_solution(folder, result.incumbents.size(), result.solution);
}

}  // namespace kiln::cli
