// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verbs list, check and generate.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::catalogue_test {
namespace {

using nlohmann::json;
using List = ProgramTest;
using Check = ProgramTest;
using Generate = ProgramTest;

TEST_F(List, KnowsItsTopics) {
  const std::map<std::string, std::string> expected{{"schedules", "simulated-annealing"},
                                                    {"problems", "gset"},
                                                    {"formats", "rudy"},
                                                    {"devices", "cpu"},
                                                    {"kernels", "metropolis_sweep"},
                                                    {"suites", "sweep"}};
  for (const auto& [topic, name] : expected) {
    const Outcome text = run(std::vector<std::string>{"list", topic});
    EXPECT_EQ(text.exit_code, 0) << topic;
    EXPECT_NE(text.out.find(name), std::string::npos) << text.out;
    EXPECT_EQ(text.err, "") << topic;
    const json document = json::parse(run(std::vector<std::string>{"list", topic, "--json"}).out);
    bool found = false;
    for (const json& entry : document[topic]) found |= entry["name"] == name;
    EXPECT_TRUE(found) << document;
  }
}

TEST_F(List, SaysWhatEveryKernelDoes) {
  const json document = json::parse(run({"list", "kernels", "--json"}).out);
  const Outcome text = run({"list", "kernels"});

  const std::set<std::string> components{
      "run",         "sweeps",         "exchange",  "population",  "fronts",    "recombination",
      "hamiltonian", "linear_algebra", "surrogate", "information", "landscape", "bifurcation",
      "rows"};
  ASSERT_GE(document["kernels"].size(), 21u);
  for (const json& kernel : document["kernels"]) {
    const auto name = kernel["name"].get<std::string>();
    const auto sentence = kernel["sentence"].get<std::string>();
    EXPECT_GT(sentence.size(), 10u) << name;
    const std::string accuracy = kernel["accuracy"];
    const bool drawn = name.find("_transition") != std::string::npos || name == "density_sweep" ||
                       name == "density_descent";
    const bool reordered =
        name == "summarize" || name == "density_energy" || name == "add_pool_moments" ||
        name == "hmc_adapt" || name == "matrix_product" || name == "hypervolume" ||
        name == "objective_values" || name == "proposal_sweep" || name == "gp_covariance" ||
        name == "batched_cholesky" || name == "batched_triangular_solve" ||
        name == "acquisition_values" || name == "pathwise_samples" || name == "factor_append" ||
        name == "evidence_gradient" || name == "lbfgs_step" || name == "posterior_weights" ||
        name == "acquisition_gradient";
    EXPECT_EQ(accuracy, drawn ? "S6" : reordered ? "D" : "E") << name;
    const std::string component = kernel["component"];
    EXPECT_TRUE(components.contains(component)) << name << " is in " << component;
    EXPECT_EQ(kernel["header"], "kiln/kernels/" + component + "/" + name + ".hpp");
    EXPECT_NE(text.out.find(sentence + "\n"), std::string::npos) << name;
  }
}

TEST_F(List, SaysWhyThereIsNoCudaDevice) {
  const Outcome outcome =
      run(Call{{"list", "devices"}, {}, {{"KILN_CUDA_MODULE", "/nonexistent"}}});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("\nno CUDA device: "), std::string::npos) << outcome.out;
}

TEST_F(Check, DescribesWhatWasGenerated) {
  const Outcome generated = run({"generate", "gset:G1"});
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  EXPECT_EQ(generated.err, "");

  const Outcome outcome = run(Call{{"check", "-"}, generated.out});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "standard input: ok\n"
            "  format        rudy\n"
            "  kind          maxcut\n"
            "  aim           maximise cut; --minimize reverses it\n"
            "  vertices      800\n"
            "  edges         19176\n"
            "  coefficients  1 .. 1\n"
            "  fingerprint   8fc0ab81c72c7da7\n"
            "  same as       gset:G1, best known 11624\n");
}

TEST_F(Check, ReportsMergedEdgesAsANote) {
  write("g.txt", "3 3\n1 2 1\n2 1 1\n2 3 1\n");

  const json document = json::parse(run({"check", "g.txt", "--json"}).out);

  EXPECT_EQ(document["ok"], true);
  EXPECT_EQ(document["sizes"]["edges"], 2);
  EXPECT_EQ(document["duplicates_merged"], 1);
  EXPECT_EQ(document["notes"].size(), 1u);
}

TEST_F(Check, GivesComplaintsAsJson) {
  write("g.txt", "3 1\n1 2 nan\n");

  const Outcome outcome = run({"check", "g.txt", "--json"});

  EXPECT_EQ(outcome.exit_code, 3);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["total"], 1);
  EXPECT_EQ(document["issues"][0]["line"], 2);
  EXPECT_EQ(document["issues"][0]["column"], 5);
}

TEST_F(Generate, WritesAFileOnce) {
  ASSERT_EQ(run({"generate", "torus:5x4,7", "-o", "t.txt"}).exit_code, 0);
  const std::string text = read("t.txt");
  EXPECT_EQ(text.rfind("20 40\n", 0), 0u) << text;

  const Outcome outcome = run({"generate", "torus:4x4,1", "-o", "t.txt"});

  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.err,
            "error[io.exists]: t.txt exists, and Kiln does not overwrite it\n"
            "  fix: choose another name, or remove the file\n");
  EXPECT_EQ(read("t.txt"), text);
}

TEST_F(Generate, GivesTheProblemThatSolveMeans) {
  ASSERT_EQ(run({"generate", "torus:8x8,1", "-o", "t.txt"}).exit_code, 0);
  const Outcome named = run(short_run({"--json"}));
  const Outcome read_in = run({"solve", "t.txt", "--device", "cpu", "--sweeps", "50", "--json"});

  EXPECT_EQ(json::parse(named.out)["solution"], json::parse(read_in.out)["solution"]);
}

TEST_F(Generate, RefusesWhatDoesNotExist) {
  EXPECT_EQ(run({"generate", "gset:G1000"}).exit_code, 2);
  EXPECT_EQ(run({"generate", "torus:5"}).exit_code, 2);
  EXPECT_EQ(run({"generate", "gset:G1", "--format", "qubo"}).exit_code, 2);
}

}  // namespace
}  // namespace kiln::test::catalogue_test
