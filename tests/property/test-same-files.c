/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

/* The files of fixed problems, as hashes that were computed on amd64: every processor writes the same bytes,
 * big-endian ones too, and so does every later version, unless a change of the format or of a result is meant and
 * said in NEWS.md. */

#define MAX_ROWS 64
#define MAX_FEATURES 5
#define MAX_TARGETS 2

typedef struct
{
  const char *name;
  gsize n_features;
  gsize n_targets;
  AprDType x_dtype;
  AprDType dtype;
  gboolean weighted;
  gboolean fit_intercept;
  gboolean positive;
  gboolean dependent; /* the last feature is a copy of the first */
  double alpha;
  int exponent; /* of all numbers */

  const char *model;          /* hash of the model's file, the cross products in it */
  const char *small_model;    /* without them */
  const char *cross_products; /* of their own file */
} Problem;

static const Problem problems[] = {
  { .name = "doubles",
    .n_features = 3,
    .n_targets = 1,
    .fit_intercept = TRUE,
    .model = "43bec82834c234ba44419784bfaec8148fcb8630ff03ea63a13e2936be9ba003",
    .small_model = "de446932e6889f20c28bdb3895143deaec310019e1993776666eaf9df6354cfb",
    .cross_products = "49c7033d18e234e24a10ffde278420d325f309a9192a942c0f2ccbb02eb18cf0" },
  { .name = "floats",
    .n_features = 4,
    .n_targets = 1,
    .x_dtype = APR_DTYPE_F32,
    .fit_intercept = TRUE,
    .model = "251f8f3650d5044871189b4d5f40767446417e96bcc4debace4042923924d4d4",
    .small_model = "df091147342c8b8398d9c08f64e7f437e29d659a4378d21c1f2fbdf5a3a89252",
    .cross_products = "6770ceef2f9ac8bf18378eeb33ac9c20a9533544e8fd1a25ebc5bb0fad0525ef" },
  { .name = "weights",
    .n_features = 2,
    .n_targets = 1,
    .weighted = TRUE,
    .fit_intercept = TRUE,
    .model = "0432eed935eb2fd59fee652d1efc6546ecdd84b0b13173870ca4618f8c137e13",
    .small_model = "7d5cd19c8e3f33d422a16a0108aaa2c1332c77486fc02fa205af466e2aa8868a",
    .cross_products = "e9c0a0f73ac76792b1dc2c7fa5cbd528936f1a6650ee955ee9c27493005006d5" },
  { .name = "targets",
    .n_features = 3,
    .n_targets = 2,
    .fit_intercept = TRUE,
    .model = "7383af4e29affbb7bb9250bac306c67aa864d99cf44741c31fe5ad9171fa0bd7",
    .small_model = "bb0c180f2fb99f65a2fae281074101104987efffd5e56613467c6e665291e5f9",
    .cross_products = "0f0a03c3a837c8264dfbd9b3856bf4aae50a89658d9ef19a5a3ab8c31add9593" },
  { .name = "to floats",
    .n_features = 5,
    .n_targets = 1,
    .dtype = APR_DTYPE_F32,
    .fit_intercept = TRUE,
    .model = "32c0c1b0026e222be0a2bcc275d3836f2c96a96289e580aa736afcb574a3dddf",
    .small_model = "72b782ee2f42f1052198c9e40e7d6783dd9a5ed20958f7135d52b5c7b7b75c15",
    .cross_products = "022fca43f15863e46df78beba60316e13fb3b0d660d12b8d2924899814190c67" },
  { .name = "no intercept",
    .n_features = 3,
    .n_targets = 1,
    .model = "cbcf1392542b8f2cd9a279871c2b00d4eaff51123f8781c9ae9d132b02228bef",
    .small_model = "f7054033dd618c337173be4662b3c63a1ab316cb8286d988df900e5d7bb5675e",
    .cross_products = "d4bdd1297337a6d3e6aac30e3ef55139a068ae3bdfbc07d4ad85d8f937dc365e" },
  { .name = "penalty",
    .n_features = 4,
    .n_targets = 1,
    .alpha = 0.1,
    .fit_intercept = TRUE,
    .model = "fa6f2a9202e5bc7059babd1b17c9f6ac2f982f42e3655ff5caff718a06dfe4c8",
    .small_model = "ac5078a11f4ad57bbcbe3112894017fd7c697acfd22a73e64bec5cdcad4bc049",
    .cross_products = "e44c00f2c81806943854c1d17f6cd7f361546bf1adad386d5dedb524bedc1de6" },
  { .name = "positive",
    .n_features = 4,
    .n_targets = 1,
    .positive = TRUE,
    .fit_intercept = TRUE,
    .model = "116e376cd228418bb02bfe007eb9a687468544122364eca17c32e56be4fc88f6",
    .small_model = "aa1df193094357046337236320d9463fa518429e547f65c83fa6dec6764b85b9",
    .cross_products = "90bfc8f45c4e7da3d1f48e0d54177d94b69ea752eb1754397998cdacee41d05a" },
  { .name = "dependent",
    .n_features = 4,
    .n_targets = 1,
    .dependent = TRUE,
    .fit_intercept = TRUE,
    .model = "1f44c46379e6e9ad9c288b9850b2de51af8a83d9f05fb6c63656c8a61b2928f8",
    .small_model = "f3c9ac3f183b2e4bf936a10cbda308474067de3d5484e9a443587bb36da892c9",
    .cross_products = "e95e3a3ef6311d1253b81dfdf40acb0416ac226a3654e817001da7fcba5a001d" },
  { .name = "large",
    .n_features = 2,
    .n_targets = 1,
    .fit_intercept = TRUE,
    .exponent = 900,
    .model = "642cd47a3179d0c0c2a8f3beedccc5971acabd4287dbd96497aca745bb9b78c4",
    .small_model = "f780d547c4bf70f1dc687f86cbc135b0d2fea8a19b124af1aeb87115ec827bea",
    .cross_products = "14d3a9f64a803fee4832b076178372d272b75e03fa770ecd6372304862fa2c0a" },
  { .name = "subnormal",
    .n_features = 2,
    .n_targets = 1,
    .fit_intercept = TRUE,
    .exponent = -1060,
    .model = "13a76690f9b1fdfb81d43821c725973e07989b8216474e9cf40d95aec076973c",
    .small_model = "318740da17187622c556ac3bacc6640e9cdf35e1b802250f6a026a496ece1a8c",
    .cross_products = "831dcc98d8aa60a9bda78baa81721fc24475fc961d2203d05d4306983c49a2c9" },
  { .name = "everything",
    .n_features = 5,
    .n_targets = 2,
    .x_dtype = APR_DTYPE_F32,
    .weighted = TRUE,
    .fit_intercept = TRUE,
    .positive = TRUE,
    .alpha = 1e-9,
    .model = "3ece265db310e9bba3ad0cc20507a1a3797843f2aaf6dfe7598057ac69ee5d16",
    .small_model = "c32be6976253f556d5424643972db4cac12c2f1440ddab4c0469b79cd43a0ded",
    .cross_products = "0cb7196ab8497621331836c7b2db523de89b1997492e0eed92e18e5503a69993" },
};

/* Nothing here depends on a function of the C library that may round in another way elsewhere. */
static double
draw_element (GRand *rand, int exponent)
{
  return ldexp ((double) g_rand_int_range (rand, -1000000, 1000000), exponent - 10);
}

static AprTensor *
draw_x (GRand *rand, const Problem *problem, gsize n_rows)
{
  double values[MAX_ROWS * MAX_FEATURES];
  g_autoptr (AprTensor) x = NULL;
  gsize i;

  for (i = 0; i < n_rows * problem->n_features; i++)
    values[i] = problem->dependent && i % problem->n_features == problem->n_features - 1
                ? values[i + 1 - problem->n_features]
                : draw_element (rand, problem->exponent);
  x = matrix_new (n_rows, problem->n_features, values);

  return problem->x_dtype == APR_DTYPE_F32 ? apr_tensor_cast (x, APR_DTYPE_F32, NULL) : g_steal_pointer (&x);
}

static AprTensor *
draw_y (GRand *rand, const Problem *problem, gsize n_rows)
{
  double values[MAX_ROWS * MAX_TARGETS];
  gsize i;

  for (i = 0; i < n_rows * problem->n_targets; i++)
    values[i] = draw_element (rand, problem->exponent);

  return problem->n_targets > 1 ? matrix_new (n_rows, problem->n_targets, values)
                                : vector_new (n_rows, values);
}

static AprTensor *
draw_weights (GRand *rand, gsize n_rows)
{
  double values[MAX_ROWS];
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = ldexp ((double) g_rand_int_range (rand, 0, 1000), -5);

  return vector_new (n_rows, values);
}

static void
check_hash (const Problem *problem, const char *file, GBytes *bytes, const char *expected)
{
  g_autofree char *hash = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);

  if (g_strcmp0 (hash, expected) == 0)
    return;

  g_test_message ("%s: the %s has %s", problem->name, file, hash);
  g_test_fail ();
}

static void
test_problem (gconstpointer data)
{
  const Problem *problem = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) (problem - problems));
  gsize n_rows = 30 + (gsize) (problem - problems);
  g_autoptr (AprTensor) x = draw_x (rand, problem, n_rows);
  g_autoptr (AprTensor) y = draw_y (rand, problem, n_rows);
  g_autoptr (AprTensor) weights = problem->weighted ? draw_weights (rand, n_rows) : NULL;
  g_autoptr (AprLinearRegression) model = g_object_new (
    APR_TYPE_LINEAR_REGRESSION, "fit-intercept", problem->fit_intercept, "alpha", problem->alpha, "positive",
    problem->positive, "dtype", problem->dtype, "keep-state", TRUE, NULL);
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) small_bytes = NULL;
  g_autoptr (GBytes) state_bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_get_correctly_rounded (model));

  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_no_error (error);
  check_hash (problem, "model", bytes, problem->model);

  apr_linear_regression_set_keep_state (model, FALSE);
  small_bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_no_error (error);
  check_hash (problem, "small model", small_bytes, problem->small_model);

  state = apr_linear_regression_get_cross_products (model);
  state_bytes = apr_cross_products_to_bytes (state, &error);
  g_assert_no_error (error);
  check_hash (problem, "state", state_bytes, problem->cross_products);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (problems); i++)
    {
      g_autofree char *name = g_strdelimit (g_strdup (problems[i].name), " ", '-');
      g_autofree char *path = g_strconcat ("/same-files/", name, NULL);

      g_test_add_data_func (path, &problems[i], test_problem);
    }

  return g_test_run ();
}
