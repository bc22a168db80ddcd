// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed files of every kind that the program reads, by their bytes and not by their names.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"
#include "unpacking/packed_square.hpp"

namespace kiln::test::packed_test {
namespace {

using Packed = ProgramTest;

constexpr int square_cut = 10;  // 3 + 7: a cut of a ring has an even number of edges

TEST_F(Packed, FilesAreReadByAnyName) {
  write("a.gz", std::string(square_gzip));
  write("b.txt", std::string(square_xz));
  write("c.rudy.zst", std::string(square_zstd));
  for (const std::string name : {"a.gz", "b.txt", "c.rudy.zst"}) {
    const nlohmann::json result = result_of(run(solve(name, {"--json", "--sweeps", "50"})));
    EXPECT_EQ(result["objective"]["best"], square_cut) << name;
  }
}

TEST_F(Packed, StandardInputIsDecompressed) {
  for (const std::string_view packed : {square_gzip, square_xz, square_zstd}) {
    Call call{solve("-", {"--json", "--sweeps", "50"})};
    call.input = std::string(packed);
    EXPECT_EQ(result_of(run(call))["objective"]["best"], square_cut);
  }
}

TEST_F(Packed, ACutFileIsRefused) {
  write("g.gz", std::string(square_gzip.substr(0, 50)));
  const Outcome outcome = run(std::vector<std::string>{"check", "g.gz"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[input.parse]: g.gz: byte 50: the gzip stream is cut short\n"
            "  expected: a whole file; fetch or write it again\n");
}

TEST_F(Packed, ACorruptFileIsRefused) {
  std::string wrong(square_zstd);
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  write("g.zst", wrong);
  const Outcome outcome = run(std::vector<std::string>{"solve", "g.zst"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[input.parse]: g.zst: byte 38: the zstd stream is corrupt: Restored data doesn't "
            "match checksum");
}

TEST_F(Packed, ABombIsRefused) {
  const std::string file = (folder_ / "bomb.gz").string();
  const std::string lines = "head -c 100000000 /dev/zero | tr '\\0' '\\n'";  // without a word
  ASSERT_EQ(std::system((lines + " | gzip -1 > '" + file + "'").c_str()), 0);
  const Outcome outcome = run(std::vector<std::string>{"check", "bomb.gz", "--format", "rudy"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find(
                "the decompressed file is more than 100 times as large as what it is made of"),
            std::string::npos)
      << outcome.err;
}

/// Compresses a file of the folder, and takes the file itself away.
void pack(const std::filesystem::path& file) {
  ASSERT_EQ(std::system(("gzip '" + file.string() + "'").c_str()), 0);
}

TEST_F(Packed, TablesAreRead) {
  write("t.csv", "a,b,y\n1,2,3\n2,1,4\n3,5,1\n4,4,9\n");
  pack(folder_ / "t.csv");
  const Outcome outcome = run(std::vector<std::string>{"solve", "table:t.csv.gz", "--objective",
                                                       "y", "--device", "cpu", "--json"});
  EXPECT_EQ(result_of(outcome)["objective"]["best"], 9);
}

TEST_F(Packed, StatesAreRead) {
  write("g.txt", std::string(square));
  write("s.txt", "0\n1\n1\n0\n");
  pack(folder_ / "s.txt");
  const Outcome outcome =
      run(solve("g.txt", {"--json", "--sweeps", "50", "--initial", "s.txt.gz"}));
  EXPECT_EQ(result_of(outcome)["objective"]["best"], square_cut);
}

TEST_F(Packed, DataOfModelsAreRead) {
  write("d.csv", "weight,x\n1,2\n2,3.5\n3,6\n4,8.5\n");
  const std::vector<std::string> words{"check", "posterior:linear-regression,weight", "--data"};
  std::vector<std::string> plain = words, packed = words;
  plain.emplace_back("d.csv");
  packed.emplace_back("d.csv.gz");
  const Outcome expected = run(plain);
  pack(folder_ / "d.csv");
  const Outcome outcome = run(packed);
  EXPECT_EQ(expected.exit_code, 0) << expected.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace kiln::test::packed_test
