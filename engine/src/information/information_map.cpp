// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/information_map.hpp"

namespace kiln {

const char* name_of(InformationStatus status) noexcept {
  switch (status) {
    case InformationStatus::ok:
      return "ok";
    case InformationStatus::constant:
      return "constant";
    case InformationStatus::unbounded:
      return "unbounded";
    case InformationStatus::biased:
      return "biased";
  }
  return "?";
}

const char* name_of(InformationMeasure measure) noexcept {
  switch (measure) {
    case InformationMeasure::mutual_information:
      return "mi";
    case InformationMeasure::conditional_mutual_information:
      return "cmi";
    case InformationMeasure::transfer_entropy:
      return "te";
    case InformationMeasure::active_storage:
      return "ais";
    case InformationMeasure::entropy:
      return "entropy";
    case InformationMeasure::conditional_entropy:
      return "cond-entropy";
    case InformationMeasure::binned_mutual_information:
      return "binned-mi";
  }
  return "?";
}

}  // namespace kiln
