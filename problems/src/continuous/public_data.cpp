// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "public_data.hpp"

#include <cstddef>

namespace kiln::problems {
namespace {

ModelData make(const char* source, std::vector<DataArray> arrays) {
  ModelData data(source);
  for (DataArray& array : arrays) data.add(std::move(array));
  return data;
}

DataArray vector_of(const char* name, std::vector<double> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {name, {size}, std::move(values)};
}

DataArray number_of(const char* name, double value) { return {name, {}, {value}}; }

std::vector<double> numbers_from(double first, std::size_t count, double step) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i);
  return values;
}

}  // namespace

ModelData eight_schools_data() {
  return make("eight-schools", {number_of("J", 8), vector_of("y", {28, 8, -3, 7, -1, 1, 18, 12}),
                                vector_of("sigma", {15, 10, 16, 11, 9, 11, 10, 18})});
}

ModelData kilpisjarvi_data() {
  return make(
      "kilpisjarvi",
      {number_of("N", 62), vector_of("x", numbers_from(3952, 62, 1)),
       vector_of("y", {8.3,  10.9, 9.4,  8.1,  8.1,  7.7, 8.6,  9.1,  11,  10.1, 7.6,  8.8,  8.3,
                       7.2,  9.3,  8.8,  7.6,  10.5, 11,  8.9,  11.3, 10,  10.1, 6.4,  8.2,  8.4,
                       9.5,  9.9,  10.6, 7.6,  7.7,  8.1, 8.4,  9.7,  9.5, 7.3,  10.3, 9.6,  10.3,
                       9.8,  9,    9.1,  9.5,  8.7,  9.9, 10.5, 9.4,  9,   9,    9.7,  11.4, 10.7,
                       10.1, 10.8, 10.4, 10.3, 8.8,  9.8, 8.8,  10.8, 8.6, 11.1}),
       number_of("pmualpha", 9.31290322580645), number_of("psalpha", 100), number_of("pmubeta", 0),
       number_of("psbeta", 0.0333333333333333)});
}

ModelData gaussian_process_data() {
  return make("gp-regr", {number_of("N", 11), vector_of("x", numbers_from(-10, 11, 2)),
                          vector_of("y", {4.75906, 1.59423, 2.99548, 5.27501, 1.66472, 2.24347,
                                          2.8914, 4.08681, 4.60588, 0.802364, 3.92136}),
                          vector_of("k", {40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33})});
}

ModelData lynx_hare_data() {
  return make("lotka-volterra",
              {number_of("N", 20),
               vector_of("ts", numbers_from(1, 20, 1)),
               vector_of("y_init", {30, 4}),
               {"y", {20, 2}, {47.2, 6.1,  70.2, 9.8,  77.4, 35.2, 36.3, 59.4, 20.6, 41.7,
                               18.1, 19,   21.4, 13,   22,   8.3,  25.4, 9.1,  27.1, 7.4,
                               40.3, 8,    57,   12.3, 76.6, 19.5, 52.3, 45.7, 19.5, 51.1,
                               11.2, 29.7, 7.6,  15.8, 14.6, 9.7,  16.2, 10.1, 24.7, 8.6}}});
}

}  // namespace kiln::problems
