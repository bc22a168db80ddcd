// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/models/product.hpp"
#include "kiln/problems/matrix_file.hpp"
#include "kiln/problems/unpacked.hpp"
#include "kiln/version.hpp"

#include "analysis/analyze_options.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"
#include "run/interruption.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {
namespace {

constexpr double automatic_tolerance = 1e-12;

struct NamedMatrix {
  std::string name;
  HostMatrix matrix;
};

std::string size_text(const HostMatrix& m) { return fmt::format("{} x {}", m.rows, m.columns); }

NamedMatrix read_named_matrix(const std::string& path) {
  NamedMatrix read{path == "-" ? "standard input" : clean(path), {}};
  if (path == "-") {
    problems::UnpackedStream unpacked(std::cin, read.name);
    read.matrix = problems::read_matrix(unpacked, read.name);
    return read;
  }
  std::ifstream file = open_input(path);
  problems::UnpackedStream unpacked(file, read.name);
  read.matrix = problems::read_matrix(unpacked, read.name);
  return read;
}

Accuracy accuracy_of(const Arguments& arguments) {
  if (!arguments.has("accuracy")) return Accuracy::automatic(automatic_tolerance);
  const std::string text = arguments.text("accuracy");
  if (text == "automatic") return Accuracy::automatic(automatic_tolerance);
  if (text == "exact") return Accuracy::exact_integers();
  const std::optional<double> tolerance = number_in(text);
  if (tolerance && *tolerance > 0 && std::isfinite(*tolerance)) {
    return Accuracy::within(*tolerance);
  }
  throw InvalidArgument("cli.value", fmt::format("--accuracy={} is not a contract", clean(text)),
                        "a positive number, exact or automatic", "for example --accuracy 1e-4");
}

void require_fit(const NamedMatrix& a, const NamedMatrix& b) {
  if (a.matrix.columns == b.matrix.rows) return;
  throw InvalidArgument("product.shape",
                        fmt::format("{} has {} columns and {} has {} rows", a.name,
                                    a.matrix.columns, b.name, b.matrix.rows),
                        "as many columns of the first matrix as rows of the second",
                        "exchange the matrices, or transpose one of them");
}

std::string contract_text(const Accuracy& accuracy) {
  if (accuracy.kind == Accuracy::Kind::exact) return "exact";
  const std::string within = fmt::format("an error of at most {:.2g}", accuracy.tolerance);
  return accuracy.kind == Accuracy::Kind::within ? within : "exact for integers, else " + within;
}

std::string product_csv(const HostMatrix& m) {
  std::string text;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.columns; ++c) {
      if (c > 0) text += ',';
      fmt::format_to(std::back_inserter(text), "{}",
                     m.values[static_cast<std::size_t>(r * m.columns + c)]);
    }
    text += '\n';
  }
  return text;
}

/// A product with what belongs to its report.
struct Multiplication {
  NamedMatrix a, b;
  Accuracy accuracy;
  ProductAnswer answer;
  std::string device, output;

  double teraflops() const {
    const ProductShape shape{a.matrix.rows, a.matrix.columns, b.matrix.columns};
    return answer.seconds > 0 ? shape.operations() / answer.seconds * 1e-12 : 0;
  }
};

std::string time_text(double seconds, double teraflops) {
  const std::string time = seconds < 1e-3 ? fmt::format("{:.3g} us", 1e6 * seconds)
                                          : fmt::format("{:.3g} ms", 1e3 * seconds);
  return time + (teraflops < 0.1 ? fmt::format(", {:.3g} GFLOP/s", 1e3 * teraflops)
                                 : fmt::format(", {:.3g} TFLOP/s", teraflops));
}

std::string multiplication_text(const Multiplication& of) {
  const ProductAnswer& answer = of.answer;
  std::string text;
  const auto add = [&](const char* label, const std::string& what) {
    text += fmt::format("{:<12} {}\n", label, what);
  };
  add("product", fmt::format("{} times {} is {}", size_text(of.a.matrix), size_text(of.b.matrix),
                             size_text(answer.c)));
  add("device", clean(of.device));
  add("path", fmt::format("{}: {}", name_of(answer.plan.path), answer.plan.reason));
  add("contract", contract_text(of.accuracy));
  add("error", fmt::format("{:.2g}{}, estimated with {} random columns", answer.probe.error,
                           answer.met ? "" : ", which misses the contract", answer.probe.columns));
  if (answer.seconds > 0) add("time", time_text(answer.seconds, of.teraflops()));
  if (!answer.note.empty()) add("note", answer.note);
  if (!of.output.empty()) add("file", clean(of.output));
  return text;
}

nlohmann::ordered_json multiplication_json(const Multiplication& of) {
  const auto matrix = [](const NamedMatrix& m) {
    return nlohmann::ordered_json{
        {"file", m.name}, {"rows", m.matrix.rows}, {"columns", m.matrix.columns}};
  };
  const ProductAnswer& answer = of.answer;
  const bool exact = of.accuracy.kind == Accuracy::Kind::exact;
  const char* const kind = exact                                        ? "exact"
                           : of.accuracy.kind == Accuracy::Kind::within ? "within"
                                                                        : "automatic";
  nlohmann::ordered_json json = {{"schema", "kiln.product/1"},
                                 {"kiln", version()},
                                 {"a", matrix(of.a)},
                                 {"b", matrix(of.b)},
                                 {"device", clean(of.device)},
                                 {"contract", {{"kind", kind}}},
                                 {"path", name_of(answer.plan.path)},
                                 {"reason", answer.plan.reason},
                                 {"exact", answer.plan.exact},
                                 {"expected_error", answer.plan.expected_error},
                                 {"error", answer.probe.error},
                                 {"probe_columns", answer.probe.columns},
                                 {"met", answer.met},
                                 {"seconds", answer.seconds},
                                 {"tflops", of.teraflops()}};
  if (!exact) json["contract"]["tolerance"] = of.accuracy.tolerance;
  if (!answer.note.empty()) json["note"] = answer.note;
  if (!of.output.empty()) json["file"] = clean(of.output);
  return json;
}

// Before the work: what was computed is not lost to a file that cannot be written.
void require_output(const Arguments& arguments) {
  if (!arguments.has("output")) return;
  const std::string file = arguments.text("output");
  if (file.empty()) throw InvalidArgument("cli.value", "--output needs the name of a file");
  if (file == "-") {
    if (!arguments.has("json")) return;
    throw InvalidArgument("cli.conflict", "--output - and --json both write standard output", {},
                          "--output FILE with --json");
  }
  if (file.ends_with(".npy")) {
    throw InvalidArgument("cli.value", clean(file) + ": Kiln writes products as CSV", {},
                          "a name that does not end with .npy");
  }
  if (std::filesystem::exists(std::filesystem::symlink_status(file))) {
    throw IoError("io.exists", clean(file) + " exists, and Kiln does not overwrite it", {},
                  "choose another name, or remove the file");
  }
  check_writable(file);
}

Multiplication multiply_files(const Arguments& arguments) {
  Multiplication of;
  of.accuracy = accuracy_of(arguments);
  require_output(arguments);
  of.output = arguments.text("output");
  const RunOptions device = device_options(arguments);
  const Waiting waiting("multiplying");
  of.a = read_named_matrix(arguments.positional[0]);
  of.b = read_named_matrix(arguments.positional[1]);
  require_fit(of.a, of.b);
  const OpenedBackend opened = open_backend(device.device, device.threads);
  print_note(fallback_warning(opened.backend->info(), opened.fallback_reason));
  of.device = opened.backend->info().name;
  of.answer = with_fix("--accuracy automatic, or a larger tolerance", [&] {
    return multiply_matrices(*opened.backend, of.a.matrix, of.b.matrix, of.accuracy, device.seed);
  });
  return of;
}

ExitCode multiply_and_report(const Arguments& arguments) {
  const Multiplication of = multiply_files(arguments);
  const std::string csv = of.output.empty() ? "" : product_csv(of.answer.c);
  if (of.output == "-") {
    print_result(csv);
    std::cerr << multiplication_text(of);
    return of.answer.met ? ExitCode::ok : ExitCode::target_missed;
  }
  if (!of.output.empty()) write_file(of.output, csv, Existing::refuse);
  if (arguments.has("json")) {
    print_result(multiplication_json(of).dump() + "\n");
  } else {
    print_text(multiplication_text(of));
  }
  return of.answer.met ? ExitCode::ok : ExitCode::target_missed;
}

}  // namespace

const std::vector<OptionSpec>& multiply_specs() {
  static const std::vector<OptionSpec> specs{
      {"accuracy", 0, "CONTRACT",
       "the largest error, such as 1e-4; exact, for integers from -128 to 127; or automatic: "
       "exact where a path is, else within 1e-12 (default automatic)"},
      {"output", 'o', "FILE",
       "write the product as CSV, to a file that does not exist yet, or to standard output (-); "
       "without it only the report is printed"},
      {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
      {"threads", 0, "N", "CPU threads (default: all)"},
      {"seed", 0, "N", "seed of the random columns that measure the error (default 1)"},
      {"json", 0, "", "print one JSON document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string multiply_help() {
  return "usage: kiln multiply A B [options]\n\n" +
         paragraph(
             "Multiplies two matrices by the cheapest path of the device that keeps the error "
             "within --accuracy, and measures the error that was reached. The error is the "
             "Frobenius norm of what is wrong, divided by that of A B, or by that of independent "
             "factors where the product cancels. A and B are text with a row per line, .npy or "
             "Matrix Market; - is standard input.") +
         paragraph(
             "Where the error is beyond the contract, a more exact path repeats the product. If "
             "none keeps it, the exit code is 10.") +
         "\noptions:\n" + describe_options(multiply_specs()) +
         "\nexamples:\n"
         "  kiln multiply a.npy b.npy --accuracy 1e-4 -o c.csv\n"
         "  kiln multiply signs.csv weights.csv --accuracy exact\n";
}

ExitCode run_multiply(const Words& words) {
  const Arguments arguments = parse_arguments("multiply", words, multiply_specs(), 2);
  if (arguments.has("help")) {
    print_text(multiply_help());
    return ExitCode::ok;
  }
  if (arguments.positional.size() < 2) {
    throw InvalidArgument("cli.missing", "kiln multiply needs two matrices",
                          "files with a row per line, .npy or Matrix Market; - for standard input",
                          "kiln multiply a.npy b.npy");
  }
  if (arguments.positional[0] == "-" && arguments.positional[1] == "-") {
    throw InvalidArgument("cli.conflict", "standard input cannot be both matrices", {},
                          "give one of them as a file");
  }
  const EndBySignal interruptible("multiplying");
  try {
    return multiply_and_report(arguments);
  } catch (const std::bad_alloc&) {
    throw RunMemoryError("memory.host", "there is not enough memory for the matrices", {},
                         "multiply blocks of rows of A one after the other, or use a machine "
                         "with more memory");
  } catch (const OutOfDeviceMemory& error) {
    throw RunMemoryError(
        error.code(), error.message(), {},
        "multiply blocks of rows of A one after the other, or choose another --device");
  }
}

}  // namespace kiln::cli
