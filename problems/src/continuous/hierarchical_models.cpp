// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Eight schools, item response, stochastic volatility.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/densities/eight_schools.hpp"
#include "kiln/problems/densities/item_response.hpp"
#include "kiln/problems/densities/stochastic_volatility.hpp"

#include "posterior_models.hpp"
#include "squared.hpp"

namespace kiln::problems {
namespace {

constexpr std::int64_t max_returns = 1 << 30;

/// First places of runs of equal values among `groups` of them, in sorted order, and the end.
std::vector<std::int32_t> begins_of(const std::vector<std::int32_t>& of, std::size_t groups) {
  std::vector<std::int32_t> begin(groups + 1);
  for (const std::int32_t group : of) ++begin[static_cast<std::size_t>(group) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

struct Answers {
  std::vector<std::int32_t> student, question, correct;
  std::size_t students = 0, questions = 0;
};

/// Numbers from 1 as numbers from 0, and how many there are.
std::size_t take_numbers(const ModelData& data, const char* name, std::int64_t size,
                         std::vector<std::int32_t>& numbers) {
  numbers = data.integers(name, size, 1, size);
  for (std::int32_t& number : numbers) --number;
  return static_cast<std::size_t>(*std::ranges::max_element(numbers)) + 1;
}

Answers answers_of(const ModelData& data) {
  const auto size = static_cast<std::int64_t>(data.vector("correct").size());
  Answers given, sorted;
  given.correct = data.integers("correct", size, 0, 1);
  sorted.students = take_numbers(data, "student", size, given.student);
  sorted.questions = take_numbers(data, "question", size, given.question);
  std::vector<std::size_t> order(given.correct.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return given.student[k]; });
  for (const std::size_t k : order) {
    sorted.student.push_back(given.student[k]);
    sorted.question.push_back(given.question[k]);
    sorted.correct.push_back(given.correct[k]);
  }
  return sorted;
}

double plain_item_response(const Answers& a, Point x) {
  double energy = squared(x[0] - 0.75) / 2;
  for (std::size_t i = 1; i < x.size(); ++i) energy += squared(x[i]) / 2;
  for (std::size_t k = 0; k < a.correct.size(); ++k) {
    const double ability = x[1 + static_cast<std::size_t>(a.student[k])];
    const double difficulty = x[1 + a.students + static_cast<std::size_t>(a.question[k])];
    const double odds = x[0] + ability - difficulty;
    energy += std::log1p(std::exp(a.correct[k] == 1 ? -odds : odds));
  }
  return energy;
}

/// h_1 .. h_T of a point.
std::vector<double> log_volatility(Point x) {
  const double phi = 2 / (1 + std::exp(-x[0])) - 1, sigma = std::exp(x[2]);
  std::vector<double> h;
  double v = 0;
  for (std::size_t t = 3; t < x.size(); ++t) {
    v = t == 3 ? x[t] / std::sqrt(1 - phi * phi) : phi * v + x[t];
    h.push_back(x[1] + sigma * v);
  }
  return h;
}

double plain_volatility(const std::vector<double>& y, Point x) {
  const double b = 1 / (1 + std::exp(-x[0])), sigma = std::exp(x[2]);
  double energy = -(19 * std::log(b) + 0.5 * std::log(1 - b)) - std::log(b * (1 - b));
  energy += std::log(1 + squared(x[1] / 5)) + std::log(1 + squared(sigma / 2)) - x[2];
  const std::vector<double> h = log_volatility(x);
  for (std::size_t t = 0; t < y.size(); ++t) {
    energy += squared(x[3 + t]) / 2 + h[t] / 2 + squared(y[t]) / (2 * std::exp(h[t]));
  }
  return energy;
}

double plain_eight_schools(const EightSchools& model, Point x) {
  const double mu = x[8], tau = std::exp(x[9]);
  double energy = squared(mu / 5) / 2 + std::log(1 + squared(tau / 5)) - x[9];
  for (std::size_t j = 0; j < 8; ++j) {
    const double theta = model.centered ? x[j] : mu + tau * x[j];
    energy += squared((theta - model.y[j]) / model.sigma[j]) / 2;
    energy += model.centered ? squared((theta - mu) / tau) / 2 + std::log(tau) : squared(x[j]) / 2;
  }
  return energy;
}

}  // namespace

DensityModel eight_schools(const ModelData& data, bool centered) {
  EightSchools density;
  density.centered = centered;
  data.count("J", EightSchools::schools, EightSchools::schools);
  const std::vector<double>& y = data.vector("y", EightSchools::schools);
  const std::vector<double>& sigma = data.vector("sigma", EightSchools::schools);
  if (!std::ranges::all_of(sigma, [](double s) { return s > 0; })) {
    data.refuse("sigma", "has a value that is not positive", "standard errors");
  }
  std::ranges::copy(y, density.y);
  std::ranges::copy(sigma, density.sigma);
  DensityModel model;
  model.source = std::make_shared<CatalogDensitySource<EightSchools>>(density, true);
  model.posterior.emplace();
  model.plain = [density](Point x) { return plain_eight_schools(density, x); };
  append_indexed(model.posterior->quantities.names, "theta", 8);
  model.posterior->quantities.names.insert(model.posterior->quantities.names.end(), {"mu", "tau"});
  model.posterior->quantities.compute = [centered](Point x, std::span<double> values) {
    const double mu = x[8], tau = std::exp(x[9]);
    for (std::size_t j = 0; j < 8; ++j) values[j] = centered ? x[j] : mu + tau * x[j];
    values[8] = mu;
    values[9] = tau;
  };
  return model;
}

DensityModel item_response(const ModelData& data) {
  const auto answers = std::make_shared<const Answers>(answers_of(data));
  std::vector<std::int32_t> of_question(answers->question.size());
  std::iota(of_question.begin(), of_question.end(), 0);
  std::ranges::stable_sort(of_question, {}, [&](std::int32_t k) {
    return answers->question[static_cast<std::size_t>(k)];
  });
  ItemResponse density;
  density.students = static_cast<int>(answers->students);
  density.questions = static_cast<int>(answers->questions);
  density.answers = static_cast<int>(answers->correct.size());
  auto source = std::make_shared<CatalogDensitySource<ItemResponse>>(density, true);
  source->array(&ItemResponse::student, answers->student);
  source->array(&ItemResponse::question, answers->question);
  source->array(&ItemResponse::correct, answers->correct);
  source->array(&ItemResponse::student_begin, begins_of(answers->student, answers->students));
  source->array(&ItemResponse::question_begin, begins_of(answers->question, answers->questions));
  source->array(&ItemResponse::of_question, std::move(of_question));
  DensityModel model;
  model.source = std::move(source);
  model.posterior.emplace();
  model.plain = [answers](Point x) { return plain_item_response(*answers, x); };
  model.sizes = {{"answers", std::to_string(answers->correct.size())}};
  model.posterior->quantities.names = {"mean"};
  append_indexed(model.posterior->quantities.names, "ability", answers->students);
  append_indexed(model.posterior->quantities.names, "difficulty", answers->questions);
  model.posterior->quantities.compute = [](Point x, std::span<double> values) {
    std::ranges::copy(x, values.begin());
  };
  return model;
}

DensityModel stochastic_volatility(const ModelData& data) {
  const std::vector<double>& y = data.vector("y");
  if (std::ssize(y) > max_returns) data.refuse("y", "is too long", "at most 2^30 returns");
  StochasticVolatility density;
  density.length = static_cast<int>(y.size());
  auto source = std::make_shared<CatalogDensitySource<StochasticVolatility>>(density, true);
  source->array(&StochasticVolatility::y, y);
  DensityModel model;
  model.source = std::move(source);
  model.posterior.emplace();
  model.plain = [y](Point x) { return plain_volatility(y, x); };
  model.posterior->quantities.names = {"phi", "mu", "sigma"};
  append_indexed(model.posterior->quantities.names, "h", y.size());
  model.posterior->quantities.compute = [](Point x, std::span<double> values) {
    values[0] = std::tanh(x[0] / 2);
    values[1] = x[1];
    values[2] = std::exp(x[2]);
    std::ranges::copy(log_volatility(x), values.begin() + 3);
  };
  return model;
}

}  // namespace kiln::problems
