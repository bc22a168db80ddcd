// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/compiled_density.hpp"

namespace kiln {

CompiledCode::~CompiledCode() = default;

std::shared_ptr<void> CompiledCode::loaded(
    const std::string& name, const std::function<std::shared_ptr<void>()>& load) const {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<void>& one = loaded_[name];
  if (one == nullptr) one = load();
  return one;
}

}  // namespace kiln
