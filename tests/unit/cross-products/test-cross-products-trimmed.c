/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aprender/cross-products/apr-trimmed-words-private.h"

/* Files of states whose columns are of very different sizes: without the bytes that say nothing. */

#define N_SAMPLES 500
#define N_FEATURES 30
#define N_ENTRIES ((N_FEATURES + 2) * (N_FEATURES + 3) / 2)

/* Features in units of 2^-40 and 2^@step times as much each, eight in all. */
static AprCrossProducts *
make_state_of (guint step)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autofree float *values = g_new (float, N_SAMPLES *N_FEATURES);
  g_autofree float *targets = g_new (float, N_SAMPLES);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  AprCrossProducts *state = apr_cross_products_new (N_FEATURES, 1, NULL);
  gsize i;

  for (i = 0; i < N_SAMPLES * N_FEATURES; i++)
    values[i] = (float) g_rand_int_range (rand, -1000, 1000) * (float) (1ull << (i % N_FEATURES % 8 * step)) /
                (float) (1ull << 40);
  for (i = 0; i < N_SAMPLES; i++)
    targets[i] = (float) g_rand_int_range (rand, -1000, 1000);
  x = float_matrix_new (N_SAMPLES, N_FEATURES, values);
  y = float_vector_new (N_SAMPLES, targets);
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  return state;
}

static AprCrossProducts *
make_state (void)
{
  return make_state_of (10);
}

static AprSafetensorsReader *
open_bytes (GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  AprSafetensorsReader *reader = apr_safetensors_reader_new_from_bytes (bytes, &error);

  g_assert_no_error (error);

  return reader;
}

static const guint8 *
get_data (AprSafetensorsReader *reader, const char *name, gsize *n)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, NULL);

  g_assert_cmpint (apr_tensor_get_dtype (tensor), ==, APR_DTYPE_U8);

  /* The reader keeps them. */
  return g_bytes_get_data (apr_tensor_get_bytes (tensor), n);
}

/* A file with the metadata of @reader, but for the format, and these tensors. */
static GBytes *
rewrite (AprSafetensorsReader *reader,
         const char *format,
         GBytes *sums,
         gsize n_words,
         GBytes *starts,
         GBytes *sizes)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const gsize shape[] = { N_ENTRIES, n_words };
  gsize n_sums = g_bytes_get_size (sums);
  g_autoptr (AprTensor) tensor = n_words > 0
                                 ? apr_tensor_new_from_bytes (APR_DTYPE_U32, shape, 2, sums, NULL)
                                 : apr_tensor_new_from_bytes (APR_DTYPE_U8, &n_sums, 1, sums, NULL);
  GHashTableIter iter;
  gpointer key;
  gpointer value;

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", tensor, NULL));
  if (starts != NULL)
    {
      const gsize n_starts = g_bytes_get_size (starts);
      const gsize n_sizes = g_bytes_get_size (sizes);
      g_autoptr (AprTensor) starts_tensor =
        apr_tensor_new_from_bytes (APR_DTYPE_U8, &n_starts, 1, starts, NULL);
      g_autoptr (AprTensor) sizes_tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, &n_sizes, 1, sizes, NULL);

      g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums.starts", starts_tensor, NULL));
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums.sizes", sizes_tensor, NULL));
    }
  g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_assert_true (apr_safetensors_writer_set_metadata (
      writer, key, g_str_equal (key, "aprender.format") ? format : value, NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_same_state (void)
{
  g_autoptr (AprCrossProducts) state = make_state ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, &error);
  g_autoptr (AprSafetensorsReader) reader = open_bytes (bytes);
  g_autoptr (AprCrossProducts) loaded = apr_cross_products_from_bytes (bytes, &error);
  g_autoptr (GBytes) again = apr_cross_products_to_bytes (loaded, &error);
  g_autoptr (GBytes) words = NULL;
  g_autoptr (GBytes) old = NULL;
  g_autoptr (AprCrossProducts) from_old = NULL;
  gsize n_bytes;
  gsize n_words = 0;
  const guint8 *sums = get_data (reader, "sums", &n_bytes);
  const guint8 *starts = get_data (reader, "sums.starts", NULL);
  const guint8 *sizes = get_data (reader, "sums.sizes", NULL);
  guint8 *expanded;
  gsize i;
  gsize j;

  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (state, loaded));
  g_assert_true (g_bytes_equal (bytes, again));

  /* What the format was before: all numbers in as many words. */
  for (i = 0; i < N_ENTRIES; i++)
    n_words = MAX (n_words, (starts[i] + sizes[i] + 3u) / 4);
  expanded = g_malloc0 (N_ENTRIES * n_words * 4);
  for (i = 0; i < N_ENTRIES; i++)
    {
      guint8 *number = expanded + i * n_words * 4;

      for (j = 0; j < sizes[i]; j++)
        number[starts[i] + j] = *sums++;
      for (j = starts[i] + sizes[i]; j < n_words * 4 && sizes[i] > 0; j++)
        number[j] = number[starts[i] + sizes[i] - 1] >= 0x80 ? 0xff : 0;
    }
  words = g_bytes_new_take (expanded, N_ENTRIES * n_words * 4);
  g_assert_cmpuint (2 * (n_bytes + 2 * N_ENTRIES), <, g_bytes_get_size (words));
  old = rewrite (reader, "1", words, n_words, NULL, NULL);
  from_old = apr_cross_products_from_bytes (old, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (state, from_old));
}

static void
test_hostile (void)
{
  g_autoptr (AprCrossProducts) state = make_state ();
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (AprSafetensorsReader) reader = open_bytes (bytes);
  gsize n_bytes;
  const guint8 *sums = get_data (reader, "sums", &n_bytes);
  const guint8 *starts = get_data (reader, "sums.starts", NULL);
  const guint8 *sizes = get_data (reader, "sums.sizes", NULL);
  const struct
  {
    gssize more_bytes;
    gssize more_starts;
    int start; /* of the last number, if that is not -1 */
    int size;
    const char *message;
  } cases[] = {
    { 1, 0, -1, -1, "do not fit" },
    { -1, 0, -1, -1, "do not fit" },
    { 0, 0, -1, 255, "do not fit" },
    { 0, 0, 255, -1, "do not fit" },
    { 0, -1, -1, -1, "U8 [528], but it is U8 [527]" },
  };
  gsize i;

  G_STATIC_ASSERT (N_ENTRIES == 528);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree guint8 *other_sums = g_malloc0 (n_bytes + 1);
      g_autofree guint8 *other_starts = g_memdup2 (starts, N_ENTRIES);
      g_autofree guint8 *other_sizes = g_memdup2 (sizes, N_ENTRIES);
      g_autoptr (GBytes) sums_bytes = NULL;
      g_autoptr (GBytes) starts_bytes = NULL;
      g_autoptr (GBytes) sizes_bytes = NULL;
      g_autoptr (GBytes) hostile = NULL;
      g_autoptr (AprCrossProducts) loaded = NULL;
      g_autoptr (GError) error = NULL;

      memcpy (other_sums, sums, n_bytes);
      if (cases[i].start >= 0)
        other_starts[N_ENTRIES - 1] = (guint8) cases[i].start;
      if (cases[i].size >= 0)
        other_sizes[N_ENTRIES - 1] = (guint8) cases[i].size;
      sums_bytes = g_bytes_new (other_sums, n_bytes + (gsize) cases[i].more_bytes);
      starts_bytes = g_bytes_new (other_starts, N_ENTRIES + (gsize) cases[i].more_starts);
      sizes_bytes = g_bytes_new (other_sizes, N_ENTRIES);
      hostile = rewrite (reader, "3", sums_bytes, 0, starts_bytes, sizes_bytes);
      loaded = apr_cross_products_from_bytes (hostile, &error);
      g_assert_null (loaded);
      g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

static void
test_small_file_of_much (void)
{
  const struct
  {
    guint8 first_start; /* of the one number that has a byte */
    guint8 other_start;
    gboolean good;
  } cases[] = {
    { 27, 0, TRUE }, /* 7 words */
    { 0, 124, FALSE },
    { 27, 1, FALSE },
    { 124, 0, FALSE }, /* 32 words for 2 bytes */
  };
  g_autoptr (AprCrossProducts) state = make_state ();
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (AprSafetensorsReader) reader = open_bytes (bytes);
  gsize i;

  g_test_summary ("Zeros take two bytes: they are not to become hundreds.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 starts[N_ENTRIES];
      guint8 sizes[N_ENTRIES] = { 1 };
      g_autoptr (GBytes) sums_bytes = g_bytes_new ("1", 1);
      g_autoptr (GBytes) sizes_bytes = g_bytes_new (sizes, N_ENTRIES);
      g_autoptr (GBytes) starts_bytes = NULL;
      g_autoptr (GBytes) file = NULL;
      g_autoptr (AprCrossProducts) loaded = NULL;
      g_autoptr (GError) error = NULL;

      memset (starts, cases[i].other_start, sizeof starts);
      starts[0] = cases[i].first_start;
      starts_bytes = g_bytes_new (starts, N_ENTRIES);
      file = rewrite (reader, "3", sums_bytes, 0, starts_bytes, sizes_bytes);
      loaded = apr_cross_products_from_bytes (file, &error);
      g_assert_true ((loaded != NULL) == cases[i].good);
      if (!cases[i].good)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
          assert_message_has (error, "do not fit the 1 bytes of “sums”");
        }
    }
}

static void
test_few_far_sums (void)
{
  const double values[2 * N_FEATURES] = { 0x1p-100 };
  const double targets[2] = { 0x1p100, 1 };
  g_autoptr (AprTensor) x = matrix_new (2, N_FEATURES, values);
  g_autoptr (AprTensor) y = vector_new (2, targets);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What no reader would believe is not written: zeros beside sums that are far apart.");
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  bytes = apr_cross_products_to_bytes (state, &error);
  g_assert_no_error (error);
  reader = open_bytes (bytes);
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "sums.starts"));
  loaded = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (loaded, state));
}

/* A model's file has the same, in another name. */
static void
test_model (void)
{
  g_autoptr (AprCrossProducts) state = make_state ();
  g_autoptr (AprLinearRegression) model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprCrossProducts) found = NULL;

  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, &error));
  g_assert_no_error (error);
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  reader = open_bytes (bytes);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "cross_products.sums.starts"));
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
  g_assert_no_error (error);
  found = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (loaded));
  g_assert_true (apr_cross_products_equal (found, state));
}

/* What is cancelled while it is saved or loaded comes to no end. */
static void
test_cancelled (void)
{
  g_autoptr (AprCrossProducts) state = make_state ();
  g_autoptr (AprCrossProducts) plain = make_state_of (0);
  g_autoptr (AprEstimator) model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GBytes *files[3];
  gsize i;

  g_assert_true (apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (model), state, NULL, NULL));
  files[0] = apr_cross_products_to_bytes (state, NULL);
  files[1] = apr_cross_products_to_bytes (plain, NULL);
  files[2] = apr_estimator_to_bytes (model, NULL);

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_cross_products_to_bytes (i == 0 ? state : plain, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
  for (i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GError) error = NULL;

      if (i < 2)
        g_assert_null (apr_cross_products_from_bytes (files[i], &error));
      else
        g_assert_null (apr_linear_regression_from_bytes (files[i], &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_bytes_unref (files[i]);
    }
  g_cancellable_pop_current (cancellable);
}

#define N_NUMBERS 64

static void
test_changed_meanwhile (void)
{
  guint8 *sizes = mmap (NULL, N_NUMBERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  guint8 starts[N_NUMBERS] = { 0 };
  guint8 bytes[N_NUMBERS] = { 0 };
  const AprTrimmedWords trimmed = { starts, sizes, bytes, N_NUMBERS, N_NUMBERS };
  pid_t child;
  guint i;

  g_test_summary ("Another program changes the size of a number, in the file that is mapped.");
  g_assert_true (sizes != MAP_FAILED);
  memset (sizes, 1, N_NUMBERS);
  child = fork ();
  if (child == 0)
    {
      volatile guint8 *last = sizes + N_NUMBERS - 1;

      (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        *last = *last == 1 ? 128 : 1;
    }
  g_assert_cmpint (child, >, 0);
  for (i = 0; i < 20000; i++)
    {
      gsize n_words;

      /* Who writes past the end of the words writes over what the allocator knows of them. */
      g_free (apr_trimmed_words_expand (&trimmed, &n_words, NULL, NULL));
    }
  g_assert_cmpint (kill (child, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
  g_assert_cmpint (munmap (sizes, N_NUMBERS), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products-trimmed/same-state", test_same_state);
  g_test_add_func ("/cross-products-trimmed/hostile", test_hostile);
  g_test_add_func ("/cross-products-trimmed/small-file-of-much", test_small_file_of_much);
  g_test_add_func ("/cross-products-trimmed/few-far-sums", test_few_far_sums);
  g_test_add_func ("/cross-products-trimmed/model", test_model);
  g_test_add_func ("/cross-products-trimmed/changed-meanwhile", test_changed_meanwhile);
  g_test_add_func ("/cross-products-trimmed/cancelled", test_cancelled);

  return g_test_run ();
}
