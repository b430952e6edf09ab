/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* With W the sum of the weights, S those of the features, and root' root the inverse of their centred products times
 * W, the variance of the prediction for a row x of features is σ²/W (1 + |root u|²), where u = W x - S. Without an
 * intercept it is σ² |root x|². One more sample adds σ². The design's columns are in scales of their own, and so is
 * u. In double, W and the scales are taken to the root, and u is x but for the means. */

/* Rows that are worked on at once: a tile, which stays in the nearest cache, or where there are many features a few,
 * so that the root is read less often. */
#define TILE APR_DOUBLE_DOUBLE_COLUMNS
#define SPAN APR_DOUBLE_DOUBLE_SQUARES_SPAN
#define MAX_TILES 4
#define MANY_FEATURES 128

/* So much of the exponents of doubles that squares of what is below it, and its sums, are no infinities. */
#define MAX_EXPONENT 100

/* Variances that are computed in double. */
#define MIN_VARIANCE 0x1p-400
#define MAX_VARIANCE 0x1p400

/* How far, relative to its parts, a dependent feature may be from what the others make of it: more than the rank
 * tolerance lets a sample of the fit be, and more than rounding the row makes it. */
#define ESTIMABLE 1e-9
#define ESTIMABLE_ROUNDED 1e-6

/* The factors of a relation err by up to 2^-55 of its length. What rounding leaves of a factor of 0 should decide
 * nothing. So the size of a part grows by this much of the length, times the distance from the mean: times 1e-9, that
 * is still above 2^-50. */
#define RELATION_MARGIN 0x1p-20

/* A mean in double-double errs by less than this times 2^-53 of it. */
#define MEAN_ROUNDING 0x1p-48

/* What rounding may change in a variance computed in double, relative to it. */
#define TOLERANCE 0x1p-36

typedef struct
{
  const AprInference *inference;
  const AprRun *run;
  const AprDoubleDoubleKernel *kernel;
  gsize n; /* features by position */
  gsize n_features;
  AprRows rows;
  const float *floats;   /* (unowned) (nullable) the same, where they are floats */
  const double *doubles; /* (unowned) (nullable) the same, where they are doubles */

  const AprInferencePredictor *predictor; /* (nullable) */
  double *predictions;                    /* (unowned) by row and factor */

  mpf_t constant; /* what is added to |root u|² */
  gsize n_factors;
  mpf_t *factors; /* (unowned) what a variance is to be multiplied with */
  double *errors; /* (unowned) by row, the roots of that for each factor */

  /* The same in double, in which most rows are computed. */
  gboolean in_double;
  double double_constant;
  double *roots;          /* (owned) those of the factors */
  AprDoubleDouble *means; /* (owned) by position */
  double *scales;         /* (owned) by position: powers of two that bring u into the root's scale */
  double *root;           /* (owned) packed, times these */
  double weight_square;   /* what the squares are to be multiplied with */
  double distance;        /* how far rounding may bring the root u, for u of length 1 */
  double least_square;    /* the square of the length of u, in W, that rounding the means counts as */
  gboolean certain;       /* rounding is harmless in all rows that are neither too large nor too small */

  gsize n_rows;
  gsize n_tiles; /* in a block */
  gsize n_blocks;
  gint next; /* (atomic) */
} Intervals;

static gsize
get_feature (const Intervals *self, gsize position)
{
  return self->inference->term[self->inference->first + position] - self->inference->first;
}

/* The nearest double. */
static double
read_value (const Intervals *self, gsize row, gsize position)
{
  return apr_dtype_read_double (self->rows.dtype, self->rows.data,
                                row * self->n_features + get_feature (self, position));
}

/* Without an intercept the unit of the products goes into u, so that it is neither very large nor very small. */
static gint64
get_scale (const AprInference *self, gsize position)
{
  return self->scale[self->first + position] + (self->first == 0 ? self->exponent / 2 : 0);
}

static void
forget_row (Intervals *self, gsize row)
{
  gsize i;

  for (i = 0; i < self->n_factors; i++)
    self->errors[row * self->n_factors + i] = NAN;
}

/* The long way, for rows of any size. */
static void
predict_row (Intervals *self, gsize row)
{
  const AprInference *inference = self->inference;
  AprInverse inverse = { .n = self->n, .root = inference->root };
  g_autofree AprDoubleDouble *u = g_new (AprDoubleDouble, self->n + 1);
  g_autofree AprDoubleDouble *product = g_new (AprDoubleDouble, self->n + 1);
  g_autofree gint64 *exponents = g_new0 (gint64, self->n + 1);
  AprDoubleDouble sum = { 0, 0 };
  gint64 shift = G_MININT16; /* small rows are made larger */
  gboolean is_zero = TRUE;
  mpf_t variance;
  mpf_t number;
  mpf_t part;
  gsize i;

  for (i = 0; i < self->n; i++)
    if (!isfinite (read_value (self, row, i)))
      {
        forget_row (self, row);
        return;
      }

  mpf_init2 (variance, APR_INFERENCE_PRECISION);
  mpf_init2 (number, APR_INFERENCE_PRECISION);
  mpf_init2 (part, APR_INFERENCE_PRECISION);
  for (i = 0; i < self->n; i++)
    {
      mpf_set_d (number, read_value (self, row, i));
      if (apr_rows_may_exceed_double (&self->rows))
        {
          double rest;

          apr_rows_get_rests (&self->rows, get_feature (self, i), row, 1, &rest);
          mpf_set_d (part, rest);
          mpf_add (number, number, part);
        }
      mpf_mul (number, number, inference->weight);
      apr_inference_shift (number, number, -get_scale (inference, i));
      mpf_set_d (part, inference->centre[i].high);
      mpf_sub (number, number, part);
      mpf_set_d (part, inference->centre[i].low);
      mpf_sub (number, number, part);
      mpf_set_d (part, inference->centre_rest[i]);
      mpf_sub (number, number, part);
      u[i] = apr_inference_split (number, &exponents[i]);
      if (u[i].high != 0)
        {
          shift = MAX (shift, exponents[i] - MAX_EXPONENT);
          is_zero = FALSE;
        }
    }
  for (i = 0; i < self->n; i++)
    {
      int exponent = (int) CLAMP (exponents[i] - shift, -5000, 5000);

      u[i] = (AprDoubleDouble){ ldexp (u[i].high, exponent), ldexp (u[i].low, exponent) };
    }
  if (!is_zero)
    apr_inverse_multiply_root (&inverse, u, product);
  for (i = 0; i < self->n && !is_zero; i++)
    sum = apr_dd_add (sum, apr_dd_multiply (product[i], product[i]));

  if (!isfinite (sum.high))
    forget_row (self, row);
  for (i = 0; i < self->n_factors && isfinite (sum.high); i++)
    {
      mpf_set_d (variance, sum.high);
      mpf_set_d (number, sum.low);
      mpf_add (variance, variance, number);
      apr_inference_shift (variance, variance, 2 * shift);
      mpf_add (variance, variance, self->constant);
      mpf_mul (variance, variance, self->factors[i]);
      mpf_sqrt (variance, variance);
      self->errors[row * self->n_factors + i] = apr_inference_to_double (variance, 0);
    }
  mpf_clear (variance);
  mpf_clear (number);
  mpf_clear (part);
}

/* The features of rows by position: those of X in place, or copied to @copy, with zeros for rows that are not there. */
static AprPlainRows
get_rows (const Intervals *self, gsize row, gsize n_rows, double *copy)
{
  gsize i;
  gsize j;

  if (n_rows == TILE && self->n == self->n_features && self->doubles != NULL)
    return (AprPlainRows){ .doubles = self->doubles + row * self->n, .stride = self->n };
  if (n_rows == TILE && self->n == self->n_features && self->floats != NULL)
    return (AprPlainRows){ .floats = self->floats + row * self->n, .stride = self->n };

  for (j = 0; j < n_rows; j++)
    for (i = 0; i < self->n; i++)
      copy[j * self->n + i] = read_value (self, row + j, i);
  memset (copy + n_rows * self->n, 0, (TILE - n_rows) * self->n * sizeof *copy);

  return (AprPlainRows){ .doubles = copy, .stride = self->n };
}

static const guint8 *
find_row (const Intervals *self, gsize row)
{
  gsize row_size = self->n_features * (apr_dtype_get_bits (self->rows.dtype) / 8);

  return self->rows.data + MIN (row, self->n_rows) * row_size;
}

/* Centres the whole numbers of a tile that are no doubles. What the doubles lack of them and of the means goes
 * together first, as it may be most of the difference. */
static void
centre_rests (const Intervals *self, double *u, gsize row, gsize n_rows)
{
  double rests[TILE];
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    if (apr_rows_get_rests (&self->rows, get_feature (self, i), row, n_rows, rests))
      for (j = 0; j < n_rows; j++)
        if (rests[j] != 0)
          {
            AprDoubleDouble low = apr_dd_two_sum (rests[j], -self->means[i].low);

            u[i * TILE + j] = ((read_value (self, row + j, i) - self->means[i].high) + low.high) + low.low;
          }
}

/* The squares of what the columns of @u are in the scale of the root, in W. */
static void
add_lengths (const Intervals *self, const double *u, double *lengths)
{
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    for (j = 0; j < TILE; j++)
      {
        double value = u[i * TILE + j] * self->scales[i];

        lengths[j] += value * value;
      }
}

/* Whether the square of the root u, which is part of @variance, is as good as it must be, by the square of the length
 * of u where it matters. */
static gboolean
is_good (const Intervals *self, double variance, double length)
{
  /* Where the rounded root u is at a distance d from the exact one, its square may be off by 2 |root u| d + d², which
   * is less than 3 d √variance while d is less than √variance. */
  return variance > MIN_VARIANCE && variance < MAX_VARIANCE &&
         (self->certain || 9 * self->distance * self->distance * self->weight_square * length <=
                             TOLERANCE * TOLERANCE * variance);
}

static void
predict_blocks (gpointer data, gsize part, gsize n_parts)
{
  Intervals *self = data;
  gsize block_size = self->n_tiles * TILE;
  double *u = g_aligned_alloc (self->n + 1, block_size * sizeof (double), 64);
  double *copy = g_aligned_alloc (self->n + 1, TILE * sizeof (double), 64);
  double squares[MAX_TILES * TILE];
  double lengths[MAX_TILES * TILE];
  double products[MAX_TILES * TILE];
  const double *coefficients = self->in_double && self->predictor != NULL && self->n == self->n_features
                               ? self->predictor->coefficients
                               : NULL;
  gsize block;

  while ((block = (gsize) g_atomic_int_add (&self->next, 1)) < self->n_blocks &&
         !apr_run_is_cancelled (self->run))
    {
      gsize first = block * block_size;
      gsize n_rows = MIN (block_size, self->n_rows - first);
      gsize n_tiles = (n_rows + TILE - 1) / TILE;
      gsize i;
      gsize j;

      for (i = 0; i < G_N_ELEMENTS (lengths); i++)
        lengths[i] = self->least_square;
      memset (squares, 0, sizeof squares);
      if (self->in_double)
        {
          for (i = 0; i < n_tiles; i++)
            {
              gsize n_tile_rows = MIN (TILE, n_rows - i * TILE);
              AprPlainRows rows = get_rows (self, first + i * TILE, n_tile_rows, copy);
              double *tile = u + i * self->n * TILE;

              self->kernel->centre_rows (tile, products + i * TILE, rows, self->means, coefficients, self->n);
              if (apr_rows_may_exceed_double (&self->rows))
                centre_rests (self, tile, first + i * TILE, n_tile_rows);
              if (!self->certain)
                add_lengths (self, tile, lengths + i * TILE);
            }
          self->kernel->add_product_squares (squares, self->root, u, self->n, n_tiles,
                                             find_row (self, first + block_size),
                                             find_row (self, first + 2 * block_size));
        }
      if (self->predictor != NULL)
        self->predictor->predict (self->predictor->data, first, n_rows,
                                  coefficients != NULL ? products : NULL,
                                  self->predictions + first * self->n_factors);
      for (j = 0; j < n_rows; j++)
        {
          double variance = squares[j] * self->weight_square + self->double_constant;

          if (!self->in_double || !is_good (self, variance, lengths[j]))
            predict_row (self, first + j);
          else
            for (i = 0; i < self->n_factors; i++)
              self->errors[(first + j) * self->n_factors + i] = sqrt (variance) * self->roots[i];
        }
    }
  g_aligned_free (u);
  g_aligned_free (copy);
}

/* Packs the root, and finds out how much rounding may matter. */
static void
prepare_root (Intervals *self)
{
  const AprInference *inference = self->inference;
  double squares = 0;
  gsize i;
  gsize j;

  self->root =
    apr_run_new_pages (self->run, apr_packed_root_offset (self->n, self->n, 0) + 1, sizeof (double), TRUE);
  if (self->root == NULL)
    return;
  for (i = 0; i < self->n; i++)
    {
      /* In the root and in u, in sums of a span, in the sum of these. */
      gsize n_roundings = MIN (i, SPAN) + i / SPAN + 8;
      double square = 0;

      for (j = 0; j <= i; j++)
        {
          double entry = inference->root.high[i * inference->root.stride + j];

          self->root[apr_packed_root_offset (self->n, i, j)] = entry * self->scales[j];
          square += entry * entry;
        }
      squares += square * (double) (n_roundings * n_roundings);
    }
  self->distance = 0x1p-53 * sqrt (squares);

  /* The diagonal of the scaled products is below 2, so their trace, the sum of the squares of the root's inverse, is
   * below 2 n: that times |root u|² is not less than |u|². Where there are means, the variance is at least 1. */
  self->certain =
    3 * self->distance * sqrt (2 * (double) self->n + self->weight_square * self->least_square) <= TOLERANCE;
}

/* Rounds what the rows are computed from, where it is neither too large nor too small for doubles. */
static void
prepare_doubles (Intervals *self)
{
  const AprInference *inference = self->inference;
  gint64 weight_exponent;
  AprDoubleDouble weight = apr_inference_split (inference->weight, &weight_exponent);
  gsize i;

  self->double_constant = apr_inference_to_double (self->constant, 0);
  self->in_double = self->double_constant < MAX_VARIANCE;
  self->roots = g_new (double, self->n_factors);
  for (i = 0; i < self->n_factors; i++)
    {
      mpf_t root;

      mpf_init2 (root, APR_INFERENCE_PRECISION);
      mpf_sqrt (root, self->factors[i]);
      self->roots[i] = apr_inference_to_double (root, 0);
      mpf_clear (root);
      self->in_double =
        self->in_double && (self->roots[i] == 0 || (self->roots[i] > 0x1p-400 && self->roots[i] < 0x1p400));
    }

  /* W, but for its exponent, is left out of u. */
  self->weight_square = weight.high * weight.high;
  self->means = g_new (AprDoubleDouble, self->n + 1);
  self->scales = g_new (double, self->n + 1);
  for (i = 0; i < self->n; i++)
    {
      gint64 exponent = weight_exponent - get_scale (inference, i);
      AprDoubleDouble mean = apr_dd_divide (inference->centre[i], weight);
      double rounding;

      self->in_double = self->in_double && ABS (exponent) < 400;
      exponent = CLAMP (exponent, -400, 400);
      self->scales[i] = ldexp (1, (int) exponent);
      self->means[i] =
        (AprDoubleDouble){ ldexp (mean.high, (int) -exponent), ldexp (mean.low, (int) -exponent) };
      rounding = MEAN_ROUNDING * mean.high;
      self->least_square += rounding * rounding;
    }
  prepare_root (self);
}

/* Whether the prediction for a row is estimable: the same for all coefficients that fit the samples equally well. It
 * is where the dependent features are the sums of the others that they were in the samples. @margins has, for each of
 * them, what is added to its factors. */
static gboolean
check_row (const Intervals *self, const double *margins, gsize row, GError **error)
{
  const AprInference *inference = self->inference;
  gint64 weight_exponent;
  double weight = apr_inference_split (inference->weight, &weight_exponent).high;
  gboolean rounded = inference->rounded || self->rows.dtype == APR_DTYPE_F32 ||
                     self->rows.dtype == APR_DTYPE_F16 || self->rows.dtype == APR_DTYPE_BF16;
  gsize i;
  gsize j;

  for (i = 0; i < inference->n_dependent; i++)
    {
      gint64 scale = inference->dependent_scale[i] + (inference->first == 0 ? inference->exponent / 2 : 0);
      double value = apr_dtype_read_double (self->rows.dtype, self->rows.data,
                                            row * self->n_features + inference->dependent[i]);
      double difference;
      double size;

      value = ldexp (value, (int) CLAMP (weight_exponent - scale, -5000, 5000)) * weight;
      difference = value - inference->dependent_centre[i];
      size = fabs (value) + fabs (inference->dependent_centre[i]);
      for (j = 0; j < self->n; j++)
        {
          int exponent = (int) CLAMP (weight_exponent - get_scale (inference, j), -5000, 5000);
          double factor = inference->relations[i * self->n + j];

          value = ldexp (read_value (self, row, j), exponent) * weight;
          difference -= factor * (value - inference->centre[j].high);
          size += fabs (factor) * (fabs (value) + fabs (inference->centre[j].high)) +
                  margins[i] * fabs (value - inference->centre[j].high);
        }
      if (!(fabs (difference) <= (rounded ? ESTIMABLE_ROUNDED : ESTIMABLE) * size))
        {
          char number[APR_NUMBER_SIZE];

          g_set_error (
            error, APR_ERROR, APR_ERROR_RANGE,
            "Cannot give an interval for sample %" G_GSIZE_FORMAT
            " (counted from 0): the fit took the feature “%s” to be a combination of features before it, "
            "or constant, as its samples hardly tell the difference, and here it is not to within %s of "
            "its parts, so that too little is known of its effect",
            row, inference->names[inference->first + inference->dependent[i]],
            apr_number_format (rounded ? ESTIMABLE_ROUNDED : ESTIMABLE, FALSE, number));
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
check_rows (const Intervals *self, GError **error)
{
  const AprInference *inference = self->inference;
  g_autofree double *margins = g_new (double, inference->n_dependent + 1);
  gsize i;
  gsize j;

  for (i = 0; i < inference->n_dependent; i++)
    {
      const double *relation = inference->relations + i * self->n;
      double square = 0;

      for (j = 0; j < self->n; j++)
        square += relation[j] * relation[j];
      margins[i] = RELATION_MARGIN * sqrt (square);
    }
  for (i = 0; i < self->n_rows && inference->n_dependent > 0; i++)
    if (apr_run_set_error_if_cancelled (self->run, error) || !check_row (self, margins, i, error))
      return FALSE;

  return TRUE;
}

/* The roots of the variances of predictions, with that of one more sample where @with_sample, times @factors; and the
 * predictions themselves, while the rows are at hand, where there is @predictor: then they have to be estimable. */
static gboolean
find_errors (const AprInference *self,
             AprTensor *x,
             gboolean with_sample,
             mpf_t *factors,
             gsize n_factors,
             const AprInferencePredictor *predictor,
             double *predictions,
             const AprRun *caller,
             double *errors,
             GError **error)
{
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  Intervals intervals = { .inference = self,
                          .run = run,
                          .kernel = apr_double_double_kernel_choose (),
                          .n = self->n - self->first,
                          .n_features = shape[1],
                          .n_factors = n_factors,
                          .factors = factors,
                          .errors = errors,
                          .predictor = predictor,
                          .predictions = predictions,
                          .n_rows = shape[0],
                          .n_tiles = self->n - self->first <= MANY_FEATURES ? 1 : MAX_TILES };

  apr_rows_init (&intervals.rows, "X", x);
  if ((self->n < self->n_terms && !apr_estimator_check_finite ("X", x, error)) ||
      (predictor != NULL && !check_rows (&intervals, error)))
    return FALSE;

  intervals.n_blocks = (shape[0] + intervals.n_tiles * TILE - 1) / (intervals.n_tiles * TILE);
  if (intervals.rows.dtype == APR_DTYPE_F64)
    intervals.doubles = apr_tensor_get_doubles (x, NULL, NULL);
  else if (intervals.rows.dtype == APR_DTYPE_F32)
    intervals.floats = apr_tensor_get_floats (x, NULL, NULL);
  mpf_init2 (intervals.constant, APR_INFERENCE_PRECISION);
  if (with_sample && self->first > 0)
    apr_inference_shift (intervals.constant, self->weight, self->exponent);
  mpf_add_ui (intervals.constant, intervals.constant, self->first > 0 || with_sample ? 1 : 0);
  prepare_doubles (&intervals);
  if (intervals.root != NULL)
    apr_parallel_run (predict_blocks, &intervals, run->n_threads,
                      (double) shape[0] * (double) intervals.n * (double) (intervals.n + 8) / 2);
  mpf_clear (intervals.constant);
  g_free (intervals.roots);
  g_free (intervals.means);
  g_free (intervals.scales);
  apr_pages_free (intervals.root);

  return !apr_run_set_error_if_cancelled (run, error);
}

gboolean
apr_inference_find_distances (const AprInference *self,
                              AprTensor *x,
                              AprTensor *sample_weight,
                              const AprRun *run,
                              double *distances,
                              GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gboolean known;
  mpf_t factor;
  gsize i;

  /* The variance is in units of 1 by the sum of the weights. */
  mpf_init2 (factor, APR_INFERENCE_PRECISION);
  mpf_set_ui (factor, 1);
  if (self->first > 0)
    {
      apr_inference_shift (factor, self->weight, self->exponent);
      mpf_ui_div (factor, 1, factor);
    }
  known = find_errors (self, x, FALSE, &factor, 1, NULL, NULL, run, distances, error);
  mpf_clear (factor);
  for (i = 0; i < apr_tensor_get_shape (x, NULL)[0] && known; i++)
    {
      double weight = sample_weight != NULL ? apr_tensor_get_double (sample_weight, i, NULL) : 1;
      /* Of weights that are all very small, the square alone is infinite. A sample without weight may be so far away
       * that the root is. */
      double root = weight > 0 ? sqrt (weight) * distances[i] : 0;

      distances[i] = root * root;
    }

  return known;
}

gboolean
apr_inference_get_leverages (const AprInference *self,
                             AprTensor *x,
                             AprTensor *sample_weight,
                             const AprRun *run,
                             double *leverages,
                             GError **error)
{
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  gsize i;

  if (!apr_inference_find_distances (self, x, sample_weight, run, leverages, error))
    return FALSE;
  for (i = 0; i < n; i++)
    leverages[i] = MIN (leverages[i], 1);

  return TRUE;
}

gboolean
apr_inference_predict_interval (const AprInference *self,
                                AprTensor *x,
                                const AprInferencePredictor *predictor,
                                double level,
                                AprIntervalKind kind,
                                const AprRun *run,
                                AprTensor **lower,
                                AprTensor **upper,
                                GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  const gsize shape[2] = { apr_tensor_get_shape (x, NULL)[0], self->n_targets };
  gsize n_dims = apr_tensor_get_n_dims (self->coefficients);
  g_autofree double *lower_ends = NULL;
  g_autofree double *upper_ends = NULL;
  gboolean finite = TRUE;
  mpf_t *factors;
  gboolean known;
  gsize n_values;
  gsize size;
  gsize target = 0;
  gsize i;
  double t;

  if (!apr_dtype_count_bytes (APR_DTYPE_F64, shape, n_dims, &n_values, &size, error))
    return FALSE;
  lower_ends = g_try_malloc (MAX (size, 1));
  upper_ends = g_try_malloc (MAX (size, 1));
  if (lower_ends == NULL || upper_ends == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " intervals",
                   n_values);
      return FALSE;
    }

  factors = g_new (mpf_t, self->n_targets);
  for (i = 0; i < self->n_targets; i++)
    {
      mpf_t df;

      mpf_init2 (factors[i], APR_INFERENCE_PRECISION);
      mpf_init2 (df, APR_INFERENCE_PRECISION);
      if (self->first > 0)
        mpf_div (factors[i], self->residuals[i], self->weight);
      else
        apr_inference_shift (factors[i], self->residuals[i], self->exponent);
      mpf_set_d (df, (double) MAX (self->df_residual, 1));
      mpf_div (factors[i], factors[i], df);
      mpf_clear (df);
    }
  known = find_errors (self, x, kind == APR_INTERVAL_PREDICTION, factors, self->n_targets, predictor,
                       lower_ends, run, upper_ends, error);
  for (i = 0; i < self->n_targets; i++)
    mpf_clear (factors[i]);
  g_free (factors);
  if (!known)
    return FALSE;

  t = self->df_residual > 0 ? apr_t_central_inverse (level, (double) self->df_residual) : NAN;
  for (i = 0; i < n_values; i++, target = target + 1 < self->n_targets ? target + 1 : 0)
    {
      double prediction = lower_ends[i];
      double reach = apr_inference_is_uncertain (self, target) ? (double) NAN : t * upper_ends[i];

      finite = finite && isfinite (prediction);
      lower_ends[i] = prediction - reach;
      upper_ends[i] = prediction + reach;
    }
  if (!finite && !apr_estimator_check_finite ("X", x, error))
    return FALSE;

  if (lower != NULL)
    *lower = apr_tensor_new_take (APR_DTYPE_F64, shape, n_dims, g_steal_pointer (&lower_ends), size);
  if (upper != NULL)
    *upper = apr_tensor_new_take (APR_DTYPE_F64, shape, n_dims, g_steal_pointer (&upper_ends), size);
  return TRUE;
}
