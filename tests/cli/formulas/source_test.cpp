// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Objectives as source text, as users give them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::source_test {
namespace {

// Minimum 1.5 at (1, 2): a value that neither a lost term nor a factor leaves.
constexpr const char* bowl =
    "template <class T>\n"
    "T objective(const T* x, int n) {\n"
    "  return 1.5 + square(x[0] - 1.0) + 3.0 * square(x[1] - 2.0) + 0.0 * n;\n"
    "}\n";

class SourceObjective : public ProgramTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "cache");
    ::chmod((folder_ / "cache").c_str(), S_IRWXU);
  }
  Outcome run_with_cache(std::vector<std::string> words) const {
    return run(Call{.words = std::move(words),
                    .environment = {{"KILN_CACHE_DIR", (folder_ / "cache").string()}}});
  }
  Outcome search(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words{"solve", "--objective",   file,   "--device",
                                   "cpu",   "--sweeps",      "1000", "--json",
                                   "--var", "x[2]=real:-5:5"};
    words.insert(words.end(), more.begin(), more.end());
    return run_with_cache(std::move(words));
  }
  std::vector<std::string> cached() const {
    std::vector<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(folder_ / "cache/objectives")) {
      names.push_back(one.path().filename().string());
    }
    return names;
  }
};

TEST_F(SourceObjective, IsMinimizedAndCompiledOnce) {
  write("bowl.cu", bowl);
  const nlohmann::json result = result_of(search("bowl.cu", {"--allow-jit"}));
  EXPECT_NEAR(result["objective"]["best"].get<double>(), 1.5, 1e-9);
  EXPECT_TRUE(result["verified"].get<bool>());
  ASSERT_EQ(cached().size(), 2U);  // and a sum of it
  // A file that is made again would have another time.
  const auto time = [&] {
    return std::filesystem::last_write_time(folder_ / "cache/objectives" / cached().front());
  };
  const auto before = time();
  EXPECT_EQ(search("bowl.cu", {"--allow-jit"}).exit_code, 0);
  EXPECT_EQ(cached().size(), 2U);
  EXPECT_EQ(time(), before);
}

TEST_F(SourceObjective, IsMaximized) {
  write("hill.cu",
        "double objective(const double* x, double* gradient, int n) {\n"
        "  if (gradient) for (int i = 0; i < n; ++i) gradient[i] = -2.0 * x[i];\n"
        "  return 7.25 - x[0] * x[0] - x[1] * x[1];\n"
        "}\n");
  for (const char* const schedule : {"simulated-annealing", "hmc"}) {
    const nlohmann::json result =
        result_of(search("hill.cu", {"--allow-jit", "--maximize", "--schedule", schedule}));
    EXPECT_NEAR(result["objective"]["best"].get<double>(), 7.25, 1e-6) << schedule;
  }
}

// Exact derivatives by duals: HMC finds the minimum of a valley; a wrong gradient does not.
TEST_F(SourceObjective, HasAGradient) {
  write("valley.cu",
        "template <class T> T objective(const T* x, int) {\n"
        "  return 100.0 * square(x[1] - square(x[0])) + square(1.0 - x[0]);\n"
        "}\n");
  const Outcome outcome =
      run_with_cache({"check", "source:valley.cu", "--allow-jit", "--var", "x[2]=real:-2:2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  write("liar.cu",
        "double objective(const double* x, double* gradient, int) {\n"
        "  if (gradient) { gradient[0] = x[0]; gradient[1] = 2.0 * x[1]; }\n"
        "  return x[0] * x[0] + x[1] * x[1];\n"
        "}\n");
  const Outcome wrong =
      run_with_cache({"check", "source:liar.cu", "--allow-jit", "--var", "x[2]=real:-2:2"});
  EXPECT_EQ(wrong.exit_code, 8);
  EXPECT_EQ(wrong.err.rfind("error[gradient.wrong]: source:liar.cu", 0), 0U) << wrong.err;
}

// Without a namespace, abs() of a number could be that of integers: 0 at 0.7.
TEST_F(SourceObjective, HasTheFunctionsOfRealNumbers) {
  write(
      "abs.cu",
      "template <class T> T objective(const T* x, int) { return abs(x[0]) + abs(x[1] - 0.7); }\n");
  const Outcome outcome = run_with_cache(
      {"check", "--objective", "abs.cu", "--allow-jit", "--var", "x[2]=real:0.5:0.9"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json result =
      result_of(run_with_cache({"solve", "--objective", "abs.cu", "--allow-jit", "--device", "cpu",
                                "--json", "--sweeps", "500", "--var", "x[2]=real:0.5:0.9"}));
  EXPECT_NEAR(result["objective"]["best"].get<double>(), 0.5, 1e-6);
}

// Neither in a file of options, which may come from anywhere.
TEST_F(SourceObjective, NeedsLeaveOnTheCommandLine) {
  write("bowl.cu", bowl);
  write("options.toml",
        "objective = \"bowl.cu\"\nallow-jit = true\nvar = \"x[2]=real:-5:5\"\nsweeps = 10\n");
  const Outcome outcome = run_with_cache({"solve", "--config", "options.toml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.rfind("error[config.key]", 0), 0U) << outcome.err;
  EXPECT_FALSE(exists("cache/objectives"));
}

// The name is not one that only looks like it in a message.
TEST_F(SourceObjective, IsTheFileOfThatName) {
  write("new\nline.cu", bowl);
  write("new?line.cu", "double wrong;\n");
  EXPECT_EQ(search("new\nline.cu", {"--allow-jit"}).exit_code, 0);
}

TEST_F(SourceObjective, CompilesAgainWhatIsDamaged) {
  write("bowl.cu", bowl);
  ASSERT_EQ(search("bowl.cu", {"--allow-jit"}).exit_code, 0);
  for (const std::string& name : cached()) {
    if (name.ends_with(".so")) write("cache/objectives/" + name, "");
  }
  const Outcome again = search("bowl.cu", {"--allow-jit"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(SourceObjective, TellsWhyItCannotBeLoaded) {
  write("half.cu",
        "double other();\n"
        "template <class T> T objective(const T* x, int) { return x[0] * other(); }\n");
  const Outcome outcome = search("half.cu", {"--allow-jit"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("half.cu was compiled and cannot be loaded: undefined symbol"),
            std::string::npos)
      << outcome.err;
}

TEST_F(SourceObjective, SaysWhichFormsThereAre) {
  write("plain.cu", "double objective(const double* x, int) { return x[0]; }\n");
  const Outcome plain = search("plain.cu", {"--allow-jit"});
  EXPECT_NE(plain.err.find("template <class T> T objective(const T* x, int n)"), std::string::npos)
      << plain.err;
  write("bowl.cu", bowl);
  const Outcome wide = run_with_cache(
      {"solve", "--objective", "bowl.cu", "--allow-jit", "--var", "x[65]=real:-1:1"});
  EXPECT_NE(wide.err.find("over 64 coordinates"), std::string::npos) << wide.err;
}

TEST_F(SourceObjective, NeedsLeave) {
  write("bowl.cu", bowl);
  const Outcome outcome = search("bowl.cu", {});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome),
            "error[objective.refused]: bowl.cu is source text, which can do all that you may do");
  EXPECT_FALSE(exists("cache/objectives"));
}

// The leave is for one call: a run that somebody sends is no reason to execute what it names.
TEST_F(SourceObjective, RepeatsWithLeaveAlone) {
  write("bowl.cu", bowl);
  ASSERT_EQ(search("bowl.cu", {"--allow-jit", "-o", "run"}).exit_code, 0);
  EXPECT_EQ(run_with_cache({"solve", "--repeat", "run", "-o", "again"}).exit_code, 2);
  const Outcome again =
      run_with_cache({"solve", "--repeat", "run", "-o", "again", "--allow-jit", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("again/solution.txt"), read("run/solution.txt"));
  EXPECT_EQ(run_with_cache({"resume", "run", "--sweeps", "2000"}).exit_code, 2);
  const Outcome resumed =
      run_with_cache({"resume", "run", "--sweeps", "2000", "--allow-jit", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  // Another text is another problem.
  write("bowl.cu", std::string(bowl) + "// changed\n");
  EXPECT_EQ(run_with_cache({"resume", "run", "--sweeps", "3000", "--allow-jit"}).exit_code, 3);
}

TEST_F(SourceObjective, ShowsTheLineThatDoesNotCompile) {
  write("wrong.cu", "template <class T> T objective(const T* x, int) {\n  return x[0] + why;\n}\n");
  const Outcome outcome = search("wrong.cu", {"--allow-jit"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.rfind("error[objective.compile]: wrong.cu does not compile", 0), 0U)
      << outcome.err;
  EXPECT_NE(outcome.err.find("wrong.cu:2:"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("why"), std::string::npos) << outcome.err;
  EXPECT_TRUE(cached().empty());
}

TEST_F(SourceObjective, EndsACompilerThatDoesNotEnd) {
  // Two classes for each class, thirty times: the limit of processor time ends it.
  write("endless.cu",
        "template <int n, long k> struct Tree : Tree<n - 1, 2 * k>, Tree<n - 1, 2 * k + 1> {};\n"
        "template <long k> struct Tree<0, k> {};\n"
        "template <class T> T objective(const T* x, int) { return x[0] + sizeof(Tree<30, 1>); }\n");
  const Outcome outcome = search("endless.cu", {"--allow-jit"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error[objective.compile]: endless.cu does not compile"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(cached().empty());
}

TEST_F(SourceObjective, RefusesDirectives) {
  const struct {
    const char *text, *line;
  } cases[] = {{"#include \"/etc/passwd\"\n", "1"},
               {"// fine\n/* */ # define objective x\n", "2"},
               {"int a;\n\n%:include <x>\n", "3"},
               {"int a = 1; \\\nint b;\n", "1"},
               {"// \\ \n/*\n#define H 3.0\n// */\n", "1"},
               {"const char16_t q = u'\"', *w = u\"/*\";\n#define H 4\n// */\n", "2"},
               {"const char* s = \"\\\n/* \";\n#include <x>\n/* */\n", "1"},
               {"const char* s = R\"(\n#include\n)\";\n", "1"}};
  for (const auto& one : cases) {
    write("bad.cu", one.text);
    const Outcome outcome = search("bad.cu", {"--allow-jit"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err.rfind("error[objective.directive]: bad.cu:" + std::string(one.line), 0),
              0U)
        << one.text << outcome.err;
  }
  // A '#' in a comment or in a string is none.
  write("fine.cu",
        "// issue #5, /etc\nconst char* const text = \"# \\\" #\"; /* # */\n" + std::string(bowl));
  EXPECT_EQ(search("fine.cu", {"--allow-jit"}).exit_code, 0);
}

TEST_F(SourceObjective, RefusesWhatIsNoObjective) {
  const auto code_of = [&](const std::string& file, std::vector<std::string> more = {}) {
    more.push_back("--allow-jit");
    const Outcome outcome = search(file, more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err.substr(0, outcome.err.find(']') + 1);
  };
  EXPECT_EQ(code_of("missing.cu"), "error[objective.file]");
  write("empty.cu", "");
  EXPECT_EQ(code_of("empty.cu"), "error[objective.function]");
  write("bytes.cu", std::string("objective\0", 10));
  EXPECT_EQ(code_of("bytes.cu"), "error[objective.file]");
  write("bowl.cu", bowl);
  EXPECT_EQ(code_of("bowl.cu", {"--var", "k=int:0:3"}), "error[objective.variable]");
}

TEST_F(SourceObjective, NeedsACompilerAndAFolderOfTheUser) {
  write("bowl.cu", bowl);
  const std::vector<std::string> words{"solve",    "--objective", "bowl.cu", "--device",
                                       "cpu",      "--allow-jit", "--var",   "x[2]=real:-5:5",
                                       "--sweeps", "10"};
  const Outcome without = run(Call{.words = words,
                                   .environment = {{"KILN_CACHE_DIR", (folder_ / "cache").string()},
                                                   {"CXX", "/no/such/compiler"}}});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(first_line(without), "error[objective.compiler]: there is no C++ compiler");
  const Outcome idle =
      run(Call{.words = words,
               .environment = {{"KILN_CACHE_DIR", (folder_ / "cache").string()}, {"CXX", "true"}}});
  EXPECT_EQ(first_line(idle), "error[objective.compiler]: the compiler has ended without a result");
  const Outcome two = run(
      Call{.words = words,
           .environment = {{"KILN_CACHE_DIR", (folder_ / "cache").string()}, {"CXX", "env c++"}}});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  for (const char* const folder : {"cache/objectives", "cache"}) {
    ::chmod((folder_ / folder).c_str(), S_IRWXU | S_IRWXG | S_IRWXO);
    const Outcome open = run_with_cache(words);
    EXPECT_EQ(open.exit_code, 2);
    EXPECT_EQ(open.err.rfind("error[objective.cache]", 0), 0U) << open.err;
    EXPECT_NE(open.err.find("others may write it"), std::string::npos) << open.err;
    ::chmod((folder_ / folder).c_str(), S_IRWXU);
  }
}

}  // namespace
}  // namespace kiln::test::source_test
