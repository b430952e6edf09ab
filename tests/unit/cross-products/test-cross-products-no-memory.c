/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"

/* Samples are added where there is no memory for one of the tables that takes: they are added all the same, by other
 * ways, or it fails and the sums are as they were. */

/* How many tables there is still memory for, and whether there is memory again after the one that failed. */
static gint n_tables = G_MAXINT;
static gboolean fails_once;

gpointer __real_apr_pages_new (gsize size, gboolean cleared);

gpointer __wrap_apr_pages_new (gsize size, gboolean cleared);

gpointer
__wrap_apr_pages_new (gsize size, gboolean cleared)
{
  gint left = g_atomic_int_add (&n_tables, -1);

  return left == 0 || (left < 0 && !fails_once) ? NULL : __real_apr_pages_new (size, cleared);
}

/* The same for what is counted in bytes. */
static gint n_memories = G_MAXINT;

gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gboolean missing = g_atomic_int_add (&n_memories, -1) <= 0;

  /* So many bytes that they cannot be counted: nobody is asked for them. */
  return missing ? __real_apr_memory_new (G_MAXSIZE, 2, what, error)
                 : __real_apr_memory_new (n, size, what, error);
}

typedef struct
{
  const char *name;
  DrawKind kind;
  AprDType dtype;
  gsize n_rows;
  gsize n_features;
  gboolean weighted;
  AprPrecision precision;
} Case;

static const Case cases[] = {
  { "narrow", DRAW_ORDINARY, APR_DTYPE_F64, 700, 5 },
  { "wide", DRAW_ORDINARY, APR_DTYPE_F32, 900, 70 },
  { "weighted", DRAW_ORDINARY, APR_DTYPE_F64, 300, 70, .weighted = TRUE },
  { "far-apart", DRAW_EVERY_EXPONENT, APR_DTYPE_F64, 120, 4 },
  { "far-apart-weighted", DRAW_EVERY_EXPONENT, APR_DTYPE_F64, 60, 3, .weighted = TRUE },
  { "integers", DRAW_ORDINARY, APR_DTYPE_I64, 300, 9 },
  { "double", DRAW_ORDINARY, APR_DTYPE_F64, 300, 9, .precision = APR_PRECISION_DOUBLE },
};

static AprTensor *
draw_tensor (GRand *rand, const Case *c, gsize n_columns, AprDType dtype)
{
  const gsize shape[] = { c->n_rows, n_columns };
  gsize n = c->n_rows * n_columns;
  g_autofree gint64 *integers = g_new (gint64, n);
  g_autofree double *values = g_new (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  AprTensor *tensor;
  gsize i;

  for (i = 0; i < n; i++)
    {
      /* Those of more than 53 bits leave a rest. */
      integers[i] = (gint64) g_rand_int (rand) << 31 | g_rand_int (rand);
      values[i] = draw (rand, c->kind, APR_DTYPE_F64, i / n_columns);
    }
  doubles = matrix_new (c->n_rows, n_columns, values);
  bytes = g_bytes_new (integers, n * sizeof *integers);
  tensor = dtype == APR_DTYPE_I64 ? apr_tensor_new_from_bytes (dtype, shape, 2, bytes, &error)
                                  : apr_tensor_cast (doubles, dtype, &error);
  g_assert_no_error (error);

  return tensor;
}

static void
test_no_memory (gconstpointer user_data)
{
  const Case *c = user_data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (AprTensor) x = draw_tensor (rand, c, c->n_features, c->dtype);
  g_autoptr (AprTensor) y = draw_tensor (rand, c, 1, APR_DTYPE_F64);
  g_autoptr (AprTensor) weights = NULL;
  g_autofree double *values = g_new (double, c->n_rows);
  g_autoptr (AprCrossProducts) before =
    apr_cross_products_new_with_precision (c->n_features, 1, c->precision, NULL);
  g_autoptr (AprCrossProducts) expected = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ended = FALSE;
  guint n_failed = 0;
  gint table;
  gsize i;

  for (i = 0; i < c->n_rows; i++)
    values[i] = g_rand_double (rand);
  if (c->weighted)
    weights = vector_new (c->n_rows, values);
  g_assert_true (apr_cross_products_update (before, x, y, weights, NULL, &error));
  expected = apr_cross_products_copy (before);
  g_assert_true (apr_cross_products_update (expected, x, y, weights, NULL, &error));

  for (table = 0, fails_once = FALSE; !ended; table += fails_once, fails_once = !fails_once)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_copy (before);
      gboolean added;

      g_atomic_int_set (&n_tables, table);
      added = apr_cross_products_update (state, x, y, weights, NULL, &error);
      ended = g_atomic_int_get (&n_tables) >= 0;
      g_atomic_int_set (&n_tables, G_MAXINT);
      g_assert_true (added || !ended);
      if (!added)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          assert_message_has (error, "o memory for ");
          g_clear_error (&error);
          n_failed++;
        }
      g_assert_true (apr_cross_products_equal (state, added ? expected : before));
    }
  g_test_message ("%d tables, %u failures", table, n_failed);
  g_assert_cmpuint (n_failed, >, 0);
}

/* What is done with few samples, which a state of many features keeps as they are. */
typedef gboolean (*Act) (AprCrossProducts *state, AprCrossProducts *other, GError **error);

static DrawKind few_kind;

static gboolean
add_samples (AprCrossProducts *state, gsize n_rows, guint32 seed, GError **error)
{
  gsize n_features = apr_cross_products_get_n_features (state);
  const Case c = { "few", few_kind, APR_DTYPE_F64, n_rows, n_features };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  g_autofree double *values = g_new (double, n_rows);
  gint n_left = g_atomic_int_get (&n_memories);
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = g_rand_double (rand);
  g_atomic_int_set (&n_memories, G_MAXINT);
  x = draw_tensor (rand, &c, n_features, APR_DTYPE_F64);
  y = draw_tensor (rand, &c, 1, APR_DTYPE_F64);
  weights = vector_new (n_rows, values);
  g_atomic_int_set (&n_memories, n_left);

  return apr_cross_products_update (state, x, y, weights, NULL, error);
}

static gboolean
merge (AprCrossProducts *state, AprCrossProducts *other, GError **error)
{
  return apr_cross_products_merge (state, other, error);
}

static gboolean
subtract (AprCrossProducts *state, AprCrossProducts *other, GError **error)
{
  return apr_cross_products_subtract (state, other, error);
}

static gboolean
update (AprCrossProducts *state, AprCrossProducts *other G_GNUC_UNUSED, GError **error)
{
  return add_samples (state, 7, 12, error);
}

/* More than a state keeps: they become sums. */
static gboolean
update_with_many (AprCrossProducts *state, AprCrossProducts *other G_GNUC_UNUSED, GError **error)
{
  return add_samples (state, apr_cross_products_get_n_features (state), 13, error);
}

static gboolean
save_and_load (AprCrossProducts *state, AprCrossProducts *other G_GNUC_UNUSED, GError **error)
{
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, error);
  g_autoptr (AprCrossProducts) loaded = bytes != NULL ? apr_cross_products_from_bytes (bytes, error) : NULL;

  gint n_left = g_atomic_int_get (&n_memories);

  g_atomic_int_set (&n_memories, G_MAXINT);
  g_assert_true (loaded == NULL || apr_cross_products_equal (loaded, state));
  g_atomic_int_set (&n_memories, n_left);

  return loaded != NULL;
}

static const struct
{
  const char *name;
  Act act;
  gsize n_features;
  DrawKind kind;
} acts[] = {
  { "merge", merge, 70, DRAW_ORDINARY },
  { "subtract", subtract, 70, DRAW_ORDINARY },
  { "update", update, 70, DRAW_ORDINARY },
  { "update-with-many", update_with_many, 70, DRAW_ORDINARY },
  { "save-and-load", save_and_load, 70, DRAW_ORDINARY },
  { "save-and-load-rows", save_and_load, 1024, DRAW_ORDINARY }, /* so many that the file has the samples */
  { "save-and-load-sums", save_and_load, 5, DRAW_ORDINARY },
  { "save-and-load-trimmed", save_and_load, 5, DRAW_EVERY_EXPONENT },
};

static void
test_few_samples (gconstpointer user_data)
{
  Act act = acts[GPOINTER_TO_SIZE (user_data)].act;
  gsize n_features = acts[GPOINTER_TO_SIZE (user_data)].n_features;
  g_autoptr (AprCrossProducts) before = apr_cross_products_new (n_features, 1, NULL);
  g_autoptr (AprCrossProducts) other = apr_cross_products_new (n_features, 1, NULL);
  g_autoptr (AprCrossProducts) expected = NULL;
  g_autoptr (GError) never = NULL;
  gboolean ended = FALSE;
  gint memory;

  few_kind = acts[GPOINTER_TO_SIZE (user_data)].kind;
  g_assert_true (add_samples (other, 8, 10, NULL));
  g_assert_true (add_samples (before, 8, 10, NULL));
  g_assert_true (add_samples (before, 9, 11, NULL));
  expected = apr_cross_products_copy (before);
  g_assert_true (act (expected, other, &never));
  g_assert_no_error (never);

  for (memory = 0; !ended; memory++)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_copy (before);
      g_autoptr (GError) error = NULL;
      gboolean done;

      g_atomic_int_set (&n_memories, memory);
      done = act (state, other, &error);
      ended = g_atomic_int_get (&n_memories) >= 0;
      g_atomic_int_set (&n_memories, G_MAXINT);
      if (ended)
        g_assert_no_error (error);
      else
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      g_assert_cmpint (done, ==, ended);
      g_assert_true (apr_cross_products_equal (state, done ? expected : before));
    }
  g_test_message ("%d times", memory);
  g_assert_cmpint (memory, >, 1);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/cross-products-no-memory/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_no_memory);
    }
  for (i = 0; i < G_N_ELEMENTS (acts); i++)
    {
      g_autofree char *path = g_strconcat ("/cross-products-no-memory/few-samples/", acts[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_few_samples);
    }

  return g_test_run ();
}
