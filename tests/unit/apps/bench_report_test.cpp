// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "kiln/errors.hpp"

#include "bench/report.hpp"

namespace kiln::cli::bench_report_test {
namespace {

TEST(BenchReport, KeepsTheRowsBesideOneThatFails) {
  BenchReport report;
  const auto add = [&](int row) { return [&report, row] { report.rows.push_back(row); }; };
  report.measure("one", add(1));
  report.measure("two", [] { throw InvalidArgument("kernel.matrix", "no room"); });
  report.measure("three", add(3));
  report.measure("four", [] { throw CudaError("cuda.launch", "no kernel"); });

  EXPECT_EQ(report.rows, nlohmann::ordered_json({1, 3}));
  ASSERT_EQ(report.failed.size(), 2u);
  EXPECT_EQ(report.failed[0]["row"], "two");
  EXPECT_NE(report.failed[0]["error"].get<std::string>().find("no room"), std::string::npos);
  EXPECT_EQ(report.failed[1]["row"], "four");
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_NE(report.notes[0].find("two"), std::string::npos);
  // The exit code is that of the first error.
  EXPECT_THROW(std::rethrow_exception(report.first_failure), InvalidArgument);
}

TEST(BenchReport, HasNoFailureWhereAllRowsAreMeasured) {
  BenchReport report;
  report.measure("one", [&] { report.rows.push_back(1); });
  EXPECT_TRUE(report.failed.empty());
  EXPECT_FALSE(report.first_failure);
}

}  // namespace
}  // namespace kiln::cli::bench_report_test
