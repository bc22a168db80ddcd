// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kiln/queue.hpp>

namespace cross_entropy {

struct SelectElite;
struct MoveProbabilities;
struct DrawStates;

// The kernels on each kind of device: the same bits.
void select_elite_on_cpu(const SelectElite& kernel, kiln::Queue& queue);
void move_probabilities_on_cpu(const MoveProbabilities& kernel, kiln::Queue& queue);
void draw_states_on_cpu(const DrawStates& kernel, kiln::Queue& queue);
#if defined(WITH_CUDA)
void select_elite_on_cuda(const SelectElite& kernel, kiln::Queue& queue);
void move_probabilities_on_cuda(const MoveProbabilities& kernel, kiln::Queue& queue);
void draw_states_on_cuda(const DrawStates& kernel, kiln::Queue& queue);
#endif

}  // namespace cross_entropy
