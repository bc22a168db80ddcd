// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Matrices in text and as NumPy saves them: the function that is read against x'Qx of the matrix.
// Bad ones are in the corpus of the fuzzers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

namespace kiln::matrix_reader_test {
namespace {

using Matrix = std::vector<std::vector<double>>;
using problems::detect_format;

const Matrix symmetric{{-5, 2, 4, 0}, {2, -3, 1, 0.5}, {4, 1, -8, 5}, {0, 0.5, 5, -6}};
const Matrix upper{{-5, 4, 8, 0}, {0, -3, 2, 1}, {0, 0, -8, 10}, {0, 0, 0, -6}};
const Matrix lower{{-5, 0, 0, 0}, {4, -3, 0, 0}, {8, 2, -8, 0}, {0, 1, 10, -6}};

double quadratic_form(const Matrix& q, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[i] * q[i][j] * x[j];
  }
  return sum;
}

double value_of(const Qubo& qubo, const std::vector<double>& x) {
  double sum = qubo.offset;
  for (std::size_t i = 0; i < x.size(); ++i) sum += qubo.linear[i] * x[i];
  for (const QuboTerm& t : qubo.quadratic) {
    sum += t.value * x[static_cast<std::size_t>(t.i)] * x[static_cast<std::size_t>(t.j)];
  }
  return sum;
}

void expect_form(const std::variant<Ising, Qubo>& model, const Matrix& q) {
  const auto& qubo = std::get<Qubo>(model);
  ASSERT_EQ(qubo.n, static_cast<std::int32_t>(q.size()));
  for (std::uint32_t number = 0; number < (1u << q.size()); ++number) {
    std::vector<double> x;
    for (std::size_t i = 0; i < q.size(); ++i) x.push_back((number >> i) & 1u);
    EXPECT_DOUBLE_EQ(value_of(qubo, x), quadratic_form(q, x)) << number;
  }
}

std::variant<Ising, Qubo> dense(const std::string& text, const ReaderOptions& options = {}) {
  std::istringstream in(text);
  return problems::read_dense(in, "f", nullptr, options);
}

std::string text_of(const Matrix& q, const std::string& between) {
  std::ostringstream text;
  for (const auto& row : q) {
    for (std::size_t j = 0; j < row.size(); ++j) text << (j > 0 ? between : "") << row[j];
    text << "\n";
  }
  return text.str();
}

TEST(DenseReader, ReadsTheQuadraticFormOfAMatrix) {
  for (const char* between : {" ", "\t", ",", ", ", " ; ", ";"}) {
    for (const Matrix& q : {symmetric, upper, lower}) expect_form(dense(text_of(q, between)), q);
  }
  EXPECT_EQ(dense(text_of(symmetric, " ")), dense(text_of(upper, " ")));
  EXPECT_EQ(dense("# Q\n\n" + text_of(upper, ",")), dense(text_of(lower, " ")));
}

// Two columns of decimal commas are no matrix of four, nor one and a half of three.
TEST(DenseReader, RefusesSeparatorsThatMayBeDecimalCommas) {
  for (const char* text :
       {"1;0,5\n1;0,5\n2;1,5\n", "0,5 1,5\n1,5 2,5\n1,5 2,5\n1,5 2,5\n", "1 2;3\n1 2;3\n1 2;3\n"}) {
    try {
      dense(text);
      ADD_FAILURE() << text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.issues().front().line, 1);
      EXPECT_EQ(error.issues().front().message, "the row has more than one kind of separator");
    }
  }
}

TEST(DenseReader, ReadsSpinsWhereTheUserSaysSo) {
  const auto model = dense("0 1.5 0\n1.5 0 -2\n0 -2 0\n", {VarType::spin});
  EXPECT_EQ(model, (std::variant<Ising, Qubo>(Ising{3, {0, 0, 0}, {{0, 1, 3}, {1, 2, -4}}, 0})));
  try {
    dense("0 1\n1 2\n", {VarType::spin});
    FAIL() << "a diagonal of spins was taken for something";
  } catch (const ParseError& error) {
    EXPECT_NE(error.message().find("row 2, column 2: the value could mean a field or a constant"),
              std::string::npos)
        << error.message();
  }
}

/// The file that NumPy would write.
template <class T>
std::string npy_of(const Matrix& q, const std::string& type, bool fortran, int version) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': ";
  header += fortran ? "True" : "False";
  header += ", 'shape': (" + std::to_string(q.size()) + ", " + std::to_string(q.size()) + "), }\n";
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
    file += static_cast<char>((header.size() >> (8 * byte)) & 0xff);
  }
  file += header;
  for (std::size_t a = 0; a < q.size(); ++a) {
    for (std::size_t b = 0; b < q.size(); ++b) {
      const T value = static_cast<T>(fortran ? q[b][a] : q[a][b]);
      std::string bytes(sizeof value, '\0');
      std::memcpy(bytes.data(), &value, sizeof value);
      const bool native_little = std::endian::native == std::endian::little;
      if ((type[0] == '>') == native_little) bytes = {bytes.rbegin(), bytes.rend()};
      file += bytes;
    }
  }
  return file;
}

std::variant<Ising, Qubo> npy(const std::string& bytes, const ReaderOptions& options = {}) {
  std::istringstream in(bytes);
  return problems::read_npy(in, "f", nullptr, options);
}

TEST(NpyReader, ReadsEveryTypeOrderAndVersion) {
  const Matrix whole{{-5, 2, 4}, {0, -3, 1}, {0, 0, 100}};
  const Matrix natural{{5, 2, 4}, {0, 3, 1}, {0, 0, 200}};
  for (const bool fortran : {false, true}) {
    for (const int version : {1, 2, 3}) {
      for (const std::string order : {"<", ">"}) {
        for (const Matrix& q : {symmetric, upper, lower}) {
          expect_form(npy(npy_of<double>(q, order + "f8", fortran, version)), q);
          expect_form(npy(npy_of<float>(q, order + "f4", fortran, version)), q);
        }
        expect_form(npy(npy_of<std::int16_t>(whole, order + "i2", fortran, version)), whole);
        expect_form(npy(npy_of<std::int32_t>(whole, order + "i4", fortran, version)), whole);
        expect_form(npy(npy_of<std::int64_t>(whole, order + "i8", fortran, version)), whole);
        expect_form(npy(npy_of<std::uint16_t>(natural, order + "u2", fortran, version)), natural);
        expect_form(npy(npy_of<std::uint32_t>(natural, order + "u4", fortran, version)), natural);
        expect_form(npy(npy_of<std::uint64_t>(natural, order + "u8", fortran, version)), natural);
      }
      expect_form(npy(npy_of<std::int8_t>(whole, "|i1", fortran, version)), whole);
      expect_form(npy(npy_of<std::uint8_t>(natural, "|u1", fortran, version)), natural);
    }
  }
}

TEST(NpyReader, TakesRoundingForSymmetryButNoTable) {
  Matrix rounded = symmetric;
  rounded[0][1] = 2 * (1 + 1e-7);
  expect_form(npy(npy_of<double>(rounded, "<f8", false, 1)), rounded);
  rounded[0][1] = 2.01;
  EXPECT_THROW(npy(npy_of<double>(rounded, "<f8", false, 1)), ParseError);
}

TEST(Formats, TellMatricesFromGraphs) {
  EXPECT_EQ(detect_format("q.txt", "1 2 3 4\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"), Format::dense);
  EXPECT_EQ(detect_format("q.csv", "1,2\n2,1\n"), Format::dense);
  EXPECT_EQ(detect_format("-", "0.5 2\n2 1\n"), Format::dense);
  EXPECT_EQ(detect_format("-", "1 2 3\n2 1 0\n3 0 1\n"), Format::dense);
  EXPECT_EQ(detect_format("-", "3 1\n1 2\n"), Format::rudy) << "a graph of one edge";
  EXPECT_EQ(detect_format("-", "1 2 3\n2 1 0\n3 0 1\n4 1 1\n"), Format::rudy) << "no header";
  EXPECT_EQ(detect_format("q.dense", "3 1\n1 2\n"), Format::dense);
  EXPECT_EQ(detect_format("a.npy", ""), Format::npy);
  EXPECT_EQ(detect_format("-", npy_of<double>(upper, "<f8", false, 1)), Format::npy);
}

std::string fix_of(const std::string& name, const std::string& text) {
  try {
    detect_format(name, text);
  } catch (const ParseError& error) {
    return error.fix();
  }
  return "accepted";
}

TEST(Formats, SayWhatToDoWithOtherFiles) {
  const std::string table =
      "if the file is a table of measurements: kiln solve table:t.csv --objective loss";
  EXPECT_EQ(fix_of("t.csv", "lr,depth,loss\n0.1,2,3\n"), table + " (columns: lr, depth, loss)");
  EXPECT_EQ(fix_of("t.csv", "cost;loss\n0.1;2\n"), table + " (columns: cost, loss)");
  EXPECT_EQ(fix_of("my t.csv", "\"lr, log\",\"loss, \"\"%\"\"\"\n0.1,2\n"),
            "if the file is a table of measurements: kiln solve 'table:my t.csv' --objective "
            "'loss, \"%\"' "
            "(columns: \"lr, log\", \"loss, \"\"%\"\"\")");
  EXPECT_NE(fix_of("a.tsp", "").find("TSPLIB"), std::string::npos);
  EXPECT_NE(fix_of("a.txt", "NAME : berlin\nTYPE : TSP\n").find("TSPLIB"), std::string::npos);
  EXPECT_NE(fix_of("a.wcnf", "").find("does not read clauses"), std::string::npos);
  EXPECT_NE(fix_of("-", "c x, y\np cnf 3 2\n").find("does not read clauses"), std::string::npos);
  EXPECT_EQ(fix_of("x.txt", "hello world\n"), "");
  EXPECT_EQ(detect_format("x.txt", "c made by, hand\np qubo 0 4 2 2\n"), Format::qubo);
}

}  // namespace
}  // namespace kiln::matrix_reader_test
