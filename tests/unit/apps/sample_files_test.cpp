// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program writes and shows of draws.
#include "output/sample_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kiln/statistics/sample_summary.hpp"
#include "kiln/version.hpp"

#include "output/sample_text.hpp"
#include "series.hpp"

namespace kiln::cli::sample_files_test {
namespace {

using nlohmann::json;

Result result_of(const Sample& sample) {
  Result result;
  result.problem = "posterior:two";
  result.schedule = "hmc";
  result.seed = 7;
  result.sample = std::make_shared<Sample>(sample);
  result.sample_summary = std::make_shared<SampleSummary>(summarize(sample));
  return result;
}

Result small_result() {
  Sample sample;
  sample.chains = 2;
  sample.draws = 2;
  sample.all_chains = 2;
  sample.all_draws = 4;
  sample.thin = 2;
  sample.warmup = 5;
  sample.names = {"mu", "theta[1,2]"};
  sample.values = {1, 2, 3, 4, 5, 6, 0.1, -1e-300};
  sample.log_density = {-1, -2, -3, -4};
  sample.hamiltonian = {1.5, 2.5, 3.5, 4.5};
  sample.acceptance = {1, 0.5, 0.25, 0};
  sample.leapfrogs = {1, 3, 7, 15};
  sample.depth = {1, 2, 3, 4};
  sample.divergent = {0, 0, 0, 1};
  sample.step_size = 0.125;
  return result_of(sample);
}

TEST(CmdstanName, WritesIndicesWithDots) {
  EXPECT_EQ(cmdstan_name("mu"), "mu");
  EXPECT_EQ(cmdstan_name("theta[1]"), "theta.1");
  EXPECT_EQ(cmdstan_name("x[2,13,1]"), "x.2.13.1");
}

// A dot before anything but a number, and a comma, would be misread.
TEST(CmdstanName, ReplacesWhatReadersStumbleOver) {
  EXPECT_EQ(cmdstan_name("a.b"), "a_b");
  EXPECT_EQ(cmdstan_name("log tau"), "log_tau");
  EXPECT_EQ(cmdstan_name("w[a]"), "w_a_");
  EXPECT_EQ(cmdstan_name("w[]"), "w__");
  EXPECT_EQ(cmdstan_name("w[1,,2]"), "w_1__2_");
  EXPECT_EQ(cmdstan_name("w[1]'"), "w_1__");
  EXPECT_EQ(cmdstan_name("a,b"), "a_b");
}

TEST(ChainCsv, HasTheColumnsOfCmdStan) {
  EXPECT_EQ(chain_csv(small_result(), 1),
            std::string("# kiln = ") + version() +
                "\n# model = posterior:two\n# method = sample\n# algorithm = hmc\n"
                "# num_samples = 2\n# num_warmup = 5\n# save_warmup = 0\n# thin = 2\n# id = 2\n"
                "# seed = 7\n# Step size = 0.125\n"
                "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,"
                "theta.1.2\n"
                "-3,0.25,0.125,3,7,0,3.5,5,6\n"
                "-4,0,0.125,4,15,1,4.5,0.1,-1e-300\n");
}

TEST(DrawsNpy, IsAVersionOneFile) {
  const Result result = small_result();
  const std::string file =
      draws_npy_head(*result.sample) + std::string(draws_npy_data(*result.sample));
  ASSERT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length =
      static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  EXPECT_EQ((10 + length) % 64, 0u);
  const std::string header = file.substr(10, length);
  EXPECT_EQ(header.find("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }"), 0u);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(header.find_first_not_of(' ', header.find('}') + 1), length - 1);
  ASSERT_EQ(file.size(), 10 + length + 64);
  std::vector<double> values(8);
  std::memcpy(values.data(), file.data() + 10 + length, 64);
  EXPECT_EQ(values, result.sample->values);
}

TEST(SummaryCsv, LeavesWhatIsNotKnownEmpty) {
  SampleSummary summary;
  summary.log_density.name = "lp__";
  QuantitySummary q;
  q.name = "x[1,2]";
  q.mean = 1.5;
  q.sd = 0;
  q.r_hat = std::numeric_limits<double>::infinity();
  summary.quantities = {q};
  EXPECT_EQ(summary_csv(summary),
            "name,mean,mcse_mean,sd,mcse_sd,q05,q25,q50,q75,q95,ess_bulk,ess_tail,r_hat,"
            "nested_r_hat\n"
            "lp__,,,,,,,,,,,,,\n"
            "\"x[1,2]\",1.5,,0,,,,,,,,,,\n");
}

TEST(ResultJson, HasTheSampleAndItsSummary) {
  const json document = json::parse(result_of(test::good_sample({"mu", "x[1]"}, 4, 100)).to_json());
  const json& sample = document.at("sample");
  EXPECT_EQ(sample.at("chains"), 4);
  EXPECT_EQ(sample.at("all_draws"), 100);
  EXPECT_EQ(sample.at("warmup"), 100);
  EXPECT_EQ(sample.at("divergences"), 0);
  EXPECT_EQ(sample.at("time").at("sampling_s"), 0.25);
  EXPECT_EQ(sample.at("gradients").at("sampling"), 2800);
  EXPECT_EQ(sample.at("rates").at("gradients_per_s"), 2800 / 0.25);
  const double least = sample.at("ess_bulk_min").at("value");
  EXPECT_DOUBLE_EQ(sample.at("rates").at("ess_bulk_per_s"), least / 0.25);
  EXPECT_TRUE(sample.at("ess_all_chains").is_null());
  EXPECT_EQ(sample.at("log_density").at("name"), "lp__");
  const json& summary = document.at("summary");
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[1].at("name"), "x[1]");
  for (const char* field : {"mean", "mcse_mean", "sd", "mcse_sd", "q05", "q25", "q50", "q75", "q95",
                            "ess_bulk", "ess_tail", "r_hat"}) {
    EXPECT_TRUE(summary[1].at(field).is_number()) << field;
  }
  EXPECT_TRUE(summary[1].at("nested_r_hat").is_null());
}

TEST(ResultJson, HasNoSampleWithoutDraws) {
  const json document = json::parse(Result{}.to_json());
  EXPECT_FALSE(document.contains("sample"));
  EXPECT_FALSE(document.contains("summary"));
}

json shown_document() {
  json document = json::parse(result_of(test::good_sample({"mu", "x[1]"}, 4, 100)).to_json());
  for (json* q :
       {&document["sample"]["log_density"], &document["summary"][0], &document["summary"][1]}) {
    const std::string name = (*q)["name"];
    *q = {{"name", name},     {"mean", -1.23456}, {"mcse_mean", 0.0123}, {"sd", 1.5},
          {"q05", nullptr},   {"q50", -1.25},     {"q95", 1234.5},       {"ess_bulk", 987.6},
          {"ess_tail", 45.4}, {"r_hat", 1.00249}};
  }
  json& sample = document["sample"];
  sample["ess_bulk_min"] = {{"name", "mu"}, {"value", 987.6}};
  sample["ess_tail_min"] = {{"name", "x[1]"}, {"value", 45.4}};
  sample["r_hat_max"] = {{"name", "mu"}, {"value", nullptr}};
  sample["e_bfmi"] = {{"all", 0.987}, {"min", 0.5}, {"low_chains", 0}};
  sample["rates"] = {
      {"gradients_per_s", 11200.0}, {"ess_bulk_per_s", 3950.0}, {"ess_all_chains_per_s", nullptr}};
  return document;
}

TEST(SampleText, ShowsQuantitiesAndHowTheyWereMade) {
  EXPECT_EQ(
      sample_text(shown_document(), false),
      "quantity    mean   mcse   sd  5%    50%   95%  ess_bulk  ess_tail  r_hat\n"
      "lp__      -1.235  0.012  1.5   -  -1.25  1234       988        45  1.002\n"
      "mu        -1.235  0.012  1.5   -  -1.25  1234       988        45  1.002\n"
      "x[1]      -1.235  0.012  1.5   -  -1.25  1234       988        45  1.002\n"
      "\n"
      "effective    bulk ESS >= 988 (mu), tail ESS >= 45 (x[1]), of the 4 chains\n"
      "R-hat        infinite (mu) at most\n"
      "E-BFMI       0.99, 0.50 in the worst chain\n"
      "transitions  divergent 0   cut off at depth 10: 0   acceptance 0.750   leapfrogs 7   step "
      "size 0.5\n"
      "time         warm-up 0.5 s   sampling 0.25 s   gradients/s 11.2k   effective draws/s "
      "4.0k\n");
}

TEST(SampleText, FitsAScreenOf80WithNamesAndNumbersOfUsualLength) {
  json document = shown_document();
  document["sample"]["super_chains"] = 2;
  document["sample"]["nested_r_hat_max"] = {{"name", "mu"}, {"value", 1.0234}};
  for (json* q :
       {&document["sample"]["log_density"], &document["summary"][0], &document["summary"][1]}) {
    *q = {{"name", "theta[1]"}, {"mean", -6.18612}, {"mcse_mean", 0.021624}, {"sd", 5.58312},
          {"q05", -1.56712},    {"q50", -5.6061},   {"q95", 16.0912},        {"ess_bulk", 100027},
          {"ess_tail", 50188},  {"r_hat", 1.0012},  {"nested_r_hat", 1.0034}};
  }
  std::istringstream lines(sample_text(document, false));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    EXPECT_LE(line.size(), 79u) << line;
  }
}

TEST(SampleText, CutsATableThatIsWiderThanTheScreen) {
  json document = shown_document();
  document["summary"][0]["name"] = "a_name_that_leaves_no_room_for_all_columns";
  const std::string text = sample_text(document, false);
  EXPECT_TRUE(text.starts_with(
      "quantity                                      mean   mcse   sd  5%    50%   95%\n"
      "lp__                                        -1.235  0.012  1.5   -  -1.25  1234\n"
      "a_name_that_leaves_no_room_for_all_columns  -1.235  0.012  1.5   -  -1.25  1234\n"
      "x[1]                                        -1.235  0.012  1.5   -  -1.25  1234\n"
      "\n"
      "quantity                                    ess_bulk  ess_tail  r_hat\n"
      "lp__                                             988        45  1.002\n"
      "a_name_that_leaves_no_room_for_all_columns       988        45  1.002\n"
      "x[1]                                             988        45  1.002\n"
      "\n"
      "effective "))
      << text;
  const std::string wide = sample_text(document, false, 120);
  EXPECT_EQ(wide.find("quantity", 1), std::string::npos) << wide;
}

TEST(SampleText, ShowsNestedRHatWhereChainsBeganTogether) {
  json document = shown_document();
  json& sample = document["sample"];
  sample["super_chains"] = 2;
  sample["nested_r_hat_max"] = {{"name", "mu"}, {"value", 1.0234}};
  for (json* q : {&sample["log_density"], &document["summary"][0], &document["summary"][1]}) {
    (*q)["nested_r_hat"] = 1.0114;
  }
  const std::string text = sample_text(document, false);
  EXPECT_NE(text.find("ess_tail r_hat nested\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1.002  1.011\n"), std::string::npos) << text;
  EXPECT_NE(text.find("R-hat        infinite (mu) at most; nested R-hat 1.023 (mu), of 2 "
                      "super-chains\n"),
            std::string::npos)
      << text;
}

TEST(SampleText, SaysWhichChainsAreMeant) {
  json document = shown_document();
  document["sample"]["all_chains"] = 4096;
  document["sample"]["thin"] = 10;
  document["sample"]["ess_all_chains"] = 1.25e6;
  document["sample"]["rates"]["ess_all_chains_per_s"] = 5e6;
  const std::string text = sample_text(document, false);
  EXPECT_NE(text.find(", of the kept 4 chains\n"
                      "             ESS >= 1.2M of all 4096 chains, from the scatter of the chain "
                      "means\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("effective draws/s 4.0k, of all chains 5.0M\n"), std::string::npos) << text;
  EXPECT_EQ(
      draws_text(document["sample"]),
      "4096 chains x 100 draws after 100 warm-up transitions, draws of only 4 chains kept, one "
      "draw in 10 kept");
}

TEST(SampleText, AbbreviatesLongLists) {
  json document = shown_document();
  const json one = document["summary"][0];
  for (int i = 2; i < 41; ++i) document["summary"].push_back(one);
  const auto lines_of = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::string cut = sample_text(document, false), whole = sample_text(document, true);
  EXPECT_NE(
      cut.find("\n... and 21 more quantities: --verbose shows all, and summary.csv lists all\n"),
      std::string::npos);
  EXPECT_EQ(lines_of(whole) - lines_of(cut), 20);
  document["summary"].erase(0);
  EXPECT_EQ(sample_text(document, false), sample_text(document, true));
}

}  // namespace
}  // namespace kiln::cli::sample_files_test
