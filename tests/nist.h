/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

/* NIST's reference data sets for linear regression, with powers of the one variable up to the model's degree. */

typedef struct
{
  const char *name;
  gsize degree;
  gboolean fit_intercept;
} NistSet;

static const NistSet nist_sets[] = {
  { "norris", 1, TRUE },   { "longley", 1, TRUE },  { "noint1", 1, FALSE },  { "filip", 10, TRUE },
  { "wampler1", 5, TRUE }, { "wampler2", 5, TRUE }, { "wampler3", 5, TRUE }, { "wampler4", 5, TRUE },
};

static inline void
nist_load (const NistSet *set, AprTensor **x, AprTensor **y)
{
  g_autofree char *file = g_strconcat ("nist", G_DIR_SEPARATOR_S, set->name, ".csv", NULL);
  g_autofree char *path = data_path (file);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GArray) x_values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) y_values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) error = NULL;
  gsize i;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (g_strstrip (text), "\n", -1);
  for (i = 1; lines[i] != NULL; i++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], ",", -1);
      double value = g_ascii_strtod (cells[0], NULL);
      double power;
      gsize j;

      g_array_append_val (y_values, value);
      for (j = 1; cells[j] != NULL; j++)
        {
          value = g_ascii_strtod (cells[j], NULL);
          g_array_append_val (x_values, value);
        }
      for (j = 1, power = value; j < set->degree; j++)
        {
          power *= value;
          g_array_append_val (x_values, power);
        }
    }

  *x = matrix_new (y_values->len, x_values->len / y_values->len, (const double *) (gpointer) x_values->data);
  *y = vector_new (y_values->len, (const double *) (gpointer) y_values->data);
}

/* By its name, one of nist_sets. */
static inline void
nist_load_named (const char *name, AprTensor **x, AprTensor **y)
{
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (nist_sets); i++)
    if (g_str_equal (nist_sets[i].name, name))
      {
        nist_load (&nist_sets[i], x, y);
        return;
      }
  g_assert_not_reached ();
}
