/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/exact-sums/apr-group-sums-private.h"
#include "aprender/linear-model/apr-group-fits-private.h"
#include "aprender/linear-model/apr-linear-solve-private.h"
#include "aprender/linear-model/apr-row-groups-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Thousands of fits to a few samples each: threads take groups, and what a thread needs to sum the samples of one
 * serves for the next. A group that is large enough for all threads is fitted by itself. */

/* Products that a group is large with. */
#define LARGE 1e7

/* The number of products that make starting a thread worthwhile, and the number that take as long as the solution for
 * one group. */
#define PRODUCTS_PER_THREAD 1e6
#define PRODUCTS_PER_GROUP 5000

/* Groups that a thread takes at least, and how many times each thread comes to take some. */
#define GROUPS_PER_PART 32
#define PARTS_PER_THREAD 64

/* One call. */
typedef struct
{
  AprLinearRegression *model; /* (unowned) */
  AprLinearOptions options;
  AprTensor *alphas; /* (owned) (nullable) */
  AprRun run;

  AprTensor *data[3]; /* (unowned) X, y and, which may be NULL, the weights */
  AprRows rows[3];    /* the same */
  AprRowGroups groups;
  gsize n_features;
  gsize n_targets;

  /* What is found: (owned) of each group. */
  gpointer coefficients; /* floats or doubles */
  gpointer intercepts;
  gint64 *n_samples;
  gint64 *ranks;
  guint8 *correctly_rounded;

  GThread *caller; /* (unowned) who hears of the progress */
  double told;
  gsize n_done; /* atomic: rows */

  gint stop; /* atomic: there is a value that is not finite or no memory, or it is cancelled */
  GMutex lock;
  GHashTable *errors; /* (owned) under the lock */
  GError
    *error; /* (owned) (nullable) under the lock: that there is no memory, which is no matter of a group */
} Call;

static void
call_clear (Call *self)
{
  g_clear_pointer (&self->alphas, apr_tensor_unref);
  g_clear_pointer (&self->errors, g_hash_table_unref);
  g_clear_error (&self->error);
  apr_row_groups_clear (&self->groups);
  g_free (self->coefficients);
  g_free (self->intercepts);
  g_free (self->n_samples);
  g_free (self->ranks);
  g_free (self->correctly_rounded);
  g_mutex_clear (&self->lock);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, call_clear)

/* What a thread keeps from one group to the next. */
typedef struct
{
  AprGroupSums *sums;  /* (owned) (nullable) */
  guint8 *gathered[3]; /* (owned) (nullable) the rows of a group that are not one after the other */
} Scratch;

static void
scratch_clear (Scratch *self)
{
  gsize i;

  apr_group_sums_free (self->sums);
  for (i = 0; i < G_N_ELEMENTS (self->gathered); i++)
    g_free (self->gathered[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scratch, scratch_clear)

static gsize
get_row_size (const AprRows *rows)
{
  return rows->n_columns * (apr_dtype_get_bits (rows->dtype) / 8);
}

/* The rows of a group, one after the other. */
static gboolean
get_rows (const Call *call, gsize which, gsize group, Scratch *scratch, AprRows *rows, GError **error)
{
  const AprRows *all = &call->rows[which];
  gsize first = call->groups.starts[group];
  gsize size = get_row_size (all);
  guint8 *to;
  gsize i;

  *rows = *all;
  rows->n_rows = apr_row_groups_count (&call->groups, group);
  rows->data = all->data + first * size;
  if (call->groups.order == NULL)
    return TRUE;

  if (scratch->gathered[which] == NULL)
    scratch->gathered[which] = apr_memory_new (call->groups.max_rows, size, "the samples of a group", error);
  rows->data = to = scratch->gathered[which];
  for (i = 0; to != NULL && i < rows->n_rows; i++, to += size)
    memcpy (to, all->data + call->groups.order[first + i] * size, size);

  return to != NULL;
}

/* The same as a tensor, which is to be freed before other rows are gathered. Returns: (transfer full) */
static AprTensor *
get_tensor (const Call *call, gsize which, const AprRows *rows)
{
  gsize shape[2] = { rows->n_rows, rows->n_columns };
  gsize first = (gsize) (rows->data - call->rows[which].data);
  g_autoptr (GBytes) all = g_bytes_ref (apr_tensor_get_bytes (call->data[which]));
  gsize size = rows->n_rows * get_row_size (rows);
  GBytes *bytes = call->groups.order == NULL ? g_bytes_new_from_bytes (all, first, size)
                                             : g_bytes_new_static (rows->data, size);

  return apr_tensor_new_unchecked (rows->dtype, shape, rows->is_matrix ? 2 : 1, shape[0] * shape[1], bytes);
}

static gboolean
is_large (const Call *call, gsize group)
{
  double n_columns = 1.0 + (double) call->n_features + (double) call->n_targets;

  return (double) apr_row_groups_count (&call->groups, group) * n_columns * n_columns > LARGE;
}

/* Fits as apr_estimator_fit () does. */
static gboolean
fit_state (
  const Call *call, const AprRows rows[3], const AprRun *run, AprLeastSquares *solution, GError **error)
{
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (call->n_features, call->n_targets, error);
  g_autoptr (AprTensor) x = get_tensor (call, 0, &rows[0]);
  g_autoptr (AprTensor) y = get_tensor (call, 1, &rows[1]);
  g_autoptr (AprTensor) weights = call->data[2] != NULL ? get_tensor (call, 2, &rows[2]) : NULL;

  return state != NULL &&
         apr_cross_products_update_with (state, x, y, weights, call->options.precision, run, error) &&
         apr_linear_solve_state (solution, state, call->alphas, &call->options.solver, run, error);
}

/* The same in one thread, faster. */
static gboolean
fit_sums (const Call *call,
          gsize group,
          const AprRows rows[3],
          const AprRun *run,
          Scratch *scratch,
          AprLeastSquares *solution,
          GError **error)
{
  const AprRowGroups *groups = &call->groups;
  const AprRows *weights = call->data[2] != NULL ? &rows[2] : NULL;
  g_autoptr (AprExactSums) sums = NULL;

  if (scratch->sums == NULL)
    scratch->sums = apr_group_sums_new (call->groups.max_rows, call->n_features, call->n_targets,
                                        weights != NULL, run->cancellable);
  sums = apr_group_sums_sum (scratch->sums, &rows[0], &rows[1], weights,
                             groups->order == NULL ? groups->n_rows - groups->starts[group + 1] : 0, error);

  return sums != NULL &&
         apr_linear_solve_sums (solution, sums, call->alphas, &call->options.solver, run, error);
}

static gboolean
can_have_sums (const Call *call, gsize group)
{
  return call->options.precision == APR_PRECISION_EXACT && !is_large (call, group) &&
         !apr_sample_rows_are_few (apr_row_groups_count (&call->groups, group), call->n_features) &&
         apr_group_sums_suit (call->groups.max_rows, call->n_features, call->n_targets);
}

static void
store (const Call *call, gpointer to, gsize group, gsize n, const double *values)
{
  gsize i;

  if (call->options.solver.dtype == APR_DTYPE_F64)
    for (i = 0; i < n; i++)
      ((double *) to)[group * n + i] = values != NULL ? values[i] : (double) NAN;
  else
    for (i = 0; i < n; i++)
      ((float *) to)[group * n + i] = values != NULL ? (float) values[i] : NAN;
}

/* Takes @error: that of the group alone, or one that ends all. */
static void
fail (Call *call, gsize group, GError *error)
{
  gboolean no_memory = g_error_matches (error, APR_ERROR, APR_ERROR_NO_MEMORY);

  if (error == NULL || no_memory || g_error_matches (error, APR_ERROR, APR_ERROR_NOT_FINITE) ||
      apr_run_is_cancelled (&call->run))
    {
      g_atomic_int_set (&call->stop, TRUE);
      g_mutex_lock (&call->lock);
      if (no_memory && call->error == NULL)
        call->error = g_steal_pointer (&error);
      g_mutex_unlock (&call->lock);
      g_clear_error (&error);
      return;
    }

  g_mutex_lock (&call->lock);
  g_hash_table_insert (call->errors, GSIZE_TO_POINTER (group), error);
  g_mutex_unlock (&call->lock);
}

/* The samples of a group but those of weight 0. */
static gint64
count_samples (const Call *call, gsize group)
{
  const AprRowGroups *groups = &call->groups;
  gint64 n = 0;
  gsize i;

  if (call->data[2] == NULL)
    return (gint64) apr_row_groups_count (groups, group);
  for (i = groups->starts[group]; i < groups->starts[group + 1]; i++)
    n += apr_tensor_get_double (call->data[2], apr_row_groups_get_row (groups, i), NULL) > 0 ? 1 : 0;

  return n;
}

static void
fit_group (Call *call, gsize group, Scratch *scratch, guint n_threads)
{
  AprRun run = { .n_threads = n_threads, .cancellable = call->run.cancellable };
  g_auto (AprLeastSquares) solution = { NULL };
  GError *error = NULL;
  AprRows rows[3] = { 0 };
  gsize i;
  gboolean fitted = TRUE;

  for (i = 0; i < G_N_ELEMENTS (rows) && fitted; i++)
    if (call->data[i] != NULL)
      fitted = get_rows (call, i, group, scratch, &rows[i], &error);
  if (fitted)
    fitted = can_have_sums (call, group) ? fit_sums (call, group, rows, &run, scratch, &solution, &error)
                                         : fit_state (call, rows, &run, &solution, &error);
  if (!fitted)
    fail (call, group, error);

  store (call, call->coefficients, group, call->n_targets * call->n_features,
         fitted ? solution.coefficients : NULL);
  store (call, call->intercepts, group, call->n_targets, fitted ? solution.intercepts : NULL);
  call->n_samples[group] = count_samples (call, group);
  call->ranks[group] = fitted ? (gint64) solution.rank : APR_RANK_UNKNOWN;
  call->correctly_rounded[group] = fitted && solution.correctly_rounded;

  (void) g_atomic_pointer_add (&call->n_done, (gssize) apr_row_groups_count (&call->groups, group));
  if (g_thread_self () == call->caller)
    apr_run_report (&call->run, (double) g_atomic_pointer_get (&call->n_done) / (double) call->groups.n_rows);
}

/* The first group that begins at @row or behind it. */
static gsize
find_group (const AprRowGroups *groups, gsize row)
{
  gsize first = 0;
  gsize end = groups->n_groups;

  while (first < end)
    {
      gsize middle = first + (end - first) / 2;

      if (groups->starts[middle] < row)
        first = middle + 1;
      else
        end = middle;
    }

  return first;
}

/* Fits the groups of some of the rows. */
static void
fit_part (gpointer data, gsize part, gsize n_parts)
{
  Call *call = data;
  const AprRowGroups *groups = &call->groups;
  double share = (double) groups->n_rows / (double) n_parts;
  gsize end =
    part + 1 == n_parts ? groups->n_groups : find_group (groups, (gsize) (share * (double) (part + 1)));
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_auto (Scratch) scratch = { NULL };
  gsize group;

  for (group = find_group (groups, (gsize) (share * (double) part)); group < end; group++)
    {
      if (g_atomic_int_get (&call->stop) || apr_run_is_cancelled (&call->run))
        return;
      if (!is_large (call, group))
        fit_group (call, group, &scratch, 1);
    }
}

static void
fit_all (Call *call)
{
  const AprRowGroups *groups = &call->groups;
  double n_columns = 1.0 + (double) call->n_features + (double) call->n_targets;
  double n_products = 0;
  gsize n_small = 0;
  guint n_threads;
  gsize group;

  for (group = 0; group < groups->n_groups; group++)
    if (!is_large (call, group))
      {
        n_products += (double) apr_row_groups_count (groups, group) * n_columns * n_columns;
        n_small++;
      }
    else if (!g_atomic_int_get (&call->stop) && !apr_run_is_cancelled (&call->run))
      {
        g_auto (Scratch) scratch = { NULL };

        fit_group (call, group, &scratch, call->options.n_threads);
      }

  n_products += (double) n_small * PRODUCTS_PER_GROUP;
  n_threads = apr_parallel_count (call->options.n_threads, n_products / PRODUCTS_PER_THREAD);
  apr_parallel_run_parts (fit_part, call, n_threads,
                          CLAMP (n_small / GROUPS_PER_PART, n_threads, PARTS_PER_THREAD * n_threads));
}

/* Moves what was found to a result. */
static AprGroupFits *
take_result (Call *call)
{
  AprTensor *tensors[APR_GROUP_FITS_N_TENSORS];
  AprDType dtype = call->options.solver.dtype;
  gsize width = dtype == APR_DTYPE_F64 ? sizeof (double) : sizeof (float);
  gsize n = call->groups.n_groups;
  gboolean is_matrix = call->rows[1].is_matrix;
  gsize shape[3] = { n, is_matrix ? call->n_targets : call->n_features, call->n_features };
  gsize intercepts_shape[2] = { n, call->n_targets };

  tensors[APR_GROUP_FITS_LABELS] = g_steal_pointer (&call->groups.labels);
  tensors[APR_GROUP_FITS_COEFFICIENTS] =
    apr_tensor_new_take (dtype, shape, is_matrix ? 3 : 2, g_steal_pointer (&call->coefficients),
                         n * call->n_targets * call->n_features * width);
  tensors[APR_GROUP_FITS_INTERCEPTS] = apr_tensor_new_take (
    dtype, intercepts_shape, 2, g_steal_pointer (&call->intercepts), n * call->n_targets * width);
  tensors[APR_GROUP_FITS_N_SAMPLES] =
    apr_tensor_new_take (APR_DTYPE_I64, &n, 1, g_steal_pointer (&call->n_samples), n * sizeof (gint64));
  tensors[APR_GROUP_FITS_RANKS] =
    apr_tensor_new_take (APR_DTYPE_I64, &n, 1, g_steal_pointer (&call->ranks), n * sizeof (gint64));
  tensors[APR_GROUP_FITS_CORRECTLY_ROUNDED] =
    apr_tensor_new_take (APR_DTYPE_BOOL, &n, 1, g_steal_pointer (&call->correctly_rounded), n);

  return apr_group_fits_new (tensors, n, g_steal_pointer (&call->errors));
}

static void
report (double fraction, gpointer user_data)
{
  const Call *call = user_data;

  apr_estimator_report_progress (APR_ESTIMATOR (call->model), fraction);
}

/* For what there is of each group. */
static gpointer
make_room (const Call *call, gsize size, GError **error)
{
  return apr_memory_new (call->groups.n_groups, size, "group fits", error);
}

/* Checks all that can be wrong without the samples' values, and makes room. */
static gboolean
prepare (Call *call, AprTensor *labels, GError **error)
{
  static const char *const names[] = { "X", "y", "sample_weight" };
  gsize n_values;
  gsize size;
  gsize i;

  if (!apr_linear_options_check (&call->options, call->alphas, error) ||
      !apr_linear_options_check_targets (call->alphas, call->n_targets, error))
    return FALSE;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    if (call->data[i] != NULL)
      apr_rows_init (&call->rows[i], names[i], call->data[i]);
  if (call->data[2] != NULL && !apr_rows_check_weights (&call->rows[2], error))
    return FALSE;

  apr_linear_options_complete (&call->options.solver,
                               apr_estimator_choose_dtype (apr_tensor_get_dtype (call->data[0])),
                               call->options.precision);
  if (!apr_row_groups_init (&call->groups, "groups", labels, error))
    return FALSE;
  if (g_size_checked_mul (&n_values, call->groups.n_groups, call->n_targets) &&
      g_size_checked_mul (&n_values, n_values, call->n_features) &&
      g_size_checked_mul (&size, n_values, sizeof (double)))
    call->coefficients = g_try_malloc (size);
  if (call->coefficients == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for the coefficients of %" G_GSIZE_FORMAT " groups, %" G_GSIZE_FORMAT
                   " targets and %" G_GSIZE_FORMAT " features",
                   call->groups.n_groups, call->n_targets, call->n_features);
      return FALSE;
    }

  return (call->intercepts = make_room (call, call->n_targets * sizeof (double), error)) != NULL &&
         (call->n_samples = make_room (call, sizeof *call->n_samples, error)) != NULL &&
         (call->ranks = make_room (call, sizeof *call->ranks, error)) != NULL &&
         (call->correctly_rounded = make_room (call, sizeof *call->correctly_rounded, error)) != NULL;
}

static gboolean
run_fit_groups (AprEstimator *estimator,
                AprEstimatorCall *arguments,
                GCancellable *cancellable,
                GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_auto (Call) call = { .model = self,
                         .data = { arguments->x, arguments->y, arguments->sample_weight },
                         .caller = g_thread_self () };

  call.alphas = apr_linear_regression_ref_kept (self, &call.options);
  g_mutex_init (&call.lock);
  call.errors = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_error_free);
  call.run = (AprRun){ .n_threads = call.options.n_threads,
                       .cancellable = cancellable,
                       .progress = report,
                       .progress_data = &call,
                       .told = &call.told };
  call.n_features = apr_tensor_get_shape (arguments->x, NULL)[1];
  call.n_targets = apr_estimator_count_targets (arguments->y);
  if (!prepare (&call, arguments->groups, error))
    return FALSE;

  fit_all (&call);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (call.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&call.error));
      return FALSE;
    }
  if (call.stop)
    {
      apr_rows_set_error (&call.rows[0], &call.rows[1], call.data[2] != NULL ? &call.rows[2] : NULL, error);
      return FALSE;
    }

  arguments->results[0] = take_result (&call);
  arguments->free_result = g_object_unref;
  return TRUE;
}

static gboolean
check_arguments (AprTensor *x, AprTensor *y, AprTensor *groups, AprTensor *sample_weight, GError **error)
{
  return apr_estimator_check_fit (x, y, sample_weight, error) &&
         apr_row_groups_check ("groups", groups, apr_tensor_get_shape (x, NULL)[0], error);
}

/**
 * apr_linear_regression_fit_groups:
 * @self: a linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @groups: the label of the group that each sample belongs to, [n_samples]: BOOL, integers, or whole numbers as F32 or
 *   F64, as an [class@Apr.TableReader] gives them
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Fits a regression to each group of samples, with the hyper-parameters of the model.
 *
 * The coefficients of each group are those of [method@Apr.Estimator.fit] of its samples alone, bit for bit, in much
 * less time: threads take groups, and little is allocated for each. The samples of a group need not follow each other,
 * but where labels ascend, none is copied.
 *
 * The model stays as it is: it has the coefficients of no group. While this runs, it is [property@Apr.Estimator:busy]
 * and tells its [property@Apr.Estimator:progress]. A group that cannot be fitted spoils no other, as
 * [class@Apr.GroupFits] says; a value that is not finite, and a weight that is none, fail the whole call with the
 * number of its row.
 *
 * Returns: (transfer full): the fits, or `NULL` with an error of [method@Apr.Estimator.fit], such as
 *   %APR_ERROR_NOT_FINITE, or with %APR_ERROR_SHAPE, %APR_ERROR_DTYPE or %APR_ERROR_RANGE where @groups are no labels
 *   of samples
 *
 * Since: 0.1
 */
AprGroupFits *
apr_linear_regression_fit_groups (AprLinearRegression *self,
                                  AprTensor *x,
                                  AprTensor *y,
                                  AprTensor *groups,
                                  AprTensor *sample_weight,
                                  GCancellable *cancellable,
                                  GError **error)
{
  AprEstimatorCall call = { .x = x, .y = y, .sample_weight = sample_weight, .groups = groups };

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);
  g_return_val_if_fail (groups != NULL, NULL);

  return check_arguments (x, y, groups, sample_weight, error) &&
             apr_estimator_update (APR_ESTIMATOR (self), run_fit_groups, &call, cancellable, error)
         ? call.results[0]
         : NULL;
}

/**
 * apr_linear_regression_fit_groups_async:
 * @self: a linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @groups: the label of the group that each sample belongs to, [n_samples]: BOOL, integers, or whole numbers as F32 or
 *   F64, as an [class@Apr.TableReader] gives them
 * @sample_weight: (nullable): how much each sample counts, [n_samples]; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the fits have ended
 * @user_data: data to pass to @callback
 *
 * Fits a regression to each group of samples without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_fit_groups_async (AprLinearRegression *self,
                                        AprTensor *x,
                                        AprTensor *y,
                                        AprTensor *groups,
                                        AprTensor *sample_weight,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data)
{
  AprEstimatorCall *call;
  GError *error = NULL;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (x != NULL);
  g_return_if_fail (groups != NULL);

  if (!check_arguments (x, y, groups, sample_weight, &error))
    {
      apr_estimator_return_error (APR_ESTIMATOR (self), apr_linear_regression_fit_groups_async, error,
                                  callback, user_data);
      return;
    }

  call = apr_estimator_call_new (x, y, sample_weight);
  call->groups = apr_tensor_ref (groups);
  call->run = run_fit_groups;
  call->is_update = TRUE;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_fit_groups_async, io_priority,
                            cancellable, callback, user_data);
}

/**
 * apr_linear_regression_fit_groups_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.fit_groups_async] began.
 *
 * Returns: (transfer full): the fits, or `NULL` with an error as of [method@Apr.LinearRegression.fit_groups]
 *
 * Since: 0.1
 */
AprGroupFits *
apr_linear_regression_fit_groups_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_fit_groups_async, error);
}
