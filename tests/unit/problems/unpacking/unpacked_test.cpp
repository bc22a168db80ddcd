// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/unpacked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "temporary_folder.hpp"
#include "unpacking/packed_square.hpp"

namespace kiln::problems {
namespace {

using test::square, test::square_gzip, test::square_xz, test::square_zstd;

constexpr std::string_view all_packed[] = {square_gzip, square_xz, square_zstd};

/// Hands out a few bytes at a time, as a slow pipe does.
class SlowBuffer : public std::streambuf {
 public:
  explicit SlowBuffer(std::string text) : text_(std::move(text)) {}

 protected:
  int_type underflow() override {
    const std::size_t begin = at_;
    at_ = std::min(at_ + 3, text_.size());
    setg(text_.data() + begin, text_.data() + begin, text_.data() + at_);
    return begin == at_ ? traits_type::eof() : traits_type::to_int_type(text_[begin]);
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

std::string unpacked(const std::string& bytes, UnpackLimits limits = {}) {
  SlowBuffer source(bytes);
  std::istream in(&source);
  UnpackedStream stream(in, "f", limits);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The message of the refusal, or "" if there is none.
std::string refusal(const std::string& bytes, UnpackLimits limits = {}) {
  SlowBuffer source(bytes);
  std::istream in(&source);
  UnpackedStream stream(in, "f", limits);
  try {
    for (std::string word; std::getline(stream, word);) {
    }
  } catch (const ParseError& error) {
    return error.file() + ": " + error.issues().front().message;
  }
  return {};
}

TEST(Unpacked, ReadsWhatTheProgramsWrite) {
  for (const std::string_view packed : all_packed) {
    EXPECT_EQ(unpacked(std::string(packed)), square);
  }
  EXPECT_EQ(packing_of(square_gzip), Packing::gzip);
  EXPECT_EQ(packing_of(square_xz), Packing::xz);
  EXPECT_EQ(packing_of(square_zstd), Packing::zstd);
  EXPECT_EQ(packing_of(square), Packing::none);
}

TEST(Unpacked, LeavesOtherBytesAsTheyAre) {
  for (const std::string& text : {std::string(), std::string("\x1f"), std::string(square),
                                  std::string(200000, 'x'), std::string(65536, 'y')}) {
    EXPECT_EQ(unpacked(text), text);
  }
}

TEST(Unpacked, ReadsStreamsBehindEachOther) {
  for (const std::string_view packed : all_packed) {
    const std::string twice = std::string(packed) + std::string(packed);
    EXPECT_EQ(unpacked(twice), std::string(square) + std::string(square));
  }
}

TEST(Unpacked, RefusesEachTruncation) {
  for (const std::string_view packed : all_packed) {
    for (std::size_t size = 6; size < packed.size(); ++size) {
      const std::string message = refusal(std::string(packed.substr(0, size)));
      EXPECT_NE(message.find("stream is cut short"), std::string::npos) << size << message;
      EXPECT_TRUE(message.starts_with("f: byte " + std::to_string(size) + ": ")) << message;
    }
    const std::string one_and_a_half = std::string(packed) + std::string(packed.substr(0, 20));
    EXPECT_NE(refusal(one_and_a_half).find("stream is cut short"), std::string::npos);
  }
}

TEST(Unpacked, RefusesEachWrongByteOrReadsTheSame) {
  for (const std::string_view packed : all_packed) {
    int refused = 0;
    for (std::size_t at = 6; at < packed.size(); ++at) {
      std::string wrong(packed);
      wrong[at] = static_cast<char>(wrong[at] ^ 0x24);
      const std::string message = refusal(wrong);
      if (message.empty()) {
        EXPECT_EQ(unpacked(wrong), square) << "byte " << at;  // the name of a file in its header
      } else {
        ++refused;
      }
    }
    EXPECT_GT(refused, 30) << "a test that sees nothing";
  }
}

TEST(Unpacked, NamesTheByteOfWhatIsCorrupt) {
  EXPECT_EQ(refusal(std::string(square_gzip) + "rubbish"),
            "f: byte " + std::to_string(square_gzip.size() + 2) +
                ": the gzip stream is corrupt: incorrect header check");
  EXPECT_EQ(refusal(std::string(square_xz) + "rubbish rubbish"),
            "f: byte " + std::to_string(square_xz.size() + 12) +
                ": the xz stream is corrupt: invalid data");
  EXPECT_EQ(refusal(std::string(square_zstd) + "rubbish"),
            "f: byte " + std::to_string(square_zstd.size()) +
                ": the zstd stream is corrupt: Unknown frame descriptor");
}

TEST(Unpacked, BoundsTheTotal) {
  const auto size = std::ssize(square);
  for (const std::string_view packed : all_packed) {
    EXPECT_EQ(refusal(std::string(packed), {.total = size}), "");
    EXPECT_NE(refusal(std::string(packed), {.total = size - 1})
                  .find("the decompressed file is larger than " + std::to_string(size - 1)),
              std::string::npos);
  }
}

/// The bytes that a program writes to standard output; "" if it is not here.
std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen(("( " + command + " ) 2>/dev/null").c_str(), "r"), &pclose);
  std::string bytes;
  char block[4096];
  for (std::size_t n = 0; pipe && (n = std::fread(block, 1, sizeof block, pipe.get())) > 0;) {
    bytes.append(block, n);
  }
  return bytes;
}

/// The programs that are here; gzip is a part of every Debian.
std::vector<std::string> programs() {
  std::vector<std::string> found{"gzip -c"};
  for (const char* const program : {"xz -c", "zstd -q -c"}) {
    const std::string test =
        "command -v " + std::string(program).substr(0, std::string(program).find(' '));
    if (!output_of(test).empty()) found.emplace_back(program);
  }
  return found;
}

TEST(Unpacked, ReadsLargeFilesInBlocks) {
  const test::TemporaryFolder folder;
  std::string text;  // compresses to some blocks
  for (std::uint32_t k = 0, x = 1; k < 300000; ++k, x = x * 1664525U + 1013904223U) {
    text += std::to_string(x >> 12) + (k % 7 == 0 ? "\n" : " ");
  }
  const std::string file = (folder.path() / "text").string();
  std::ofstream(file, std::ios::binary) << text;
  for (const std::string& program : programs()) {
    const std::string packed = output_of(program + " '" + file + "'");
    ASSERT_GT(packed.size(), std::size_t{3} << 16) << program;
    EXPECT_TRUE(unpacked(packed) == text) << program;
    EXPECT_TRUE(unpacked(packed + packed) == text + text) << program;
    EXPECT_NE(refusal(packed.substr(0, packed.size() - 1)).find("cut short"), std::string::npos);
  }
}

TEST(Unpacked, RefusesBombs) {
  for (const std::string& program : programs()) {
    const std::string packed = output_of("head -c 70000000 /dev/zero | " + program);
    ASSERT_LT(packed.size(), 200000U);
    const std::string message = refusal(packed);
    EXPECT_NE(message.find("more than 100 times as large"), std::string::npos)
        << program << message;
    EXPECT_EQ(refusal(packed, {.free = 70000000}), "") << program;
    EXPECT_EQ(refusal(packed, {.ratio = 100000}), "") << program;
  }
}

TEST(Unpacked, KeepsTheReasonOfAReader) {
  std::istringstream in{std::string(square_gzip)};
  UnpackedStream stream(in, "f");
  EXPECT_EQ(read_rudy(stream, "f").edges.size(), 4U);
  std::istringstream cut{std::string(square_gzip.substr(0, 40))};
  UnpackedStream short_stream(cut, "f");
  EXPECT_THROW(read_rudy(short_stream, "f"), ParseError);
}

TEST(Unpacked, DetectsFormatsBehindSuffixesOfPackers) {
  for (const std::string suffix : {"", ".gz", ".xz", ".zst", ".ZST"}) {
    EXPECT_EQ(detect_format("a.qubo" + suffix, "").name, "qubo") << suffix;
  }
}

/// A disk that fails.
class FailingBuffer : public std::streambuf {
 protected:
  int_type underflow() override { throw std::ios_base::failure("disk"); }
};

TEST(Unpacked, SaysThatReadingFailed) {
  FailingBuffer source;
  std::istream in(&source);
  UnpackedStream stream(in, "f");
  EXPECT_THROW(stream.get(), IoError);
  std::istringstream failed;
  failed.setstate(std::ios_base::failbit);
  EXPECT_FALSE(UnpackedStream(failed, "f"));
}

}  // namespace
}  // namespace kiln::problems
