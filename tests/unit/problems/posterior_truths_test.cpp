// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Posteriors against what posteriordb has found. Those whose data do not come with Kiln are looked
// at where KILN_DATA names a folder with them.
#include "densities/posterior_truths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "kiln/problems/continuous.hpp"

#include "continuous/posterior_models.hpp"

namespace kiln::posterior_truths_test {
namespace {

using problems::DensityModel;
using test::PosteriorTruth;

ModelData read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  return problems::read_data(in, path.filename().string());
}

/// The model, or nothing if its data are not there.
std::optional<DensityModel> model_of(const PosteriorTruth& truth) {
  const std::string name(truth.problem.substr(truth.problem.find(':') + 1));
  if (truth.data_file.empty()) return problems::posterior_model(name, nullptr);
  if (test::data_folder().empty()) return std::nullopt;
  const ModelData data = read_file(std::filesystem::path(test::data_folder()) / truth.data_file);
  return problems::posterior_model(name, &data);
}

class PosteriorTruths : public testing::TestWithParam<PosteriorTruth> {};

// A coordinate is the quantity of its name or its logarithm in these models. Where the posterior is
// near normal, three standard deviations along one coordinate cost at least 4.5, more if others
// would have to follow; a wrong formula has its valley elsewhere.
TEST_P(PosteriorTruths, LieInTheValleyOfTheEnergy) {
  const PosteriorTruth& truth = GetParam();
  const std::optional<DensityModel> model = model_of(truth);
  if (!model) GTEST_SKIP() << "KILN_DATA names no folder with " << truth.data_file;
  ASSERT_EQ(model->posterior->quantities.names.size(), truth.truths.size());
  std::vector<double> at_zero(truth.truths.size());
  std::vector<double> x(at_zero.size(), 0.0);
  model->posterior->quantities.compute(x, at_zero);
  const auto coordinate = [&](std::size_t i, double value) {
    return at_zero[i] == 0 ? value : std::log(value);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(model->posterior->quantities.names[i], truth.truths[i].quantity);
    x[i] = coordinate(i, truth.truths[i].mean);
  }
  const double here = model->source->evaluate(x, {}).total();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double relative = truth.truths[i].sd / truth.truths[i].mean;
    for (const double away : {-3.0, 3.0}) {
      const double middle = x[i];
      x[i] += away * (at_zero[i] == 0 ? truth.truths[i].sd : relative);
      EXPECT_GT(model->source->evaluate(x, {}).total() - here, 2)
          << truth.truths[i].quantity << " " << away;
      x[i] = middle;
    }
  }
}

std::vector<PosteriorTruth> coordinate_wise() {
  std::vector<PosteriorTruth> some;
  for (const PosteriorTruth& truth : test::posterior_truths()) {
    const bool posterior = truth.problem.substr(0, 10) == "posterior:";
    const bool mixed = truth.problem.find("eight-schools") != std::string_view::npos ||
                       truth.problem.find("gp-pois") != std::string_view::npos;
    if (posterior && !mixed) some.push_back(truth);
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(All, PosteriorTruths, testing::ValuesIn(coordinate_wise()),
                         [](const auto& param) {
                           std::string name(param.param.problem.substr(10));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(PosteriorTruthTable, NamesWhatTheProblemsReport) {
  for (const PosteriorTruth& truth : test::posterior_truths()) {
    const std::string name(truth.problem);
    if (!truth.data_file.empty()) continue;
    const std::string behind = name.substr(name.find(':') + 1);
    const Problem problem = name.starts_with("density:") ? problems::density_by_name(behind)
                                                         : problems::posterior_by_name(behind);
    for (const test::Truth& one : truth.truths) {
      EXPECT_GT(one.sd, 0);
      if (!problem.posterior || problem.posterior->quantities.names.empty()) continue;
      EXPECT_NE(std::ranges::find(problem.posterior->quantities.names, one.quantity),
                problem.posterior->quantities.names.end())
          << name << " " << one.quantity;
    }
  }
}

TEST(GermanCredit, IsReadAsPublished) {
  if (test::data_folder().empty()) GTEST_SKIP() << "KILN_DATA names no folder";
  const ModelData data = read_file(std::filesystem::path(test::data_folder()) /
                                   "posteriors/german_credit/german_numeric.csv");
  const problems::LogisticTable table = problems::logistic_table(data, "");
  ASSERT_EQ(table.columns.size(), 25U);
  ASSERT_EQ(table.label.size(), 1000U);
  EXPECT_EQ(std::ranges::count(table.label, 1), 300);  // bad ones
  EXPECT_EQ(table.columns.back(), std::vector<double>(1000, 1.0));
  EXPECT_EQ(problems::posterior_model("sparse-logistic", &data).source->dimension(), 51);
}

}  // namespace
}  // namespace kiln::posterior_truths_test
