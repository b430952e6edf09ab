/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/table/apr-decimal-private.h"

/* Before the end, and before other cells: a number is read in another way where there is no room behind it. */
static void
assert_reads (const char *text, double expected)
{
  static const char *const followers[] = { "", ",1234567890123456789012345678901234567890" };
  gsize length = strlen (text);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (followers); i++)
    {
      g_autofree char *padded = g_strconcat (text, followers[i], "11111111", NULL);
      double value = NAN;

      g_assert_true (apr_decimal_parse (padded, padded + length + strlen (followers[i]), '.', &value) ==
                     padded + length);
      if (memcmp (&value, &expected, sizeof value) != 0)
        g_error ("%s: %a, but it is %a", text, value, expected);
    }
}

static void
test_known (void)
{
  static const struct
  {
    const char *text;
    double value;
  } cases[] = {
    { "0", 0.0 },
    { "-0", -0.0 },
    { "-0.000e9", -0.0 },
    { "1", 1.0 },
    { "+1.", 1.0 },
    { ".5", 0.5 },
    { "12345678", 12345678.0 },
    { "123456789012345678", 123456789012345678.0 },
    { "0.1", 0x1.999999999999ap-4 },
    { "1e22", 1e22 },
    { "1e23", 0x1.52d02c7e14af6p+76 },
    { "9007199254740993", 0x1p53 },
    { "9007199254740993.0000000000000000000000000000001", 9007199254740994.0 },
    { "9007199254740995", 9007199254740996.0 },
    { "4503599627370497.5", 4503599627370498.0 },
    { "1.7976931348623157e308", G_MAXDOUBLE },
    { "1.7976931348623158e308", G_MAXDOUBLE },
    { "1.7976931348623159e308", INFINITY },
    { "1e309", INFINITY },
    { "-1e99999999999999999999", -INFINITY },
    { "0e99999999999999999999", 0.0 },
    { "1e-99999999999999999999", 0.0 },
    { "2.2250738585072014e-308", G_MINDOUBLE },
    { "2.2250738585072011e-308", 0x0.fffffffffffffp-1022 },
    { "4.9e-324", 0x1p-1074 },
    { "2.4703282292062328e-324", 0x1p-1074 },
    { "2.4703282292062327e-324", 0.0 },
    { "00000000000000000000000000000000000001.5", 1.5 },
    { "0.00000000000000000000000000000000000000000000000000015", 1.5e-52 },
    { "100000000000000000000000000000000000000000e-41", 1.0 },
    { "1234567.5", 1234567.5 },
    { "12345678.5", 12345678.5 },
    { "0.12345678", 0.12345678 },
    { "0.123456789012345678", 0.123456789012345678 },
    { "0.1234567890123456789", 0.1234567890123456789 },
    { "0.123456789012345678901234", 0.123456789012345678901234 },
    { "1234567.123456789012", 1234567.123456789012 },
    { "1234567.1234567890123", 1234567.1234567890123 },
  };
  guint i;

  g_test_summary ("Zeros of either sign, ties, the largest and the smallest doubles.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_reads (cases[i].text, cases[i].value);
}

static void
test_ends (void)
{
  static const struct
  {
    const char *text;
    int length; /* -1 where there is no number */
  } cases[] = {
    { "1,", 1 },   { "1.5.2", 3 }, { "1e", 1 },   { "1e+", 1 },  { "2e5x", 3 }, { "-", -1 },
    { ".", -1 },   { "e5", -1 },   { "x", -1 },   { "", -1 },    { "1 2", 1 },  { "0x10", 1 },
    { "inf", -1 }, { "nan", -1 },  { "+-1", -1 }, { "--1", -1 }, { "1-", 1 },   { "1,5", 1 },
  };
  guint i;

  g_test_summary ("Reading stops at the first byte that is no part of the number.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *padded = g_strconcat (cases[i].text, "11111111", NULL);
      g_autofree char *followed =
        g_strconcat (cases[i].text, ",1.5\n2.5,1.5\n2.5,1.5\n2.5,1.5\n2.5,1.5", NULL);
      double value;
      const char *end = apr_decimal_parse (padded, padded + strlen (cases[i].text), '.', &value);
      const char *end_before = apr_decimal_parse (followed, followed + strlen (followed), '.', &value);

      g_assert_cmpint (end == NULL ? -1 : end - padded, ==, cases[i].length);
      g_assert_cmpint (end_before == NULL ? -1 : end_before - followed, ==, cases[i].length);
    }
}

static void
test_decimal_comma (void)
{
  const char text[] = "-1,5e1.11111111";
  double value;

  g_assert_true (apr_decimal_parse (text, text + 7, ',', &value) == text + 6);
  g_assert_cmpfloat (value, ==, -15);
}

/* A double of any size, its middle to the next one, or something short. */
static void
write_random (char text[1200])
{
  guint64 bits = ((guint64) (guint32) g_test_rand_int () << 32) | (guint32) g_test_rand_int ();
  double value;

  memcpy (&value, &bits, sizeof value);
  if (!isfinite (value))
    value = 1;
  switch (g_test_rand_int_range (0, 8))
    {
    case 0:
      g_snprintf (text, 1200, "%.17g", value);
      break;
    case 1:
      g_snprintf (text, 1200, "%.*e", g_test_rand_int_range (0, 40), value);
      break;
    case 2:
      g_snprintf (text, 1200, "%.*f", g_test_rand_int_range (0, 30),
                  ldexp ((double) (gint64) bits, -g_test_rand_int_range (0, 100)));
      break;
    case 3:
      g_snprintf (text, 1200, "%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT "e%d",
                  bits >> g_test_rand_int_range (0, 64), bits >> g_test_rand_int_range (0, 64),
                  g_test_rand_int_range (-350, 350));
      break;
    case 4:
      /* Halfway between two doubles, exactly. */
      g_snprintf (text, 1200, "%" G_GUINT64_FORMAT ".5", (bits >> 12) | G_GUINT64_CONSTANT (1) << 51);
      break;
    case 5:
      /* Halfway, as far as 700 digits tell; subnormal half of the time. */
      bits &= g_test_rand_bit () ? G_GUINT64_CONSTANT (0x000fffffffffffff) : G_MAXUINT64 >> 1;
      memcpy (&value, &bits, sizeof value);
      g_snprintf (text, 1200, "%.*Le", g_test_rand_int_range (15, 700),
                  isfinite (value) ? ((long double) value + (long double) nextafter (value, 0)) / 2 : 0);
      break;
    case 6:
      g_snprintf (text, 1200, "%.*f", g_test_rand_int_range (0, 6), (double) (bits % 1000000) / 1000);
      break;
    default:
      /* As data are that were written with all of their digits. */
      g_snprintf (text, 1200, "%.*f", g_test_rand_int_range (12, 22),
                  ldexp ((double) (gint64) bits, -g_test_rand_int_range (40, 70)));
    }
}

static void
test_beside_c_library (void)
{
  guint n = runs_slowly () ? 20000 : 200000;
  guint i;

  g_test_summary ("The same doubles as the C library, which rounds correctly.");

  for (i = 0; i < n; i++)
    {
      char text[1200];

      write_random (text);
      assert_reads (text, g_ascii_strtod (text, NULL));
    }
}

/* The fewest digits that bring a number back, sought by the C library one by one. */
static void
format_by_c_library (double value, gboolean narrow, char buffer[APR_NUMBER_SIZE])
{
  int n_digits = fabs (value) < (narrow ? (double) G_MINFLOAT : G_MINDOUBLE) ? 1 : narrow ? 6 : 15;
  double again;

  do
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%dg", n_digits++);
      g_ascii_formatd (buffer, APR_NUMBER_SIZE, format, value);
      again = g_ascii_strtod (buffer, NULL);
    }
  while (narrow ? (float) again != (float) value : again != value);
}

static void
assert_formats (double value, gboolean narrow)
{
  char expected[APR_NUMBER_SIZE];
  char found[APR_NUMBER_SIZE];
  gsize length = apr_decimal_format (value, narrow, found);

  format_by_c_library (value, narrow, expected);
  g_assert_cmpstr (found, ==, expected);
  g_assert_cmpuint (length, ==, strlen (expected));
}

static void
test_format (void)
{
  static const double values[] = {
    0,
    -0.0,
    1,
    -1,
    13,
    0.5,
    0.1,
    1e15,
    1e16,
    1e17,
    123456789012345680.0,
    1e22,
    1e23,
    1e-4,
    1.5e-5,
    1e-5,
    100,
    1e5,
    999999,
    1e6,
    9999995,
    0x1p53,
    1e308,
    1e-300,
    1e99,
    9.5e-99,
    0.000123,
    1.0e9,
    9e15,
    9007199254740993.0,
    G_MINDOUBLE,
    G_MAXDOUBLE,
    0x1p-1074,
  };
  guint n = runs_slowly () ? 10000 : 100000;
  guint i;

  g_test_summary ("The same digits as a search by the C library, for floats and doubles of any size.");

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    {
      assert_formats (values[i], FALSE);
      if (fabs (values[i]) <= (double) G_MAXFLOAT)
        assert_formats ((double) (float) values[i], TRUE);
    }
  for (i = 0; i < n; i++)
    {
      gboolean narrow = g_test_rand_bit ();
      char text[1200];
      double value;

      write_random (text);
      value = g_ascii_strtod (text, NULL);
      if (narrow)
        value = (double) (float) value;
      if (isfinite (value))
        assert_formats (value, narrow);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decimal/known", test_known);
  g_test_add_func ("/decimal/ends", test_ends);
  g_test_add_func ("/decimal/comma", test_decimal_comma);
  g_test_add_func ("/decimal/beside-c-library", test_beside_c_library);
  g_test_add_func ("/decimal/format", test_format);

  return g_test_run ();
}
