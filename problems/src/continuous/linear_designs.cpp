// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/errors.hpp"

#include "linear_model.hpp"

namespace kiln::problems {
namespace {

using Values = std::vector<double>;

constexpr std::int64_t max_rows = std::int64_t{1} << 31;
constexpr ScalePrior half_cauchy{ScalePriorKind::half_cauchy, 2.5};

Values product(const Values& a, const Values& b) {
  Values c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] * b[i];
  return c;
}

Values indicator(const std::vector<std::int32_t>& x, std::int32_t value) {
  Values y(x.size());
  std::ranges::transform(x, y.begin(), [=](std::int32_t xi) { return xi == value ? 1.0 : 0.0; });
  return y;
}

double mean_of(const Values& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// The sample standard deviation.
double sd_of(const Values& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double xi : x) sum += (xi - mean) * (xi - mean);
  return std::sqrt(sum / static_cast<double>(x.size() - 1));
}

Values centred(const Values& x, double centre, double width = 1) {
  Values z(x.size());
  std::ranges::transform(x, z.begin(), [=](double xi) { return (xi - centre) / width; });
  return z;
}

std::int64_t rows_of(const ModelData& data) { return data.count("N", 1, max_rows); }

/// beta[1], beta[2], ... of a constant and these columns, with flat priors.
LinearModel with_constant(std::vector<Values> columns, Values y, ScalePrior sigma_prior) {
  LinearModel model;
  columns.insert(columns.begin(), Values(y.size(), 1.0));
  for (Values& column : columns) {
    model.columns.push_back(
        {"beta[" + std::to_string(model.columns.size() + 1) + "]", std::move(column)});
  }
  model.y = std::move(y);
  model.sigma_prior = sigma_prior;
  return model;
}

}  // namespace

DensityModel kidscore(const std::string& variant, const ModelData& data) {
  const std::int64_t n = rows_of(data);
  const Values& score = data.vector("kid_score", n);
  const auto model = [&](std::vector<Values> columns, ScalePrior prior) {
    return make_linear(with_constant(std::move(columns), score, prior), data);
  };
  if (variant == "mom-work") {
    const auto work = data.integers("mom_work", n, 1, 4);
    return model({indicator(work, 2), indicator(work, 3), indicator(work, 4)}, {});
  }
  if (variant == "momiq") return model({data.vector("mom_iq", n)}, half_cauchy);
  const Values& hs = data.vector("mom_hs", n);
  if (variant == "momhs") return model({hs}, half_cauchy);
  const Values& iq = data.vector("mom_iq", n);
  if (variant == "momhsiq") return model({hs, iq}, half_cauchy);
  if (variant == "interaction") return model({hs, iq, product(hs, iq)}, half_cauchy);
  Values c_hs, c_iq;
  if (variant == "interaction-c") {
    c_hs = centred(hs, mean_of(hs));
    c_iq = centred(iq, mean_of(iq));
  } else if (variant == "interaction-c2") {
    c_hs = centred(hs, 0.5);
    c_iq = centred(iq, 100);
  } else {
    c_hs = centred(hs, mean_of(hs), 2 * sd_of(hs));
    c_iq = centred(iq, mean_of(iq), 2 * sd_of(iq));
  }
  Values both = product(c_hs, c_iq);
  return model({std::move(c_hs), std::move(c_iq), std::move(both)}, {});
}

DensityModel nes(const ModelData& data) {
  const std::int64_t n = rows_of(data);
  const auto age = data.integers("age_discrete", n, 1, 4);
  return make_linear(
      with_constant({data.vector("real_ideo", n), data.vector("race_adj", n), indicator(age, 2),
                     indicator(age, 3), indicator(age, 4), data.vector("educ1", n),
                     data.vector("gender", n), data.vector("income", n)},
                    data.vector("partyid7", n), {}),
      data);
}

DensityModel bayesian_linear_regression(const ModelData& data) {
  const std::int64_t n = rows_of(data);
  const DataArray& x = data.matrix("X", n);
  const auto d = static_cast<std::size_t>(x.shape[1]);
  LinearModel model;
  model.y = data.vector("y", n);
  model.sigma_prior = {ScalePriorKind::half_normal, 10};
  for (std::size_t j = 0; j < d; ++j) {
    Regressor column{"beta[" + std::to_string(j + 1) + "]", {}, 0, 10};
    for (std::size_t i = j; i < x.values.size(); i += d) column.values.push_back(x.values[i]);
    model.columns.push_back(std::move(column));
  }
  return make_linear(std::move(model), data);
}

DensityModel kilpisjarvi(const ModelData& data) {
  const std::int64_t n = rows_of(data);
  LinearModel model;
  model.y = data.vector("y", n);
  const auto sd = [&](const char* name) {
    const double value = data.number(name);
    if (!(value > 0)) data.refuse(name, "is not positive", "a standard deviation");
    return value;
  };
  model.columns = {{"alpha", Values(model.y.size(), 1.0), data.number("pmualpha"), sd("psalpha")},
                   {"beta", data.vector("x", n), data.number("pmubeta"), sd("psbeta")}};
  return make_linear(std::move(model), data);
}

DensityModel autoregression(const ModelData& data) {
  const std::int64_t order = data.count("K", 1, 1000);
  const std::int64_t length = data.count("T", order + 1, max_rows);
  const Values& y = data.vector("y", length);
  LinearModel model;
  model.y.assign(y.begin() + order, y.end());
  model.sigma_prior = half_cauchy;
  model.columns.push_back({"alpha", Values(model.y.size(), 1.0), 0, 10});
  for (std::int64_t lag = 1; lag <= order; ++lag) {
    model.columns.push_back({"beta[" + std::to_string(lag) + "]",
                             Values(y.begin() + (order - lag), y.end() - lag), 0, 10});
  }
  return make_linear(std::move(model), data);
}

const DataArray& target_column(const ModelData& data, const std::string& target) {
  if (data.arrays().empty()) {
    throw ParseError(data.source(), {{0, 0, "there are no data", "a table"}}, 1);
  }
  const std::string& name = target.empty() ? data.arrays().back().name : target;
  const auto rows = static_cast<std::int64_t>(data.vector(name).size());
  for (const DataArray& column : data.arrays()) data.vector(column.name, rows);
  return *std::ranges::find(data.arrays(), name, &DataArray::name);
}

DensityModel table_regression(const ModelData& data, const std::string& target) {
  const DataArray& y = target_column(data, target);
  LinearModel model;
  model.whitened = true;
  model.y = y.values;
  model.columns.push_back({"alpha", Values(model.y.size(), 1.0)});
  for (const DataArray& column : data.arrays()) {
    if (column.name == y.name) continue;
    model.columns.push_back({"beta[" + column.name + "]", column.values});
  }
  return make_linear(std::move(model), data);
}

}  // namespace kiln::problems
