// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "kiln/kernels/run/init_slots.hpp"

#include "shared/complaints.hpp"

namespace kiln {

void check_options(const BayesianOptimizationOptions& o) {
  std::vector<std::string> all = BayesianOptimizationOptions::table().validate(o);
  if (o.initial > o.evaluations) {
    const std::string most = std::to_string(o.evaluations);
    all.push_back("initial must not be greater than evaluations (" + most +
                  "): use -p initial=" + most + ", or --evaluations " + std::to_string(o.initial));
  }
  const bool qlogei =
      o.acquisition == "qlogei" || (o.acquisition == "automatic" && o.trust_regions == 0);
  if (o.fantasies > 0 && !qlogei) {
    all.emplace_back("fantasies needs acquisition=qlogei");
  }
  if (o.failures > 0 && o.trust_regions == 0) {
    all.emplace_back("failures needs trust_regions of at least 1");
  }
  refuse_if_any(all);
}

BayesianOptimizationOptions resolved(BayesianOptimizationOptions o, const Encoding& encoding,
                                     int objectives) {
  const bool local = o.trust_regions > 0;
  const bool rough = local || !encoding.any_continuous();
  // Volumes are expected with what pending points most probably are.
  const char* const promise = objectives > 1 ? "logei" : "qlogei";
  if (o.acquisition == "automatic") o.acquisition = local ? "thompson" : promise;
  if (o.covariance == "automatic") o.covariance = rough ? "matern52" : "rbf";
  if (o.priors == "automatic") o.priors = local ? "trust-region" : "weak";
  return o;
}

std::vector<std::uint64_t> keys_of_groups(std::uint64_t seed, std::int64_t studies) {
  std::vector<std::uint64_t> keys;
  for (std::int64_t group = 0; group < studies; ++group) keys.push_back(group_key(seed, group));
  return keys;
}

}  // namespace kiln
