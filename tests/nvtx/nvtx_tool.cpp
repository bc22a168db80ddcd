// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A tool as NVTX loads it (NVTX_INJECTION64_PATH): it writes down the ranges that begin and end.
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace {

std::string& ranges() {
  static std::string text;
  return text;
}

int begin(nvtxDomainHandle_t, const nvtxEventAttributes_t* range) {
  ranges() += std::string(range->message.ascii) + "(";
  return 0;
}
int end(nvtxDomainHandle_t) {
  ranges() += ")";
  return 0;
}

template <class Function>
void listen(NvtxFunctionTable table, int which, Function function) {
  *table[which] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr) return 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  listen(table, NVTX_CBID_CORE2_DomainRangePushEx, &begin);
  listen(table, NVTX_CBID_CORE2_DomainRangePop, &end);
  return 1;
}

const char* kiln_nvtx_ranges() { return ranges().c_str(); }

}  // extern "C"
