// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled/objective_unit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <stdexcept>

#include "kiln/errors.hpp"

#include "compiled/embedded_headers.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems::detail {
namespace {

/// What Kiln's device headers use of the standard library. The run-time compiler has none of it.
constexpr std::string_view standard_library = R"(
#define KILN_STATIC
namespace std {
using int8_t = signed char; using int16_t = short; using int32_t = int; using int64_t = long;
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned;
using uint64_t = unsigned long; using size_t = unsigned long;
template <class T, T v> struct integral_constant { static constexpr T value = v; };
using true_type = integral_constant<bool, true>; using false_type = integral_constant<bool, false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <class A, class B> inline constexpr bool is_base_of_v = __is_base_of(A, B);
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T> T&& declval() noexcept;
template <class A, class B> concept convertible_to = __is_convertible_to(A, B);
template <class To, class From> constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
}
#define __is_same(...) std::is_same<__VA_ARGS__>::value
)";

// In front of the user's text, which may use these without a namespace. On a host abs() of a number
// would be the one of integers; the run-time compiler has that of reals, and takes no second one.
constexpr std::string_view prelude = "using kiln::math::square;\nusing kiln::math::pi;\n";
constexpr std::string_view host_prelude = "using kiln::math::abs;\n";

/// The text of headers and of all that they include, each once.
class Flattened {
 public:
  explicit Flattened(bool with_standard_library) : keeps_standard_(with_standard_library) {}

  void add(std::string_view header) {
    if (!seen_.emplace(header).second) return;
    std::string_view rest = embedded_header(header);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
      add_line(rest.substr(0, end + 1));
      rest.remove_prefix(end + 1);
    }
  }
  std::string text;

 private:
  void add_line(std::string_view line) {
    constexpr std::string_view own = "#include \"", standard = "#include <";
    if (line.starts_with("#pragma once")) return;
    if (line.starts_with(own)) {
      const std::string_view name = line.substr(own.size());
      return add(name.substr(0, name.find('"')));
    }
    if (line.starts_with(standard) && !keeps_standard_) return;
    text += line;
  }

  bool keeps_standard_;
  std::set<std::string, std::less<>> seen_;
};

/// Whether the quote at `at` stands within a number: what it is part of begins with a digit.
bool separates_digits(const std::string& text, std::size_t at) {
  std::size_t begin = at;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'' || c == '.';
  };
  while (begin > 0 && is_part(text[begin - 1])) --begin;
  return begin < at && std::isdigit(static_cast<unsigned char>(text[begin])) != 0;
}

/// The text with blanks in place of comments, strings and characters.
std::string without_comments(std::string text) {
  enum class In { code, line_comment, comment, quotes } in = In::code;
  char quote = '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\n') {
      if (in != In::comment) in = In::code;
      continue;
    }
    if (in == In::code && c == '/' && (next == '/' || next == '*')) {
      in = next == '/' ? In::line_comment : In::comment;
      text[i] = text[i + 1] = ' ';
      ++i;
    } else if (in == In::code && c == '\'' && separates_digits(text, i)) {
      continue;
    } else if (in == In::code && (c == '"' || c == '\'')) {
      in = In::quotes;
      quote = c;
    } else if (in == In::comment && c == '*' && next == '/') {
      in = In::code;
      text[i] = text[i + 1] = ' ';
      ++i;
    } else if (in == In::quotes && c == '\\') {
      text[i] = ' ';
      if (next != '\0' && next != '\n') text[++i] = ' ';
    } else if (in == In::quotes && c == quote) {
      in = In::code;
    } else if (in != In::code) {
      text[i] = ' ';
    }
  }
  return text;
}

[[noreturn]] void refuse_line(const ObjectiveText& objective, const std::string& code,
                              std::size_t at, const std::string& what) {
  const auto line =
      1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw InvalidArgument("objective.directive",
                        printable(objective.file) + ":" + std::to_string(line) + ": " + what,
                        "plain C++: functions, and constants");
}

/// The class whose operator() calls the user's function in either of its forms.
std::string function_class(const ObjectiveText& objective) {
  const std::string sign = objective.negated ? "-" : "";
  return R"unit(
#line 1 "the end of the objective"
namespace kiln_unit { struct Nobody; }
// A compiler may refuse a call that no function of the name can take, before it knows the types.
void objective(const kiln_unit::Nobody*, int);
void objective(const kiln_unit::Nobody*, kiln_unit::Nobody*, int);
namespace kiln_unit {
struct None {
  KILN_HD double operator()(const double*, double*) const { return 0; }
};
template <int n> struct Function {
  template <class T> requires requires(const T* x) { ::objective(x, n); }
  KILN_HD auto operator()(const T* x) const { return )unit" +
         sign + R"unit(::objective(x, n); }
  template <class R> requires requires(const R* x, R* g) { ::objective(x, g, n); }
  KILN_HD double operator()(const R* x, R* gradient) const {
    const double value = ::objective(x, gradient, n);
)unit" +
         (objective.negated ? "    for (int i = 0; gradient != nullptr && i < n; ++i) gradient[i] "
                              "= -gradient[i];\n"
                            : "") +
         "    return " + sign + R"unit(value;
  }
};
template <int n> struct Forms {
  static constexpr bool templated = requires(const double* x, const kiln::Dual<1>* y) {
    Function<n>{}(x);
    Function<n>{}(y);
  };
  static constexpr bool with_gradient =
      requires(const double* x, double* g) { Function<n>{}(x, g); };
};
template <int n> KILN_HD auto density_of() {
  constexpr int fixed = n <= 64 ? n : 0;
  constexpr bool known = Forms<n>::templated || Forms<n>::with_gradient;
  static_assert(known, "the function is no template <class T> T objective(const T* x, int n) and no "
                       "double objective(const double* x, double* gradient, int n)");
  static_assert(
      !known || Forms<n>::with_gradient || n <= 64,
      "over 64 coordinates: write double objective(const double* x, double* gradient, int n)");
  if constexpr (known && (Forms<n>::with_gradient || n <= 64)) {
    return kiln::functor::density_from<fixed>(Function<n>{}, n);
  } else {
    return kiln::GradientDensity<None, 0>{None{}, n};
  }
}
KILN_HD inline auto density() { return density_of<)unit" +
         std::to_string(objective.dimension) + R"unit(>(); }
}
)unit";
}

std::string with_user_text(const Flattened& headers, std::string_view before,
                           const ObjectiveText& objective) {
  std::string name;
  for (const char c : objective.file) {
    if (c == '"' || c == '\\') name += '\\';
    name += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return headers.text + std::string(prelude) + std::string(before) + "#line 1 \"" + name + "\"\n" +
         objective.text + function_class(objective);
}

/// A kernel: its type and the header that defines it.
struct KernelHeader {
  std::string_view name, type, header;
};
constexpr std::array kernel_headers{
    KernelHeader{"density_energy", "DensityEnergy", "kiln/kernels/sweeps/density_energy.hpp"},
    KernelHeader{"density_sweep", "DensitySweep", "kiln/kernels/sweeps/density_sweep.hpp"},
    KernelHeader{"density_descent", "DensityDescent", "kiln/kernels/sweeps/density_descent.hpp"},
    KernelHeader{"hmc_transition", "HmcTransition", "kiln/kernels/hamiltonian/hmc_transition.hpp"},
    KernelHeader{"nuts_transition", "NutsTransition",
                 "kiln/kernels/hamiltonian/nuts_transition.hpp"}};

}  // namespace

void check_objective_text(const ObjectiveText& objective) {
  // First, because it may hide the end of a string or of a comment. Compilers skip blanks.
  for (std::size_t at = 0; (at = objective.text.find('\\', at)) != objective.text.npos; ++at) {
    const std::size_t next = objective.text.find_first_not_of(" \t\r\v\f", at + 1);
    if (next != objective.text.npos && objective.text[next] != '\n') continue;
    refuse_line(objective, objective.text, at,
                "a line that goes on in the next one is not allowed");
  }
  const std::string code = without_comments(objective.text);
  if (const std::size_t at = code.find("R\""); at != code.npos) {
    refuse_line(objective, code, at, "a raw string is not allowed");
  }
  for (const char* const directive : {"#", "%:", "\?\?="}) {
    const std::size_t at = code.find(directive);
    if (at != code.npos) {
      refuse_line(objective, code, at, "a line for the preprocessor is not allowed");
    }
  }
  if (code.find("objective") != code.npos) return;
  throw InvalidArgument("objective.function",
                        printable(objective.file) + " has no function 'objective'",
                        "template <class T> T objective(const T* x, int n) { ... }");
}

std::string host_unit(const ObjectiveText& objective) {
  Flattened headers(true);
  headers.add("kiln/device/functor_density.hpp");
  headers.add("kiln/device/math.hpp");
  return with_user_text(headers, host_prelude, objective) + R"(
namespace kiln_unit {
double value(const double* x, double* gradient) {
  const auto density = kiln_unit::density();
  const kiln::DensityPoint at{x, {}, gradient, nullptr};
  if (gradient == nullptr) {
    return density.template evaluate<kiln::Want::energy>(kiln::SingleTeam{}, at).total();
  }
  return density.template evaluate<kiln::Want::both>(kiln::SingleTeam{}, at).total();
}
}
// An exception has no way out of a C function: it is a value that is no number.
extern "C" __attribute__((visibility("default"))) double kiln_objective(const double* x,
                                                                        double* gradient) {
  try {
    return kiln_unit::value(x, gradient);
  } catch (...) {
    return __builtin_nan("");
  }
}
)";
}

std::string gpu_unit(const ObjectiveText& objective, std::string_view kernel,
                     std::string_view form) {
  const auto known = std::ranges::find(kernel_headers, kernel, &KernelHeader::name);
  if (known == kernel_headers.end()) {
    throw std::logic_error("no header is known for the kernel " + std::string(kernel));
  }
  Flattened headers(false);
  headers.text = standard_library;
  headers.add("kiln/device/functor_density.hpp");
  headers.add("kiln/device/math.hpp");
  headers.add(known->header);
  headers.add("kiln/cuda/chain_kernels.cuh");
  const std::string body = form == "thread"  ? "chain_by_thread"
                           : form == "block" ? "chain_by_team<kiln::cuda::BlockTeam>"
                           : form == "lanes" ? "chain_by_team<kiln::cuda::LaneTeam<4>>"
                                             : "chain_by_team<kiln::cuda::WarpTeam>";
  return with_user_text(headers, {}, objective) +
         "\nextern \"C\" __global__ void __launch_bounds__(" + (form == "block" ? "256" : "128") +
         ") " + std::string(kernel) + "(const __grid_constant__ kiln::" + std::string(known->type) +
         " kernel) {\n  kiln::cuda::detail::" + body + "(kernel, kiln_unit::density());\n}\n";
}

}  // namespace kiln::problems::detail
