// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problems/model.hpp"
#include "kiln/problems/readers.hpp"

#include "families/first_lines.hpp"
#include "family_parameters.hpp"

namespace kiln::problems::detail {

/// The signature of a text whose name is not conclusive: any of these.
struct Signature {
  std::string_view magic = {};          ///< the first bytes of a file that is no text
  std::string_view comment = {};        ///< what begins a comment that no other format has
  std::vector<std::string> kinds = {};  ///< KIND of a header `p KIND ...`
  /// Looks at a first line without any of those, and at lines behind it.
  bool (*recognises)(FirstLines& lines) = nullptr;
};

/// A file format: its name, detection and reader. Kinds of models list the writers.
struct FormatEntry {
  FormatInfo info;
  Signature signature;
  Model (*read)(std::istream& in, const std::string& file_name, ReadReport* report,
                const ReaderOptions& options);
};

/// All data on models of one family. A function in a separate source file makes it, which
/// `families.def` names.
struct ModelFamily {
  std::vector<const ModelKind*> kinds;
  std::vector<FormatEntry> formats;
  std::vector<Family> generators;
};

#define KILN_MODEL_FAMILY(name) ModelFamily name();
#include "families/families.def"
#undef KILN_MODEL_FAMILY

/// The table, in the order of `families.def`: readers, writers, the registry, `kiln check`, `list`,
/// `describe` and `generate`, and the fuzzers use it; no other code names a family.
const std::vector<ModelFamily>& model_families();

/// Generators of all families, by name.
const std::vector<Family>& generators();

/// "3000,50,1": two sizes or a size and a density, as several families have them.
FamilyParameters parse_size_and_seed(const Family& family, std::string_view text);
FamilyParameters parse_size_density_seed(const Family& family, std::string_view text);
std::string print_size_and_seed(const FamilyParameters& parameters);
/// "AxB,SEED" of a torus.
FamilyParameters parse_torus(const Family& family, std::string_view text);
std::string print_torus(const FamilyParameters& parameters);
std::string print_size_density_seed(const FamilyParameters& parameters);
std::string print_instance(const FamilyParameters& parameters);

}  // namespace kiln::problems::detail
