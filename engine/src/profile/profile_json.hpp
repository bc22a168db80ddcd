// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "kiln/profile.hpp"
#include "kiln/profile/hardware.hpp"

namespace kiln {

nlohmann::ordered_json profile_json(const Profile& profile);
nlohmann::ordered_json hardware_json(const HardwareReadings& readings);

}  // namespace kiln
