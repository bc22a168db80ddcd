# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Compute capabilities of GPUs on which all of tests/gpu.sh has passed. `kiln doctor` names the
# architectures of a build that are not among them. Add one when the tests have passed there.
set(KILN_TESTED_ARCHITECTURES 90)  # NVIDIA H200
