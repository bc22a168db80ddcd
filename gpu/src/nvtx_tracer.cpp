// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "nvtx_tracer.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string_view>

namespace kiln::cuda {
namespace {

class NvtxTracer final : public Tracer {
 public:
  NvtxTracer() : domain_(nvtxDomainCreateA("kiln")) {}

  void begin(const char* name) noexcept override {
    nvtxEventAttributes_t range{};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = name;
    nvtxDomainRangePushEx(domain_, &range);
  }
  void end() noexcept override { nvtxDomainRangePop(domain_); }

 private:
  nvtxDomainHandle_t domain_;
};

bool is_on() {
  const char* const text = std::getenv("KILN_NVTX");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace

Tracer* nvtx_tracer() {
  if (!is_on()) return nullptr;
  static NvtxTracer tracer;
  return &tracer;
}

}  // namespace kiln::cuda
