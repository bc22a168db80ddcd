// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/function_ref.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kiln::function_ref_test {
namespace {

int call_twice(FunctionRef<int(int)> f) { return f(1) + f(10); }

struct CountsCopies {
  explicit CountsCopies(int& count) : copies(&count) {}
  CountsCopies(const CountsCopies& other) : copies(other.copies) { ++*copies; }
  int operator()(int x) const { return x + 1; }
  int* copies;
};

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  EXPECT_EQ(call_twice([&](int x) { return ++calls, 2 * x; }), 22);
  EXPECT_EQ(calls, 2);
  const std::function<int(int)> stored = [](int x) { return x * x; };
  EXPECT_EQ(call_twice(stored), 101);
}

TEST(FunctionRef, CopiesNothing) {
  int copies = 0;
  const CountsCopies f(copies);
  EXPECT_EQ(call_twice(f), 13);
  EXPECT_EQ(copies, 0);
}

TEST(FunctionRef, SeesWhatTheCallableKeeps) {
  const auto count = [calls = 0](int) mutable { return ++calls; };
  auto mine = count;
  EXPECT_EQ(call_twice(mine), 3);
  EXPECT_EQ(call_twice(mine), 7) << "the state is that of the object, not of a copy";
}

TEST(FunctionRef, ACopyRefersToTheSameObject) {
  int sum = 0;
  const auto add = [&](int x) { return sum += x; };
  const FunctionRef<int(int)> first(add);
  FunctionRef<int(int)> second = first;
  EXPECT_EQ(first(2) + second(3), 2 + 5);
}

TEST(FunctionRef, PassesMoveOnlyArgumentsAndExceptions) {
  const auto take = [](std::unique_ptr<int> p) { return *p; };
  EXPECT_EQ(FunctionRef<int(std::unique_ptr<int>)>(take)(std::make_unique<int>(4)), 4);
  const auto fail = [](int) -> int { throw std::runtime_error("no"); };
  EXPECT_THROW(call_twice(fail), std::runtime_error);
}

}  // namespace
}  // namespace kiln::function_ref_test
