// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the catalogue has a conformance case (or this file does not compile) and tests on
// every backend (or the test below fails).
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "tolerances.hpp"

namespace kiln::test {
namespace {

template <class List>
struct Cases;
template <class... Kernels>
struct Cases<KernelList<Kernels...>> {
  static_assert(
      (requires { ConformanceCase<Kernels>::suite; } && ...),
      "a kernel of the catalogue has no conformance case in tests/support/tolerances.hpp");

  static std::set<std::string> suites() { return {ConformanceCase<Kernels>::suite...}; }
};
using AllCases = Cases<KernelCatalog>;
template struct Cases<KernelCatalog>;

int tests_in(const std::string& suite) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    if (all.GetTestSuite(i)->name() == suite) return all.GetTestSuite(i)->total_test_count();
  }
  return 0;
}

TEST(KernelCatalog, HasTestsForEveryKernelOnEveryBackend) {
  for (const std::string& suite : AllCases::suites()) {
    EXPECT_GT(tests_in("Cpu/" + suite), 0) << suite;
    EXPECT_EQ(tests_in("Cuda/" + suite), tests_in("Cpu/" + suite)) << suite;
  }
}

TEST(KernelCatalog, GivesEveryKernelASuiteOfItsOwn) { EXPECT_EQ(AllCases::suites().size(), 14u); }

}  // namespace
}  // namespace kiln::test
