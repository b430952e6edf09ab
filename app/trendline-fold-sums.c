/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fold-sums.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n.h>

#define N_FOLDS 5

/* Any number: it makes the folds the same each time. */
#define SEED 5

/* The sums of a fold of so many features take some 40 MB, and those of all folds and of what is made of them several
 * times as much. Few rows take less at first, but not where they are validated. */
#define MAX_FEATURES 1000

/* Rows of a fold are gathered before they are summed, so many bytes of them: to sum few rows of many features takes
 * nearly as long as to sum many. */
#define GATHERED (2 << 20)

G_DEFINE_QUARK (trendline - folds - error - quark, trendline_folds_error)

struct _TrendlineFoldSums
{
  AprCrossProducts *states[N_FOLDS]; /* (nullable) */
  gsize n_folds;                     /* 1 where rows are in no fold */
  GRand *random;
  gsize order[N_FOLDS]; /* in which the next rows are dealt out */
  guint64 n_dealt;
  double roots[N_FOLDS]; /* of the sums of weights, which may be too large for a double */

  double *gathered[N_FOLDS]; /* (nullable): X, y and the weights of rows that are not summed yet */
  gsize n_gathered[N_FOLDS];
  gsize limits[N_FOLDS]; /* how many are gathered before they are summed */
  gsize n_rows;          /* that can be gathered */
  gsize n_features;
  gboolean has_weights;
};

TrendlineFoldSums *
trendline_fold_sums_new (void)
{
  TrendlineFoldSums *self = g_new0 (TrendlineFoldSums, 1);
  gsize i;

  self->n_folds = N_FOLDS;
  self->random = g_rand_new_with_seed (SEED);
  for (i = 0; i < N_FOLDS; i++)
    self->order[i] = i;

  return self;
}

TrendlineFoldSums *
trendline_fold_sums_new_from (AprCrossProducts *sums)
{
  TrendlineFoldSums *self = trendline_fold_sums_new ();

  self->n_folds = 1;
  self->states[0] = g_object_ref (sums);

  return self;
}

static void
free_gathered (TrendlineFoldSums *self)
{
  gsize i;

  for (i = 0; i < N_FOLDS; i++)
    g_clear_pointer (&self->gathered[i], g_free);
}

void
trendline_fold_sums_free (TrendlineFoldSums *self)
{
  gsize i;

  for (i = 0; i < N_FOLDS; i++)
    g_clear_object (&self->states[i]);
  free_gathered (self);
  g_rand_free (self->random);
  g_free (self);
}

static gsize
deal (TrendlineFoldSums *self)
{
  gsize i;

  if (self->n_folds == 1)
    return 0;
  if (self->n_dealt % N_FOLDS == 0)
    for (i = N_FOLDS - 1; i > 0; i--)
      {
        const gsize other = g_rand_int (self->random) % (i + 1);
        const gsize fold = self->order[i];

        self->order[i] = self->order[other];
        self->order[other] = fold;
      }

  return self->order[self->n_dealt++ % N_FOLDS];
}

/* A tensor of numbers that stay where they are. */
static AprTensor *
view (const double *numbers, gsize n_rows, gsize n_columns, gsize n_dims, GError **error)
{
  const gsize shape[] = { n_rows, n_columns };
  g_autoptr (GBytes) bytes = g_bytes_new_static (numbers, n_rows * n_columns * sizeof *numbers);

  return apr_tensor_new_from_bytes (APR_DTYPE_F64, shape, n_dims, bytes, error);
}

/* Sums what is gathered of a fold. */
static gboolean
sum (TrendlineFoldSums *self, gsize fold, GCancellable *cancellable, GError **error)
{
  const double *gathered = self->gathered[fold];
  const gsize n = self->n_gathered[fold];
  AprCrossProducts **state = &self->states[fold];
  g_autoptr (AprTensor) x = view (gathered, n, self->n_features, 2, error);
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;

  gathered += self->n_rows * self->n_features;
  y = x != NULL ? view (gathered, n, 1, 1, error) : NULL;
  if (y != NULL && self->has_weights)
    weights = view (gathered + self->n_rows, n, 1, 1, error);
  if (y == NULL || (weights == NULL && self->has_weights))
    return FALSE;
  if (*state == NULL)
    *state = apr_cross_products_new (self->n_features, 1, error);
  self->n_gathered[fold] = 0;
  self->limits[fold] = self->n_rows;

  return *state != NULL && apr_cross_products_update (*state, x, y, weights, cancellable, error);
}

static gboolean
ensure_room (TrendlineFoldSums *self, gsize fold, GError **error)
{
  const gsize n_columns = self->n_features + 2;

  if (self->gathered[fold] != NULL)
    return TRUE;
  self->n_rows = MAX (GATHERED / sizeof (double) / n_columns, 1);
  /* Folds grow alike. To sum them in turn, and not all at once, gives the reader time to go on meanwhile. */
  self->limits[fold] = MAX (self->n_rows * (fold + 1) / N_FOLDS, 1);
  self->gathered[fold] = g_try_malloc_n (self->n_rows, n_columns * sizeof (double));
  if (self->gathered[fold] == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, _ ("There is no memory for rows of the table"));

  return self->gathered[fold] != NULL;
}

gboolean
trendline_fold_sums_add (TrendlineFoldSums *self,
                         AprTensor *x,
                         AprTensor *y,
                         AprTensor *weights,
                         GCancellable *cancellable,
                         GError **error)
{
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  const double *features = apr_tensor_get_doubles (x, NULL, error);
  const double *targets = features != NULL ? apr_tensor_get_doubles (y, NULL, error) : NULL;
  const double *row_weights =
    targets != NULL && weights != NULL ? apr_tensor_get_doubles (weights, NULL, error) : NULL;
  gsize i;

  if (targets == NULL || (row_weights == NULL && weights != NULL))
    return FALSE;

  self->n_features = shape[1];
  if (self->n_features > MAX_FEATURES)
    self->n_folds = 1;
  self->has_weights = weights != NULL;
  for (i = 0; i < shape[0]; i++)
    {
      const gsize fold = row_weights != NULL && row_weights[i] == 0 ? 0 : deal (self);
      double *to;

      if (!ensure_room (self, fold, error))
        return FALSE;
      self->roots[fold] = hypot (self->roots[fold], row_weights != NULL ? sqrt (row_weights[i]) : 1);
      to = self->gathered[fold];
      memcpy (to + self->n_gathered[fold] * shape[1], features + i * shape[1], shape[1] * sizeof *to);
      to += self->n_rows * shape[1] + self->n_gathered[fold];
      to[0] = targets[i];
      if (row_weights != NULL)
        to[self->n_rows] = row_weights[i];
      if (++self->n_gathered[fold] == self->limits[fold] && !sum (self, fold, cancellable, error))
        return FALSE;
    }

  return TRUE;
}

AprCrossProducts *
trendline_fold_sums_finish (TrendlineFoldSums *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprCrossProducts) total = NULL;
  gsize i;

  for (i = 0; i < N_FOLDS; i++)
    if (self->n_gathered[i] > 0 && !sum (self, i, cancellable, error))
      return NULL;
  free_gathered (self);

  for (i = 0; i < N_FOLDS; i++)
    {
      if (self->states[i] == NULL)
        continue;
      if (total == NULL)
        total = apr_cross_products_copy (self->states[i]);
      else if (!apr_cross_products_merge (total, self->states[i], error))
        return NULL;
    }

  return g_steal_pointer (&total);
}

double
trendline_fold_sums_combine (TrendlineFoldSums *self, AprTensor *errors)
{
  double error = 0;
  double root = 0;
  gsize i;

  for (i = 0; i < N_FOLDS; i++)
    root = hypot (root, self->roots[i]);
  for (i = 0; i < N_FOLDS; i++)
    error = hypot (error, apr_tensor_get_double (errors, i, NULL) * (self->roots[i] / root));

  return error;
}

gboolean
trendline_fold_sums_check_features (gsize n_features, GError **error)
{
  if (n_features > MAX_FEATURES)
    g_set_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_MANY_FEATURES,
                 _ ("There are too many features to tell how well new rows are predicted."));

  return n_features <= MAX_FEATURES;
}

AprFolds *
trendline_fold_sums_create_folds (TrendlineFoldSums *self, GError **error)
{
  gsize i;

  if (!trendline_fold_sums_check_features (self->n_features, error))
    return NULL;
  for (i = 0; i < N_FOLDS; i++)
    if (self->states[i] == NULL || apr_cross_products_get_n_samples (self->states[i]) == 0)
      {
        g_set_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_FEW_ROWS,
                     _ ("There are too few rows to tell how well new rows are predicted."));
        return NULL;
      }

  return apr_folds_new_from_cross_products (self->states, N_FOLDS, error);
}
