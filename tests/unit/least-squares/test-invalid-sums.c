/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Sums that no samples have, as a file may hold them, or as remain when more is subtracted than was added. */

#define MAX_ENTRIES 15

typedef struct
{
  const char *name;
  gsize n_features;
  gboolean fit_intercept;
  double alpha;
  gboolean rounded;
  /* The packed lower triangle of [1 X y]'[1 X y], a word for each entry. */
  gint32 entries[MAX_ENTRIES];
  const char *message; /* (nullable) what is said of them; else: */
  gsize rank;
} Case;

static const Case cases[] = {
  { "negative-square",
    1,
    FALSE,
    0,
    FALSE,
    { 2, 0, -4, 0, 0, 1 },
    "feature 0 (counted from 0) is negative",
    0 },
  { "negative-square-about-mean",
    1,
    TRUE,
    0,
    FALSE,
    { 1, 3, 4, 0, 0, 1 },
    "feature 0 (counted from 0) about its mean is negative",
    0 },
  /* The inner product is above the product of the lengths, by more than a factor of four or by less. */
  { "negative-complement",
    2,
    FALSE,
    0,
    FALSE,
    { 9, 0, 4, 0, 6, 4, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 1 (counted from 0) is negative",
    0 },
  { "inner-product-too-large",
    2,
    FALSE,
    0,
    FALSE,
    { 9, 0, 1, 0, 9, 1, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 1 (counted from 0) is negative",
    0 },
  { "negative-complement-about-mean",
    2,
    TRUE,
    0,
    FALSE,
    { 1, 0, 4, 0, 6, 4, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 1 (counted from 0) is negative",
    0 },
  { "alpha",
    2,
    FALSE,
    1,
    FALSE,
    { 9, 0, 4, 0, 6, 4, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 1 (counted from 0) is negative",
    0 },
  /* 6 times 6/9, which is cut off, is below 4 whatever the precision. */
  { "alpha-that-leaves-hardly-anything",
    2,
    FALSE,
    1,
    FALSE,
    { 9, 0, 8, 0, 6, 3, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 1 (counted from 0) is negative",
    0 },
  { "rounded-alpha-that-leaves-hardly-anything",
    2,
    FALSE,
    1,
    TRUE,
    { 9, 0, 8, 0, 6, 3, 0, 0, 0, 1 },
    NULL,
    1 },
  { "alpha-that-leaves-nothing",
    1,
    FALSE,
    4,
    FALSE,
    { 2, 0, -4, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 0 (counted from 0) is negative",
    0 },
  /* The third feature would be 2^24 times the difference of the others. */
  { "combination-too-large",
    3,
    FALSE,
    0,
    FALSE,
    { 9, 0, 1 << 29, 0, (1 << 29) - 32, 1 << 29, 0, 1 << 29, -(1 << 29), 1 << 29, 0, 0, 0, 0, 1 },
    "without the features before it, the sum of squares of feature 2 (counted from 0) is negative",
    0 },
  /* No coefficient depends on it. */
  { "negative-square-of-target", 1, FALSE, 0, FALSE, { 2, 0, 4, 0, 2, -1 }, NULL, 1 },
  /* Rounding may leave a little less than nothing, so such a feature is taken for a constant. */
  { "rounded", 1, TRUE, 0, TRUE, { 1, 3, 4, 0, 0, 1 }, NULL, 0 },
  { "rounded-complement", 2, FALSE, 0, TRUE, { 9, 0, 4, 0, 6, 4, 0, 0, 0, 1 }, NULL, 1 },
  { "rounded-combination-too-large",
    3,
    FALSE,
    0,
    TRUE,
    { 9, 0, 1 << 29, 0, (1 << 29) - 32, 1 << 29, 0, 1 << 29, -(1 << 29), 1 << 29, 0, 0, 0, 0, 1 },
    NULL,
    2 },
  { "rounded-second-complement", 2, TRUE, 0, TRUE, { 1, 0, 4, 0, 6, 4, 0, 0, 0, 1 }, NULL, 1 },
};

static void
test_case (gconstpointer user_data)
{
  const Case *c = user_data;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (c->n_features, 1, NULL);
  const AprLeastSquaresOptions options = { .fit_intercept = c->fit_intercept,
                                           .alpha = c->alpha,
                                           .rounded = c->rounded,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_auto (AprLeastSquares) answer = { NULL };
  g_autoptr (GError) error = NULL;
  guint32 words[MAX_ENTRIES];
  gboolean solved;

  memcpy (words, c->entries, sizeof words);
  g_assert_true (apr_exact_sums_set_words (sums, words, 1, 0, NULL, &error));
  g_assert_no_error (error);
  solved = apr_least_squares_solve (&answer, sums, &options, &(AprRun){ 0 }, &error);
  if (c->message != NULL)
    {
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, c->message);
      g_assert_false (solved);
    }
  else
    {
      g_assert_no_error (error);
      g_assert_true (solved);
      g_assert_cmpuint (answer.rank, ==, c->rank);
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/invalid-sums/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
