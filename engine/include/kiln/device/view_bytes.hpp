// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/views.hpp"

// Sizes of views, for the bytes() of kernels: what a launch must read and write at least.
namespace kiln {

template <class T>
double bytes_of(const View1<T>& view) noexcept {
  return static_cast<double>(view.size) * sizeof(T);
}
template <class T>
double bytes_of(const View2<T>& view) noexcept {
  return static_cast<double>(view.rows) * static_cast<double>(view.columns) * sizeof(T);
}

}  // namespace kiln
