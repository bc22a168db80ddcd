// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"

#include "linear_model.hpp"
#include "posterior_models.hpp"
#include "public_data.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::printable;

struct PosteriorInfo {
  std::string name;
  std::string sentence;
  std::string variables;  ///< that the data have to hold
  ModelData (*own_data)() = nullptr;
  bool target = false;  ///< whether the name of a column may follow
  DensityModel (*make)(const ModelData& data, const std::string& target) = nullptr;
};

using Data = ModelData;
using Text = std::string;

std::vector<PosteriorInfo> kidscores() {
  const std::string two = "N, kid_score, mom_hs, mom_iq";
  const auto entry = [](const char* variant, const char* sentence, std::string variables,
                        auto make) {
    return PosteriorInfo{
        std::string("kidscore-") + variant, sentence, std::move(variables), nullptr, false, make};
  };
  return {
      entry("interaction",
            "children's test scores by mother's schooling, IQ, and schooling times IQ", two,
            [](const Data& data, const Text&) { return kidscore("interaction", data); }),
      entry("interaction-c", "kidscore-interaction with schooling and IQ centred at their means",
            two, [](const Data& data, const Text&) { return kidscore("interaction-c", data); }),
      entry("interaction-c2", "kidscore-interaction with schooling centred at 1/2 and IQ at 100",
            two, [](const Data& data, const Text&) { return kidscore("interaction-c2", data); }),
      entry("interaction-z", "kidscore-interaction with schooling and IQ standardised", two,
            [](const Data& data, const Text&) { return kidscore("interaction-z", data); }),
      entry("mom-work", "children's test scores by mother's work", "N, kid_score, mom_work",
            [](const Data& data, const Text&) { return kidscore("mom-work", data); }),
      entry("momhs", "children's test scores by mother's schooling", "N, kid_score, mom_hs",
            [](const Data& data, const Text&) { return kidscore("momhs", data); }),
      entry("momhsiq", "children's test scores by mother's schooling and IQ", two,
            [](const Data& data, const Text&) { return kidscore("momhsiq", data); }),
      entry("momiq", "children's test scores by mother's IQ", "N, kid_score, mom_iq",
            [](const Data& data, const Text&) { return kidscore("momiq", data); }),
  };
}

std::vector<PosteriorInfo> all_infos() {
  std::vector<PosteriorInfo> all{
      {"arK", "autoregression of order K", "K, T, y", nullptr, false,
       [](const Data& data, const Text&) { return autoregression(data); }},
      {"blr", "linear regression with normal priors", "N, D, X, y", nullptr, false,
       [](const Data& data, const Text&) { return bayesian_linear_regression(data); }},
      {"eight-schools", "effect of coaching in eight schools, non-centred coordinates",
       "J, y, sigma", eight_schools_data, false,
       [](const Data& data, const Text&) { return eight_schools(data, false); }},
      {"eight-schools-centered", "effect of coaching in eight schools, centred coordinates",
       "J, y, sigma", eight_schools_data, false,
       [](const Data& data, const Text&) { return eight_schools(data, true); }},
      {"gp-pois-regr", "Poisson counts whose log mean is a Gaussian process", "N, x, k",
       gaussian_process_data, false,
       [](const Data& data, const Text&) { return gaussian_process(data, true); }},
      {"gp-regr", "Gaussian process regression with normal errors", "N, x, y",
       gaussian_process_data, false,
       [](const Data& data, const Text&) { return gaussian_process(data, false); }},
      {"hierarchical-logistic", "logistic regression whose weights share one scale parameter",
       "a table", nullptr, true,
       [](const Data& data, const Text& target) {
         return shrinkage_logistic(data, target, ShrinkageKind::hierarchical);
       }},
      {"item-response", "abilities of students and difficulties of questions, from their answers",
       "student, question, correct", nullptr, false,
       [](const Data& data, const Text&) { return item_response(data); }},
      {"kilpisjarvi", "linear trend of summer temperatures, with informative priors",
       "N, x, y, pmualpha, psalpha, pmubeta, psbeta", kilpisjarvi_data, false,
       [](const Data& data, const Text&) { return kilpisjarvi(data); }},
      {"linear-regression", "linear regression with flat priors", "a table", nullptr, true,
       [](const Data& data, const Text& target) { return table_regression(data, target); }},
      {"logistic-regression", "logistic regression with the prior N(0, 1) for each weight",
       "a table", nullptr, true,
       [](const Data& data, const Text& target) { return logistic_regression(data, target); }},
      {"lotka-volterra", "numbers of lynxes and hares that follow a differential equation",
       "N, ts, y_init, y", lynx_hare_data, false,
       [](const Data& data, const Text&) { return lotka_volterra(data); }},
      {"nes", "linear regression of party identification on eight covariates",
       "N, partyid7, real_ideo, race_adj, age_discrete, educ1, gender, income", nullptr, false,
       [](const Data& data, const Text&) { return nes(data); }},
      {"sparse-logistic", "logistic regression with a scale parameter for each weight", "a table",
       nullptr, true,
       [](const Data& data, const Text& target) {
         return shrinkage_logistic(data, target, ShrinkageKind::sparse);
       }},
      {"stochastic-volatility", "returns whose log volatility is an autoregressive process", "y",
       nullptr, false, [](const Data& data, const Text&) { return stochastic_volatility(data); }},
  };
  for (PosteriorInfo& info : kidscores()) all.push_back(std::move(info));
  std::ranges::sort(all, {}, &PosteriorInfo::name);
  return all;
}

const std::vector<PosteriorInfo>& posterior_infos() {
  static const std::vector<PosteriorInfo> all = all_infos();
  return all;
}

/// Names as posteriordb writes them mean the same: eight_schools.
std::string plain_name(std::string text) {
  for (char& c : text) {
    if (c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

const PosteriorInfo& find_info(const std::string& word) {
  std::vector<std::string> names;
  std::string all;
  for (const PosteriorInfo& info : posterior_infos()) {
    if (plain_name(info.name) == plain_name(word)) return info;
    names.push_back(info.name);
    all += (all.empty() ? "" : ", ") + info.name;
  }
  const std::string near = nearest_name(plain_name(word), names);
  throw InvalidArgument("problem.unknown",
                        "unknown posterior '" + printable(word) + "'" +
                            (near.empty() ? "" : "; the nearest is '" + near + "'"),
                        "available: " + all, "kiln describe posterior");
}

}  // namespace

DensityModel posterior_model(const std::string& text, const ModelData* data) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const PosteriorInfo info = find_info(text.substr(0, comma));
  const std::string target = text.substr(std::min(comma + 1, text.size()));
  if (comma < text.size() && (!info.target || target.empty())) {
    throw InvalidArgument("problem.parameters",
                          "'posterior:" + printable(text) + "' does not have the form posterior:" +
                              info.name + (info.target ? ",COLUMN" : ""),
                          info.target ? "COLUMN is the name of the target column" : "");
  }
  if (data != nullptr) return info.make(*data, target);
  if (info.own_data != nullptr) return info.make(info.own_data(), target);
  throw InvalidArgument("data.missing", "posterior:" + info.name + " needs data",
                        "expected: a file with " + info.variables,
                        std::string("--data ") + (info.target ? "table.csv" : "data.json"));
}

std::vector<NamedSentence> posterior_names() {
  std::vector<NamedSentence> names;
  for (const PosteriorInfo& info : posterior_infos()) {
    const std::string of = info.own_data != nullptr ? "" : "; data: " + info.variables;
    names.push_back({info.name + (info.target ? "[,COLUMN]" : ""), info.sentence + of});
  }
  return names;
}

Problem posterior_by_name(const std::string& text, const ModelData* data) {
  Problem problem = to_problem(posterior_model(text, data), "posterior:" + text, "posterior");
  problem.start.schedule = "hmc";  // scales of raw data differ too much for blind steps
  return problem;
}

}  // namespace kiln::problems
