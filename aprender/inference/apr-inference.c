/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-strings-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/inference/apr-exact-fit-private.h"
#include "aprender/inference/apr-inference-condition-private.h"
#include "aprender/inference/apr-prediction-rounding-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"

static mpf_t *
numbers_new (gsize n)
{
  mpf_t *numbers = g_new (mpf_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpf_init2 (numbers[i], APR_INFERENCE_PRECISION);

  return numbers;
}

static void
numbers_free (mpf_t *numbers, gsize n)
{
  gsize i;

  for (i = 0; i < n && numbers != NULL; i++)
    mpf_clear (numbers[i]);
  g_free (numbers);
}

static void
name_terms (AprInference *self, const AprInferenceSource *source, const AprDesign *design, gsize n_features)
{
  gsize i;

  self->n_targets = design->ones;
  self->first = source->fit_intercept ? 1 : 0;
  self->n_terms = n_features + self->first;
  self->n = design->n + self->first;
  self->term = g_new0 (gsize, self->n + 1);
  for (i = self->first; i < self->n; i++)
    self->term[i] = design->column[i - self->first] - 1 + self->first;
  self->has_names = source->feature_names != NULL;
  self->names = g_new0 (char *, self->n_terms + 1);
  if (source->fit_intercept)
    self->names[0] = g_strdup ("(Intercept)");
  for (i = 0; i < n_features; i++)
    self->names[self->first + i] = apr_string_new_name (source->feature_names, "x", i);
}

/* Whether features make a constant, by the rule by which they depend on each other. */
static void
find_constant (AprInference *self,
               const AprDesign *design,
               const AprInverse *inverse,
               const AprInferenceSource *source)
{
  gboolean exact = apr_cross_products_get_precision (source->cross_products) == APR_PRECISION_EXACT;
  const AprLeastSquaresOptions options = {
    .data_dtype = apr_cross_products_get_dtype (source->cross_products),
  };
  double tolerance = apr_rank_find_tolerance (&options, design->n);
  gint64 scale;
  mpf_t total;
  mpf_t part;
  mpz_t weight;
  gsize i;

  if (design->ones == design->n_targets)
    return;

  mpf_init2 (total, APR_INFERENCE_PRECISION);
  mpf_init2 (part, APR_INFERENCE_PRECISION);
  mpz_init (weight);
  tolerance = MAX (tolerance, exact ? 0 : (double) design->n * 0x1p-50);
  apr_design_get_entry (design, 0, 0, weight);
  mpf_set_z (total, weight);
  mpf_set_d (part, tolerance);
  mpf_mul (total, total, part);
  if (mpf_cmp (inverse->residuals[design->ones], total) < 0)
    {
      self->constant = g_new (double, self->n + 1);
      scale = design->scale[design->n + design->ones];
      for (i = 0; i < self->n; i++)
        self->constant[i] = ldexp (apr_double_doubles_get (inverse->solutions, design->ones, i).high,
                                   (int) CLAMP (scale - design->scale[i], -5000, 5000));
    }
  mpf_clear (total);
  mpf_clear (part);
  mpz_clear (weight);
}

/* The sum of squares of a column about its mean, times the weights', though the design is not centred. */
static void
get_centred_square (const AprDesign *design, gsize column, mpz_t weight, mpz_t square)
{
  mpz_t sum;

  mpz_init (sum);
  apr_design_get_entry (design, 0, 0, weight);
  apr_design_get_product (design, column, column, square);
  mpz_mul (square, square, weight);
  apr_design_get_entry (design, design->column[column], 0, sum);
  mpz_submul (square, sum, sum);
  mpz_clear (sum);
}

/* What the features explain of a target. Where that is little, it is the square of the target's products in the metric
 * of the inverse, as little would be left of the difference. */
static void
take_explained (AprInference *self, const AprDesign *design, const AprInverse *inverse, gsize target)
{
  g_autofree AprDoubleDouble *right = g_new (AprDoubleDouble, design->n + 1);
  g_autofree AprDoubleDouble *product = g_new (AprDoubleDouble, design->n + 1);
  mpf_t *explained = &self->explained[target];
  gint64 scale = design->scale[design->n + target];
  AprDoubleDouble sum = { 0, 0 };
  mpf_t low;
  mpz_t entry;
  gsize i;

  mpf_sub (*explained, self->totals[target], self->residuals[target]);
  /* Features that make a constant explain the mean too, which does not count. Of sums that are rounded as much as what
   * is left nothing better is known. */
  if (self->constant != NULL || apr_inference_is_uncertain (self, target) ||
      mpf_cmp (*explained, self->residuals[target]) >= 0)
    {
      if (mpf_sgn (*explained) < 0)
        mpf_set_ui (*explained, 0);
      return;
    }

  mpz_init (entry);
  for (i = 0; i < design->n; i++)
    {
      apr_design_get_product (design, i, design->n + target, entry);
      right[i] = apr_dd_from_integer (entry, -design->scale[i] - scale);
    }
  mpz_clear (entry);
  apr_inverse_multiply_root (inverse, right, product);
  for (i = 0; i < design->n; i++)
    sum = apr_dd_add (sum, apr_dd_multiply (product[i], product[i]));
  mpf_init2 (low, APR_INFERENCE_PRECISION);
  mpf_set_d (*explained, sum.high);
  mpf_set_d (low, sum.low);
  mpf_add (*explained, *explained, low);
  apr_inference_shift (*explained, *explained, 2 * scale);
  mpf_div (*explained, *explained, self->weight);
  mpf_clear (low);
}

/* Products that are summed in double, 256 at a time about a value near their mean, are off by a few units of 2^-53 of
 * the roots of the sums of squares that they belong to, each in its own way. In what the features leave of a target
 * they count times the coefficients, so that it is off by as much of the sums of squares of the target and of the terms
 * of its predictions. Of some thousand fits, of all shapes and however ill-conditioned, no more than 5.3 units were
 * found, and these are 8. */
#define SUMS_ROUNDING 0x1p-50

/* How far the rounding of the sums may change what is left of a target. */
static void
find_rounding (const AprDesign *design, const AprInverse *inverse, gsize target, mpf_t rounding)
{
  gint64 target_scale = design->scale[design->n + target];
  mpf_t part;
  mpz_t square;
  mpz_t weight;
  gsize i;

  mpf_init2 (part, APR_INFERENCE_PRECISION);
  mpz_init (square);
  mpz_init (weight);
  for (i = 0; i <= design->n; i++)
    {
      gsize column = i < design->n ? i : design->n + target;

      if (design->centred)
        apr_design_get_product (design, column, column, square);
      else
        get_centred_square (design, column, weight, square);
      mpf_set_z (part, square);
      if (i < design->n)
        {
          double coefficient = apr_double_doubles_get (inverse->solutions, target, i).high;
          mpf_t factor;

          mpf_init2 (factor, APR_INFERENCE_PRECISION);
          mpf_set_d (factor, coefficient);
          mpf_mul (part, part, factor);
          mpf_mul (part, part, factor);
          apr_inference_shift (part, part, 2 * (target_scale - design->scale[i]));
          mpf_clear (factor);
        }
      mpf_add (rounding, rounding, part);
    }
  mpf_set_z (part, design->centred ? design->weight : weight);
  mpf_div (rounding, rounding, part);
  mpf_set_d (part, SUMS_ROUNDING);
  mpf_mul (rounding, rounding, part);
  mpf_clear (part);
  mpz_clear (square);
  mpz_clear (weight);
}

/* What may be all rounding is that at most. */
static void
take_rounding (AprInference *self, const AprDesign *design, const AprInverse *inverse, gsize target)
{
  mpf_t rounding;

  mpf_init2 (rounding, APR_INFERENCE_PRECISION);
  find_rounding (design, inverse, target, rounding);
  if (mpf_cmp (self->residuals[target], rounding) < 0)
    mpf_set (self->residuals[target], rounding);
  if (mpf_sgn (rounding) > 0)
    mpf_div (rounding, rounding, self->residuals[target]);
  self->rounding[target] = apr_inference_to_double (rounding, 0);
  mpf_clear (rounding);
}

/* The sums of squares, of which those of the design are times the weight. Features that make a constant have them
 * about the mean as an intercept has. */
static void
take_sums (AprInference *self, const AprDesign *design, const AprInverse *inverse)
{
  gboolean any_constant = FALSE;
  mpz_t square;
  mpz_t weight;
  mpf_t divisor;
  gsize i;

  mpz_init (square);
  mpz_init (weight);
  mpf_init2 (divisor, 2 * APR_INFERENCE_PRECISION);
  mpf_set_z (self->weight, design->weight);
  self->totals = numbers_new (self->n_targets);
  self->residuals = numbers_new (self->n_targets);
  self->explained = numbers_new (self->n_targets);
  self->rounding = g_new0 (double, self->n_targets);
  for (i = 0; i < self->n_targets; i++)
    {
      mpf_div (self->residuals[i], inverse->residuals[i], self->weight);
      if (design->rounded && !design->saturated)
        take_rounding (self, design, inverse, i);
      if (self->constant != NULL)
        get_centred_square (design, design->n + i, weight, square);
      else
        {
          mpz_set (weight, design->weight);
          apr_design_get_product (design, design->n + i, design->n + i, square);
        }
      mpf_set_z (self->totals[i], square);
      mpf_set_z (divisor, weight);
      mpf_div (self->totals[i], self->totals[i], divisor);
      take_explained (self, design, inverse, i);
    }

  for (i = 0; i < design->n && self->constant != NULL && !any_constant; i++)
    {
      get_centred_square (design, i, weight, square);
      any_constant = mpz_sgn (square) == 0;
    }
  self->inflation = g_new (double, self->n + 1);
  for (i = 0; i < design->n; i++)
    {
      double inverse_square = inverse->inverse[apr_triangle (i, i)];
      AprDoubleDouble total;

      if (any_constant)
        {
          gint64 scale;

          get_centred_square (design, i, weight, square);
          scale = (gint64) mpz_sizeinbase (weight, 2);
          total = apr_dd_divide (apr_dd_from_integer (square, -2 * design->scale[i] - scale),
                                 apr_dd_from_integer (weight, -scale));
          self->inflation[self->first + i] =
            mpz_sgn (square) == 0 ? NAN : apr_dd_multiply_double (total, inverse_square).high;
          continue;
        }
      apr_design_get_product (design, i, i, square);
      total = apr_dd_from_integer (square, -2 * design->scale[i]);
      self->inflation[self->first + i] = apr_dd_multiply_double (total, inverse_square).high;
    }
  mpz_clear (square);
  mpz_clear (weight);
  mpf_clear (divisor);
}

/* With W the sum of the weights, C the centred products and m the means of the features, the inverse of Z'WZ, where
 * Z = [1 | X], is
 *
 *   [1/W + m'C^-1 m   -m'C^-1]
 *   [-C^-1 m             C^-1]
 *
 * and the design's products are W C. */
static gboolean
take_inverse (AprInference *self, const AprDesign *design, const AprInverse *inverse, const AprRun *run)
{
  gsize n = design->n;
  g_autofree AprDoubleDouble *product = g_new (AprDoubleDouble, n + 1);
  AprDoubleDouble square = { 1, 0 };
  AprDoubleDouble weight;
  gsize i;
  gsize j;

  self->scale = g_new0 (gint64, self->n + 1);
  self->centre = g_new (AprDoubleDouble, n + 1);
  self->centre_rest = g_new (double, n + 1);
  self->inverse = apr_run_new_pages (run, apr_triangle (self->n, 0), sizeof *self->inverse, FALSE);
  if (self->inverse == NULL)
    return FALSE;

  for (i = 0; i < n; i++)
    {
      self->scale[self->first + i] = design->scale[i];
      self->centre[i] = apr_design_get_scaled_sum (design, i, &self->centre_rest[i]);
      for (j = 0; j <= i; j++)
        self->inverse[apr_triangle (self->first + i, self->first + j)] =
          inverse->inverse[apr_triangle (i, j)];
    }
  if (self->first == 0)
    return TRUE;

  self->scale[0] = (gint64) mpz_sizeinbase (design->weight, 2) - 1;
  weight = apr_dd_from_integer (design->weight, -self->scale[0]);
  apr_inverse_multiply_root (inverse, self->centre, product);
  for (i = 0; i < n; i++)
    square = apr_dd_add (square, apr_dd_multiply (product[i], product[i]));
  self->inverse[0] = apr_dd_divide (apr_dd_divide (square, weight), weight).high;
  for (j = 0; j < n; j++)
    {
      AprDoubleDouble sum = { 0, 0 };

      for (i = j; i < n; i++)
        sum =
          apr_dd_subtract (sum, apr_dd_multiply (apr_double_doubles_get (inverse->root, i, j), product[i]));
      self->inverse[apr_triangle (1 + j, 0)] = apr_dd_divide (sum, weight).high;
    }

  return TRUE;
}

/* The coefficients, and the intercept of which the target's mean is the prediction for the features' means. */
static void
take_solutions (AprInference *self, const AprDesign *design, const AprInverse *inverse)
{
  mpf_t sum;
  mpf_t term;
  mpf_t column;
  gsize target;
  gsize i;

  self->solutions = g_new (double, self->n_targets * self->n + 1);
  self->exact = g_new (AprDoubleDouble, self->n_targets * self->n + 1);
  mpf_init2 (sum, 2 * APR_INFERENCE_PRECISION);
  mpf_init2 (term, 2 * APR_INFERENCE_PRECISION);
  mpf_init2 (column, 2 * APR_INFERENCE_PRECISION);
  for (target = 0; target < self->n_targets; target++)
    {
      double *solutions = self->solutions + target * self->n;
      AprDoubleDouble *exact = self->exact + target * self->n;

      mpf_set_z (sum, design->columns[design->n + target]);
      for (i = 0; i < design->n; i++)
        {
          AprDoubleDouble scaled = apr_double_doubles_get (inverse->solutions, target, i);
          gint64 exponent = design->scale[design->n + target] - design->scale[i];

          int shift = (int) CLAMP (exponent, -5000, 5000);

          solutions[self->first + i] = ldexp (scaled.high, shift);
          exact[self->first + i] = (AprDoubleDouble){ solutions[self->first + i], ldexp (scaled.low, shift) };
          if (self->first == 0)
            continue;
          mpf_set_d (term, scaled.low);
          mpf_set_d (column, scaled.high);
          mpf_add (term, term, column);
          mpf_set_z (column, design->columns[i]);
          mpf_mul (term, term, column);
          apr_inference_shift (term, term, exponent);
          mpf_sub (sum, sum, term);
        }
      if (self->first == 0)
        continue;
      mpf_div (sum, sum, self->weight);
      exact[0] = apr_inference_to_double_double (sum, 0);
      solutions[0] = exact[0].high;
    }
  mpf_clear (sum);
  mpf_clear (term);
  mpf_clear (column);
}

/* The solutions by the solver of the fit, where they are not those of the model: rounded to the nearest. Where it finds
 * other features to be independent, or there are no sums, those that are near stay. */
static void
solve_again (AprInference *self, const AprDesign *design, const AprInferenceSource *source, const AprRun *run)
{
  gsize n_features = self->n_terms - self->first;
  gboolean rounded = apr_cross_products_get_precision (source->cross_products) != APR_PRECISION_EXACT;
  const AprLeastSquaresOptions options = {
    .data_dtype = apr_cross_products_get_dtype (source->cross_products),
  };
  g_autofree gboolean *excluded = g_new0 (gboolean, n_features + 1);
  g_autofree double *coefficients = g_new (double, n_features + 1);
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };
  double tolerance;
  double intercept;
  gsize target;
  gsize i;

  if (design->sums == NULL ||
      (self->n == self->n_terms && apr_tensor_get_dtype (self->coefficients) == APR_DTYPE_F64))
    return;

  for (i = 0; i < source->n_dependent; i++)
    excluded[source->dependent[i]] = TRUE;
  tolerance =
    MAX (apr_rank_find_tolerance (&options, n_features), rounded ? (double) n_features * 0x1p-50 : 0);
  apr_products_init (&products, design->sums, source->fit_intercept, 0, run);
  if (!apr_run_is_cancelled (run))
    apr_normal_equations_init (&equations, &products, excluded, tolerance, run);
  for (target = 0;
       target < self->n_targets && equations.n_independent == design->n && !apr_run_is_cancelled (run);
       target++)
    {
      const AprTarget whole = { target, APR_DTYPE_F64, coefficients, &intercept };

      apr_normal_equations_solve (&equations, &whole, run);
      for (i = 0; i < self->n; i++)
        self->solutions[target * self->n + i] =
          self->term[i] < self->first ? intercept : coefficients[self->term[i] - self->first];
    }
}

static void
take_relations (AprInference *self, const AprDesign *design, const AprInverse *inverse, const AprRun *run)
{
  gsize n_right = inverse->n_right;
  gsize i;
  gsize j;

  self->n_dependent = n_right - design->n_targets;
  self->dependent = g_new (gsize, self->n_dependent + 1);
  self->dependent_scale = g_new (gint64, self->n_dependent + 1);
  self->dependent_centre = g_new (double, self->n_dependent + 1);
  self->relations = apr_run_new_doubles (run, self->n_dependent, design->n);
  for (i = 0; i < self->n_dependent && self->relations != NULL; i++)
    {
      gsize column = design->n + design->n_targets + i;
      gint64 scale = MAX (design->scale[column], (gint64) mpz_sizeinbase (design->columns[column], 2));
      int shift = (int) CLAMP (design->scale[column] - scale, -5000, 0);

      self->dependent[i] = design->column[column] - 1;
      self->dependent_scale[i] = scale;
      self->dependent_centre[i] = apr_dd_from_integer (design->columns[column], -scale).high;
      for (j = 0; j < design->n; j++)
        self->relations[i * design->n + j] =
          ldexp (apr_double_doubles_get (inverse->solutions, design->n_targets + i, j).high, shift);
    }
}

/* Whether the numbers are those of columns of doubles, which are no farther apart than doubles can tell. */
static gboolean
is_finite (const AprInference *self)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    if (!isfinite (self->inverse[apr_triangle (i, i)]) ||
        (i >= self->first && !isfinite (self->centre[i - self->first].high)))
      return FALSE;

  return TRUE;
}

static void
fail_impossible (gsize n, GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The sums are not those of any samples with %" G_GSIZE_FORMAT " independent features", n);
}

AprInference *
apr_inference_new (const AprInferenceSource *source, const AprRun *caller, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  gsize n_features = apr_cross_products_get_n_features (source->cross_products);
  gboolean exact = apr_cross_products_get_precision (source->cross_products) == APR_PRECISION_EXACT;
  g_autoptr (AprInference) self = g_new0 (AprInference, 1);
  g_auto (AprDesign) design = { NULL };
  g_auto (AprInverse) inverse = { 0 };
  gsize n = n_features - source->n_dependent + (source->fit_intercept ? 1 : 0);
  gsize i;

  g_atomic_ref_count_init (&self->ref_count);
  mpf_init2 (self->weight, 2 * APR_INFERENCE_PRECISION);
  self->coefficients = apr_tensor_ref (source->coefficients);
  self->intercept = apr_tensor_ref (source->intercept);
  self->n_samples = apr_cross_products_get_n_samples (source->cross_products);
  self->weight_logs = apr_cross_products_get_weight_logs (source->cross_products);
  self->rounded = apr_cross_products_get_dtype (source->cross_products) == APR_DTYPE_F32 || !exact;

  /* Of many more features than samples, relations take most of the time. */
  self->has_relations = source->relations || self->n_samples > n || source->n_dependent == 0;
  if (!apr_cross_products_check_possible (source->cross_products, run, error) ||
      !apr_design_init (&design, source->cross_products, source->fit_intercept, source->dependent,
                        source->n_dependent, self->has_relations, error))
    return NULL;

  self->exponent = apr_design_get_exponent (&design);
  name_terms (self, source, &design, n_features);
  if (self->n > self->n_samples && exact)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The sums are not those of any samples: of %" G_GUINT64_FORMAT " samples, %" G_GSIZE_FORMAT
                   " terms cannot be independent",
                   self->n_samples, self->n);
      return NULL;
    }
  self->df_residual = self->n_samples > self->n ? self->n_samples - self->n : 0;
  design.saturated = self->df_residual == 0;
  design.rounded = !exact;

  if (!apr_inverse_init (&inverse, &design, run))
    {
      if (!apr_run_set_error_if_cancelled (run, error))
        fail_impossible (design.n, error);
      return NULL;
    }
  self->condition_number =
    source->n_dependent > 0 ? INFINITY : apr_inference_find_condition (&design, &inverse, run);
  if (apr_run_set_error_if_cancelled (run, error))
    return NULL;
  find_constant (self, &design, &inverse, source);
  take_sums (self, &design, &inverse);
  if (!take_inverse (self, &design, &inverse, run))
    {
      (void) apr_run_set_error_if_cancelled (run, error);
      return NULL;
    }
  if (!is_finite (self))
    {
      fail_impossible (design.n, error);
      return NULL;
    }
  take_solutions (self, &design, &inverse);
  solve_again (self, &design, source, run);
  take_relations (self, &design, &inverse, run);
  self->prediction_rounding = g_new (double, self->n_targets + 1);
  for (i = 0; i < self->n_targets; i++)
    self->prediction_rounding[i] =
      apr_find_prediction_rounding (design.sums, apr_cross_products_get_dtype (source->cross_products),
                                    source->coefficients, source->intercept, i);
  self->root = inverse.root;
  inverse.root = (AprDoubleDoubles){ NULL };
  self->exact_fits = g_steal_pointer (&inverse.exact);
  if (apr_run_set_error_if_cancelled (run, error))
    return NULL;
  apr_run_report (run, 1);

  return g_steal_pointer (&self);
}

AprInference *
apr_inference_ref (AprInference *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

gboolean
apr_inference_is_uncertain (const AprInference *self, gsize target)
{
  return self->rounding[target] >= 1;
}

gboolean
apr_inference_contradicts (const AprInference *self, gsize target, const double *factors, double value)
{
  const guint64 *solution = g_ptr_array_index (self->exact_fits, target);

  return solution != NULL &&
         apr_exact_solution_contradicts (solution + 1 - self->first, factors, self->n, value);
}

void
apr_inference_unref (AprInference *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  mpf_clear (self->weight);
  numbers_free (self->totals, self->n_targets);
  numbers_free (self->residuals, self->n_targets);
  numbers_free (self->explained, self->n_targets);
  g_free (self->rounding);
  g_clear_pointer (&self->exact_fits, g_ptr_array_unref);
  apr_double_doubles_free (&self->root);
  g_free (self->centre);
  g_free (self->centre_rest);
  g_free (self->scale);
  apr_pages_free (self->inverse);
  g_free (self->solutions);
  g_free (self->exact);
  g_free (self->inflation);
  g_free (self->prediction_rounding);
  g_free (self->constant);
  g_free (self->dependent);
  g_free (self->dependent_scale);
  g_free (self->dependent_centre);
  g_free (self->relations);
  g_free (self->term);
  g_strfreev (self->names);
  apr_tensor_unref (self->coefficients);
  apr_tensor_unref (self->intercept);
  g_free (self);
}

void
apr_inference_shift (mpf_t result, const mpf_t number, gint64 exponent)
{
  if (exponent >= 0)
    mpf_mul_2exp (result, number, (mp_bitcnt_t) exponent);
  else
    mpf_div_2exp (result, number, (mp_bitcnt_t) -exponent);
}

AprDoubleDouble
apr_inference_split (const mpf_t number, gint64 *exponent)
{
  signed long own_exponent;
  double high = mpf_get_d_2exp (&own_exponent, number);
  double low;
  mpf_t part;
  mpf_t rest;

  /* GMP cuts off what is beyond a double. */
  mpf_init2 (part, 2 * APR_INFERENCE_PRECISION);
  mpf_init2 (rest, 2 * APR_INFERENCE_PRECISION);
  apr_inference_shift (rest, number, -own_exponent);
  mpf_set_d (part, high);
  mpf_sub (rest, rest, part);
  low = mpf_get_d (rest);
  mpf_clear (part);
  mpf_clear (rest);
  *exponent = own_exponent;

  return apr_dd_quick_sum (high, low);
}

AprDoubleDouble
apr_inference_to_double_double (const mpf_t number, gint64 exponent)
{
  gint64 own_exponent;
  AprDoubleDouble value = apr_inference_split (number, &own_exponent);
  int shift = (int) CLAMP (own_exponent + exponent, -5000, 5000);

  return (AprDoubleDouble){ ldexp (value.high, shift), ldexp (value.low, shift) };
}

double
apr_inference_to_double (const mpf_t number, gint64 exponent)
{
  return apr_inference_to_double_double (number, exponent).high;
}
