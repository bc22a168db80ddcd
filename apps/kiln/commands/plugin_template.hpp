// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::cli {

/// A file of apps/kiln/plugin_template, in which @NAME@, @UPPER@ and @SCHEDULE@ stand for names.
struct TemplateFile {
  std::string name;  ///< without .in
  std::string text;
};

/// All files of the template. Written by the build.
const std::vector<TemplateFile>& plugin_template();

}  // namespace kiln::cli
