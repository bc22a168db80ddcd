// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Words of the command line reach what they are for byte by byte, now and when a run is repeated.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program.hpp"

namespace kiln::test::words_test {
namespace {

using nlohmann::json;
using List = std::vector<std::string>;

class Words : public ProgramTest {
 protected:
  Outcome search(const std::string& problem, const List& more) const {
    List words{"solve", problem, "--device", "cpu", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// What a program was called with: each line of `seen` has its last argument in hexadecimals.
  std::multiset<std::string> seen() const {
    std::istringstream lines(read("seen"));
    std::multiset<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    std::filesystem::remove(folder_ / "seen");
    return all;
  }
};

// The oracle is the shell, which writes down its own words. A blank or a ? in place of the line
// feed makes it another script.
TEST_F(Words, OfACommandReachTheProgramAsTheyAre) {
  const std::string script =
      "command:sh -c 'printf %s \"$0\" | od -An -tx1 >> seen\nfalse || echo 1' \"" +
      std::string("a\tb\x1b\xe9\xe2\x80\xae") + "\" {w}";
  const Outcome outcome =
      search(script, {"--var", "w=real:0:1", "-p", "evaluations=2", "--json", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto called = seen();
  EXPECT_GE(called.size(), 2u);
  for (const std::string& one : called) EXPECT_EQ(one, " 61 09 62 1b e9 e2 80 ae");
  // Where they are shown they steer nothing, and a document stays one.
  const std::string name = json::parse(outcome.out)["problem"]["name"];
  EXPECT_NE(name.find("a?b???\" {w}"), std::string::npos) << name;
  const std::string all = outcome.out + outcome.err + read("out/run.json");
  EXPECT_EQ(all.find_first_of("\t\x1b\xe9\xe2"), std::string::npos);
}

TEST_F(Words, OfATableNameAFile) {
  const std::string file = "t\n\xe9\x1b.csv";
  write(file, "a,b,y\nx,1,5\nx,2,6\nz,1,9\n");
  write("t???.csv", "a,b,y\nx,1,50\nx,2,60\nz,1,90\n");
  const Outcome outcome =
      search("table:" + file, {"--objective", "y", "--sweeps", "3", "--json", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 9.0);
  EXPECT_EQ(json::parse(outcome.out)["problem"]["name"], "table:t???.csv");
}

TEST_F(Words, AreTheSameWhenARunIsRepeated) {
  const std::string command =
      "command:sh -c 'printf %s \"$1\" | od -An -tx1 >> seen\necho 1' \\\\x41 {w}";
  const List values{"w=cat:a\nb,c\td", "w=cat:\\x0a\\,\xff\\x0a\\",
                    "w=cat:\x1b[2Ja,\xe2\x80\xae\xc2\x9b\x7f"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string first = "a" + std::to_string(i), second = "b" + std::to_string(i);
    const Outcome outcome =
        search(command, {"--var", values[i], "-p", "evaluations=2", "-p", "batch=1", "-o", first});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto called = seen();
    EXPECT_EQ(std::set(called.begin(), called.end()).size(), 2u);
    const Outcome shown = run({"solve", "--repeat", first, "--dry-run"});
    EXPECT_EQ(shown.exit_code, 2);
    EXPECT_NE(shown.err.find("seen\\x0aecho 1"), std::string::npos) << shown.err;
    const Outcome again =
        run({"solve", "--repeat", first, "--allow-command", "--device", "cpu", "-q", "-o", second});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(seen(), called);
    const json a = json::parse(read(first + "/run.json"));
    const json b = json::parse(read(second + "/run.json"));
    EXPECT_EQ(a["options"]["var"]["value"], b["options"]["var"]["value"]);
    EXPECT_EQ(a["problem"], b["problem"]);
    // A terminal that shows the file is not steered by it.
    const std::string text = read(first + "/run.json");
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= 32 && c < 127); }))
        << text;
  }
}

TEST_F(Words, ThatNoCommandLineHasAreRefused) {
  ASSERT_EQ(run(short_run({"--save", "run.json"})).exit_code, 0);
  const json saved = json::parse(read("run.json"));
  const std::string nul("torus:8x8,1\0", 12);
  for (const json& source :
       {json(nul), json{{"escaped", "torus:8x8,1\\x00"}}, json{{"escaped", "torus\\"}},
        json{{"escaped", "torus\\xg0"}}, json{{"escaped", 1}}, json::object(), json(1)}) {
    json bad = saved;
    bad["problem"]["source"] = source;
    write("bad.json", bad.dump());
    const Outcome outcome = run({"solve", "--repeat", "bad.json", "--device", "cpu"});
    EXPECT_EQ(outcome.exit_code, 3) << source;
    EXPECT_EQ(outcome.err.find("error[input.parse]: bad.json: "), 0u) << outcome.err;
  }
  json good = saved;
  good["problem"]["source"] = json{{"escaped", "t\\x6frus:8x8,1"}};
  write("good.json", good.dump());
  EXPECT_EQ(run({"solve", "--repeat", "good.json", "--device", "cpu"}).exit_code, 0);
}

// As a variable of the shell that is not set makes them.
TEST_F(Words, ThatAreEmptyNameNoFile) {
  for (const std::string option :
       {"output", "save", "initial", "past", "data", "reference-front"}) {
    const Outcome outcome = run(short_run({"--" + option, ""}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')),
              "error[cli.value]: --" + option + " needs the name of a " +
                  (option == "output" ? "folder" : "file"));
  }
  write("run.toml", "past = \"\"\n");
  EXPECT_EQ(run(short_run({"--config", "run.toml"})).exit_code, 2);
}

}  // namespace
}  // namespace kiln::test::words_test
