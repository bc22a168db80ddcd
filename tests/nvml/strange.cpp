// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A library with the name of NVML that is something else.
extern "C" int nvml_of_a_stranger() { return 0; }
