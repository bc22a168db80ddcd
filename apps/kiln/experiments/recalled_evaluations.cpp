// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "experiments/recalled_evaluations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "kiln/problems/csv.hpp"

#include "experiments/evaluation_files.hpp"
#include "output/text.hpp"
#include "sha256.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// "" for a file that is not there, or no file.
std::string text_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Without the rest of a line that a killed process left.
std::string whole_lines(std::string text) {
  text.resize(text.rfind('\n') + 1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// What row() writes for a double, back; NaN for an empty cell.
double value_of(const std::string& cell) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return value;
}

}  // namespace

LineSums::LineSums(const fs::path& run) {
  problems::detail::Sha256 hash;
  hash.update(text_of(run));
  run_ = hash.hex();
}

std::string LineSums::of(std::string_view line, Origin origin) const {
  if (line.ends_with('\n')) line.remove_suffix(1);
  problems::detail::Sha256 hash;
  hash.update(run_);
  hash.update(origin == Origin::past ? "past " : "own ");
  hash.update(line);
  return hash.hex().substr(0, 16);
}

RecalledEvaluations::RecalledEvaluations(const fs::path& folder, const Problem& problem)
    : problem_(problem), variables_(problem_), file_((folder / "evaluations.csv").string()) {
  const std::string csv = whole_lines(text_of(file_));
  const std::string sums = whole_lines(text_of(folder / LineSums::file));
  csv_bytes_ = csv.size();
  sums_bytes_ = sums.size();
  const std::vector<std::string_view> lines = lines_of(csv), known = lines_of(sums);
  const std::string header = EvaluationTable(problem_).header();
  if (lines.empty()) return;
  const bool same_columns = csv.starts_with(header);
  const std::set<std::string, std::less<>> all_known(known.begin(), known.end());
  const LineSums sum(folder / "run.json");
  std::string own = header;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto is = [&](LineSums::Origin origin) {
      return same_columns && all_known.contains(sum.of(lines[i], origin));
    };
    if (is(LineSums::Origin::own)) {
      own.append(lines[i]).append("\n");
    } else if (!is(LineSums::Origin::past)) {
      changed_.push_back(static_cast<std::int64_t>(i) + 1);
    }
  }
  if (own == header) return;
  for (const auto& row : problems::read_csv(own, clean(file_)).rows) take(row.cells);
}

// study, batch, the variables, the value, constraints, the best value
void RecalledEvaluations::take(const Cells& cells) {
  const auto variables = static_cast<std::ptrdiff_t>(variables_.count());
  const auto value = cells.begin() + 2 + variables;
  Evaluation one;
  one.study = static_cast<std::int64_t>(value_of(cells[0]));
  one.batch = static_cast<std::int64_t>(value_of(cells[1]));
  one.value = value_of(*value);
  for (int j = 1; j <= problem_.objective->constraints(); ++j) {
    one.constraints.push_back(value_of(value[j]));
  }
  // Of two evaluations of a state the first counts, as it does in a run.
  places_.try_emplace(Cells(cells.begin() + 2, value), all_.size());
  all_.push_back(std::move(one));
}

std::optional<RecalledEvaluation> RecalledEvaluations::find(StateSpan state) const {
  const auto known = places_.find(variables_.cells_of(state));
  if (known == places_.end()) return std::nullopt;
  const Evaluation& one = all_[known->second];
  return RecalledEvaluation{one.value, one.constraints};
}

std::string RecalledEvaluations::warning() const {
  if (changed_.empty()) return {};
  if (sums_bytes_ == 0) {
    return fmt::format(
        "warning[evaluations.sums]: {}: there are no checksums of its lines in {}; the run "
        "evaluates "
        "again what it needs of them\n",
        clean(file_), LineSums::file);
  }
  constexpr std::size_t most = 8;
  const bool one = changed_.size() == 1;
  const auto shown =
      changed_.begin() + static_cast<std::ptrdiff_t>(std::min(most, changed_.size()));
  return fmt::format(
      "warning[evaluations.changed]: {}: the run did not write line{} {}{} as {}; it evaluates "
      "again what it needs of {}\n",
      clean(file_), one ? "" : "s",
      fmt::join(std::vector<std::int64_t>(changed_.begin(), shown), ", "),
      changed_.size() > most ? ", ..." : "", one ? "it is" : "they are", one ? "it" : "them");
}

std::string RecalledEvaluations::text() const {
  if (all_.empty()) return {};
  return fmt::format("recall       {} evaluation{} of {}: Kiln does not repeat {}\n", all_.size(),
                     all_.size() == 1 ? "" : "s", clean(file_), all_.size() == 1 ? "it" : "them");
}

}  // namespace kiln::cli
