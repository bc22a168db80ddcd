/* SPDX-FileCopyrightText: The Kiln authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The ring of six vertices of embed_qubo, in C: choose vertices of large total weight, no two of
 * them neighbours. The answer is 0, 2 and 4 with weight 13. */
#include <kiln/kiln.h>
#include <stdio.h>

enum { vertices = 6, terms = 2 * vertices };

static int32_t stop_at_13(const kiln_progress* progress, void* data) {
  (void)data;
  return progress->has_best && progress->best >= 13;
}

int main(void) {
  /* Weights on the diagonal, and a penalty of 7 for each pair of neighbours. */
  const int64_t weights[vertices] = {3, 5, 4, 2, 6, 4};
  int32_t rows[terms], columns[terms];
  int64_t values[terms];
  for (int32_t i = 0; i < vertices; ++i) {
    rows[i] = columns[i] = i;
    values[i] = weights[i];
    rows[vertices + i] = i;
    columns[vertices + i] = (i + 1) % vertices;
    values[vertices + i] = -7;
  }
  kiln_model model = kiln_empty_model();
  model.form = KILN_QUBO;
  model.n = vertices;
  model.count = terms;
  model.rows = rows;
  model.columns = columns;
  model.integers = values;

  const char* const settings[] = {"beta_max=3", "polish_sweeps=1"};
  kiln_options options = kiln_default_options();
  options.schedule = "simulated-annealing";
  options.settings = settings;
  options.settings_count = sizeof settings / sizeof settings[0];
  options.replicas = 32;
  options.sweeps = 200;
  options.sense = KILN_MAXIMIZE;
  options.callback = stop_at_13;

  char error[512];
  int8_t state[vertices];
  kiln_result result = kiln_empty_result();
  kiln_solver* solver = NULL;
  int code = kiln_open("auto", 0, &solver, error, sizeof error);
  if (code == KILN_OK) code = kiln_solve(solver, &model, &options, &result, state, error, sizeof error);
  kiln_close(solver);
  if (code != KILN_OK) {
    fprintf(stderr, "%s\n", error);
    return code;
  }

  printf("weight    %g\nchosen   ", result.value);
  for (int i = 0; i < vertices; ++i) {
    if (state[i] == 1) printf(" %d", i);
  }
  printf("\n");
  return 0;
}
