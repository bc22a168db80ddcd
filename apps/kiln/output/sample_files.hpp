// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::cli {

/// The name of a quantity as CmdStan writes it: theta[2,3] becomes theta.2.3, and what a reader
/// would stumble over an underscore.
std::string cmdstan_name(const std::string& quantity);

/// The draws of one kept chain in the form of CmdStan's CSV files, which ArviZ reads: comments, a
/// header, a row per draw. `chain` counts from 0, in the file from 1.
std::string chain_csv(const Result& result, std::int64_t chain);

/// All kept draws as a NumPy file, in two pieces: format version 1.0, little-endian doubles in the
/// order of C, shape (chains, draws, quantities). The second piece is the memory of the sample.
std::string draws_npy_head(const Sample& sample);
std::string_view draws_npy_data(const Sample& sample);

/// A row per quantity, lp__ first; numbers that are not known are empty.
std::string summary_csv(const SampleSummary& summary);

}  // namespace kiln::cli
