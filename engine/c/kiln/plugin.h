/* SPDX-FileCopyrightText: The Kiln authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_PLUGIN_H
#define KILN_PLUGIN_H

/** @file
 * The interface between libkiln and a plug-in, a shared library that adds schedules, problem
 * families and kernels. C11.
 *
 * A plug-in in C++ uses KILN_PLUGIN of kiln/plugins/plugin.hpp, which defines all that this header
 * describes: the entry point below, and a note in the section .note.kiln
 * (kiln/plugins/module_note.hpp), which libkiln reads before it runs any code of the file. */

#include <stddef.h>
#include <stdint.h>

#include "kiln/plugins/fingerprint.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Raised whenever kiln_plugin or the meaning of a member changes. */
#define KILN_PLUGIN_ABI 1u

/** What a plug-in adds to: kiln::PluginRegistrar in C++. */
typedef struct kiln_registrar kiln_registrar;

/** Describes a plug-in. All texts are UTF-8 and live as long as the library. */
typedef struct kiln_plugin {
  uint32_t struct_size;     /**< sizeof(kiln_plugin) */
  uint32_t abi;             /**< KILN_PLUGIN_ABI */
  uint64_t fingerprint;     /**< KILN_FINGERPRINT: of the headers that it was compiled with */
  const char* kiln_version; /**< of the Kiln that it was compiled with: "0.2.0" */
  const char* name;         /**< unique in a process: "threshold" */
  const char* version;      /**< of the plug-in: "1.0" */
  const char* summary;      /**< what it adds, a sentence without a full stop */
  /** Adds everything that the plug-in has. Called once for each registry.
   * @return 0, or another number; then `error` has a text of less than error_size characters, and
   *   nothing of the plug-in is kept. No exception may leave it. */
  int (*add)(kiln_registrar* registrar, char* error, size_t error_size);
} kiln_plugin;

/** The entry point: the one symbol that libkiln looks for. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const kiln_plugin* kiln_plugin_entry(void);

#if defined(__cplusplus)
}
#endif

#endif
