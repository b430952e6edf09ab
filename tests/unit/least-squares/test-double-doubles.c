/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/least-squares/apr-double-doubles-private.h"

#define N_ROWS 70
#define N_COLUMNS 300
#define N_INNER 5

/* A whole number for each place, from -8 to 8. */
static int
number (gsize i, gsize j, gsize seed)
{
  return (int) ((i * 7 + j * 5 + i * j + seed) % 17) - 8;
}

static AprDoubleDoubles
make (gsize n_rows, gsize n_columns, gsize seed)
{
  AprDoubleDoubles matrix = apr_double_doubles_new (n_rows, n_columns, &(AprRun){ 0 });
  gsize i;
  gsize j;

  for (i = 0; i < n_rows; i++)
    for (j = 0; j < n_columns; j++)
      *apr_double_doubles_at (matrix, i, j).high = number (i, j, seed);

  return matrix;
}

static void
test_subtract (void)
{
  const AprRun run = { .n_threads = 2 };
  AprDoubleDoubles a = make (N_INNER, N_ROWS, 1);
  AprDoubleDoubles b = make (N_INNER, N_COLUMNS, 2);
  guint upper;
  gsize i;
  gsize j;
  gsize k;

  g_test_summary ("Whole numbers come out exactly, in all columns or from the diagonal on.");

  for (upper = 0; upper < 2; upper++)
    {
      AprDoubleDoubles c = make (N_ROWS, N_COLUMNS, 3);

      g_assert_true (apr_double_doubles_subtract (&run, apr_double_double_kernel_choose (), c, a, b, 3,
                                                  N_ROWS, upper != 0, N_COLUMNS, 1, N_INNER));
      for (i = 0; i < N_ROWS; i++)
        for (j = upper != 0 ? i : 0; j < N_COLUMNS; j++)
          {
            int expected = number (i, j, 3);

            for (k = 1; i >= 3 && k < N_INNER; k++)
              expected -= number (k, i, 1) * number (k, j, 2);
            g_assert_cmpfloat (*apr_double_doubles_at (c, i, j).high, ==, expected);
            g_assert_cmpfloat (*apr_double_doubles_at (c, i, j).low, ==, 0);
          }
      apr_double_doubles_free (&c);
    }
  apr_double_doubles_free (&a);
  apr_double_doubles_free (&b);
}

#define N_READ 150
#define FIRST_READ 3

/* Of @n columns: numbers of more than 53 bits, 2^70 times one and another one. */
static void
make_integers (AprProducts *products, gsize n)
{
  mpz_t entry;
  gsize i;
  gsize j;

  (void) apr_products_init_zeros (products, n, 0, 2, &(AprRun){ 0 });
  mpz_init (entry);
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_set_si (entry, number (i, j, 4));
        mpz_mul_2exp (entry, entry, 70);
        if (number (i, j, 4) != 0)
          mpz_add_ui (entry, entry, (gulong) (number (i, j, 5) + 8));
        apr_products_set_integer (products, i, j, entry);
      }
  mpz_clear (entry);
}

static void
test_read (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AprRun run = { .n_threads = 2 };
  const AprRun cancelled = { .n_threads = 2, .cancellable = cancellable };
  gsize n = N_READ + FIRST_READ;
  g_auto (AprProducts) products = { 0 };
  gsize columns[N_READ];
  gint64 scales[N_READ];
  AprDoubleDoubles read = apr_double_doubles_new (N_READ, N_READ, &(AprRun){ 0 });
  AprDoubleDoubles unread = apr_double_doubles_new (N_READ, N_READ, &(AprRun){ 0 });
  gsize i;
  gsize j;

  g_test_summary (
    "Some columns' products are read, with all their bits, each in its scale, where all are below 4.");

  make_integers (&products, n);
  for (i = 0; i < N_READ; i++)
    {
      columns[i] = FIRST_READ + i;
      scales[i] = 36 + (gint64) (i % 5);
    }
  g_assert_true (apr_double_doubles_read (read, N_READ, &products, columns, scales, &run));
  for (i = 0; i < N_READ; i++)
    for (j = i; j < N_READ; j++)
      {
        int scale = (int) (scales[i] + scales[j]);
        double high = ldexp (number (FIRST_READ + j, FIRST_READ + i, 4), 70 - scale);
        double low = high != 0 ? ldexp (number (FIRST_READ + j, FIRST_READ + i, 5) + 8, -scale) : 0;

        g_assert_cmpfloat (*apr_double_doubles_at (read, i, j).high, ==, high);
        g_assert_cmpfloat (*apr_double_doubles_at (read, i, j).low, ==, low);
      }

  /* The largest is 8 2^70 and a little. */
  scales[0] = 28;
  g_assert_false (apr_double_doubles_read (read, N_READ, &products, columns, scales, &run));
  scales[0] = 36;
  g_cancellable_cancel (cancellable);
  g_assert_false (apr_double_doubles_read (unread, N_READ, &products, columns, scales, &cancelled));
  for (i = 0; i < N_READ; i++)
    for (j = i; j < N_READ; j++)
      g_assert_cmpfloat (*apr_double_doubles_at (unread, i, j).high, ==, 0);
  apr_double_doubles_free (&read);
  apr_double_doubles_free (&unread);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AprRun run = { .n_threads = 1, .cancellable = cancellable };
  AprDoubleDoubles c = make (N_ROWS, N_COLUMNS, 3);
  gsize i;

  g_cancellable_cancel (cancellable);
  g_assert_false (apr_double_doubles_subtract (&run, apr_double_double_kernel_choose (), c, c, c, 0, N_ROWS,
                                               FALSE, N_COLUMNS, 0, N_INNER));
  for (i = 0; i < N_ROWS; i++)
    g_assert_cmpfloat (*apr_double_doubles_at (c, i, 0).high, ==, number (i, 0, 3));
  apr_double_doubles_free (&c);
}

static void
test_no_rows (void)
{
  AprDoubleDoubles matrix = apr_double_doubles_new (0, 1, &(AprRun){ 0 });

  g_assert_nonnull (matrix.high);
  apr_double_doubles_free (&matrix);
  g_assert_null (matrix.high);
}

static void
test_singular (void)
{
  const AprRun run = { .n_threads = 1 };
  const double limits[2] = { 0, 0 };
  const double corners[] = { 1, 2 };
  gsize i;

  g_test_summary (
    "A pivot of 0 is none, also where there is no tolerance: of 1 1, 1 1, but not of 1 1, 1 2.");
  for (i = 0; i < G_N_ELEMENTS (corners); i++)
    {
      AprDoubleDoubles matrix = apr_double_doubles_new (2, 2, &(AprRun){ 0 });

      *apr_double_doubles_at (matrix, 0, 0).high = 1;
      *apr_double_doubles_at (matrix, 0, 1).high = 1;
      *apr_double_doubles_at (matrix, 1, 1).high = corners[i];
      g_assert_cmpint (
        apr_double_doubles_factorise (matrix, 2, 2, limits, apr_double_double_kernel_choose (), &run), ==,
        corners[i] > 1);
      apr_double_doubles_free (&matrix);
    }
}

/* Up to 106 bits are kept, and of more nearly as many, whatever the exponent, unless no double is as large or small. */
static void
test_integers (void)
{
  static const int exponents[] = { 0, -300, 700, -920, 810 };
  gmp_randstate_t source;
  mpz_t value;
  mpz_t rest;
  mpz_t part;
  guint n_bits;
  guint i;

  gmp_randinit_default (source);
  mpz_inits (value, rest, part, NULL);
  for (n_bits = 1; n_bits <= 200; n_bits++)
    for (i = 0; i < 100; i++)
      {
        int exponent = exponents[i % G_N_ELEMENTS (exponents)];
        AprDoubleDouble number;

        /* Runs of zeros and ones make rests of few bits. */
        if (i % 3 == 0)
          mpz_rrandomb (value, source, n_bits);
        else
          mpz_urandomb (value, source, n_bits);
        if (i % 2 == 1)
          mpz_neg (value, value);
        number = apr_dd_from_integer (value, exponent);
        mpz_set_d (rest, ldexp (number.high, -exponent));
        mpz_set_d (part, ldexp (number.low, -exponent));
        mpz_add (rest, rest, part);
        mpz_sub (rest, value, rest);
        g_assert_cmpfloat (number.high, ==, number.high + number.low);
        if (n_bits <= 106)
          g_assert_cmpint (mpz_sgn (rest), ==, 0);
        else if (mpz_sgn (rest) != 0)
          g_assert_cmpuint (mpz_sizeinbase (rest, 2) + 104, <=, mpz_sizeinbase (value, 2));
      }
  mpz_set_si (value, -3);
  g_assert_cmpfloat (apr_dd_from_integer (value, 5000).high, ==, -(double) INFINITY);
  g_assert_cmpfloat (apr_dd_from_integer (value, -5000).high, ==, 0);
  mpz_clears (value, rest, part, NULL);
  gmp_randclear (source);
}

#define N_FACTORISED 150
#define N_BESIDE 61

/* U of whole numbers, with powers of two on the diagonal, and what is beside it. */
static double
factor (gsize i, gsize j)
{
  return i == j ? (double) (1 << (3 + i % 3)) : j > i ? number (i, j, 3) : 0;
}

/* U'U and U' times what is beside U, whose factors are exact. */
static AprDoubleDoubles
make_products (void)
{
  AprDoubleDoubles matrix = apr_double_doubles_new (N_FACTORISED, N_FACTORISED + N_BESIDE, &(AprRun){ 0 });
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < N_FACTORISED; i++)
    for (j = i; j < N_FACTORISED + N_BESIDE; j++)
      for (k = 0; k <= i; k++)
        *apr_double_doubles_at (matrix, i, j).high += factor (k, i) * factor (k, j);

  return matrix;
}

static void
test_factorise (void)
{
  const AprDoubleDoubleKernel *kernel = apr_double_double_kernel_choose ();
  double limits[N_FACTORISED] = { 0 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AprRun cancelled = { .n_threads = 2, .cancellable = cancellable };
  AprDoubleDoubles matrix;
  guint n_threads;
  gsize i;
  gsize j;

  for (n_threads = 1; n_threads <= 3; n_threads++)
    {
      const AprRun run = { .n_threads = n_threads };

      matrix = make_products ();
      g_assert_true (
        apr_double_doubles_factorise (matrix, N_FACTORISED, N_FACTORISED + N_BESIDE, limits, kernel, &run));
      for (i = 0; i < N_FACTORISED; i++)
        for (j = i; j < N_FACTORISED + N_BESIDE; j++)
          {
            AprDoubleDouble entry = apr_double_doubles_get (matrix, i, j);

            g_assert_cmpfloat (entry.high, ==, factor (i, j));
            g_assert_cmpfloat (entry.low, ==, 0);
          }
      apr_double_doubles_free (&matrix);

      /* A pivot in the last block. */
      limits[N_FACTORISED - 1] = factor (N_FACTORISED - 1, N_FACTORISED - 1) * 40;
      matrix = make_products ();
      g_assert_false (
        apr_double_doubles_factorise (matrix, N_FACTORISED, N_FACTORISED + N_BESIDE, limits, kernel, &run));
      apr_double_doubles_free (&matrix);
      limits[N_FACTORISED - 1] = 0;
    }

  g_cancellable_cancel (cancellable);
  matrix = make_products ();
  g_assert_false (
    apr_double_doubles_factorise (matrix, N_FACTORISED, N_FACTORISED + N_BESIDE, limits, kernel, &cancelled));
  apr_double_doubles_free (&matrix);
}

typedef struct
{
  GThread *caller;
  guint n_reports;
  double fraction;
} Reports;

static void
hear_report (double fraction, gpointer user_data)
{
  Reports *reports = user_data;

  g_assert_true (g_thread_self () == reports->caller);
  g_assert_cmpfloat (fraction, >, reports->fraction);
  reports->fraction = fraction;
  reports->n_reports++;
}

static void
test_reports (void)
{
  const double limits[N_FACTORISED] = { 0 };
  guint n_threads;

  g_test_summary ("The thread that asks for the factors hears of every block of them, until all is done.");

  for (n_threads = 1; n_threads <= 3; n_threads++)
    {
      Reports reports = { g_thread_self (), 0, 0 };
      const AprRun run = { .n_threads = n_threads, .progress = hear_report, .progress_data = &reports };
      AprDoubleDoubles matrix = make_products ();

      g_assert_true (apr_double_doubles_factorise (matrix, N_FACTORISED, N_FACTORISED + N_BESIDE, limits,
                                                   apr_double_double_kernel_choose (), &run));
      g_assert_cmpuint (reports.n_reports, ==,
                        (N_FACTORISED + APR_DOUBLE_DOUBLES_BLOCK - 1) / APR_DOUBLE_DOUBLES_BLOCK);
      g_assert_cmpfloat (reports.fraction, ==, 1);
      apr_double_doubles_free (&matrix);
    }
}

static void
test_read_large (void)
{
  const gsize column = 0;
  const gint64 scale = 62;
  g_auto (AprProducts) products = { 0 };
  AprDoubleDoubles read = apr_double_doubles_new (1, 1, &(AprRun){ 0 });
  mpz_t value;

  g_test_summary (
    "What is just below 2^63 units of the leading part is too large, and converted to no integer.");
  (void) apr_products_init_zeros (&products, 1, 0, 2, &(AprRun){ 0 });
  mpz_init_set_ui (value, 1);
  mpz_mul_2exp (value, value, 127);
  mpz_sub_ui (value, value, 1);
  apr_products_set_integer (&products, 0, 0, value);
  g_assert_false (apr_double_doubles_read (read, 1, &products, &column, &scale, &(AprRun){ .n_threads = 1 }));
  mpz_clear (value);
  apr_double_doubles_free (&read);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/double-doubles/subtract", test_subtract);
  g_test_add_func ("/double-doubles/read", test_read);
  g_test_add_func ("/double-doubles/read-large", test_read_large);
  g_test_add_func ("/double-doubles/integers", test_integers);
  g_test_add_func ("/double-doubles/factorise", test_factorise);
  g_test_add_func ("/double-doubles/reports", test_reports);
  g_test_add_func ("/double-doubles/cancelled", test_cancelled);
  g_test_add_func ("/double-doubles/no-rows", test_no_rows);
  g_test_add_func ("/double-doubles/singular", test_singular);

  return g_test_run ();
}
