// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problems/command.hpp"
#include "kiln/space.hpp"

namespace kiln::problems::detail {

using Numbers = std::vector<double>;

/// Where the variables of a command lie in a state: reals share a block, as shares of their
/// interval; so do integers of the same bounds, and categories of as many values.
class CommandStates {
 public:
  /// @throws InvalidArgument for variables of more sorts than a state has blocks.
  explicit CommandStates(const std::vector<CommandVariable>& variables);

  const Space& space() const { return space_; }
  /// The variables in the order of the state.
  const std::vector<int>& order() const { return order_; }

  static Numbers numbers_of(StateSpan state);
  State state_of(const Numbers& numbers) const;

 private:
  Space space_;
  std::vector<int> order_;
};

/// The value of a variable for its number in a state, and back. It is a value of few digits among
/// those that give the number back: what is written and read again stays what it is.
double value_of(const CommandVariable& variable, double number);
double number_of(const CommandVariable& variable, double value);
/// The word that stands for it in a command.
std::string text_of(const CommandVariable& variable, double number);

}  // namespace kiln::problems::detail
