/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

/* Samples of groups: what fit_groups () is given. */
typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprTensor *labels;
  AprTensor *weights; /* (nullable) */
  gsize n;
  gsize n_features;
  gsize n_targets; /* 0 for a vector */
} Samples;

static void
samples_clear (Samples *self)
{
  apr_tensor_unref (self->x);
  apr_tensor_unref (self->y);
  apr_tensor_unref (self->labels);
  g_clear_pointer (&self->weights, apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Samples, samples_clear)

static AprTensor *
labels_new (gsize n, const gint64 *labels)
{
  g_autofree gint64 *bytes = g_memdup2 (labels, n * sizeof *labels);
  g_autoptr (GBytes) data = NULL;
  GError *error = NULL;
  AprTensor *tensor;

  swap_on_big_endian (bytes, n, sizeof *bytes);
  data = g_bytes_new (bytes, n * sizeof *bytes);
  tensor = apr_tensor_new_from_bytes (APR_DTYPE_I64, &n, 1, data, &error);
  g_assert_no_error (error);

  return tensor;
}

static gint64
label_of (AprTensor *labels, gsize i)
{
  return (gint64) element (labels, i);
}

/* Random samples of groups of 0 to @max_rows samples, labelled -3, 4, 11, ...; shuffled or not. */
static Samples
samples_new (GRand *rand,
             gsize n_groups,
             gsize max_rows,
             gsize n_features,
             gsize n_targets,
             AprDType dtype,
             gboolean shuffled,
             gboolean weighted)
{
  gsize n_columns = MAX (n_targets, 1);
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;
  g_autofree double *weights = NULL;
  g_autoptr (AprTensor) x_doubles = NULL;
  g_autoptr (GError) error = NULL;
  gsize n;
  gsize i;

  for (i = 0; i < n_groups; i++)
    {
      gint64 label = 7 * (gint64) i - 3;
      gsize n_rows = (gsize) g_rand_int_range (rand, i == 0 ? 1 : 0, (gint32) max_rows + 1);

      for (; n_rows > 0; n_rows--)
        g_array_append_val (labels, label);
    }
  n = labels->len;
  for (i = n - 1; i > 0 && shuffled; i--)
    {
      gsize other = (gsize) g_rand_int_range (rand, 0, (gint32) i + 1);
      gint64 label = g_array_index (labels, gint64, i);

      g_array_index (labels, gint64, i) = g_array_index (labels, gint64, other);
      g_array_index (labels, gint64, other) = label;
    }

  x = g_new (double, n *n_features);
  y = g_new (double, n *n_columns);
  weights = g_new (double, n);
  for (i = 0; i < n * n_features; i++)
    x[i] = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -3, 4));
  for (i = 0; i < n * n_columns; i++)
    y[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < n; i++)
    weights[i] = g_rand_int_range (rand, 0, 4) * 0.3;

  x_doubles = matrix_new (n, n_features, x);

  return (Samples){ .x = apr_tensor_cast (x_doubles, dtype, &error),
                    .y = n_targets > 0 ? matrix_new (n, n_targets, y) : vector_new (n, y),
                    .labels = labels_new (n, &g_array_index (labels, gint64, 0)),
                    .weights = weighted ? vector_new (n, weights) : NULL,
                    .n = n,
                    .n_features = n_features,
                    .n_targets = n_targets };
}

static void
assert_same_element (AprTensor *tensor, gsize i, AprTensor *expected, gsize j)
{
  assert_same_double (element (tensor, i), element (expected, j));
}

/* Whether each group has what fit () finds for its samples alone, bit for bit, or its error. */
static void
assert_law (AprLinearRegression *model, const Samples *samples, AprGroupFits *fits)
{
  AprTensor *labels = apr_group_fits_get_labels (fits);
  gsize n_columns = MAX (samples->n_targets, 1);
  gsize n_rows_of_all = 0;
  gsize n_failed = 0;
  gsize n_used;
  gsize i;
  gsize j;

  g_assert_cmpuint (apr_tensor_get_n_dims (apr_group_fits_get_coefficients (fits)), ==,
                    samples->n_targets > 0 ? 3 : 2);
  for (i = 0; i < apr_group_fits_get_n_groups (fits); i++)
    {
      gint64 label = label_of (labels, i);
      g_autoptr (AprTensor) x = rows_with (samples->x, samples->labels, (double) label, FALSE);
      g_autoptr (AprTensor) y = rows_with (samples->y, samples->labels, (double) label, FALSE);
      g_autoptr (AprTensor) weights = samples->weights != NULL
                                      ? rows_with (samples->weights, samples->labels, (double) label, FALSE)
                                      : NULL;
      gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
      g_autoptr (AprEstimator) alone = apr_estimator_clone (APR_ESTIMATOR (model));
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) own_error = NULL;

      g_assert_true (i == 0 || label_of (labels, i - 1) < label);
      for (n_used = j = 0; j < n_rows; j++)
        n_used += weights == NULL || element (weights, j) > 0;
      g_assert_cmpfloat (element (apr_group_fits_get_n_samples (fits), i), ==, (double) n_used);
      n_rows_of_all += n_rows;
      if (!apr_estimator_fit (alone, x, y, weights, NULL, &error))
        {
          n_failed++;
          g_assert_false (apr_group_fits_check (fits, i, &own_error));
          g_assert_error (own_error, error->domain, error->code);
          g_assert_cmpstr (own_error->message, ==, error->message);
          g_assert_true (isnan (element (apr_group_fits_get_intercepts (fits), i * n_columns)));
          g_assert_true (
            isnan (element (apr_group_fits_get_coefficients (fits), i * n_columns * samples->n_features)));
          g_assert_cmpfloat (element (apr_group_fits_get_ranks (fits), i), ==, -1);
          g_assert_cmpfloat (element (apr_group_fits_get_correctly_rounded (fits), i), ==, 0);
          continue;
        }

      g_assert_true (apr_group_fits_check (fits, i, &own_error));
      g_assert_no_error (own_error);
      for (j = 0; j < n_columns * samples->n_features; j++)
        assert_same_element (apr_group_fits_get_coefficients (fits), i * n_columns * samples->n_features + j,
                             coefficients_of (APR_LINEAR_REGRESSION (alone)), j);
      for (j = 0; j < n_columns; j++)
        assert_same_element (apr_group_fits_get_intercepts (fits), i * n_columns + j,
                             intercept_of (APR_LINEAR_REGRESSION (alone)), j);
      g_assert_cmpfloat (element (apr_group_fits_get_ranks (fits), i), ==,
                         (double) apr_linear_regression_get_rank (APR_LINEAR_REGRESSION (alone)));
      g_assert_cmpint (element (apr_group_fits_get_correctly_rounded (fits), i) != 0, ==,
                       apr_linear_regression_get_correctly_rounded (APR_LINEAR_REGRESSION (alone)));
      g_assert_cmpint (apr_tensor_get_dtype (apr_group_fits_get_coefficients (fits)), ==,
                       apr_tensor_get_dtype (coefficients_of (APR_LINEAR_REGRESSION (alone))));
    }
  g_assert_cmpuint (n_rows_of_all, ==, samples->n);
  g_assert_cmpuint (apr_group_fits_get_n_failed (fits), ==, n_failed);
}

static AprGroupFits *
fit (AprLinearRegression *model, const Samples *samples)
{
  GError *error = NULL;
  AprGroupFits *fits = apr_linear_regression_fit_groups (model, samples->x, samples->y, samples->labels,
                                                         samples->weights, NULL, &error);

  g_assert_no_error (error);
  return fits;
}

/* The law for all kinds of samples and models: groups are fitted as if each was alone. */
static void
test_law (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint kind;

  for (kind = 0; kind < 48; kind++)
    {
      g_auto (Samples) samples =
        samples_new (rand, kind == 7 ? 1 : 9, kind % 8 == 3 ? 300 : 14, kind % 5 == 4 ? 66 : 1 + kind % 4,
                     kind % 3, kind % 2 ? APR_DTYPE_F32 : APR_DTYPE_F64, kind / 2 % 2, kind / 4 % 2);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprGroupFits) fits = NULL;

      g_object_set (model, "n-threads", 1 + kind % 3, "fit-intercept", kind % 7 != 2, "alpha",
                    kind % 6 == 5 ? 0.25 : 0, "positive", kind % 9 == 8, "precision",
                    kind % 10 == 9 ? APR_PRECISION_DOUBLE : APR_PRECISION_EXACT, NULL);
      fits = fit (model, &samples);
      assert_law (model, &samples, fits);
      g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));
    }
}

/* One penalty for each target. */
static void
test_alphas (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_auto (Samples) samples = samples_new (rand, 5, 12, 3, 2, APR_DTYPE_F64, TRUE, FALSE);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) alphas = vector_new (2, (const double[]){ 0.5, 0 });
  g_autoptr (AprTensor) too_many = vector_new (3, (const double[]){ 0.5, 0, 1 });
  g_autoptr (AprGroupFits) fits = NULL;
  g_autoptr (GError) error = NULL;

  apr_linear_regression_set_alphas (model, alphas);
  fits = fit (model, &samples);
  assert_law (model, &samples, fits);

  apr_linear_regression_set_alphas (model, too_many);
  g_assert_null (
    apr_linear_regression_fit_groups (model, samples.x, samples.y, samples.labels, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_object_set (model, "alphas", NULL, "alpha", -1.0, NULL);
  g_assert_null (
    apr_linear_regression_fit_groups (model, samples.x, samples.y, samples.labels, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

/* Values of very different sizes in turn, and a group that all threads fit together. */
static void
test_sizes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  gsize n_large = runs_slowly () ? 3000 : 150000;
  gsize n = n_large + 40;
  g_autofree double *x = g_new (double, 2 * n);
  g_autofree double *y = g_new (double, n);
  g_autofree gint64 *labels = g_new (gint64, n);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_auto (Samples) samples = { .n = n, .n_features = 2 };
  g_autoptr (AprGroupFits) fits = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      gint exponent = i < 40 ? (gint) (i / 10) * 170 - 300 : 0;

      labels[i] = i < 40 ? (gint64) i / 10 : 5;
      x[2 * i] = ldexp (g_rand_double_range (rand, -1, 1), exponent);
      x[2 * i + 1] = ldexp (g_rand_double_range (rand, -1, 1), -exponent);
      y[i] = g_rand_double_range (rand, -1, 1);
    }
  samples.x = matrix_new (n, 2, x);
  samples.y = vector_new (n, y);
  samples.labels = labels_new (n, labels);
  fits = fit (model, &samples);
  g_assert_cmpuint (apr_group_fits_get_n_groups (fits), ==, 5);
  assert_law (model, &samples, fits);
}

/* Lines that anyone can check: y = 1 + 2 x, y = 5 - x, one point, and no weight. */
static void
test_lines (void)
{
  const gint64 labels[] = { 9, 2, 9, 2, 9, 4, 6 };
  const double n_samples[] = { 2, 1, 0, 2 };
  g_autoptr (AprTensor) x = matrix_new (7, 1, (const double[]){ 0, 1, 1, 3, 2, 8, 1 });
  g_autoptr (AprTensor) y = vector_new (7, (const double[]){ 1, 4, 3, 2, 5, 7, 1 });
  g_autoptr (AprTensor) groups = labels_new (7, labels);
  g_autoptr (AprTensor) weights = vector_new (7, (const double[]){ 1, 2, 0, 1, 3, 1, 0 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprGroupFits) fits = NULL;
  g_autoptr (GError) error = NULL;
  const double *slopes;
  const double *intercepts;
  gsize i;

  fits = apr_linear_regression_fit_groups (model, x, y, groups, weights, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_group_fits_get_n_groups (fits), ==, 4);
  g_assert_cmpuint (apr_group_fits_get_n_failed (fits), ==, 1);
  /* Samples of weight 0 are not counted, as in a fit. */
  for (i = 0; i < 4; i++)
    g_assert_cmpfloat (element (apr_group_fits_get_n_samples (fits), i), ==, n_samples[i]);
  slopes = apr_tensor_get_doubles (apr_group_fits_get_coefficients (fits), NULL, &error);
  intercepts = apr_tensor_get_doubles (apr_group_fits_get_intercepts (fits), NULL, &error);
  g_assert_cmpfloat (element (apr_group_fits_get_labels (fits), 0), ==, 2);
  g_assert_cmpfloat (slopes[0], ==, -1);
  g_assert_cmpfloat (intercepts[0], ==, 5);
  /* The constant is all that one point tells. */
  g_assert_cmpfloat (slopes[1], ==, 0);
  g_assert_cmpfloat (intercepts[1], ==, 7);
  g_assert_cmpfloat (element (apr_group_fits_get_ranks (fits), 1), ==, 0);
  g_assert_true (isnan (slopes[2]) && isnan (intercepts[2]));
  g_assert_false (apr_group_fits_check (fits, 2, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  g_clear_error (&error);
  g_assert_cmpfloat (element (apr_group_fits_get_labels (fits), 3), ==, 9);
  g_assert_cmpfloat (slopes[3], ==, 2);
  g_assert_cmpfloat (intercepts[3], ==, 1);
  g_assert_false (apr_group_fits_check (fits, 4, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

/* A coefficient that is too large is its group's fault alone. */
static void
test_range (void)
{
  const gint64 labels[] = { 0, 0, 1, 1 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 0, 1e-300, 0, 1 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 0, 1e300, 0, 3 });
  g_autoptr (AprTensor) groups = labels_new (4, labels);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprGroupFits) fits = NULL;
  g_autoptr (GError) error = NULL;

  fits = apr_linear_regression_fit_groups (model, x, y, groups, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (apr_group_fits_check (fits, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_cmpfloat (element (apr_group_fits_get_coefficients (fits), 1), ==, 3);
}

/* Labels of every dtype in ascending order: negative ones first, the largest unsigned ones last. */
static void
test_labels (void)
{
  const struct
  {
    AprDType dtype;
    guint width;
    guint64 labels[4];
    guint order[4];
  } cases[] = {
    { APR_DTYPE_BOOL, 1, { 1, 0, 1, 0 }, { 1, 0 } },
    { APR_DTYPE_U8, 1, { 200, 3, 200, 100 }, { 1, 3, 0 } },
    { APR_DTYPE_I8, 1, { 200, 3, 200, 100 }, { 0, 1, 3 } },
    { APR_DTYPE_I16, 2, { 2, 0xffff, 1, 1 }, { 1, 2, 0 } },
    { APR_DTYPE_U16, 2, { 2, 0xffff, 1, 1 }, { 2, 0, 1 } },
    { APR_DTYPE_I32, 4, { 0x10000, 0xffffffff, 0x10000, 1 }, { 1, 3, 0 } },
    { APR_DTYPE_U32, 4, { 0x10000, 0xffffffff, 0x10000, 1 }, { 3, 0, 1 } },
    { APR_DTYPE_I64, 8, { G_MAXUINT64, 1, (guint64) 1 << 63, 0 }, { 2, 0, 3, 1 } },
    { APR_DTYPE_U64, 8, { G_MAXUINT64, 1, (guint64) 1 << 63, 0 }, { 3, 1, 2, 0 } },
    /* As a table has them: 2, -1, 2, 1; 1, 0, -0, -1. */
    { APR_DTYPE_F32, 4, { 0x40000000, 0xbf800000, 0x40000000, 0x3f800000 }, { 1, 3, 0 } },
    { APR_DTYPE_F64, 8, { 0x3ffull << 52, 0, 1ull << 63, 0xbffull << 52 }, { 3, 1, 0 } },
  };
  const gsize n = 4;
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 2, 3, 4 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 bytes[4 * 8];
      g_autoptr (GBytes) data = NULL;
      g_autoptr (AprTensor) groups = NULL;
      g_autoptr (AprGroupFits) fits = NULL;
      g_autoptr (GError) error = NULL;
      const guint8 *labels;

      for (j = 0; j < 4 * cases[i].width; j++)
        bytes[j] = (guint8) (cases[i].labels[j / cases[i].width] >> (8 * (j % cases[i].width)));
      data = g_bytes_new (bytes, 4 * cases[i].width);
      groups = apr_tensor_new_from_bytes (cases[i].dtype, &n, 1, data, &error);
      g_assert_no_error (error);
      fits = apr_linear_regression_fit_groups (model, x, y, groups, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (apr_tensor_get_dtype (apr_group_fits_get_labels (fits)), ==, cases[i].dtype);
      labels = g_bytes_get_data (apr_tensor_get_bytes (apr_group_fits_get_labels (fits)), NULL);
      for (j = 0; j < apr_group_fits_get_n_groups (fits); j++)
        g_assert_cmpmem (labels + j * cases[i].width, cases[i].width,
                         bytes + cases[i].order[j] * cases[i].width, cases[i].width);
    }
}

/* Groups of all small sizes, one after the other in ascending or descending order, with labels of every width whose
 * highest byte alone differs. */
static void
test_runs (void)
{
  const AprDType dtypes[] = { APR_DTYPE_U8, APR_DTYPE_I16, APR_DTYPE_U32, APR_DTYPE_I64 };
  const gsize n_groups = 19;
  const gsize n = 19 * 20 / 2;
  g_autofree double *values = g_new (double, n);
  g_autofree guint8 *bytes = g_malloc (n * 8);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    values[i] = (double) i;
  x = matrix_new (n, 1, values);
  y = vector_new (n, values);
  for (i = 0; i < 2 * G_N_ELEMENTS (dtypes); i++)
    {
      gsize width = (gsize) 1 << i / 2;
      gboolean descending = i % 2 == 1;
      g_autoptr (GBytes) data = NULL;
      g_autoptr (AprTensor) groups = NULL;
      g_autoptr (AprGroupFits) fits = NULL;
      g_autoptr (GError) error = NULL;
      gsize row = 0;

      memset (bytes, 0, n * width);
      for (j = 0; j < n_groups; j++)
        {
          /* 8, 15, 3, 10, ...: each size once. */
          gsize end = row + 1 + 7 * (j + 1) % n_groups;

          for (; row < end; row++)
            bytes[row * width + width - 1] = (guint8) (descending ? n_groups - 1 - j : j);
        }
      g_assert_cmpuint (row, ==, n);
      data = g_bytes_new (bytes, n * width);
      groups = apr_tensor_new_from_bytes (dtypes[i / 2], &n, 1, data, &error);
      g_assert_no_error (error);
      fits = apr_linear_regression_fit_groups (model, x, y, groups, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (apr_group_fits_get_n_groups (fits), ==, n_groups);
      for (j = 0; j < n_groups; j++)
        {
          gsize place = descending ? n_groups - 1 - j : j;

          g_assert_cmpfloat (element (apr_group_fits_get_n_samples (fits), place), ==,
                             (double) (1 + 7 * (j + 1) % n_groups));
        }
    }
}

static void
test_refused (void)
{
  const gint64 labels[] = { 0, 0, 1, 1, 1 };
  const gsize square[] = { 2, 2 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) not_finite = matrix_new (4, 1, (const double[]){ 1, 2, 3, NAN });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) infinite = vector_new (4, (const double[]){ 1, INFINITY, 3, 4 });
  g_autoptr (AprTensor) negative = vector_new (4, (const double[]){ 1, 1, -1, 1 });
  g_autoptr (AprTensor) groups = labels_new (4, labels);
  g_autoptr (AprTensor) turned = labels_new (4, (const gint64[]){ 3, 1, 3, 1 });
  g_autoptr (AprTensor) half = apr_tensor_cast (y, APR_DTYPE_F16, NULL);
  g_autoptr (AprTensor) fraction = vector_new (4, (const double[]){ 1, 1, 2.5, 0.5 });
  g_autoptr (AprTensor) large = vector_new (4, (const double[]){ -0x1p63, 0x1p63, 1, 1 });
  g_autoptr (AprTensor) no_label = vector_new (4, (const double[]){ 1, 1, 1, NAN });
  g_autoptr (AprTensor) too_many = labels_new (5, labels);
  g_autoptr (AprTensor) matrix =
    apr_tensor_new_from_bytes (APR_DTYPE_I64, square, 2, apr_tensor_get_bytes (groups), NULL);
  const struct
  {
    AprTensor *x;
    AprTensor *y;
    AprTensor *groups;
    AprTensor *weights;
    AprError code;
    const char *message;
  } cases[] = {
    { not_finite, y, groups, NULL, APR_ERROR_NOT_FINITE, "X has a NaN at row 3, column 0" },
    { not_finite, y, turned, NULL, APR_ERROR_NOT_FINITE, "X has a NaN at row 3, column 0" },
    { x, infinite, turned, NULL, APR_ERROR_NOT_FINITE, "y has an infinity at row 1" },
    { x, y, turned, negative, APR_ERROR_WEIGHTS, "the negative value -1 at row 2" },
    { x, y, too_many, NULL, APR_ERROR_SHAPE, "X has 4 samples, but groups has 5" },
    { x, y, matrix, NULL, APR_ERROR_SHAPE, "groups must have the shape [n_samples], but it has [2, 2]" },
    { x, y, half, NULL, APR_ERROR_DTYPE, "groups has the dtype F16" },
    { x, y, fraction, NULL, APR_ERROR_RANGE, "groups has the label 2.5 at row 2 (counted from 0)" },
    { x, y, large, NULL, APR_ERROR_RANGE, "groups has the label 9.223372e+18 at row 1" },
    { x, y, infinite, NULL, APR_ERROR_NOT_FINITE, "groups has an infinity at row 1 (counted from 0)" },
    { x, y, no_label, NULL, APR_ERROR_NOT_FINITE, "groups has a NaN at row 3 (counted from 0)" },
    { y, y, groups, NULL, APR_ERROR_SHAPE, "X must have the shape" },
  };
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_null (apr_linear_regression_fit_groups (model, cases[i].x, cases[i].y, cases[i].groups,
                                                       cases[i].weights, NULL, &error));
      g_assert_error (error, APR_ERROR, (gint) cases[i].code);
      assert_message_has (error, cases[i].message);
      g_clear_error (&error);
    }

  g_cancellable_cancel (cancellable);
  g_assert_null (apr_linear_regression_fit_groups (model, x, y, groups, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* An object that a script makes is of no groups. */
static void
test_empty (void)
{
  g_autoptr (AprGroupFits) fits = g_object_new (APR_TYPE_GROUP_FITS, NULL);
  static const char *const names[] = { "labels",    "coefficients", "intercepts",
                                       "n-samples", "ranks",        "correctly-rounded" };
  g_autoptr (GError) error = NULL;
  guint64 n_groups;
  guint64 n_failed;
  gsize i;

  g_object_get (fits, "n-groups", &n_groups, "n-failed", &n_failed, NULL);
  g_assert_cmpuint (n_groups, ==, 0);
  g_assert_cmpuint (n_failed, ==, 0);
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (AprTensor) tensor = NULL;

      g_object_get (fits, names[i], &tensor, NULL);
      g_assert_cmpuint (apr_tensor_get_n_elements (tensor), ==, 0);
    }
  g_assert_false (apr_group_fits_check (fits, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

/* What an asynchronous call told. */
typedef struct
{
  GMainLoop *loop;
  AprGroupFits *fits;
  GError *error;
  guint n_told;
  double told;
  gboolean was_busy;
} Told;

static void
told_clear (Told *self)
{
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_object (&self->fits);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Told, told_clear)

static void
progress_cb (AprEstimator *model, GParamSpec *pspec G_GNUC_UNUSED, gpointer user_data)
{
  Told *told = user_data;

  told->n_told++;
  told->told = apr_estimator_get_progress (model);
  told->was_busy = told->was_busy || apr_estimator_get_busy (model);
}

static void
finished_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Told *told = user_data;

  told->fits = apr_linear_regression_fit_groups_finish (APR_LINEAR_REGRESSION (object), result, &told->error);
  g_main_loop_quit (told->loop);
}

/* The twin finds the same, tells how far it is, and keeps other fits out meanwhile; it can be cancelled, and says what
 * is wrong. */
static void
test_async (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_auto (Samples) samples = samples_new (rand, 300, 20, 2, 0, APR_DTYPE_F64, TRUE, FALSE);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprGroupFits) expected = fit (model, &samples);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (Told) told = { .loop = g_main_loop_new (NULL, FALSE) };
  g_autoptr (GError) error = NULL;

  g_signal_connect (model, "notify::progress", G_CALLBACK (progress_cb), &told);
  apr_linear_regression_fit_groups_async (model, samples.x, samples.y, samples.labels, NULL,
                                          G_PRIORITY_DEFAULT, NULL, finished_cb, &told);
  g_assert_true (apr_estimator_get_busy (APR_ESTIMATOR (model)));
  g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), samples.x, samples.y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_main_loop_run (told.loop);
  g_assert_no_error (told.error);
  g_assert_cmpfloat (told.told, ==, 1);
  g_assert_true (told.was_busy);
  g_assert_false (apr_estimator_get_busy (APR_ESTIMATOR (model)));
  g_assert_true (apr_tensor_equal (apr_group_fits_get_coefficients (told.fits),
                                   apr_group_fits_get_coefficients (expected)));
  g_clear_object (&told.fits);

  g_cancellable_cancel (cancellable);
  apr_linear_regression_fit_groups_async (model, samples.x, samples.y, samples.labels, NULL,
                                          G_PRIORITY_DEFAULT, cancellable, finished_cb, &told);
  g_main_loop_run (told.loop);
  g_assert_null (told.fits);
  g_assert_error (told.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&told.error);

  apr_linear_regression_fit_groups_async (model, samples.x, samples.y, samples.x, NULL, G_PRIORITY_DEFAULT,
                                          NULL, finished_cb, &told);
  g_main_loop_run (told.loop);
  g_assert_error (told.error, APR_ERROR, APR_ERROR_SHAPE);
}

/* In the caller's thread each part of the work is told, and who hears of it may cancel the rest. */
static void
cancel_cb (AprEstimator *model, GParamSpec *pspec G_GNUC_UNUSED, gpointer user_data)
{
  if (apr_estimator_get_progress (model) > 0.2)
    g_cancellable_cancel (user_data);
}

static void
test_progress (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_auto (Samples) samples = samples_new (rand, 300, 20, 2, 0, APR_DTYPE_F64, FALSE, FALSE);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprGroupFits) fits = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Told told = { 0 };
  g_autoptr (GError) error = NULL;
  gulong id;

  apr_linear_regression_set_n_threads (model, 1);
  id = g_signal_connect (model, "notify::progress", G_CALLBACK (progress_cb), &told);
  fits = fit (model, &samples);
  g_assert_cmpuint (told.n_told, >=, 20);
  g_assert_cmpuint (told.n_told, <=, 45);
  g_assert_cmpfloat (told.told, ==, 1);
  g_signal_handler_disconnect (model, id);

  g_signal_connect (model, "notify::progress", G_CALLBACK (cancel_cb), cancellable);
  g_assert_null (apr_linear_regression_fit_groups (model, samples.x, samples.y, samples.labels, NULL,
                                                   cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpfloat (apr_estimator_get_progress (APR_ESTIMATOR (model)), <, 0.3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/group-fits/law", test_law);
  g_test_add_func ("/group-fits/alphas", test_alphas);
  g_test_add_func ("/group-fits/sizes", test_sizes);
  g_test_add_func ("/group-fits/lines", test_lines);
  g_test_add_func ("/group-fits/range", test_range);
  g_test_add_func ("/group-fits/labels", test_labels);
  g_test_add_func ("/group-fits/runs", test_runs);
  g_test_add_func ("/group-fits/refused", test_refused);
  g_test_add_func ("/group-fits/empty", test_empty);
  g_test_add_func ("/group-fits/async", test_async);
  g_test_add_func ("/group-fits/progress", test_progress);

  return g_test_run ();
}
