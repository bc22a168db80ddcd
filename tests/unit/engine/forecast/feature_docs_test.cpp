// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "kiln/forecast/features.hpp"

namespace kiln::test::feature_docs_test {
namespace {

TEST(Features, AreDocumentedEachInARow) {
  std::ifstream page(KILN_SOURCE_DIR "/docs/guides/forecasts.md");
  std::stringstream text;
  text << page.rdbuf();
  EXPECT_GT(feature_names().size(), 20u);
  EXPECT_LE(feature_names().size(), forecast_features);
  for (const char* name : feature_names()) {
    EXPECT_NE(text.str().find(std::string("| `") + name + "` |"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace kiln::test::feature_docs_test
