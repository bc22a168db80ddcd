// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// `kiln doctor --kernels`. What it finds wrong is tested in tests/unit/apps/twins.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::doctor_kernels_test {
namespace {

using nlohmann::json;

class DoctorKernels : public ProgramTest {
 protected:
  json document(const std::string& only) const {
    const Outcome outcome =
        run({"doctor", "--kernels", "--device", "cpu", "--json", "--only", only});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
};

TEST_F(DoctorKernels, ComparesAllThreadsOfTheCpuWithOne) {
  std::set<std::string> names;
  for (const char* only : {"sweep", "transition", "ladder", "swap"}) {
    const json all = document(only);
    EXPECT_EQ(all["schema"], "kiln.doctor.kernels/1");
    EXPECT_EQ(all["device"], "cpu");
    EXPECT_TRUE(all["healthy"].get<bool>());
    EXPECT_TRUE(all["left_out"].empty());
    for (const json& one : all["kernels"]) {
      EXPECT_EQ(one["verdict"], "equal") << one;
      EXPECT_GT(one["written"], 0u) << one;
      EXPECT_GE(one["words"], one["written"]) << one;
      names.insert(one["kernel"].get<std::string>());
    }
  }
  for (const char* name : {"metropolis_sweep", "nuts_transition", "ladder_tick", "replica_swap"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(DoctorKernels, PrintsARowForEach) {
  const Outcome outcome = run({"doctor", "--kernels", "--device", "cpu", "--only", "swap"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" against cpu, 1 thread\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nequal     replica_swap             E\n"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\n4 kernels: 4 equal, 0 close, 0 wrong\n"), std::string::npos)
      << outcome.out;
  for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(DoctorKernels, AKernelThatChangesNothingIsNotCalledEqual) {
  const json all = document("stop_at_work");
  ASSERT_EQ(all["kernels"].size(), 1u);
  EXPECT_EQ(all["kernels"][0]["verdict"], "no result");
}

TEST_F(DoctorKernels, WhatIsLeftOutIsSaid) {
  const Outcome outcome = run({"doctor", "--kernels", "--device", "cpu", "--time-limit", "1ms"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" left out (--time-limit)\n"), std::string::npos) << outcome.out;
}

TEST_F(DoctorKernels, SaysThatThereIsNoGpu) {
  Call call{{"doctor", "--kernels", "--only", "replica_swap"}};
  call.environment["CUDA_VISIBLE_DEVICES"] = "";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("no GPU is compared: "), std::string::npos) << outcome.err;
  call.words.insert(call.words.end(), {"--device", "cuda"});
  EXPECT_EQ(run(call).exit_code, 4);
}

TEST_F(DoctorKernels, RefusesWhatMakesNoSense) {
  const Outcome unknown = run({"doctor", "--kernels", "--only", "swip"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("error[doctor.kernels]: no kernel has 'swip' in its name"),
            std::string::npos)
      << unknown.err;
  const Outcome alone = run({"doctor", "--only", "swap"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("error[cli.conflict]: --only goes with --kernels"), std::string::npos)
      << alone.err;
  EXPECT_NE(alone.err.find("fix: kiln doctor --kernels --only swap"), std::string::npos)
      << alone.err;
}

}  // namespace
}  // namespace kiln::test::doctor_kernels_test
