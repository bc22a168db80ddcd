// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// KILN_API marks what libkiln exports; everything else is hidden. KILN_BUILDING is defined while
// libkiln itself is compiled, KILN_STATIC in a static build.
#if defined(KILN_STATIC)
#define KILN_API
#elif defined(_WIN32)
#if defined(KILN_BUILDING)
#define KILN_API __declspec(dllexport)
#else
#define KILN_API __declspec(dllimport)
#endif
#else
#define KILN_API __attribute__((visibility("default")))
#endif

// Marks symbols that only Kiln's tests use, in headers that are not installed: the tests link the
// library that is shipped.
#define KILN_TEST_API KILN_API
