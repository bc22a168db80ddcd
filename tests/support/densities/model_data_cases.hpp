// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/problems/model_data.hpp"

namespace kiln::test {

// Data of a few rows in the shape of those of posteriordb.

inline ModelData kidscore_data() {
  ModelData data("kids");
  data.add({"N", {}, {10}});
  data.add({"kid_score", {10}, {65, 98, 85, 83, 115, 98, 69, 106, 102, 95}});
  data.add({"mom_hs", {10}, {1, 1, 1, 0, 1, 0, 1, 1, 0, 1}});
  data.add({"mom_iq", {10}, {121, 89, 115, 99, 93, 108, 139, 85, 80, 70}});
  data.add({"mom_work", {10}, {4, 4, 1, 3, 4, 1, 2, 3, 2, 1}});
  return data;
}

inline ModelData regression_data() {
  ModelData data("f");
  data.add({"N", {}, {6}});
  data.add({"D", {}, {2}});
  data.add({"X", {6, 2}, {1, 2, -1, 0.5, 0, 3, 2, -2, 1, 1, 0.3, 0.7}});
  data.add({"y", {6}, {3, -0.6, 3.1, 0.2, 2.1, 0.8}});
  return data;
}

/// Columns a, b (of values 1 and 2) and y of eight rows.
inline ModelData table_data() {
  ModelData data("f");
  data.add({"a", {8}, {0.1, 0.5, -0.3, 1.2, 2.0, -1.1, 0.4, 0.9}});
  data.add({"b", {8}, {1, 2, 2, 1, 1, 2, 1, 2}});
  data.add({"y", {8}, {3, 1, 4, 1, 5, 9, 2, 6}});
  return data;
}

/// Nine answers of three students to four questions, in no order.
inline ModelData answers_data() {
  ModelData data("f");
  data.add({"student", {9}, {2, 1, 3, 1, 2, 3, 3, 1, 2}});
  data.add({"question", {9}, {1, 4, 2, 1, 3, 4, 1, 2, 4}});
  data.add({"correct", {9}, {1, 0, 1, 1, 0, 0, 1, 1, 1}});
  return data;
}

}  // namespace kiln::test
