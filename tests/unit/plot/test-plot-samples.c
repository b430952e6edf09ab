/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-samples.h"

/* More than one block of the reader has, with a gap in each seventh row and the weight 0 in each third. */
#define N_ROWS 200000

static gboolean
has_gap (guint row)
{
  return row % 7 == 5;
}

/* Not a whole block either. */
static gboolean
has_weight_0 (guint row)
{
  return row % 3 == 1 || row < 100000;
}

static AprTableReader *
open_table (gboolean with_gaps, gboolean with_weights)
{
  const char *const targets[] = { "y", "z", NULL };
  g_autoptr (GString) text = g_string_new ("a,w,y,b,z\n");
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GInputStream) stream = NULL;
  AprTableReader *reader;
  guint i;

  for (i = 0; i < N_ROWS; i++)
    if (with_gaps && has_gap (i))
      g_string_append_printf (text, ",%u,%u,%u,%u\n", !has_weight_0 (i), i, i, i);
    else
      g_string_append_printf (text, "%u,%u,%u.5,%u.25,%u.75\n", i, !has_weight_0 (i), i, i, i);
  bytes = g_bytes_new (text->str, text->len);
  stream = g_memory_input_stream_new_from_bytes (bytes);
  reader = apr_table_reader_new (stream, NULL);
  apr_table_reader_set_drop_missing (reader, with_gaps);
  apr_table_reader_set_targets (reader, targets);
  if (with_weights)
    apr_table_reader_set_weight (reader, "w");
  else
    apr_table_reader_set_features (reader, (const char *const[]){ "a", "b", NULL });

  return reader;
}

static double
get_number (AprTensor *tensor, gsize place)
{
  return apr_tensor_get_double (tensor, place, NULL);
}

/* Returns: how many samples there are */
static guint
read_table (gboolean with_gaps, gboolean with_weights)
{
  g_autoptr (AprTableReader) reader = open_table (with_gaps, with_weights);
  AprTensor *samples[APR_PLOT_N_TENSORS];
  g_autoptr (GError) error = NULL;
  guint row = 0;
  gsize n_rows;
  gsize i;

  g_assert_true (apr_plot_read_samples (reader, samples, NULL, &error));
  g_assert_no_error (error);
  n_rows = apr_tensor_get_shape (samples[APR_PLOT_X], NULL)[0];
  g_assert_cmpuint (apr_tensor_get_n_elements (samples[APR_PLOT_X]), ==, 2 * n_rows);
  g_assert_cmpuint (apr_tensor_get_n_elements (samples[APR_PLOT_Y]), ==, 2 * n_rows);
  g_assert_true ((samples[APR_PLOT_ROWS] != NULL) == (with_gaps || with_weights));
  g_assert_true ((samples[APR_PLOT_WEIGHTS] != NULL) == with_weights);
  for (i = 0; i < n_rows; i++, row++)
    {
      while ((with_gaps && has_gap (row)) || (with_weights && has_weight_0 (row)))
        row++;
      g_assert_cmpfloat (get_number (samples[APR_PLOT_X], 2 * i), ==, row);
      g_assert_cmpfloat (get_number (samples[APR_PLOT_X], 2 * i + 1), ==, row + 0.25);
      g_assert_cmpfloat (get_number (samples[APR_PLOT_Y], 2 * i), ==, row + 0.5);
      g_assert_cmpfloat (get_number (samples[APR_PLOT_Y], 2 * i + 1), ==, row + 0.75);
      if (with_weights)
        g_assert_cmpfloat (get_number (samples[APR_PLOT_WEIGHTS], i), ==, 1);
      if (with_gaps || with_weights)
        g_assert_cmpfloat (get_number (samples[APR_PLOT_ROWS], i), ==, row);
    }
  for (i = 0; i < APR_PLOT_N_TENSORS; i++)
    g_clear_pointer (&samples[i], apr_tensor_unref);

  return (guint) n_rows;
}

static void
test_read (void)
{
  guint n[2][2] = { { 0 } };
  guint i;

  g_test_summary ("Samples of weight 0 are left out, and the others are told by their rows of the table.");

  for (i = 0; i < N_ROWS; i++)
    {
      n[0][0]++;
      n[0][1] += !has_weight_0 (i);
      n[1][0] += !has_gap (i);
      n[1][1] += !has_gap (i) && !has_weight_0 (i);
    }
  for (i = 0; i < 4; i++)
    g_assert_cmpuint (read_table (i / 2, i % 2), ==, n[i / 2][i % 2]);
}

static void
test_error (void)
{
  g_autoptr (GInputStream) weighted = g_memory_input_stream_new_from_data ("x,y,w\n1,2,0\n", -1, NULL);
  g_autoptr (AprTableReader) without_weight = apr_table_reader_new (weighted, NULL);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("x,y\n1,oops\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  AprTensor *samples[APR_PLOT_N_TENSORS];
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_plot_read_samples (reader, samples, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_clear_error (&error);

  apr_table_reader_set_targets (without_weight, (const char *const[]){ "y", NULL });
  apr_table_reader_set_weight (without_weight, "w");
  g_assert_false (apr_plot_read_samples (without_weight, samples, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  g_assert_null (samples[APR_PLOT_X]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot-samples/read", test_read);
  g_test_add_func ("/plot-samples/error", test_error);

  return g_test_run ();
}
