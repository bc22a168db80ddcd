// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <kiln/kiln.hpp>

int main() { std::cout << kiln::version() << '\n'; }
