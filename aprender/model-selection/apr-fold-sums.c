/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-folds-private.h"

#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"

/* A state of few samples keeps them, and is made a sum where it is added to one, which takes as long as many samples
 * do: so many are put together first. */
#define FEW_SAMPLES 64

/* What has been added up so far. */
typedef struct
{
  AprCrossProducts *total; /* (owned) (nullable) */
  AprCrossProducts *few;   /* (owned) (nullable) of samples that are not in it yet */
} Total;

static void
total_clear (Total *self)
{
  g_clear_object (&self->total);
  g_clear_object (&self->few);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Total, total_clear)

static gboolean
add_to (AprCrossProducts **sum, AprCrossProducts *state, GCancellable *cancellable, GError **error)
{
  if (*sum != NULL)
    return apr_cross_products_combine (*sum, state, 1, cancellable, error);

  *sum = apr_cross_products_copy (state);
  return TRUE;
}

static gboolean
flush (Total *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprCrossProducts) few = g_steal_pointer (&self->few);

  return few == NULL || add_to (&self->total, few, cancellable, error);
}

static gboolean
add (Total *self, AprCrossProducts *state, GCancellable *cancellable, GError **error)
{
  if (apr_cross_products_get_rows (state) == NULL)
    return add_to (&self->total, state, cancellable, error);

  return add_to (&self->few, state, cancellable, error) &&
         (apr_cross_products_get_n_samples (self->few) < FEW_SAMPLES || flush (self, cancellable, error));
}

/* Says which state does not fit the others; a lack of memory, or being cancelled, is a matter of none. */
static void
prefix_error (gsize state, GError **error)
{
  if (error != NULL && !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      !g_error_matches (*error, APR_ERROR, APR_ERROR_NO_MEMORY))
    g_prefix_error (error, "Fold %" G_GSIZE_FORMAT " (counted from 0): ", state);
}

AprFoldSums *
apr_fold_sums_new (AprCrossProducts **states, gsize n_states, const AprRun *run, GError **error)
{
  g_autoptr (AprFoldSums) self = g_atomic_rc_box_new0 (AprFoldSums);
  g_auto (Total) total = { NULL };
  gsize i;

  self->states = g_try_new0 (AprCrossProducts *, n_states);
  if (self->states == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " folds",
                   n_states);
      return NULL;
    }

  for (i = 0; i < n_states; i++)
    {
      AprCrossProducts *state = apr_cross_products_copy (states[i]);

      self->states[self->n_states++] = state;
      if (!apr_cross_products_set_identity (state, NULL, error) ||
          !add (&total, state, run->cancellable, error))
        {
          prefix_error (i, error);
          return NULL;
        }
      apr_run_report (run, (double) (i + 1) / (double) n_states);
    }
  if (!flush (&total, run->cancellable, error))
    return NULL;
  self->total = g_steal_pointer (&total.total);

  return g_steal_pointer (&self);
}

static void
clear (gpointer data)
{
  AprFoldSums *self = data;
  gsize i;

  for (i = 0; i < self->n_states; i++)
    g_object_unref (self->states[i]);
  g_free (self->states);
  g_clear_object (&self->total);
}

void
apr_fold_sums_unref (AprFoldSums *self)
{
  g_atomic_rc_box_release_full (self, clear);
}

/* One summation of all groups. */
typedef struct
{
  AprFolds *folds; /* (unowned) */
  AprPrecision precision;
  AprRun run;
  AprCrossProducts **states; /* (owned) of each group */
  GError **errors;           /* (owned) (nullable) of each group */
  GThread *caller;           /* (unowned) who hears of the progress */
  gsize n_done;              /* atomic: rows */
} Summation;

static void
summation_clear (Summation *self)
{
  gsize i;

  for (i = 0; i < self->folds->groups.n_groups; i++)
    {
      if (self->states != NULL)
        g_clear_object (&self->states[i]);
      if (self->errors != NULL)
        g_clear_error (&self->errors[i]);
    }
  g_free (self->states);
  g_free (self->errors);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Summation, summation_clear)

static gboolean
add_rows (Summation *self, gsize group, gsize first, gsize n_rows, const AprRun *run, GError **error)
{
  AprFolds *folds = self->folds;
  g_autoptr (AprTensor) x = apr_folds_gather_group (folds, 0, group, first, n_rows, run->cancellable, error);
  g_autoptr (AprTensor) y =
    x != NULL ? apr_folds_gather_group (folds, 1, group, first, n_rows, run->cancellable, error) : NULL;
  g_autoptr (AprTensor) weights =
    y != NULL ? apr_folds_gather_group (folds, 2, group, first, n_rows, run->cancellable, error) : NULL;

  return y != NULL && (weights != NULL || folds->data[2] == NULL) &&
         apr_cross_products_update_with (self->states[group], x, y, weights, self->precision, run, error);
}

static void
sum_part (gpointer data, gsize group, gsize n_groups)
{
  Summation *self = data;
  AprFolds *folds = self->folds;
  double n_all = (double) folds->groups.n_rows;
  AprRun alone = { .cancellable = self->run.cancellable };
  const gsize *shape = apr_tensor_get_shape (folds->data[0], NULL);
  gsize n_rows = apr_row_groups_count (&folds->groups, group);
  gsize n_at_once = MIN (apr_folds_count_at_once (folds), n_rows);
  gsize first;

  if (apr_run_is_cancelled (&self->run))
    return;

  self->states[group] =
    apr_cross_products_new (shape[1], apr_estimator_count_targets (folds->data[1]), &self->errors[group]);
  for (first = 0; first < n_rows && self->errors[group] == NULL; first += n_at_once)
    {
      gsize n = MIN (n_at_once, n_rows - first);
      double done = (double) g_atomic_pointer_get (&self->n_done);
      AprRun run = g_thread_self () == self->caller
                   ? apr_run_get_part (&self->run, done / n_all, (done + (double) n) / n_all)
                   : alone;

      run.n_threads = MAX (self->run.n_threads / (guint) MIN (n_groups, G_MAXUINT), 1);
      if (!add_rows (self, group, first, n, &run, &self->errors[group]))
        return;
      (void) g_atomic_pointer_add (&self->n_done, (gssize) n);
      apr_run_report (&run, 1);
    }
}

/* Fails with the first error, which may be of a row that is no longer where it was. */
static gboolean
check_errors (const Summation *self, GError **error)
{
  AprFolds *folds = self->folds;
  AprRows rows[3];
  gsize i;

  if (g_cancellable_set_error_if_cancelled (self->run.cancellable, error))
    return FALSE;

  for (i = 0; i < folds->groups.n_groups && self->errors[i] == NULL; i++)
    ;
  if (i == folds->groups.n_groups)
    return TRUE;
  if (!g_error_matches (self->errors[i], APR_ERROR, APR_ERROR_NOT_FINITE))
    {
      g_propagate_error (error, g_steal_pointer (&self->errors[i]));
      return FALSE;
    }

  apr_folds_init_rows (folds, rows);
  apr_rows_set_error (&rows[0], &rows[1], folds->data[2] != NULL ? &rows[2] : NULL, error);
  return FALSE;
}

static AprFoldSums *
sum (AprFolds *self, AprPrecision precision, const AprRun *run, GError **error)
{
  gsize n_groups = self->groups.n_groups;
  g_auto (Summation) summation = {
    .folds = self, .precision = precision, .run = apr_run_get_part (run, 0, 0.9), .caller = g_thread_self ()
  };
  const AprRun adding = apr_run_get_part (run, 0.9, 1);
  AprFoldSums *sums;
  gsize i;

  if (self->data[2] != NULL)
    {
      AprRows rows[3];

      apr_folds_init_rows (self, rows);
      if (!apr_rows_check_weights (&rows[2], error))
        return NULL;
    }

  summation.states = g_try_new0 (AprCrossProducts *, n_groups);
  summation.errors = g_try_new0 (GError *, n_groups);
  if (summation.states == NULL || summation.errors == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " folds",
                   n_groups);
      return NULL;
    }

  apr_parallel_run_parts (sum_part, &summation, (guint) MIN (run->n_threads, n_groups), n_groups);
  if (!check_errors (&summation, error))
    return NULL;

  sums = apr_fold_sums_new (summation.states, n_groups, &adding, error);
  if (sums != NULL)
    {
      /* Samples that are in no fold are in the total alone. */
      gsize n_outside = n_groups - self->n_folds;

      for (i = 0; i < n_outside; i++)
        g_object_unref (sums->states[i]);
      sums->n_states = self->n_folds;
      memmove (sums->states, sums->states + n_outside, self->n_folds * sizeof *sums->states);
    }

  return sums;
}

/* Where sums of a precision are kept. */
static AprFoldSums **
get_place (AprFolds *self, AprPrecision precision)
{
  return &self->sums[self->data[0] != NULL && precision == APR_PRECISION_DOUBLE ? 1 : 0];
}

static AprFoldSums *
ref_kept (AprFolds *self, AprPrecision precision)
{
  AprFoldSums *sums;

  g_mutex_lock (&self->lock);
  sums = *get_place (self, precision);
  if (sums != NULL)
    g_atomic_rc_box_acquire (sums);
  g_mutex_unlock (&self->lock);

  return sums;
}

gboolean
apr_folds_have_sums (AprFolds *self, AprPrecision precision)
{
  g_autoptr (AprFoldSums) kept = ref_kept (self, precision);

  return kept != NULL;
}

AprFoldSums *
apr_folds_ref_sums (AprFolds *self, AprPrecision precision, const AprRun *run, GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  AprFoldSums *sums = ref_kept (self, precision);
  AprFoldSums **place = get_place (self, precision);

  if (sums != NULL)
    return sums;

  /* Two threads that come here at once do the same work, so that each can be cancelled. */
  sums = sum (self, precision, run, error);
  if (sums == NULL)
    return NULL;

  g_mutex_lock (&self->lock);
  if (*place == NULL)
    *place = g_atomic_rc_box_acquire (sums);
  g_mutex_unlock (&self->lock);

  return sums;
}
