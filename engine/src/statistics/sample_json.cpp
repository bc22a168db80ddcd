// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/sample_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json per_second(double count, double seconds) {
  return seconds > 0 ? number(count / seconds) : Json(nullptr);
}

Json json_of(const QuantitySummary& q) {
  return {{"name", q.name},
          {"mean", number(q.mean)},
          {"mcse_mean", number(q.mcse_mean)},
          {"sd", number(q.sd)},
          {"mcse_sd", number(q.mcse_sd)},
          {"q05", number(q.q05)},
          {"q25", number(q.q25)},
          {"q50", number(q.q50)},
          {"q75", number(q.q75)},
          {"q95", number(q.q95)},
          {"ess_bulk", number(q.ess_bulk)},
          {"ess_tail", number(q.ess_tail)},
          {"r_hat", number(q.r_hat)},
          {"nested_r_hat", number(q.nested_r_hat)},
          {"ess_from_means", number(q.ess_from_means)},
          {"not_finite", q.not_finite}};
}

Json extreme(const QuantitySummary* q, double QuantitySummary::*member) {
  if (q == nullptr) return nullptr;
  return {{"name", q->name}, {"value", number(q->*member)}};
}

}  // namespace

Json sample_json(const Sample& sample, const SampleSummary& summary) {
  Json json = {{"chains", sample.chains},
               {"draws", sample.draws},
               {"thin", sample.thin},
               {"all_chains", sample.all_chains},
               {"all_draws", sample.all_draws},
               {"warmup", sample.warmup},
               {"super_chains", sample.super_chains},
               {"max_depth", sample.max_depth}};
  json["step_size"] = number(sample.step_size);
  json["acceptance"] = number(summary.acceptance);
  json["leapfrogs"] = number(summary.leapfrogs);
  json["divergences"] = sample.divergences;
  json["depth_hits"] = summary.depth_hits;
  json["e_bfmi"] = {{"all", number(summary.e_bfmi)},
                    {"min", number(summary.e_bfmi_min)},
                    {"low_chains", summary.e_bfmi_low}};
  json["r_hat_max"] = extreme(summary.worst_r_hat(), &QuantitySummary::r_hat);
  json["nested_r_hat_max"] = extreme(summary.worst_nested_r_hat(), &QuantitySummary::nested_r_hat);
  json["ess_bulk_min"] = extreme(summary.min_bulk(), &QuantitySummary::ess_bulk);
  json["ess_tail_min"] = extreme(summary.min_tail(), &QuantitySummary::ess_tail);
  json["ess_all_chains"] = number(summary.ess_all_chains);
  const QuantitySummary* const least = summary.min_bulk();
  json["time"] = {{"warmup_s", sample.warmup_s > 0 ? Json(sample.warmup_s) : Json(nullptr)},
                  {"sampling_s", sample.sampling_s > 0 ? Json(sample.sampling_s) : Json(nullptr)},
                  {"summary_s", summary.seconds}};
  json["gradients"] = {{"warmup", number(sample.warmup_gradients)},
                       {"sampling", number(sample.gradients)}};
  json["rates"] = {
      {"gradients_per_s", per_second(sample.gradients, sample.sampling_s)},
      {"ess_bulk_per_s", per_second(least == nullptr ? QuantitySummary::not_known : least->ess_bulk,
                                    sample.sampling_s)},
      {"ess_all_chains_per_s", per_second(summary.ess_all_chains, sample.sampling_s)}};
  json["log_density"] = json_of(summary.log_density);
  return json;
}

Json until_json(const JudgedConditions& until) {
  Json conditions = Json::array();
  for (const JudgedCondition& one : until.all) {
    conditions.push_back({{"statistic", to_string(one.condition.statistic)},
                          {"bound", one.condition.bound},
                          {"value", number(one.value)},
                          {"quantity", one.quantity.empty() ? Json(nullptr) : Json(one.quantity)},
                          {"nested", one.nested},
                          {"met", one.met}});
  }
  return {{"met", until.met()},
          {"conditions", std::move(conditions)},
          {"chains", until.chains},
          {"draws", until.draws},
          {"looks", until.looks}};
}

Json quantities_json(const SampleSummary& summary) {
  Json list = Json::array();
  for (const QuantitySummary& q : summary.quantities) list.push_back(json_of(q));
  return list;
}

}  // namespace kiln
