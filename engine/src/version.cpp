// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/version.hpp"

namespace kiln {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#elif defined(__GNUC__)
constexpr const char* compiler = "GCC " __VERSION__;
#else
constexpr const char* compiler = "unknown compiler";
#endif

}  // namespace

const char* version() noexcept { return KILN_VERSION; }

BuildInfo build_info() {
  BuildInfo info;
  info.compiler = compiler;
#if defined(KILN_STATIC)
  info.shared = false;
#endif
#if defined(KILN_CHECKED) && KILN_CHECKED
  info.checked = true;
#endif
#if defined(KILN_CUDA_BUILT) && KILN_CUDA_BUILT
  info.cuda = true;
#elif defined(KILN_CUDA_OFF_REASON)
  info.cuda_off_reason = KILN_CUDA_OFF_REASON;
#endif
#if defined(KILN_CUDA_NUMBERS) && defined(KILN_TESTED_NUMBERS)
  info.cuda_architectures = {KILN_CUDA_NUMBERS};
  info.tested_architectures = {KILN_TESTED_NUMBERS};
#endif
  return info;
}

}  // namespace kiln
