// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What columns of numbers say of each other.
#include "kiln/information/digamma.hpp"
#include "kiln/information/estimate_information.hpp"
#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"
