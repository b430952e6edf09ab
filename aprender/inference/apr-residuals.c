/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-residuals-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* A residual is y - c - d - Σ b (x - m), where c and m are the doubles that are nearest to the means, so that what is
 * subtracted from a value leaves a double-double without rounding, and d, which is small, makes up for what the
 * centres lack. The columns are in scales of their own, in which the coefficients are those of the design. In
 * double-double, the sum errs by a few units of 2^-104 of its terms; where that may be too much beside the residuals,
 * it is computed in numbers that are as long as the coefficients are. */

/* How far an error of a sum in double-double is bounded, and what is allowed, beside the residuals. */
#define ROUNDING 0x1p-102
#define TOLERANCE 0x1p-52

/* Products whose low parts are summed before the sum is normalised. */
#define SPAN 8

/* Bits that long numbers have beyond those of the coefficients: for the means, beside the spreads. */
#define MORE_BITS 320

/* Beyond, two factors are no doubles. */
#define MAX_SHIFT 2000

typedef struct
{
  const AprInference *inference;
  AprRows x;
  AprRows y;
  AprTensor *sample_weight;
  gsize target;
  const AprRun *run;
  gsize n;                       /* features by position; column n is the target */
  gint64 *shifts;                /* (owned) by column: to its own scale */
  double *factors;               /* (owned) two of each column, whose product is 2^shift */
  double *centres;               /* (owned) by column */
  AprDoubleDouble *coefficients; /* (owned) by position */
  AprDoubleDouble constant;
  mp_bitcnt_t precision;
  mpf_t *long_coefficients; /* (owned) by position */
  mpf_t long_constant;
  double size;    /* that of most residuals */
  gboolean exact; /* nothing is left of the target where the weight is not 0 */
  double *residuals;
  double *rests; /* (nullable) */
} Residuals;

static void
residuals_clear (Residuals *self)
{
  gsize i;

  for (i = 0; i < self->n && self->long_coefficients != NULL; i++)
    mpf_clear (self->long_coefficients[i]);
  if (self->long_coefficients != NULL)
    mpf_clear (self->long_constant);
  g_free (self->long_coefficients);
  g_free (self->coefficients);
  g_free (self->shifts);
  g_free (self->factors);
  g_free (self->centres);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Residuals, residuals_clear)

/* The mean of a column of the design. */
static void
find_mean (mpf_t mean, const AprDesign *design, gsize column)
{
  mpf_t weight;

  mpf_init2 (weight, mpf_get_prec (mean));
  mpf_set_z (mean, design->columns[column]);
  mpf_set_z (weight, design->weight);
  mpf_div (mean, mean, weight);
  mpf_clear (weight);
}

/* A double-double that is near to a number that is neither very large nor very small. */
static AprDoubleDouble
to_double_double (const mpf_t number)
{
  gint64 exponent;
  AprDoubleDouble value = apr_inference_split (number, &exponent);
  int shift = (int) CLAMP (exponent, -5000, 5000);

  return (AprDoubleDouble){ ldexp (value.high, shift), ldexp (value.low, shift) };
}

/* The scales and the centres, and what the centres lack. */
static void
prepare_columns (Residuals *self, const AprDesign *design)
{
  gint64 bits = (gint64) mpz_sizeinbase (design->weight, 2) - 1;
  mpf_t mean;
  mpf_t centre;
  gsize i;

  self->shifts = g_new (gint64, self->n + 1);
  self->factors = g_new (double, 2 * (self->n + 1));
  self->centres = g_new (double, self->n + 1);
  mpf_init2 (mean, self->precision);
  mpf_init2 (centre, self->precision);
  for (i = self->n + 1; i-- > 0;)
    {
      gsize column = i < self->n ? i : self->n + self->target;
      gint64 unit = design->centred ? 0 : apr_design_get_exponent (design) / 2;

      self->shifts[i] = CLAMP (bits - design->scale[column] - unit, -MAX_SHIFT, MAX_SHIFT);
      self->factors[2 * i] = ldexp (1, (int) (self->shifts[i] / 2));
      self->factors[2 * i + 1] = ldexp (1, (int) (self->shifts[i] - self->shifts[i] / 2));
      find_mean (mean, design, column);
      self->centres[i] = apr_inference_to_double (mean, 0);
      mpf_set_d (centre, self->centres[i]);
      mpf_sub (mean, mean, centre);
      apr_inference_shift (mean, mean, self->shifts[i]);
      if (i < self->n)
        {
          mpf_mul (mean, mean, self->long_coefficients[i]);
          mpf_sub (self->long_constant, self->long_constant, mean);
        }
      else
        mpf_set (self->long_constant, mean);
    }
  self->constant = to_double_double (self->long_constant);
  mpf_clear (mean);
  mpf_clear (centre);
}

/* The coefficients in the scales of the columns. */
static gboolean
prepare_coefficients (Residuals *self, const AprDesign *design, const AprRun *run)
{
  mpz_t *numbers = apr_integers_new (self->n + 1);
  g_autofree double *near = apr_inference_get_solutions (self->inference, self->target);
  gint64 target_scale = design->scale[self->n + self->target];
  gint64 fraction;
  gsize i;

  for (i = 0; i < self->n; i++)
    near[i] =
      ldexp (near[self->inference->first + i], (int) CLAMP (design->scale[i] - target_scale, -5000, 5000));
  fraction = apr_inverse_solve_exactly (self->inference->root, design, self->target, near, numbers, run);
  self->precision = MORE_BITS;
  for (i = 0; i < self->n; i++)
    self->precision = MAX (self->precision, MORE_BITS + mpz_sizeinbase (numbers[i], 2));
  self->coefficients = g_new (AprDoubleDouble, self->n + 1);
  self->long_coefficients = g_new (mpf_t, self->n + 1);
  mpf_init2 (self->long_constant, self->precision);
  for (i = 0; i < self->n; i++)
    {
      mpf_init2 (self->long_coefficients[i], self->precision);
      mpf_set_z (self->long_coefficients[i], numbers[i]);
      apr_inference_shift (self->long_coefficients[i], self->long_coefficients[i], -fraction);
      self->coefficients[i] = to_double_double (self->long_coefficients[i]);
    }
  apr_integers_free (numbers, self->n + 1);

  return !apr_run_is_cancelled (run);
}

/* The root of the mean square of the residuals, in the scale of the target. */
static void
prepare_size (Residuals *self)
{
  const AprInference *inference = self->inference;
  mpf_t square;

  self->exact = mpf_sgn (inference->residuals[self->target]) == 0;
  mpf_init2 (square, APR_INFERENCE_PRECISION);
  if (inference->first > 0)
    mpf_div (square, inference->residuals[self->target], inference->weight);
  else
    {
      apr_inference_shift (square, inference->residuals[self->target], inference->exponent);
      mpf_div_ui (square, square, (gulong) MIN (inference->n_samples, G_MAXULONG));
    }
  mpf_sqrt (square, square);
  self->size = apr_inference_to_double (square, self->shifts[self->n]);
  mpf_clear (square);
}

static gsize
get_feature (const Residuals *self, gsize position)
{
  return self->inference->term[self->inference->first + position] - self->inference->first;
}

/* What the nearest double lacks of an element. */
static double
get_rest (const AprRows *rows, gsize row, gsize column)
{
  double rest = 0;

  if (apr_rows_may_exceed_double (rows))
    apr_rows_get_rests (rows, column, row, 1, &rest);

  return rest;
}

static inline AprDoubleDouble
centre_value (const Residuals *self, const AprRows *rows, gsize row, gsize column, gsize i, double value)
{
  AprDoubleDouble centred = apr_dd_two_sum (value, -self->centres[i]);
  const double *factors = self->factors + 2 * i;

  if (apr_rows_may_exceed_double (rows))
    centred = apr_dd_add (centred, (AprDoubleDouble){ get_rest (rows, row, column), 0 });

  return (AprDoubleDouble){ centred.high * factors[0] * factors[1], centred.low * factors[0] * factors[1] };
}

static void
centre_long (
  mpf_t result, const Residuals *self, const AprRows *rows, gsize row, gsize column, gsize i, double value)
{
  mpf_t part;

  mpf_init2 (part, self->precision);
  mpf_set_d (result, value);
  mpf_set_d (part, get_rest (rows, row, column));
  mpf_add (result, result, part);
  mpf_set_d (part, self->centres[i]);
  mpf_sub (result, result, part);
  apr_inference_shift (result, result, self->shifts[i]);
  mpf_clear (part);
}

static AprDoubleDouble
find_long_residual (const Residuals *self, gsize row, const double *values, double y)
{
  AprDoubleDouble residual = { NAN, 0 };
  gboolean finite = isfinite (y);
  mpf_t sum;
  mpf_t term;
  gsize j;

  for (j = 0; j < self->n && finite; j++)
    finite = isfinite (values[get_feature (self, j)]);
  if (!finite)
    return residual;

  mpf_init2 (sum, self->precision);
  mpf_init2 (term, self->precision);
  centre_long (sum, self, &self->y, row, self->target, self->n, y);
  mpf_sub (sum, sum, self->long_constant);
  for (j = 0; j < self->n; j++)
    {
      gsize feature = get_feature (self, j);

      centre_long (term, self, &self->x, row, feature, j, values[feature]);
      mpf_mul (term, term, self->long_coefficients[j]);
      mpf_sub (sum, sum, term);
    }
  residual.high = apr_inference_to_double (sum, 0);
  if (isfinite (residual.high))
    {
      mpf_set_d (term, residual.high);
      mpf_sub (sum, sum, term);
      residual.low = apr_inference_to_double (sum, 0);
    }
  mpf_clear (sum);
  mpf_clear (term);

  return residual;
}

static AprDoubleDouble
find_residual (const Residuals *self, gsize row, const double *values)
{
  AprDoubleDouble sum;
  double size;
  double y;
  gsize j;

  apr_rows_read (&self->y, row, 1, self->target, 1, 1, &y);
  sum = centre_value (self, &self->y, row, self->target, self->n, y);
  size = fabs (sum.high) + fabs (self->constant.high);
  sum = apr_dd_subtract (sum, self->constant);
  for (j = 0; j < self->n; j++)
    {
      gsize feature = get_feature (self, j);
      AprDoubleDouble u = centre_value (self, &self->x, row, feature, j, values[feature]);
      AprDoubleDouble b = self->coefficients[j];
      double product = b.high * u.high;
      double rest = fma (b.high, u.high, -product) + (b.high * u.low + b.low * u.high);
      AprDoubleDouble high = apr_dd_two_sum (sum.high, -product);

      size += fabs (product);
      sum = (AprDoubleDouble){ high.high, sum.low + (high.low - rest) };
      /* The low parts of a few products are summed by themselves. */
      if (j % SPAN == SPAN - 1)
        sum = apr_dd_two_sum (sum.high, sum.low);
    }
  sum = apr_dd_two_sum (sum.high, sum.low);
  if (ROUNDING * (double) (self->n + 4) * size <= TOLERANCE * MAX (self->size, fabs (sum.high)))
    return sum;

  return find_long_residual (self, row, values, y);
}

static void
find_residuals (gpointer data, gsize part, gsize n_parts)
{
  const Residuals *self = data;
  gsize n_rows = self->x.n_rows;
  g_autofree double *values = g_new (double, self->x.n_columns + 1);
  gsize end = n_rows / n_parts * (part + 1) + (part + 1 == n_parts ? n_rows % n_parts : 0);
  gsize i;

  for (i = n_rows / n_parts * part; i < end && !apr_run_is_cancelled (self->run); i++)
    {
      AprDoubleDouble residual = { 0, 0 };

      apr_rows_read (&self->x, i, 1, 0, self->x.n_columns, self->x.n_columns, values);
      if (!self->exact ||
          (self->sample_weight != NULL && apr_tensor_get_double (self->sample_weight, i, NULL) == 0))
        residual = find_residual (self, i, values);
      self->residuals[i] = residual.high;
      if (self->rests != NULL)
        self->rests[i] = residual.low;
    }
}

/* A sample without weight is not fitted. */
static gboolean
are_all_weighted (AprTensor *sample_weight, gsize n)
{
  gsize i;

  for (i = 0; i < n && sample_weight != NULL; i++)
    if (apr_tensor_get_double (sample_weight, i, NULL) == 0)
      return FALSE;

  return TRUE;
}

gboolean
apr_inference_find_residuals (const AprInference *self,
                              const AprInferenceSource *source,
                              AprTensor *x,
                              AprTensor *y,
                              AprTensor *sample_weight,
                              gsize target,
                              const AprRun *caller,
                              double *residuals,
                              double *rests,
                              gint64 *exponent,
                              GError **error)
{
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  g_auto (AprDesign) design = { NULL };
  g_auto (Residuals) work = { .inference = self,
                              .sample_weight = sample_weight,
                              .target = target,
                              .run = run,
                              .n = self->n - self->first,
                              .residuals = residuals,
                              .rests = rests };

  *exponent = 0;
  if (mpf_sgn (self->residuals[target]) == 0 && are_all_weighted (sample_weight, n_rows))
    {
      memset (residuals, 0, n_rows * sizeof *residuals);
      if (rests != NULL)
        memset (rests, 0, n_rows * sizeof *rests);
      return !apr_run_set_error_if_cancelled (run, error);
    }

  if (!apr_design_init (&design, source->cross_products, source->fit_intercept, source->dependent,
                        source->n_dependent, FALSE, error))
    return FALSE;

  design.saturated = mpf_sgn (self->residuals[target]) == 0;
  apr_rows_init (&work.x, "X", x);
  apr_rows_init (&work.y, "y", y);
  if (prepare_coefficients (&work, &design, run))
    {
      prepare_columns (&work, &design);
      prepare_size (&work);
      *exponent = -work.shifts[work.n];
      apr_parallel_run (find_residuals, &work, run->n_threads,
                        16 * (double) work.x.n_rows * (double) (work.n + 1));
    }

  return !apr_run_set_error_if_cancelled (run, error);
}
