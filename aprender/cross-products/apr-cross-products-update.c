/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/base/apr-task-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"

/* Updates: samples that are added to a state. All that can fail is worked out first, and then the state changes. */

/* Products that take so little time that nobody can wish to cancel them. */
#define MAX_PRODUCTS_IN_PLACE (1 << 22)

/* One update: what is to be added, and what the state will be then. */
typedef struct
{
  AprTensor *x;             /* (owned) (nullable) with y; or: */
  AprTensor *y;             /* (owned) (nullable) */
  const AprRows *x_columns; /* (unowned) (nullable) with y_columns */
  const AprRows *y_columns; /* (unowned) (nullable) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  AprPrecision precision;

  AprExactSums *sums;  /* (owned) (nullable) those of all samples, or: */
  AprSampleRows *rows; /* (owned) (nullable) all samples; neither where there are no samples to add */
  guint64 n_samples;
  AprWeightLogs weight_logs;
} Update;

static void
update_clear (Update *self)
{
  g_clear_pointer (&self->x, apr_tensor_unref);
  g_clear_pointer (&self->y, apr_tensor_unref);
  g_clear_pointer (&self->sample_weight, apr_tensor_unref);
  g_clear_pointer (&self->sums, apr_exact_sums_unref);
  g_clear_pointer (&self->rows, apr_sample_rows_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Update, update_clear)

static void
update_free (gpointer data)
{
  update_clear (data);
  g_free (data);
}

static Update
update_init (AprTensor *x, AprTensor *y, AprTensor *sample_weight, AprPrecision precision)
{
  return (Update){ .x = x != NULL ? apr_tensor_ref (x) : NULL,
                   .y = y != NULL ? apr_tensor_ref (y) : NULL,
                   .sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL,
                   .precision = precision };
}

static gsize
update_get_n_rows (const Update *self)
{
  return self->x_columns != NULL ? self->x_columns->n_rows : apr_tensor_get_shape (self->x, NULL)[0];
}

/* The weights have been checked. */
static gboolean
update_count_samples (Update *self, AprCrossProducts *state, const AprRun *run, GError **error)
{
  guint64 n_added = update_get_n_rows (self);

  self->weight_logs = state->weight_logs;

  return (self->sample_weight == NULL ||
          apr_weight_logs_add (&self->weight_logs,
                               apr_weight_logs_of (self->sample_weight, run->n_threads, &n_added), 1,
                               error)) &&
         apr_cross_products_add_samples (state, n_added, &self->n_samples, error);
}

/* Finds the rows of all samples where the state can have them. */
static gboolean
update_find_rows (Update *self, AprCrossProducts *state, const AprRun *run, GError **error)
{
  g_autoptr (AprSampleRows) added = NULL;

  if (self->precision != APR_PRECISION_EXACT ||
      !apr_cross_products_can_have_rows (state, apr_tensor_get_shape (self->x, NULL)[0]))
    return TRUE;
  if (apr_run_set_error_if_cancelled (run, error) ||
      !apr_sample_rows_new (self->x, self->y, self->sample_weight, run->n_threads, &added, error))
    return FALSE;

  return apr_cross_products_add_rows (state, added, &self->rows, error);
}

/* Adds few rows to the sums where these are, unless others may read them meanwhile, or it takes so long that it may be
 * cancelled; then to a copy. */
static gboolean
update_add_few_rows (Update *self, AprCrossProducts *state, const AprRun *run, GError **error)
{
  gsize n = apr_tensor_get_shape (self->x, NULL)[0];
  AprRun sums_run = *run;
  gboolean in_place;

  if (!apr_exact_sums_check_rows (self->x, self->y, self->sample_weight, error) ||
      !update_count_samples (self, state, run, error))
    return FALSE;

  /* What hears of it may read or copy the state as it was, and cancel. */
  apr_run_report (run, 1);
  if (apr_run_set_error_if_cancelled (run, error))
    return FALSE;

  in_place = !apr_exact_sums_is_shared (state->sums) &&
             (double) n * (double) apr_exact_sums_get_n_entries (state->sums) < MAX_PRODUCTS_IN_PLACE;
  self->sums = state->rows == NULL && !in_place ? apr_exact_sums_copy (state->sums, error)
                                                : apr_cross_products_ref_sums (state, error);
  if (in_place)
    sums_run.cancellable = NULL;

  return self->sums != NULL &&
         apr_exact_sums_add_few_rows (self->sums, self->x, self->y, self->sample_weight, &sums_run, error);
}

/* Sums all samples beside the state, whose sums are added to theirs. */
static gboolean
update_sum (Update *self, AprCrossProducts *state, const AprRun *run, GError **error)
{
  g_autoptr (AprExactSums) before = apr_cross_products_ref_sums (state, error);

  self->sums = before != NULL ? apr_exact_sums_new (apr_exact_sums_get_n_features (state->sums),
                                                    apr_exact_sums_get_n_targets (state->sums), error)
                              : NULL;
  if (self->sums == NULL)
    return FALSE;

  if (!(self->x_columns != NULL
          ? apr_exact_sums_update_columns (self->sums, self->x_columns, self->y_columns, self->sample_weight,
                                           self->precision, run, error)
          : apr_exact_sums_update (self->sums, self->x, self->y, self->sample_weight, self->precision, run,
                                   error)) ||
      !update_count_samples (self, state, run, error))
    return FALSE;

  return apr_exact_sums_add (self->sums, before, 1, run->cancellable, error);
}

/* Works all out, while @state is what it was, or changes it as the last step. */
static gboolean
update_run (Update *self, AprCrossProducts *state, const AprRun *run, GError **error)
{
  gsize n_samples = apr_tensor_get_shape (self->x, NULL)[0];

  if (!apr_cross_products_check_widths (state, apr_tensor_get_shape (self->x, NULL)[1],
                                        apr_estimator_count_targets (self->y), "Samples", error))
    return FALSE;
  if (n_samples == 0)
    return !apr_run_set_error_if_cancelled (run, error);

  if (!update_find_rows (self, state, run, error))
    return FALSE;
  if (self->rows != NULL)
    {
      apr_run_report (run, 1);
      return !apr_run_set_error_if_cancelled (run, error) && update_count_samples (self, state, run, error);
    }

  return (self->precision == APR_PRECISION_EXACT && apr_exact_sums_are_few_rows (n_samples)
            ? update_add_few_rows
            : update_sum) (self, state, run, error);
}

static void
update_commit (Update *self, AprCrossProducts *state)
{
  if (self->sums == NULL && self->rows == NULL)
    return;

  apr_cross_products_take (state, g_steal_pointer (&self->sums), g_steal_pointer (&self->rows));
  state->n_samples = self->n_samples;
  state->weight_logs = self->weight_logs;
  state->dtype =
    MAX (state->dtype, apr_estimator_choose_dtype (self->x_columns != NULL ? self->x_columns->dtype
                                                                           : apr_tensor_get_dtype (self->x)));
  apr_cross_products_lower_precision (state, self->precision);
}

/* @reserves says whether it is a reservation, which a handler that hears of it may release at once. */
static gboolean
begin (AprCrossProducts *self, gboolean reserves, GError **error)
{
  if (!apr_cross_products_begin (self, error))
    return FALSE;

  g_atomic_int_set (&self->reserved, reserves);
  if (self->progress > 0)
    apr_cross_products_report (self, 0);
  return TRUE;
}

/* Updates in the thread of the caller. */
static gboolean
update_now (Update *update, AprCrossProducts *state, const AprRun *run, GError **error)
{
  gboolean done;

  if (!begin (state, FALSE, error))
    return FALSE;

  /* Columns have the state's widths, and no state of columns keeps samples. */
  done = (update->x_columns != NULL ? update_sum : update_run) (update, state, run, error);
  if (done)
    update_commit (update, state);
  apr_cross_products_end (state);

  return done;
}

gboolean
apr_cross_products_update_columns (AprCrossProducts *self,
                                   const AprRows *x,
                                   const AprRows *y,
                                   AprTensor *sample_weight,
                                   GCancellable *cancellable,
                                   GError **error)
{
  g_auto (Update) update = update_init (NULL, NULL, sample_weight, self->precision);
  const AprRun run = { .n_threads = self->n_threads, .cancellable = cancellable };

  update.x_columns = x;
  update.y_columns = y;

  return update_now (&update, self, &run, error);
}

gboolean
apr_cross_products_can_have_columns (AprCrossProducts *self)
{
  gsize n_columns = apr_exact_sums_get_n_columns (self->sums);

  /* Columns are in the byte order of this processor where they lie, and numbers are read in that of files. */
  return G_BYTE_ORDER == G_LITTLE_ENDIAN && !apr_cross_products_can_have_rows (self, 0) &&
         apr_sums_kernel_get_residues (apr_sums_kernel_choose (), G_MAXSIZE, n_columns, FALSE, FALSE) == NULL;
}

gboolean
apr_cross_products_update_with (AprCrossProducts *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                AprPrecision precision,
                                const AprRun *run,
                                GError **error)
{
  g_auto (Update) update = update_init (x, y, sample_weight, precision);

  return update_now (&update, self, run, error);
}

static void
report_cb (double fraction, gpointer user_data)
{
  apr_cross_products_report (user_data, fraction);
}

/**
 * apr_cross_products_update:
 * @self: a state
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Adds samples, exactly unless the state is of the precision `DOUBLE`.
 *
 * Integers of 64 bits are summed exactly, even where no double equals them; each weight must equal a double.
 * An update without samples, as a part of a distributed computation may be, leaves the state as it is.
 *
 * Returns: true, or false with the state as it was: %G_IO_ERROR_PENDING while another write is under way, or the
 *   errors of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update (AprCrossProducts *self,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  double told = 0;
  AprRun run;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);

  run = (AprRun){ .n_threads = self->n_threads,
                  .cancellable = cancellable,
                  .progress = report_cb,
                  .progress_data = self,
                  .told = &told };

  return apr_estimator_check_samples (x, y, sample_weight, error) &&
         apr_cross_products_update_with (self, x, y, sample_weight, self->precision, &run, error);
}

static gboolean
write_update (AprCrossProducts *updated, gpointer data, const AprRun *run, GError **error)
{
  const Update *update = data;

  return apr_estimator_check_samples (update->x, update->y, update->sample_weight, error) &&
         apr_cross_products_update_with (updated, update->x, update->y, update->sample_weight,
                                         update->precision, run, error);
}

/**
 * apr_cross_products_update_async:
 * @self: a state
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the update has ended
 * @user_data: data to pass to @callback
 *
 * Adds samples without blocking.
 *
 * The state changes in the main context that is the caller's thread default, just before @callback is called there.
 * Until then it can be read as it was, but other writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_update_async (AprCrossProducts *self,
                                 AprTensor *x,
                                 AprTensor *y,
                                 AprTensor *sample_weight,
                                 int io_priority,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  Update update;

  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (x != NULL);

  update = update_init (x, y, sample_weight, self->precision);
  apr_cross_products_write_async (self, write_update, g_memdup2 (&update, sizeof update), update_free,
                                  apr_cross_products_update_async, io_priority, cancellable, callback,
                                  user_data);
}

/**
 * apr_cross_products_update_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.update_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.update]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_update_async, error);
}

/**
 * apr_cross_products_reserve:
 * @self: a state
 * @error: return location for an error
 *
 * Makes the state busy while a caller prepares samples, such as by reading or copying them.
 *
 * [property@Apr.CrossProducts:busy] is true and writes fail with %G_IO_ERROR_PENDING until
 * [method@Apr.CrossProducts.release], which the caller of the update calls just before the update, as
 * [method@Apr.Estimator.reserve] shows.
 *
 * Returns: true, or false with %G_IO_ERROR_PENDING while a write runs or the state is reserved already
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_reserve (AprCrossProducts *self, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  if (!begin (self, TRUE, error))
    return FALSE;

  apr_cross_products_notify_busy (self);
  return TRUE;
}

/**
 * apr_cross_products_release:
 * @self: a state that is reserved
 *
 * Ends what [method@Apr.CrossProducts.reserve] began. Nothing happens if the state is not reserved.
 *
 * Since: 0.1
 */
void
apr_cross_products_release (AprCrossProducts *self)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));

  if (!g_atomic_int_compare_and_exchange (&self->reserved, TRUE, FALSE))
    return;

  apr_cross_products_end (self);
  apr_cross_products_notify_busy (self);
}
