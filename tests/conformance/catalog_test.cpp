// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the catalogue has a conformance case (or this file does not compile) and tests on
// every backend (or the test below fails).
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "kiln/kernels/all.hpp"

#include "backends/tolerances.hpp"

namespace kiln::test::catalog_test {
namespace {

template <class List>
struct Cases;
template <class... Kernels>
struct Cases<KernelList<Kernels...>> {
  static_assert(
      (requires { ConformanceCase<Kernels>::suite; } && ...),
      "a kernel of the catalogue has no conformance case in tests/support/tolerances_*.hpp");

  static constexpr std::size_t count = sizeof...(Kernels);
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

TEST(KernelCatalog, GivesEveryKernelASuiteOfItsOwn) {
  EXPECT_EQ(AllCases::suites().size(), AllCases::count);
}

std::string page_of(const char* component) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/docs/kernels/" + component + ".md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

template <class Kernel>
void expect_documented(const std::string& page) {
  const std::string row = std::string("\n| `") + Kernel::name + "` | " + Kernel::summary + " | ";
  EXPECT_NE(page.find(row), std::string::npos)
      << "the page of its component has no row that begins" << row;
  EXPECT_STREQ(accuracy_of<Kernel>(), letter_of(ConformanceCase<Kernel>::accuracy)) << Kernel::name;
}

template <class... Kernels>
void expect_documented(const std::string& page, KernelList<Kernels...>) {
  (expect_documented<Kernels>(page), ...);
}

template <class... Parts>
void expect_all_documented(ComponentList<Parts...>) {
  (expect_documented(page_of(Parts::name), typename Parts::Kernels{}), ...);
}

TEST(KernelCatalog, SaysOfEveryKernelWhatTheDocumentationSays) {
  expect_all_documented(Components{});
}

}  // namespace
}  // namespace kiln::test::catalog_test
