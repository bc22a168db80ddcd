// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Plug-ins as users name them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::plugin_cli_test {
namespace {

namespace fs = std::filesystem;

class PluginOption : public ProgramTest {
 protected:
  static std::string plugin(const std::string& name) {
    return (fs::path(KILN_PLUGINS) / (name + ".so")).string();
  }
};

TEST_F(PluginOption, MakesAScheduleKnownToEachCommand) {
  const std::string fine = plugin("fine");
  EXPECT_NE(run({"list", "schedules", "--plugin", fine}).out.find("stand-still"),
            std::string::npos);
  const auto listed =
      nlohmann::json::parse(run({"list", "plugins", "--plugin", fine, "--json"}).out);
  ASSERT_EQ(listed["plugins"].size(), 1u);
  EXPECT_EQ(listed["plugins"][0]["name"], "fine");
  EXPECT_EQ(listed["plugins"][0]["schedules"][0], "stand-still");
  EXPECT_EQ(run({"describe", "stand-still", "--plugin", fine}).exit_code, 0);
  const nlohmann::json result =
      result_of(run({"solve", "torus:4x4,1", "--plugin", fine, "--schedule", "stand-still",
                     "--sweeps", "5", "--device", "cpu", "--json"}));
  EXPECT_TRUE(result["verified"].get<bool>());
}

TEST_F(PluginOption, IsNeededAgainToResumeTheRun) {
  const std::string fine = plugin("fine"), folder = (folder_ / "run").string();
  EXPECT_EQ(run({"solve", "torus:4x4,1", "--plugin", fine, "--schedule", "stand-still", "--sweeps",
                 "5", "--device", "cpu", "-o", folder})
                .exit_code,
            0);
  const Outcome without = run({"resume", folder, "--sweeps", "10"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("unknown schedule 'stand-still'"), std::string::npos) << without.err;
  EXPECT_EQ(run({"resume", folder, "--sweeps", "10", "--plugin", fine}).exit_code, 0);
}

TEST_F(PluginOption, ThatIsRefusedEndsTheCommand) {
  for (const auto& [name, code] : std::vector<std::pair<std::string, std::string>>{
           {"throws", "plugin.failed"}, {"taken", "plugin.taken"}, {"nothing", "plugin.missing"}}) {
    const Outcome outcome = run({"list", "schedules", "--plugin", plugin(name)});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_NE(outcome.err.find("error[" + code + "]"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("fix: "), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "") << name;
  }
}

TEST_F(PluginOption, OfAPathIsLeftOutWithAWarning) {
  Call call{{"list", "schedules"}};
  call.environment["KILN_PLUGIN_PATH"] = plugin("throws") + "::" + plugin("fine");
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("warning[plugin.failed]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("stand-still"), std::string::npos);
}

TEST_F(PluginOption, IsTestedByPluginTest) {
  const Outcome outcome = run({"plugin-test", plugin("fine")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("all tests passed"), std::string::npos);
}

TEST_F(PluginOption, NewPluginWritesAFolderOnce) {
  const std::string folder = (folder_ / "mine").string();
  EXPECT_EQ(run({"new-plugin", "mine", "-o", folder}).exit_code, 0);
  for (const char* file : {"CMakeLists.txt", "README.md", "mine.cpp", "mine.cu", "mine.hpp"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::path(folder) / file)) << file;
  }
  EXPECT_EQ(run({"new-plugin", "mine", "-o", folder}).exit_code, 6);
  for (const char* bad : {"", "Mine", "9x", "a-b", "a__b", "../x", "hmc", "test", "kiln"}) {
    EXPECT_EQ(run({"new-plugin", bad, "-o", (folder_ / "other").string()}).exit_code, 2) << bad;
  }
  EXPECT_FALSE(fs::exists(folder_ / "other"));
}

}  // namespace
}  // namespace kiln::test::plugin_cli_test
