/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <gmp.h>
#include <math.h>

/* Exact arithmetic that answers are compared with, and numbers to ask about. */

static inline double
normal (GRand *rand)
{
  return sqrt (-2 * log (g_rand_double_range (rand, 1e-12, 1))) *
         cos (g_rand_double_range (rand, 0, 2 * G_PI));
}

/* Gauss-Jordan on n rows of n + 1 columns, the last being the right-hand side; false where it is singular. */
static inline gboolean
eliminate (mpq_t *matrix, gsize n)
{
  gsize width = n + 1;
  gboolean regular = TRUE;
  mpq_t factor;
  mpq_t term;
  gsize i;
  gsize j;
  gsize k;

  mpq_inits (factor, term, NULL);
  for (k = 0; k < n && regular; k++)
    {
      regular = mpq_sgn (matrix[k * width + k]) > 0;
      for (i = 0; i < n && regular; i++)
        {
          if (i == k || mpq_sgn (matrix[i * width + k]) == 0)
            continue;
          mpq_div (factor, matrix[i * width + k], matrix[k * width + k]);
          for (j = k; j < width; j++)
            {
              mpq_mul (term, factor, matrix[k * width + j]);
              mpq_sub (matrix[i * width + j], matrix[i * width + j], term);
            }
        }
    }
  mpq_clears (factor, term, NULL);

  return regular;
}
