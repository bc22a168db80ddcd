// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/math.hpp"
#include "kiln/device/vector_function.hpp"

namespace kiln {

/// Problems of engineering design from the RE suite: RE21 to RE25 with two objectives, RE31 to RE37
/// with three. Variables are reals and integers; a variable limited to commercial sizes is an
/// integer, the index of its size. Constraints, if any, are the last objective: the sum of their
/// violations. A division by zero in a constraint gives NaN or infinity.
/// @par Source  Tanabe, Ishibuchi, Applied Soft Computing 89 (2020) 106078, and its corrections.
struct EngineeringDesign {
  static constexpr const char* name = "engineering_design";
  int number = 21;  ///< 21 .. 25, 31 .. 37

  /// Number of sizes of RE22 (areas of reinforcement) and RE25 (diameters of wire).
  static constexpr int areas = 76;
  static constexpr int diameters = 19;

  KILN_HD int objectives() const { return number / 10; }
  KILN_HD static constexpr int constraints() { return 0; }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double*) const {
    switch (number) {
      case 21:
        return truss(x, f);
      case 22:
        return concrete_beam(x, f);
      case 23:
        return pressure_vessel(x, f);
      case 24:
        return hatch_cover(x, f);
      case 25:
        return spring(x, f);
      case 31:
        return two_bars(x, f);
      case 32:
        return welded_beam(x, f);
      case 33:
        return disc_brake(x, f);
      case 34:
        return crash(x, f);
      case 35:
        return speed_reducer(x, f);
      case 36:
        return gear_train(x, f);
      default:
        return injector(x, f);
    }
  }

  /// An area of RE22, ascending from 0.2 to 15.
  /// @param index  0 .. areas - 1
  KILN_HD static double area(int index) {
    static constexpr double values[areas] = {
        0.2,  0.31, 0.4,  0.44,  0.6,  0.62,  0.79,  0.8,  0.88, 0.93, 1,    1.2,  1.24,
        1.32, 1.4,  1.55, 1.58,  1.6,  1.76,  1.8,   1.86, 2,    2.17, 2.2,  2.37, 2.4,
        2.48, 2.6,  2.64, 2.79,  2.8,  3,     3.08,  3.1,  3.16, 3.41, 3.52, 3.6,  3.72,
        3.95, 3.96, 4,    4.03,  4.2,  4.34,  4.4,   4.65, 4.74, 4.8,  4.84, 5,    5.28,
        5.4,  5.53, 5.72, 6,     6.16, 6.32,  6.6,   7.11, 7.2,  7.8,  7.9,  8,    8.4,
        8.69, 9,    9.48, 10.27, 11,   11.06, 11.85, 12,   13,   14,   15};
    return values[index];
  }
  /// A diameter of RE25, ascending from 0.092 to 0.5.
  /// @param index  0 .. diameters - 1
  KILN_HD static double diameter(int index) {
    static constexpr double values[diameters] = {0.092, 0.105, 0.12,  0.135,  0.148, 0.162, 0.177,
                                                 0.192, 0.207, 0.225, 0.244,  0.263, 0.283, 0.307,
                                                 0.331, 0.362, 0.394, 0.4375, 0.5};
    return values[index];
  }

 private:
  /// The violation of a constraint g >= 0; NaN stays NaN.
  KILN_HD static double lack(double g) { return g >= 0 ? 0 : -g; }

  /// Volume and displacement of four bars (RE21).
  template <class Point>
  KILN_HD static void truss(const Point& x, double* f) {
    const double a = x[0], b = x[1], c = x[2], d = x[3], root = math::sqrt(2.0);
    f[0] = 200 * (2 * a + root * b + math::sqrt(c) + d);
    f[1] = 0.01 * (2 / a + 2 * root / b - 2 * root / c + 2 / d);
  }

  /// Cost of a beam of reinforced concrete (RE22).
  template <class Point>
  KILN_HD static void concrete_beam(const Point& x, double* f) {
    const double steel = area(static_cast<int>(x[0])), width = x[1], depth = x[2];
    f[0] = 29.4 * steel + 0.6 * width * depth;
    f[1] = lack(steel * depth - 7.735 * steel * steel / width - 180) + lack(4 - depth / width);
  }

  /// Cost of a cylinder with two caps (RE23); the first two variables count sixteenths.
  template <class Point>
  KILN_HD static void pressure_vessel(const Point& x, double* f) {
    const double shell = 0.0625 * x[0], head = 0.0625 * x[1], radius = x[2], length = x[3];
    f[0] = 0.6224 * shell * radius * length + 1.7781 * head * radius * radius +
           3.1661 * shell * shell * length + 19.84 * shell * shell * radius;
    const double volume = math::pi * radius * radius * (length + 4.0 / 3 * radius);
    f[1] = lack(shell - 0.0193 * radius) + lack(head - 0.00954 * radius) + lack(volume - 1296000);
  }

  /// Weight of a hatch cover (RE24).
  template <class Point>
  KILN_HD static void hatch_cover(const Point& x, double* f) {
    const double flange = x[0], beam = x[1];
    f[0] = flange + 120 * beam;
    constexpr double elasticity = 700000;
    const double bending = 4500 / (flange * beam);
    const double buckling = elasticity * flange * flange / 100;
    const double deflection = 56.2 * 10000 / (elasticity * flange * beam * beam);
    f[1] = lack(1 - bending / 700) + lack(1 - 1800 / beam / 450) + lack(1 - deflection / 1.5) +
           lack(1 - bending / buckling);
  }

  /// Volume of wire in a coil spring (RE25). The fifth constraint of the suite is 0 for all
  /// variables; its rounding, which would disturb states that meet the others, is left out.
  template <class Point>
  KILN_HD static void spring(const Point& x, double* f) {
    const double coils = x[0], outer = x[1], wire = diameter(static_cast<int>(x[2]));
    f[0] = math::pi * math::pi * outer * wire * wire * (coils + 2) / 4;
    constexpr double max_load = 1000, load = 300;
    const double ratio = outer / wire;
    const double shear = (4 * ratio - 1) / (4 * ratio - 4) + 0.615 / ratio;
    const double stiffness =
        11.5e6 * wire * wire * wire * wire / (8 * coils * outer * outer * outer);
    const double free_length = max_load / stiffness + 1.05 * (coils + 2) * wire;
    const double deflection = load / stiffness, rest = (max_load - load) / stiffness;
    f[1] = lack(189000 - 8 * shear * max_load * outer / (math::pi * wire * wire * wire)) +
           lack(14 - free_length) + lack(ratio - 3) + lack(6 - deflection) + lack(1.25 - rest);
  }

  /// Volume and stress of two bars (RE31).
  template <class Point>
  KILN_HD static void two_bars(const Point& x, double* f) {
    const double a = x[0], b = x[1], y = x[2];
    const double long_bar = math::sqrt(16 + y * y), short_bar = math::sqrt(1 + y * y);
    f[0] = a * long_bar + b * short_bar;
    f[1] = 20 * long_bar / (a * y);
    f[2] = lack(0.1 - f[0]) + lack(100000 - f[1]) + lack(100000 - 80 * short_bar / (y * b));
  }

  /// Cost and deflection of a welded beam (RE32).
  template <class Point>
  KILN_HD static void welded_beam(const Point& x, double* f) {
    constexpr double load = 6000, length = 14, e = 30e6, g = 12e6;
    const double weld = x[0], joint = x[1], height = x[2], thick = x[3], root = math::sqrt(2.0);
    f[0] = 1.10471 * weld * weld * joint + 0.04811 * height * thick * (length + joint);
    f[1] = 4 * load * length * length * length / (e * thick * height * height * height);
    const double moment = load * (length + joint / 2);
    const double quarter = math::square((weld + height) / 2);
    const double radius = math::sqrt(joint * joint / 4 + quarter);
    const double inertia = 2 * root * weld * joint * (joint * joint / 12 + quarter);
    const double twist = moment * radius / inertia;
    const double direct = load / (root * weld * joint);
    const double shear =
        math::sqrt(direct * direct + direct * twist * joint / radius + twist * twist);
    const double bending = 6 * load * length / (thick * height * height);
    const double buckling = 4.013 * e * height * thick * thick * thick / 6 / (length * length) *
                            (1 - height / (2 * length) * math::sqrt(e / (4 * g)));
    f[2] = lack(13600 - shear) + lack(30000 - bending) + lack(thick - weld) + lack(buckling - load);
  }

  /// Mass and stopping time of a disc brake (RE33).
  template <class Point>
  KILN_HD static void disc_brake(const Point& x, double* f) {
    const double inner = x[0], outer = x[1], force = x[2], surfaces = x[3];
    const double squares = outer * outer - inner * inner;
    const double cubes = outer * outer * outer - inner * inner * inner;
    f[0] = 4.9e-5 * squares * (surfaces - 1);
    f[1] = 9.82e6 * squares / (force * surfaces * cubes);
    f[2] = lack(outer - inner - 20) + lack(0.4 - force / (3.14 * squares)) +
           lack(1 - 2.22e-3 * force * cubes / (squares * squares)) +
           lack(2.66e-2 * force * surfaces * cubes / squares - 900);
  }

  /// Weight, acceleration and intrusion in the crash of a car (RE34), fitted polynomials.
  template <class Point>
  KILN_HD static void crash(const Point& x, double* f) {
    const double a = x[0], b = x[1], c = x[2], d = x[3], e = x[4];
    f[0] =
        1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e;
    f[1] = 6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d +
           0.0861 * a * e + 0.3628 * b * d - 0.1106 * a * a - 0.3437 * c * c + 0.1764 * d * d;
    f[2] = -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c -
           0.0118 * b * d - 0.0204 * c * d - 0.008 * c * e - 0.0241 * b * b + 0.0109 * d * d;
  }

  /// Weight and stress of a speed reducer (RE35).
  template <class Point>
  KILN_HD static void speed_reducer(const Point& x, double* f) {
    const double face = x[0], module = x[1], teeth = x[2];
    const double length1 = x[3], length2 = x[4], shaft1 = x[5], shaft2 = x[6];
    const double square1 = shaft1 * shaft1, square2 = shaft2 * shaft2, pitch = module * teeth;
    const double cube1 = square1 * shaft1, cube2 = square2 * shaft2;
    f[0] = 0.7854 * face * module * module * (10 * teeth * teeth / 3 + 14.933 * teeth - 43.0934) -
           1.508 * face * (square1 + square2) + 7.477 * (cube1 + cube2) +
           0.7854 * (length1 * square1 + length2 * square2);
    f[1] = math::sqrt(math::square(745 * length1 / pitch) + 1.69e7) / (0.1 * cube1);
    const double second = math::sqrt(math::square(745 * length2 / pitch) + 1.575e8) / (0.1 * cube2);
    f[2] = lack(1.0 / 27 - 1 / (face * module * pitch)) +
           lack(1.0 / 397.5 - 1 / (face * pitch * pitch)) +
           lack(1.0 / 1.93 - length1 * length1 * length1 / (pitch * square1 * square1)) +
           lack(1.0 / 1.93 - length2 * length2 * length2 / (pitch * square2 * square2)) +
           lack(40 - pitch) + lack(12 - face / module) + lack(face / module - 5) +
           lack(length1 - 1.5 * shaft1 - 1.9) + lack(length2 - 1.1 * shaft2 - 1.9) +
           lack(1300 - f[1]) + lack(1100 - second);
  }

  /// Error of the ratio and largest wheel of a gear train (RE36).
  template <class Point>
  KILN_HD static void gear_train(const Point& x, double* f) {
    const double a = x[0], b = x[1], c = x[2], d = x[3];
    f[0] = math::abs(6.931 - c / a * (d / b));
    const double ab = a > b ? a : b, cd = c > d ? c : d;
    f[1] = ab > cd ? ab : cd;
    f[2] = lack(0.5 - f[0] / 6.931);
  }

  /// Temperatures and flame length of a rocket injector (RE37), fitted polynomials.
  template <class Point>
  KILN_HD static void injector(const Point& x, double* f) {
    const double a = x[0], h = x[1], o = x[2], p = x[3];
    f[0] = 0.692 + 0.477 * a - 0.687 * h - 0.080 * o - 0.0650 * p - 0.167 * a * a - 0.0129 * h * a +
           0.0796 * h * h - 0.0634 * o * a - 0.0257 * o * h + 0.0877 * o * o - 0.0521 * p * a +
           0.00156 * p * h + 0.00198 * p * o + 0.0184 * p * p;
    f[1] = 0.153 - 0.322 * a + 0.396 * h + 0.424 * o + 0.0226 * p + 0.175 * a * a + 0.0185 * h * a -
           0.0701 * h * h - 0.251 * o * a + 0.179 * o * h + 0.0150 * o * o + 0.0134 * p * a +
           0.0296 * p * h + 0.0752 * p * o + 0.0192 * p * p;
    f[2] = 0.370 - 0.205 * a + 0.0307 * h + 0.108 * o + 1.019 * p - 0.135 * a * a + 0.0141 * h * a +
           0.0998 * h * h + 0.208 * o * a - 0.0301 * o * h - 0.226 * o * o + 0.353 * p * a -
           0.0497 * p * o - 0.423 * p * p + 0.202 * h * a * a - 0.281 * o * a * a -
           0.342 * h * h * a - 0.245 * h * h * o + 0.281 * o * o * h - 0.184 * p * p * a -
           0.281 * h * a * o;
  }
};

}  // namespace kiln
