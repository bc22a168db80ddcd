// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/similarity.hpp"

#include <algorithm>
#include <map>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

constexpr std::size_t longest_piece = 3;
constexpr double own_share = 0.05;

using Pieces = std::map<std::string, int>;

Pieces pieces_of(const std::string& name) {
  Pieces pieces;
  for (std::size_t length = 1; length <= longest_piece; ++length) {
    for (std::size_t i = 0; i + length <= name.size(); ++i) ++pieces[name.substr(i, length)];
  }
  return pieces;
}

double shared(const Pieces& a, const Pieces& b) {
  int fewer = 0, more = 0;
  for (const auto& [piece, count] : a) {
    const auto found = b.find(piece);
    const int other = found == b.end() ? 0 : found->second;
    fewer += std::min(count, other), more += std::max(count, other);
  }
  for (const auto& [piece, count] : b) more += a.contains(piece) ? 0 : count;
  return static_cast<double>(fewer) / static_cast<double>(more);
}

}  // namespace

CategorySimilarity similarity_of_names(const std::vector<std::string>& names) {
  std::vector<Pieces> pieces;
  for (const std::string& name : names) {
    if (name.empty()) throw InvalidArgument("similarity.name", "a category has an empty name");
    pieces.push_back(pieces_of(name));
  }
  CategorySimilarity of{static_cast<std::int64_t>(names.size()), {}};
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      of.values.push_back(a == b ? 1.0 : (1 - own_share) * shared(pieces[a], pieces[b]));
    }
  }
  return of;
}

}  // namespace kiln
