/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"

/* Constant and independent features of few samples.
 *
 * As many features as there are samples, less one with an intercept, can be independent, and in most data the first
 * ones are. So the rank is found from the cross products of these alone; more features are taken until no more can
 * be independent. */

/* Features beside the independent ones whose rank is found at once. */
#define MIN_CHUNK 64

/* Makes the products of some features, without targets. */
static gboolean
multiply_features (AprProducts *self,
                   const AprSampleRows *rows,
                   const gsize *features,
                   gsize n_features,
                   gboolean centred,
                   const AprRun *run,
                   GError **error)
{
  gsize no_targets[2] = { rows->n, 0 };
  g_autoptr (AprTensor) x = apr_sample_rows_get_features (rows, features, n_features, error);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (NULL, 0, no_targets, 2, NULL);
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprExactSums) sums = NULL;

  /* Where there is no memory, as linear-regression-no-memory tests: GCOVR_EXCL_BR_START */
  if (x == NULL || !apr_sample_rows_get_weights (rows, &weights, error))
    return FALSE; /* GCOVR_EXCL_LINE: see above */
  /* GCOVR_EXCL_BR_STOP */
  sums = apr_exact_sums_new (n_features, 0, error);
  if (sums == NULL) /* GCOVR_EXCL_BR_LINE: there is no memory for so many samples */
    return FALSE;   /* GCOVR_EXCL_LINE: see above */
  if (!apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT,
                              &(AprRun){ .n_threads = run->n_threads, .cancellable = run->cancellable },
                              error))
    return FALSE;

  apr_products_init (self, sums, centred, 0, run);

  return !apr_run_set_error_if_cancelled (run, error);
}

typedef struct
{
  const AprSampleRows *rows;
  const AprRun *run;
  gboolean centred;
  double rank_tolerance;
  double *weights; /* (nullable) of which the largest is 1 */
  double sum;      /* of the weights */
  double min;      /* weight */
  gboolean *constant;
  gboolean *doubtful;
} Constants;

/* The centred sum of squares of values up to 1 in size and the plain one, which decide but for rounding errors; returns
 * FALSE where these could matter. */
static gboolean
compare_squares (const Constants *self, const double *values, gboolean *constant)
{
  gsize n = self->rows->n;
  double unit = (double) n * 0x1p-46;
  double mean = 0;
  double squares = 0;
  double deviations = 0;
  double plain = 0;
  double difference;
  gsize j;

  for (j = 0; j < n; j++)
    mean += (self->weights != NULL ? self->weights[j] : 1) * values[j];
  mean /= self->sum;
  for (j = 0; j < n; j++)
    {
      double weight = self->weights != NULL ? self->weights[j] : 1;
      double deviation = values[j] - mean;

      deviations += weight * deviation;
      squares += weight * deviation * deviation;
      plain += weight * values[j] * values[j];
    }
  /* The mean was rounded, and values may differ from it by hardly more than that. */
  difference = squares - deviations * deviations / self->sum - self->rank_tolerance * plain;
  *constant = difference < 0;

  return fabs (difference) > unit * (squares + self->rank_tolerance * plain) + unit * unit * unit;
}

static void
find_some_constants (gpointer data, gsize part, gsize n_parts)
{
  const Constants *self = data;
  gsize n = self->rows->n;
  g_autofree double *values = g_new (double, n);
  gsize end = self->rows->n_features * (part + 1) / n_parts;
  gsize i;
  gsize j;

  for (i = self->rows->n_features * part / n_parts; i < end && !apr_run_is_cancelled (self->run); i++)
    {
      double min;
      double max;
      double size;
      gint exponent;

      /* Most differ at once. */
      self->constant[i] = apr_sample_rows_is_constant (self->rows, i, &max) && (self->centred || max == 0);
      if (self->constant[i] || self->rank_tolerance == 0)
        continue;

      apr_sample_rows_read_feature (self->rows, i, values);
      min = max = values[0];
      for (j = 1; j < n; j++)
        {
          min = values[j] < min ? values[j] : min;
          max = values[j] > max ? values[j] : max;
        }
      if (!self->centred)
        {
          self->doubtful[i] = self->rank_tolerance > 0.5;
          continue;
        }

      (void) frexp (MAX (-min, max), &exponent);
      size = ldexp (max, -exponent) - ldexp (min, -exponent);
      /* Two samples that are so far apart are enough. */
      if (self->min * size * size / 2 > 1.01 * self->rank_tolerance * self->sum && size > 0x1p-20)
        continue;
      for (j = 0; j < n; j++)
        values[j] = ldexp (values[j], -exponent);
      self->doubtful[i] = !compare_squares (self, values, &self->constant[i]);
    }
}

gboolean
apr_dual_find_constants (const AprSampleRows *rows,
                         gboolean centred,
                         double rank_tolerance,
                         const AprRun *run,
                         gboolean *constant,
                         GError **error)
{
  g_autofree gboolean *doubtful = g_new0 (gboolean, rows->n_features);
  g_autofree double *weights = rows->weights != NULL ? g_new (double, rows->n) : NULL;
  Constants self = { rows, run, centred, rank_tolerance, weights, (double) rows->n, 1, constant, doubtful };
  AprRun one_thread = *run;
  gsize i;
  gsize j;

  one_thread.n_threads = 1;
  if (weights != NULL)
    {
      double max = 0;

      for (j = 0; j < rows->n; j++)
        max = MAX (max, rows->weights[j]);
      self.sum = 0;
      for (j = 0; j < rows->n; j++)
        {
          weights[j] = rows->weights[j] / max;
          self.sum += weights[j];
          self.min = MIN (self.min, weights[j]);
        }
    }
  apr_parallel_run (find_some_constants, &self, run->n_threads,
                    4 * (double) rows->n * (double) rows->n_features);

  if (apr_run_set_error_if_cancelled (run, error))
    return FALSE;

  for (i = 0; i < rows->n_features; i++)
    {
      g_auto (AprProducts) products = { 0 };

      if (!doubtful[i])
        continue;
      if (!multiply_features (&products, rows, &i, 1, centred, &one_thread, error))
        return FALSE;
      constant[i] = apr_products_is_constant (&products, 0, rank_tolerance);
    }

  return TRUE;
}

gboolean
apr_dual_find_rank (const AprSampleRows *rows,
                    gboolean centred,
                    double rank_tolerance,
                    const AprRun *run,
                    const gboolean *constant,
                    gsize *independent,
                    gsize *n_independent,
                    GError **error)
{
  gsize max_rank = centred ? rows->n - 1 : rows->n;
  g_autofree gsize *features = g_new (gsize, MIN (rows->n_features, 2 * max_rank + MIN_CHUNK));
  g_autofree gboolean *none = g_new0 (gboolean, MIN (rows->n_features, 2 * max_rank + MIN_CHUNK) + 1);
  gsize next = 0;

  *n_independent = 0;
  while (*n_independent < max_rank)
    {
      gsize rank = *n_independent;
      gsize n_chunk = rank == 0 ? max_rank : MAX (max_rank, MIN_CHUNK);
      gsize n = rank;
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize i;

      memcpy (features, independent, rank * sizeof *features);
      for (; next < rows->n_features && n < rank + n_chunk; next++)
        if (!constant[next])
          features[n++] = next;
      if (n == rank)
        break;

      if (!multiply_features (&products, rows, features, n, centred, run, error))
        return FALSE;
      apr_normal_equations_init (&equations, &products, none, rank_tolerance, run);
      if (apr_run_set_error_if_cancelled (run, error))
        return FALSE;
      *n_independent = equations.n_independent;
      for (i = 0; i < equations.n_independent; i++)
        independent[i] = features[equations.independent[i]];
    }

  return TRUE;
}
