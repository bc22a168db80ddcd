// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kiln/device/functor_density.hpp>

/// (x - 1)^2 + (y - 1)^2: the minimum is at 1, 1.
struct Bowl {
  static constexpr int fixed_dimension = 2;
  template <class T>
  KILN_HD T operator()(const T* x) const {
    return kiln::math::square(x[0] - 1) + kiln::math::square(x[1] - 1);
  }
};
