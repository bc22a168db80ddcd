// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the catalogue has a conformance case (or this program does not link), tests on
// every backend, its files under its name, and its row in the documentation.
#include "kiln/kernels/catalog.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/kernels/all.hpp"
#include "kiln/objectives/functor_launch.hpp"

#include "backends/conformance_case.hpp"

namespace kiln::test::catalog_test {
namespace {

namespace fs = std::filesystem;

/// A kernel, and what its conformance test says of it.
struct Entry {
  std::string component, name, summary, accuracy;
  ConformanceCase tested;
  bool has_twins;  ///< false: it carries a functor, whose family has one launcher for all
};

template <class... Kernels>
void add_entries(std::vector<Entry>& all, const char* component, KernelList<Kernels...>) {
  (all.push_back({component, Kernels::name, Kernels::summary, accuracy_of<Kernels>(),
                  conformance_case<Kernels>(), !carries_functor<Kernels>}),
   ...);
}

template <class... Parts>
std::vector<Entry> entries_of(ComponentList<Parts...>) {
  std::vector<Entry> all;
  (add_entries(all, Parts::name, typename Parts::Kernels{}), ...);
  return all;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = entries_of(Components{});
  return all;
}

int tests_in(const std::string& suite) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    if (all.GetTestSuite(i)->name() == suite) return all.GetTestSuite(i)->total_test_count();
  }
  return 0;
}

TEST(KernelCatalog, HasTestsForEveryKernelOnEveryBackend) {
  for (const Entry& kernel : entries()) {
    const std::string suite = kernel.tested.suite;
    EXPECT_GT(tests_in("Cpu/" + suite), 0) << suite;
    EXPECT_EQ(tests_in("Cuda/" + suite), tests_in("Cpu/" + suite)) << suite;
  }
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path source_tree() { return KILN_SOURCE_DIR; }

TEST(KernelCatalog, SaysOfEveryKernelWhatTheDocumentationSays) {
  for (const Entry& kernel : entries()) {
    const std::string page = text_of(source_tree() / "docs/kernels" / (kernel.component + ".md"));
    const std::string row = "\n| `" + kernel.name + "` | " + kernel.summary + " | ";
    EXPECT_NE(page.find(row), std::string::npos)
        << "the page of its component has no row that begins" << row;
    EXPECT_EQ(kernel.accuracy, letter_of(kernel.tested.accuracy)) << kernel.name;
  }
}

int files_of(const std::string& folder, const std::string& name,
             const std::vector<std::string>& endings) {
  int found = 0;
  for (const std::string& ending : endings) {
    found += fs::exists(source_tree() / folder / (name + ending)) ? 1 : 0;
  }
  return found;
}

TEST(KernelCatalog, FindsTheFilesOfEveryKernelUnderItsName) {
  for (const Entry& kernel : entries()) {
    const std::string name = kernel.component + "/" + kernel.name;
    const int twins = kernel.has_twins ? 1 : 0;
    EXPECT_EQ(files_of("engine/include/kiln/kernels", name, {".hpp"}), 1) << name;
    EXPECT_EQ(files_of("cpu_fallback/src/kernels", name, {".cpp"}), twins) << name;
    EXPECT_EQ(files_of("gpu/src/kernels", name, {".cu", "_fused.cu"}), twins) << name;
    EXPECT_EQ(files_of("tests/conformance", name, {"_test.cpp"}), 1) << name;
    EXPECT_EQ(files_of("apps/kiln/bench/kernels", name, {".cpp"}), 1) << name;
  }
}

// A header that was left behind, or one whose line in kernels.hpp was forgotten.
TEST(KernelCatalog, ListsEveryKernelThatHasAHeader) {
  std::set<std::string> listed;
  for (const Entry& kernel : entries()) listed.insert(kernel.component + "/" + kernel.name);
  std::size_t headers = 0;
  const fs::path folder = source_tree() / "engine/include/kiln/kernels";
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.path().parent_path() == folder || file.path().extension() != ".hpp") continue;
    if (text_of(file.path()).find("static constexpr const char* summary") == std::string::npos) {
      continue;
    }
    ++headers;
    EXPECT_EQ(listed.count(file.path().lexically_relative(folder).replace_extension().string()), 1u)
        << file.path() << " declares a kernel that kernels.hpp does not list";
  }
  EXPECT_EQ(headers, listed.size());
}

}  // namespace
}  // namespace kiln::test::catalog_test
