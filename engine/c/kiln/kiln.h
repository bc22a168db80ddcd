/* SPDX-FileCopyrightText: The Kiln authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The C interface for solving quadratic models: C11, also for C++.
 *
 * @code{.c}
 *   kiln_solver* solver = NULL;
 *   kiln_model model = kiln_empty_model();       fill in form, n, count, rows, columns, values
 *   kiln_options options = kiln_default_options();
 *   kiln_result result = kiln_empty_result();
 *   if (kiln_open("auto", 0, &solver, error, sizeof error) == KILN_OK &&
 *       kiln_solve(solver, &model, &options, &result, state, error, sizeof error) == KILN_OK) ...
 *   kiln_close(solver);
 * @endcode
 *
 * No function throws, prints, installs a signal handler or ends the process. Every pointer that a
 * function takes belongs to the caller, and is not used after the call. Several threads may solve at
 * once, each with a solver of its own.
 *
 * Structures begin with struct_size, so that they can grow: a program built with this header works
 * with a later library, and with an earlier one as long as members that the earlier one does not
 * know are zero.
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#include "kiln/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/** What functions return: the exit codes of the program kiln. */
enum {
  KILN_OK = 0,
  KILN_INTERNAL = 1,      /**< a defect of Kiln, or an exception of a callback */
  KILN_USAGE = 2,         /**< an invalid argument, model, option or schedule */
  KILN_INPUT = 3,         /**< a malformed file */
  KILN_DEVICE = 4,        /**< the device cannot be used */
  KILN_MEMORY = 5,        /**< too little memory of the host or of the device */
  KILN_OUTPUT = 6,        /**< a file cannot be read or written */
  KILN_PLUGIN = 7,        /**< a module or plug-in is refused or failed */
  KILN_SELF_CHECK = 8,    /**< the recomputed value differs: there is no result */
  KILN_NO_ANSWER = 9,     /**< the run ended before it had a first value */
  KILN_DEVICE_FAULT = 70  /**< a GPU failed during the run */
};

/** Values of kiln_model::form. A state is written as int8_t[n]. */
enum {
  KILN_QUBO = 1,    /**< f(x) = offset + sum of values x_row x_column,   x = 0 or 1 */
  KILN_ISING = 2,   /**< E(s) = offset + sum of values s_row s_column,   s = -1 or +1 */
  KILN_MAX_CUT = 3  /**< cut(x) = sum of values where x_row differs from x_column, x = 0 or 1 */
};

/** Values of kiln_options::sense. */
enum {
  KILN_DEFAULT_SENSE = 0, /**< a cut is maximised, all others are minimised */
  KILN_MINIMIZE = 1,
  KILN_MAXIMIZE = 2
};

/** Values of kiln_result::stop: why the run ended. */
enum {
  KILN_TARGET_REACHED = 0,
  KILN_TIME_LIMIT = 1,
  KILN_SWEEP_LIMIT = 2,
  KILN_EVALUATION_LIMIT = 3,
  KILN_WORK_LIMIT = 4,
  KILN_CONVERGED = 5,   /**< the schedule was done */
  KILN_INTERRUPTED = 6  /**< the callback asked for it */
};

/** A model as a list of terms.
 *
 * A term on the diagonal is linear: value x_i of a QUBO, and the field value s_i of an Ising model,
 * not value s_i s_i. Max-Cut has none. Every other term has the whole coefficient of its pair. Terms
 * add up, so a pair that is listed twice, or once as (i, j) and once as (j, i), has the sum: a
 * symmetric matrix Q with both halves listed is x'Qx. */
typedef struct kiln_model {
  size_t struct_size; /**< sizeof(kiln_model) */
  int32_t form;       /**< KILN_QUBO, KILN_ISING or KILN_MAX_CUT */
  int32_t n;          /**< variables, at least 1 */
  int64_t count;      /**< terms */
  const int32_t* rows;    /**< [count] 0 .. n - 1 */
  const int32_t* columns; /**< [count] 0 .. n - 1 */
  const double* values;   /**< [count], or NULL */
  /** [count], or NULL: exactly one of both is given. At most 2^53 in magnitude. */
  const int64_t* integers;
  double offset; /**< 0 for Max-Cut */
} kiln_model;

/** What a callback sees. */
typedef struct kiln_progress {
  size_t struct_size;
  double time_s;    /**< since the run began */
  int64_t sweeps;   /**< of each replica */
  int32_t has_best; /**< 1 if there is a best value */
  double best;      /**< best value so far */
} kiln_progress;

/** Called about every report_interval_s seconds and once more at the end, in the thread that called kiln_solve.
 * A value other than 0 ends the run, which keeps its best state. It must not throw or longjmp out,
 * and must not solve with the same solver. */
typedef int32_t (*kiln_callback)(const kiln_progress* progress, void* data);

/** How to solve: begin with kiln_default_options(). */
typedef struct kiln_options {
  size_t struct_size;   /**< sizeof(kiln_options) */
  const char* schedule; /**< by name, "parallel-tempering"; NULL: the default of the model */
  const char* const* settings; /**< [settings_count] options of the schedule, "beta_max=3" */
  size_t settings_count;
  uint64_t seed;
  int64_t replicas;     /**< 0: a number that suits model and device */
  int64_t sweeps;       /**< limit of sweeps of each replica; 0: none */
  double time_limit_s;  /**< limit of run time, seconds; 0: none */
  int64_t work_limit;   /**< limit of the work of all replicas; 0: none */
  const double* target; /**< value at which the run ends; NULL: none */
  int32_t sense;        /**< KILN_DEFAULT_SENSE, KILN_MINIMIZE or KILN_MAXIMIZE */
  kiln_callback callback; /**< NULL: none */
  void* callback_data;
  double report_interval_s; /**< between calls of the callback, seconds; 0: 0.1 */
} kiln_options;

/** What a run found: begin with kiln_empty_result(). */
typedef struct kiln_result {
  size_t struct_size; /**< sizeof(kiln_result) */
  double value;       /**< of the best state, recomputed from the terms, offset included */
  int32_t integral;   /**< 1 if values are integers and sums of them exact in doubles */
  int32_t stop;       /**< KILN_TARGET_REACHED, ... */
  int64_t sweeps;     /**< of each replica */
  int64_t replicas;
  double setup_s;     /**< seconds of planning, allocating, uploading */
  double run_s;       /**< seconds of the run */
  double to_best_s;   /**< seconds of the run until the best state */
} kiln_result;

/** A device that is held open between runs, with their memory. */
typedef struct kiln_solver kiln_solver;

/** A model without variables and terms, to be filled in. */
static inline kiln_model kiln_empty_model(void) {
  kiln_model model = {sizeof(kiln_model), 0, 0, 0, NULL, NULL, NULL, NULL, 0};
  return model;
}

/** Seed 1, the default schedule, no limit: the schedule decides when it is done. */
static inline kiln_options kiln_default_options(void) {
  kiln_options options = {sizeof(kiln_options), NULL, NULL, 0, 1, 0, 0, 0, 0, NULL,
                          KILN_DEFAULT_SENSE, NULL, NULL, 0};
  return options;
}

/** A result to be written to. */
static inline kiln_result kiln_empty_result(void) {
  kiln_result result = {sizeof(kiln_result), 0, 0, 0, 0, 0, 0, 0, 0};
  return result;
}

/** The version of the library: "0.2.0". */
KILN_API const char* kiln_version(void);

/** Opens a device.
 *
 * @param device  "auto", "cpu", "cuda" or "cuda:N"; NULL means "auto", which takes the CPU where no
 *   GPU can be used.
 * @param threads  of the CPU, 0: all; answers do not depend on it.
 * @param solver  receives the solver.
 * @param error  [error_size], receives a text, which is cut off where it is longer. The text begins
 *   with a stable identifier, "device.no_driver: ". error may be NULL. On success the text is empty.
 * @param error_size  bytes of the text and its end.
 * @return KILN_OK, or a code. All functions with the arguments error and error_size report errors in
 *   this way. */
KILN_API int kiln_open(const char* device, int32_t threads, kiln_solver** solver, char* error,
                       size_t error_size);

/** Closes a solver, not during its run. NULL is allowed. */
KILN_API void kiln_close(kiln_solver* solver);

/** The device of a solver, "cpu" or "cuda:0". The text lives as long as the solver. */
KILN_API const char* kiln_device(const kiln_solver* solver);
/** Why "auto" took the CPU, "" where it did not. The text lives as long as the solver. */
KILN_API const char* kiln_fallback_reason(const kiln_solver* solver);

/** Runs a schedule on a model until a limit, the callback or the schedule ends the run. A limit, a
 * missed target and a callback that ends the run are no errors: result->stop has the reason.
 *
 * On an error result and state are as they were. A second call for a solver whose run has not ended
 * is refused.
 *
 * @param solver  of kiln_open().
 * @param model  the model.
 * @param options  NULL means kiln_default_options().
 * @param result  NULL if it is not needed.
 * @param state  [n] for the best state, or NULL.
 * @param error  [error_size], as in kiln_open().
 * @param error_size  bytes of the text and its end.
 * @return KILN_OK, or a code. */
KILN_API int kiln_solve(kiln_solver* solver, const kiln_model* model, const kiln_options* options,
                        kiln_result* result, int8_t* state, char* error, size_t error_size);

/** "time_limit" for KILN_TIME_LIMIT; "unknown" for a number that is no reason. */
KILN_API const char* kiln_stop_name(int32_t stop);

#ifdef __cplusplus
}
#endif

#endif /* KILN_KILN_H */
