// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kiln/backend.hpp"

#include "cuda_device.hpp"

namespace kiln::cuda {

/// One CUDA device, opened for as many queues as are wanted.
class CudaBackend final : public Backend {
 public:
  /// @throws CudaError
  explicit CudaBackend(int ordinal);
  /// Free memory as of now; the rest does not change.
  DeviceInfo info() const override;
  std::unique_ptr<Queue> make_queue() override;

 private:
  std::shared_ptr<const CudaDevice> device_;
  DeviceInfo info_;
};

}  // namespace kiln::cuda
