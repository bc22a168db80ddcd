// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/backend.hpp"
#include "kiln/result.hpp"

namespace kiln::cli {

/// Advises on --replicas if a time limit ended a search by planes or with shared noise on the CPU
/// (Result::draw_naming), and its words of 32 replicas were too few for all threads. More replicas
/// would have been tried in the same time. The default number of replicas cannot follow the
/// threads, because the answer depends on it.
void advise_on_threads(const DeviceInfo& device, Result& result);

}  // namespace kiln::cli
