// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/problems/model.hpp"
#include "kiln/problems/readers.hpp"

namespace kiln {

/// A format that holds models of a type, and what writes them.
template <class Data>
struct WriterOf {
  Format format;
  void (*write)(std::ostream& out, const Data& data, const std::vector<std::string>& comments);
};

/// How models of one type are called, judged, written and made into problems.
template <class Data>
struct KindOf {
  std::string_view name;                ///< "maxcut"
  std::string_view singular;            ///< "a graph"
  std::string_view plural;              ///< "graphs"
  std::string_view value_name;          ///< "cut"
  Sense sense;                          ///< the natural one
  std::vector<WriterOf<Data>> writers;  ///< the native format first
  ModelOutline (*outline)(const Data& data);
  std::string (*fingerprint)(const Data& data);
  Problem (*make)(Data data, Sense sense, std::string name);
  std::optional<NamedBest> (*best_known)(std::string_view fingerprint) = nullptr;
};

/// The same for data whose type only the functions know.
class ModelKind {
 public:
  struct Writer {
    Format format;
    std::function<void(std::ostream&, const void*, const std::vector<std::string>&)> write;
  };

  template <class Data>
  explicit ModelKind(const KindOf<Data>& kind)
      : name(kind.name),
        singular(kind.singular),
        plural(kind.plural),
        value_name(kind.value_name),
        sense(kind.sense),
        outline([call = kind.outline](const void* data) { return call(as<Data>(data)); }),
        fingerprint([call = kind.fingerprint](const void* data) { return call(as<Data>(data)); }),
        equal([](const void* a, const void* b) { return as<Data>(a) == as<Data>(b); }),
        make([call = kind.make](void* data, bool last, Sense wanted, std::string called) {
          Data& own = *static_cast<Data*>(data);
          return call(last ? std::move(own) : own, wanted, std::move(called));
        }),
        best_known(kind.best_known) {
    for (const WriterOf<Data>& writer : kind.writers) {
      writers.push_back(
          {writer.format, [call = writer.write](auto& out, const void* data, const auto& comments) {
             call(out, as<Data>(data), comments);
           }});
    }
  }

  std::string_view name, singular, plural, value_name;
  Sense sense;
  std::vector<Writer> writers;
  std::function<ModelOutline(const void* data)> outline;
  std::function<std::string(const void* data)> fingerprint;
  std::function<bool(const void* a, const void* b)> equal;
  /// `last`: nobody else has the data, which may be moved from.
  std::function<Problem(void* data, bool last, Sense sense, std::string name)> make;
  std::optional<NamedBest> (*best_known)(std::string_view fingerprint);

 private:
  template <class Data>
  static const Data& as(const void* data) {
    return *static_cast<const Data*>(data);
  }
};

namespace problems::detail {

/// The least and the greatest member of some terms.
template <class Terms, class Member>
std::optional<std::pair<double, double>> range_of(const Terms& terms, Member member) {
  if (terms.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax_element(terms, {}, member);
  return std::pair{std::invoke(member, *low), std::invoke(member, *high)};
}

/// The sum of the absolute values of a member of some terms.
template <class Terms, class Member = std::identity>
double magnitude_of(const Terms& terms, Member member = {}) {
  double sum = 0;
  for (const auto& term : terms) sum += std::abs(std::invoke(member, term));
  return sum;
}

}  // namespace problems::detail
}  // namespace kiln
