// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnosis_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t screen = 79;

using WordPair = std::pair<std::string_view, std::string_view>;

constexpr std::array<WordPair, 21> more_words{{
    {"best_by_sweep", "best value"},
    {"box_evaluations", "evaluations that determined the ideal and nadir points"},
    {"cluster_open", "cluster moves enabled"},
    {"cluster_size", "mean cluster size"},
    {"epsilon", "additive epsilon"},
    {"failed_evaluations", "evaluations without a value"},
    {"families", "surviving families"},
    {"family_entropy", "entropy of the family sizes"},
    {"free_energy", "free energy -log Z / beta"},
    {"front_size", "members of the front"},
    {"igd", "IGD: inverted generational distance"},
    {"igd_plus", "IGD+: IGD that counts only objectives in which the front is worse"},
    {"log_z", "log Z"},
    {"log_z_difference", "log Z minus log Z at the first temperature"},
    {"log_z_error", "error of log Z"},
    {"metric_rank", "number of directions in the low-rank metric"},
    {"model_fit", "share of the values' variance that the model predicts"},
    {"model_log_evidence", "log evidence of the model"},
    {"model_noise", "standard deviation of the noise, in units of the value"},
    {"model_variance", "prior variance of the model, for standardised values"},
    {"past_evaluations", "past evaluations given to the run"},
}};

std::size_t width_of_column(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : rows) {
    if (column < row.size()) width = std::max(width, row[column].size());
  }
  return width;
}

}  // namespace

std::string words_of(std::string_view name) {
  const auto* const found = std::ranges::find(more_words, name, &WordPair::first);
  std::string words(found == more_words.end() ? name : found->second);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string chosen_member_text(const nlohmann::json& result) {
  if (!result.contains("front") || !result["front"].is_object()) return {};
  const nlohmann::json& front = result["front"];
  // Results of versions before 0.1 do not say which member they handed out.
  if (!front.contains("chosen") || front["chosen"].is_null()) return {};
  const nlohmann::json& values = front.at("points").at(front["chosen"].get<std::size_t>());
  std::string text = fmt::format("{:13}", front.at("knee").is_null() ? "solution" : "knee");
  for (std::size_t k = 0; k < values.size(); ++k) {
    const NamedUnit known = named_unit(front.at("objectives").at(k).get<std::string>());
    // An infinite one has no number there.
    const std::string value =
        values[k].is_null() ? "-" : fmt::format("{:.6g}", values[k].get<double>());
    text += fmt::format("{}{} = {}{}{}", k > 0 ? "   " : "", clean(known.name), value,
                        known.unit.empty() ? "" : " ", clean(known.unit));
  }
  return text + "\n";
}

std::string narrow_tables(const std::vector<std::vector<std::string>>& rows) {
  const std::size_t columns = rows.front().size();
  std::string text;
  for (std::size_t next = 1; next < columns;) {
    const std::size_t first = next;
    std::size_t width = width_of_column(rows, 0);
    while (next < columns && (next == first || width + 3 + width_of_column(rows, next) <= screen)) {
      width += 3 + width_of_column(rows, next);
      ++next;
    }
    std::vector<std::vector<std::string>> part;
    for (const auto& row : rows) {
      part.push_back({row.front()});
      for (std::size_t i = first; i < next; ++i) part.back().push_back(row[i]);
    }
    text += (text.empty() ? "" : "\n") + table_text(part, 1);
  }
  return text;
}

}  // namespace kiln::cli
