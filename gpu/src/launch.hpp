// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// Enqueues a kernel on a queue of this backend; its device is current. There is no general form:
/// each kernel of the catalogue has a specialisation in kernels/<name>.cu or .cpp, except those
/// that carry a functor; the linker names a missing one.
template <class Kernel>
void launch(const Kernel& kernel, Queue& queue);

}  // namespace kiln::cuda
