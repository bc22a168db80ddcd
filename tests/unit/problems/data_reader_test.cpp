// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/model_data.hpp"

#include "backends/cpu_queue.hpp"
#include "bad_text.hpp"
#include "densities/model_data_cases.hpp"

namespace kiln::data_reader_test {
namespace {

using problems::read_data;
using problems::read_data_csv;
using problems::read_data_json;
using test::BadText;

ModelData csv(const std::string& text) {
  std::istringstream in(text);
  return read_data_csv(in, "f");
}

ModelData json(const std::string& text) {
  std::istringstream in(text);
  return read_data_json(in, "f");
}

using Values = std::vector<double>;

TEST(DataJson, ReadsNumbersVectorsAndMatrices) {
  const ModelData data =
      json("{\"N\": 2,\n \"y\" : [1.5, -2e3],\n\t\"X\":[[1,2,3],[4,5,6]], \"none\": []}\n");

  ASSERT_EQ(data.arrays().size(), 4U);
  EXPECT_EQ(data.number("N"), 2);
  EXPECT_EQ(data.vector("y", 2), (Values{1.5, -2000}));
  EXPECT_EQ(data.matrix("X", 2), (DataArray{"X", {2, 3}, {1, 2, 3, 4, 5, 6}, 3}));
  EXPECT_EQ(data.arrays()[3].shape, std::vector<std::int64_t>{0});
  EXPECT_EQ(json(test::crlf("{\"a\": 1,\n\"b\": [2]}\n")), json("{\"a\":1,\"b\":[2]}"));
  EXPECT_EQ(json("\xef\xbb\xbf{\"a\": 1}"), json("{\"a\": 1}"));
}

TEST(DataCsv, ReadsTablesWithAndWithoutNames) {
  const ModelData named = csv("# a comment\n\"a b\", y\n1,2\n\n 3 , 4 \n");
  EXPECT_EQ(named.vector("a b"), (Values{1, 3}));
  EXPECT_EQ(named.vector("y"), (Values{2, 4}));
  EXPECT_EQ(csv("1,2\n3,4\n").vector("x[2]"), (Values{2, 4}));
}

TEST(DataCsv, ReadsOtherSeparators) {
  const ModelData data = csv("1,2\n3,4\n");
  EXPECT_EQ(csv("1;2\n3;4\n"), data);
  EXPECT_EQ(csv("\"1\", \" 2 \"\r\n\"3\",4\n"), data);
  EXPECT_EQ(csv("1\t2\r\n3\t4\r\n"), data);
  EXPECT_EQ(csv("  1  2 \n 3 4"), data);
  EXPECT_EQ(csv("\"1\",\"2\"\n\"3\",\"4\"\n"), data);
}

TEST(Data, IsRecognised) {
  const auto read = [](const std::string& text, const char* name) {
    std::istringstream in(text);
    return read_data(in, name);
  };
  EXPECT_EQ(read("\n {\"x[1]\": [1]}", "f"), csv("1\n"));
  EXPECT_EQ(read("1\n", "f"), csv("1\n"));
  EXPECT_THROW(read("1\n", "f.json"), ParseError);
}

TEST(Data, IsIdentifiedByNamesShapesAndValues) {
  const std::string one = json("{\"a\": [1, 2]}").fingerprint();
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, json("{ \"a\":[1.0,2e0] }").fingerprint());
  EXPECT_NE(one, json("{\"b\": [1, 2]}").fingerprint());
  EXPECT_NE(one, json("{\"a\": [[1, 2]]}").fingerprint());
  EXPECT_NE(one, json("{\"a\": [1, 3]}").fingerprint());
}

class BadJson : public testing::TestWithParam<BadText> {};

TEST_P(BadJson, IsRefused) {
  const auto read = [](std::istream& in, const char* name) { read_data_json(in, name); };
  EXPECT_EQ(test::refusal(read, GetParam().text), GetParam().message);
}

constexpr BadText bad_json[] = {
    {"Empty", " \n", "f: there are no data; the file is empty"},
    {"NoObject", "[1, 2]", "f:1:1: the JSON object must begin here with '{'"},
    {"EmptyObject", "{}", "f: there are no data; the object is empty"},
    {"NoQuotes", "{a: 1}", "f:1:2: a name in double quotes is missing here"},
    {"NoName", "{\"\": 1}", "f:1:2: a variable has no name"},
    {"NameGoesOn", "{\"a\n\": 1}", "f:1:4: the name has no closing double quote in this line"},
    {"NoColon", "{\"a\" 1}", "f:1:6: a ':' is missing here"},
    {"NoComma", "{\"a\": 1 \"b\": 2}", "f:1:9: a ',' or a '}' is missing here"},
    {"NoValue", "{\"a\": }", "f:1:7: a value is missing here"},
    {"Text", "{\"a\": \"1\"}", "f:1:7: the value of 'a' is not a number"},
    {"Truth", "{\"a\": true}", "f:1:7: the value 'true' of 'a' is not a number"},
    {"Missing", "{\"a\": [1,\n null]}", "f:2:2: a value of 'a' is missing"},
    {"NotANumber", "{\"a\": [1, NaN]}", "f:1:11: the value 'NaN' of 'a' is not a finite number"},
    {"Infinite", "{\"a\": 1e400}", "f:1:7: the value '1e400' of 'a' is not a finite number"},
    {"Twice", "{\"a\": 1,\n\"a\": 2}", "f:2:1: the variable 'a' appears twice"},
    {"Ragged", "{\"X\": [[1, 2],\n [3]]}",
     "f:2:2: this row of 'X' has 1 values, but the first row has 2"},
    {"NumberThenRow", "{\"X\": [1, [2]]}", "f:1:11: 'X' mixes numbers and arrays"},
    {"RowThenNumber", "{\"X\": [[1], 2]}", "f:1:13: 'X' mixes numbers and arrays"},
    {"Deep", "{\"X\": [[[[[[[[[1]]]]]]]]]}", "f:1:15: arrays are nested more than 8 levels deep"},
    {"EndsEarly", "{\"a\": [1, 2", "f:1: the file ends within the object"},
    {"GoesOn", "{\"a\": 1}\n{", "f:2:1: text follows the end of the object"},
    {"Gzip", "\x1f\x8b\x08", "f: the file is compressed by gzip"},
    {"Nul", std::string_view("{\"a\":\n \0 1}", 11),
     "f:2: the line has a NUL byte; this is not a text file"},
};

INSTANTIATE_TEST_SUITE_P(All, BadJson, testing::ValuesIn(bad_json),
                         [](const auto& param) { return std::string(param.param.name); });

class BadCsv : public testing::TestWithParam<BadText> {};

TEST_P(BadCsv, IsRefused) {
  const auto read = [](std::istream& in, const char* name) { read_data_csv(in, name); };
  EXPECT_EQ(test::refusal(read, GetParam().text), GetParam().message);
}

constexpr BadText bad_csv[] = {
    {"Empty", "# nothing\n\n", "f: there are no data; the file is empty"},
    {"NoRows", "a,b\n", "f:1: the file has names of columns, but no rows"},
    {"Missing", "a,b\n1,2\n3,\n", "f:3:3: the value of column 'b' is missing"},
    {"NotAvailable", "a,b\n1,NA\n", "f:2:3: the value of column 'b' is missing"},
    {"MissingAtTheStart", "1,\n3,4\n", "f:1:3: the value of column 'x[2]' is missing"},
    {"NotANumber", "a,b\n1,nan\n", "f:2:3: the value 'nan' of column 'b' is not a finite number"},
    {"Infinite", "a\n1e999\n", "f:2:1: the value '1e999' of column 'a' is not a finite number"},
    {"Word", "a,b\n1,x\n", "f:2:3: the value 'x' of column 'b' is not a number"},
    {"Short", "a,b\n1,2\n3\n", "f:3: the line should have 2 values and has 1"},
    {"Long", "a,b\n1,2,3\n", "f:2: the line should have 2 values and has 3"},
    {"NoName", "a,,c\n1,2,3\n", "f:1:3: column 2 has no name"},
    {"Twice", "a,b,a\n1,2,3\n", "f:1:5: the column 'a' appears twice"},
    {"DecimalComma", "a;b\n1,5;2\n", "f:2:1: the value '1,5' of column 'a' is not a number"},
    {"DecimalCommaFirst", "1,5;2\n3;4\n",
     "f:1:1: the value '1,5' of column 'x[1]' is not a number"},
    {"Utf16", std::string_view("1\0,\0", 4), "f: the text is UTF-16"},
};

INSTANTIATE_TEST_SUITE_P(All, BadCsv, testing::ValuesIn(bad_csv),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(DataCsv, ListsFiveComplaintsAndCountsAll) {
  try {
    csv("a\nx\nx\nx\nx\nx\nx\nx\n");
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.issues().size(), 5U);
    EXPECT_EQ(error.total(), 7);
  }
}

TEST(ModelData, RefusesArraysThatCannotBe) {
  const auto refusal = [](DataArray array) -> std::string {
    ModelData data("f");
    data.add({"a", {}, {1}});
    return test::complaint([&] { data.add(std::move(array)); });
  };
  EXPECT_EQ(refusal({"a", {}, {1}}), "data.array: f: variable 'a' appears twice");
  EXPECT_EQ(refusal({"", {}, {1}}), "data.array: f: a variable has no name");
  EXPECT_EQ(refusal({"b", {3}, {1}}),
            "data.array: f: variable 'b' is a vector of 3, but has 1 values");
  EXPECT_EQ(refusal({"b", {}, {std::numeric_limits<double>::quiet_NaN()}}),
            "data.array: f: variable 'b' has a value that is not finite");
}

/// What a model says about data that do not fit it.
std::string misfit(const std::string& posterior, const ModelData& data) {
  try {
    problems::posterior_by_name(posterior, &data);
  } catch (const ParseError& error) {
    return error.message();
  }
  return "accepted";
}

TEST(ModelData, IsRefusedWhereItDoesNotFitTheModel) {
  const auto of = [](const std::string& text) { return json(text); };
  EXPECT_EQ(misfit("kidscore-momhs", of("{\"N\": 2, \"kid_scores\": [1, 2]}")),
            "f: there is no variable 'kid_score'; the nearest is 'kid_scores'");
  EXPECT_EQ(misfit("kidscore-momhs", of("{\"N\": 3,\n\"kid_score\": [1, 2]}")),
            "f:2: variable 'kid_score' is a vector of 2");
  EXPECT_EQ(misfit("blr", of("{\"N\": 2.5}")), "f:1: variable 'N' is 2.5");
  EXPECT_EQ(misfit("blr", of("{\"N\": [2]}")), "f:1: variable 'N' is a vector of 1");
  EXPECT_EQ(misfit("blr", of("{\"N\": 2, \"y\": [1, 2], \"X\": [1, 2]}")),
            "f:1: variable 'X' is a vector of 2");
  EXPECT_EQ(misfit("eight-schools", of("{\"J\": 8, \"y\": [1, 2, 3, 4, 5, 6, 7, 8],\n"
                                       "\"sigma\": [1, 2, 3, 0, 5, 6, 7, 8]}")),
            "f:2: variable 'sigma' has a value that is not positive");
  EXPECT_EQ(misfit("item-response", csv("student,question,correct\n1,1,1\n1,1,2\n")),
            "f:1: variable 'correct' has the value 2");
  EXPECT_EQ(misfit("lotka-volterra", of("{\"N\": 2, \"ts\": [2, 1]}")),
            "f:1: variable 'ts' does not increase");
  EXPECT_EQ(misfit("sparse-logistic", csv("a,y\n1,1\n2,2\n3,3\n")),
            "f:1: variable 'y' has more than two values: 1, 2 and 3");
  EXPECT_EQ(misfit("sparse-logistic", csv("a,y\n1,1\n2,1\n")),
            "f:1: variable 'y' has the value 1 in every row");
  EXPECT_EQ(misfit("sparse-logistic", csv("a,y\n1,1\n1,2\n")),
            "f:1: variable 'a' has the same value in every row");
  EXPECT_EQ(misfit("linear-regression,target", test::table_data()),
            "f: there is no variable 'target'");
  EXPECT_EQ(misfit("linear-regression", csv("a,y\n1,2\n2,3\n4,4\n")),
            "f: the data have 3 rows, too few for 2 coefficients with flat priors");
  EXPECT_EQ(misfit("linear-regression", csv("a,b,y\n1,2,1\n2,4,3\n4,8,2\n5,10,7\n6,12,1\n")),
            "f: the column of 'beta[b]' is a linear combination of the columns before it");
  EXPECT_EQ(misfit("linear-regression", csv("a,y\n1,2\n2,4\n4,8\n5,10\n")),
            "f: the columns fit the target exactly, without residuals");
}

TEST(ModelData, IsAskedForWhereAModelHasNone) {
  const auto refusal = [](const std::string& text) -> std::string {
    return test::complaint([&] { problems::posterior_by_name(text); });
  };
  EXPECT_EQ(refusal("kidscore-momhs"), "data.missing: posterior:kidscore-momhs needs data");
  EXPECT_EQ(refusal("eight-schols"),
            "problem.unknown: unknown posterior 'eight-schols'; the nearest is 'eight-schools'");
  EXPECT_EQ(refusal("nes,party"),
            "problem.parameters: 'posterior:nes,party' does not have the form posterior:nes");
  EXPECT_EQ(refusal("linear-regression,"),
            "problem.parameters: 'posterior:linear-regression,' does not have the form "
            "posterior:linear-regression,COLUMN");
  EXPECT_EQ(refusal("eight_schools"), "accepted");
}

}  // namespace
}  // namespace kiln::data_reader_test
