/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/inference/apr-regression-statistics-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Equations between sums of terms, as text: “x1 = x2, x3 + 2*x4 = 1”. */

#define INTERCEPT "Intercept"

/* As deep as parentheses may be within each other. */
#define MAX_DEPTH 64

/* The text comes from a user: show it as it is if it is valid, and not at any length. */
#define MAX_SHOWN 60

typedef struct
{
  const char *text;
  const char *position;
  const char *const *terms;
  gsize n_terms;
  gboolean has_intercept;
  guint depth;
} Parser;

/* A sum of terms: the factor of each, and the constant behind them. */
typedef double Sum;

static gboolean G_GNUC_PRINTF (5, 6)
  fail (const Parser *self, const char *position, AprError code, GError **error, const char *format, ...)
{
  gboolean is_long = g_utf8_strlen (self->text, -1) > MAX_SHOWN;
  g_autofree char *shown = is_long ? g_utf8_substring (self->text, 0, MAX_SHOWN) : g_strdup (self->text);
  g_autofree char *problem = NULL;
  va_list arguments;

  va_start (arguments, format);
  problem = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_ERROR, (int) code, "The hypotheses “%s%s”: %s at position %ld (counted from 0)",
               shown, is_long ? "…" : "", problem, g_utf8_pointer_to_offset (self->text, position));

  return FALSE;
}

static void
skip_space (Parser *self)
{
  while (g_ascii_isspace (*self->position))
    self->position++;
}

/* Takes a character, and the space before it. */
static gboolean
take (Parser *self, char c)
{
  skip_space (self);
  if (*self->position != c)
    return FALSE;

  self->position++;
  return TRUE;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || (guchar) c >= 0x80;
}

/* How many bytes of the text are a number: digits, with a point and an exponent. */
static gsize
measure_number (const char *text)
{
  const char *end = text;
  const char *exponent;

  while (g_ascii_isdigit (*end))
    end++;
  if (*end == '.' && (end > text || g_ascii_isdigit (end[1])))
    for (end++; g_ascii_isdigit (*end);)
      end++;
  if (end > text && (*end == 'e' || *end == 'E'))
    {
      exponent = end + (end[1] == '+' || end[1] == '-' ? 2 : 1);
      if (g_ascii_isdigit (*exponent))
        for (end = exponent; g_ascii_isdigit (*end);)
          end++;
    }

  return (gsize) (end - text);
}

/* Whether a name stands at the beginning of the text, and no longer word does. */
static gboolean
begins_with (const char *text, const char *name, gsize length)
{
  return length > 0 && strncmp (text, name, length) == 0 &&
         !(is_word (name[length - 1]) && is_word (text[length]));
}

/* The term with the longest name that the text begins with; names may hold any characters. */
static gsize
match_term (const Parser *self, gsize *length)
{
  gsize found = self->n_terms;
  gsize i;

  *length = 0;
  for (i = 0; i < self->n_terms; i++)
    {
      gsize n = strlen (self->terms[i]);

      if (n > *length && begins_with (self->position, self->terms[i], n))
        {
          found = i;
          *length = n;
        }
    }
  if (found == self->n_terms && self->has_intercept &&
      begins_with (self->position, INTERCEPT, strlen (INTERCEPT)))
    {
      found = 0;
      *length = strlen (INTERCEPT);
    }

  return found;
}

static gboolean
parse_quoted (Parser *self, gsize *term, GError **error)
{
  const char *begin = self->position + 1;
  const char *end = strchr (begin, '`');
  gsize i;

  if (end == NULL)
    return fail (self, self->position, APR_ERROR_SYNTAX, error, "a “`” without a second one");
  for (i = 0; i < self->n_terms; i++)
    if (strlen (self->terms[i]) == (gsize) (end - begin) &&
        strncmp (begin, self->terms[i], (gsize) (end - begin)) == 0)
      break;
  if (i == self->n_terms)
    {
      g_autofree char *name = g_strndup (begin, (gsize) (end - begin));

      return fail (self, self->position, APR_ERROR_FEATURE_NAMES, error, "no term is named “%s”", name);
    }

  *term = i;
  self->position = end + 1;
  return TRUE;
}

static gboolean
fail_at_name (const Parser *self, GError **error)
{
  const char *end = self->position;
  g_autofree char *name = NULL;

  while (is_word (*end))
    end++;
  if (end == self->position)
    return fail (self, self->position, APR_ERROR_SYNTAX, error, "neither a term nor a number");

  name = g_strndup (self->position, (gsize) (end - self->position));
  return fail (self, self->position, APR_ERROR_FEATURE_NAMES, error, "no term is named “%s”", name);
}

static gboolean parse_sum (Parser *self, Sum *result, GError **error);

static gboolean
parse_atom (Parser *self, Sum *result, GError **error)
{
  gsize n_digits;
  gsize length;
  gsize term;

  skip_space (self);
  term = match_term (self, &length);
  n_digits = measure_number (self->position);
  if (n_digits >= length && n_digits > 0)
    {
      g_autofree char *number = g_strndup (self->position, n_digits);

      result[self->n_terms] = g_ascii_strtod (number, NULL);
      self->position += n_digits;
      return TRUE;
    }
  if (length > 0)
    {
      result[term] = 1;
      self->position += length;
      return TRUE;
    }
  if (*self->position == '`')
    {
      if (!parse_quoted (self, &term, error))
        return FALSE;
      result[term] = 1;
      return TRUE;
    }
  if (*self->position != '(')
    return fail_at_name (self, error);

  if (self->depth == MAX_DEPTH)
    return fail (self, self->position, APR_ERROR_SYNTAX, error, "more than %d parentheses within each other",
                 MAX_DEPTH);
  self->position++;
  self->depth++;
  if (!parse_sum (self, result, error))
    return FALSE;
  self->depth--;

  return take (self, ')') || fail (self, self->position, APR_ERROR_SYNTAX, error, "no “)”");
}

static gboolean
parse_signed (Parser *self, Sum *result, GError **error)
{
  double sign = 1;
  gsize i;

  for (skip_space (self); *self->position == '+' || *self->position == '-'; skip_space (self))
    if (*self->position++ == '-')
      sign = -sign;
  memset (result, 0, (self->n_terms + 1) * sizeof *result);
  if (!parse_atom (self, result, error))
    return FALSE;

  for (i = 0; i <= self->n_terms && sign < 0; i++)
    result[i] = 0 - result[i];
  return TRUE;
}

static gboolean
is_constant (const Parser *self, const Sum *sum)
{
  gsize i;

  for (i = 0; i < self->n_terms && sum[i] == 0; i++)
    ;

  return i == self->n_terms;
}

static gboolean
parse_product (Parser *self, Sum *result, GError **error)
{
  g_autofree Sum *factor = g_new (Sum, self->n_terms + 1);
  gsize i;

  if (!parse_signed (self, result, error))
    return FALSE;

  for (skip_space (self); *self->position == '*' || *self->position == '/'; skip_space (self))
    {
      const char *sign = self->position++;
      Sum constant;

      if (!parse_signed (self, factor, error))
        return FALSE;
      if (is_constant (self, factor))
        constant = factor[self->n_terms];
      else if (*sign == '*' && is_constant (self, result))
        {
          constant = result[self->n_terms];
          memcpy (result, factor, (self->n_terms + 1) * sizeof *result);
        }
      else
        return fail (self, sign, APR_ERROR_SYNTAX, error,
                     *sign == '*' ? "a product of terms, which is not linear,"
                                  : "a division by a term, which is not linear,");
      if (*sign == '/' && constant == 0)
        return fail (self, sign, APR_ERROR_RANGE, error, "a division by 0");

      for (i = 0; i <= self->n_terms; i++)
        result[i] = *sign == '/' ? result[i] / constant : result[i] * constant;
    }

  return TRUE;
}

static gboolean
parse_sum (Parser *self, Sum *result, GError **error)
{
  g_autofree Sum *product = g_new (Sum, self->n_terms + 1);
  gsize i;

  if (!parse_product (self, result, error))
    return FALSE;

  for (skip_space (self); *self->position == '+' || *self->position == '-'; skip_space (self))
    {
      double sign = *self->position++ == '-' ? -1 : 1;

      if (!parse_product (self, product, error))
        return FALSE;
      for (i = 0; i <= self->n_terms; i++)
        result[i] += sign * product[i];
    }

  return TRUE;
}

/* What has been read: for each hypothesis the factors of the terms, and their value. */
typedef struct
{
  double *factors; /* (owned) */
  double *values;  /* (owned) for as many hypotheses as there are terms */
  gsize n;
  gsize max; /* that there is memory for */
} Hypotheses;

static void
hypotheses_clear (Hypotheses *self)
{
  g_clear_pointer (&self->factors, g_free);
  g_clear_pointer (&self->values, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Hypotheses, hypotheses_clear)

static gboolean
reserve (Hypotheses *self, gsize n_terms, GError **error)
{
  gsize max = MIN (MAX (4, 2 * self->max), n_terms);
  double *factors;

  if (self->n < self->max)
    return TRUE;

  factors = apr_memory_new (max, n_terms * sizeof *factors, "hypotheses", error);
  if (factors == NULL)
    return FALSE;
  if (self->n > 0)
    memcpy (factors, self->factors, self->n * n_terms * sizeof *factors);
  g_free (self->factors);
  self->factors = factors;
  self->max = max;

  return TRUE;
}

/* Adds left - right = 0. */
static gboolean
append (const Parser *self,
        const char *begin,
        const Sum *left,
        const Sum *right,
        Hypotheses *hypotheses,
        GError **error)
{
  gboolean any = FALSE;
  gsize i;

  if (hypotheses->n == self->n_terms)
    return fail (self, begin, APR_ERROR_RANGE, error,
                 "hypothesis %" G_GSIZE_FORMAT
                 " (counted from 0), which follows from the others or contradicts them, as "
                 "there are only %" G_GSIZE_FORMAT " terms,",
                 self->n_terms, self->n_terms);
  if (!reserve (hypotheses, self->n_terms, error))
    return FALSE;

  for (i = 0; i <= self->n_terms; i++)
    {
      double number = i < self->n_terms ? left[i] - right[i] : right[i] - left[i];

      if (!isfinite (number))
        return fail (self, begin, APR_ERROR_RANGE, error, "a sum with a number that is too large");
      any = any || (i < self->n_terms && number != 0);
      if (i < self->n_terms)
        hypotheses->factors[hypotheses->n * self->n_terms + i] = number;
      else
        hypotheses->values[hypotheses->n] = number;
    }
  hypotheses->n++;

  return any || fail (self, begin, APR_ERROR_RANGE, error, "an equation in which no term is left");
}

/* A side of an equation. */
static gboolean
parse_side (Parser *self, Sum *result, GError **error)
{
  if (!parse_sum (self, result, error))
    return FALSE;

  return strchr ("=,", *self->position) != NULL ||
         fail (self, self->position, APR_ERROR_SYNTAX, error, "neither an operator, a comma nor the end");
}

/* One sum, which is 0, or several between which “=” stands. */
static gboolean
parse_equation (Parser *self, Hypotheses *hypotheses, GError **error)
{
  g_autofree Sum *left = g_new (Sum, self->n_terms + 1);
  g_autofree Sum *right = g_new0 (Sum, self->n_terms + 1);
  const char *begin;

  skip_space (self);
  begin = self->position;
  if (!parse_side (self, left, error))
    return FALSE;
  if (!take (self, '='))
    return append (self, begin, left, right, hypotheses, error);

  do
    {
      Sum *swapped = left;

      if (!parse_side (self, right, error) || !append (self, begin, left, right, hypotheses, error))
        return FALSE;
      left = right;
      right = swapped;
    }
  while (take (self, '='));

  return TRUE;
}

static gboolean
parse (Parser *self, Hypotheses *hypotheses, GError **error)
{
  do
    if (!parse_equation (self, hypotheses, error))
      return FALSE;
  while (take (self, ','));

  return TRUE;
}

/**
 * apr_regression_statistics_parse_hypothesis:
 * @self: statistics
 * @text: hypotheses, such as `x1 = x2` or `x1 + 2*x2 = 3, x3 = 0`
 * @factors: (out) (transfer full): the factors of the terms, F64 [n_hypotheses, n_terms]
 * @values: (out) (transfer full): what the hypotheses say of the sums, F64 [n_hypotheses]
 * @error: return location for an error
 *
 * Reads hypotheses about the coefficients from a text, for [method@Apr.RegressionStatistics.test_hypothesis].
 *
 * Commas separate the hypotheses. Each is an equation of sums with `+`, `-`, `*`, `/`, parentheses and numbers; several
 * `=` make several hypotheses, and a sum without any is 0. Names are those of
 * [property@Apr.RegressionStatistics:terms],
 * the longest one that fits; in backticks they are taken as they stand. The intercept is `(Intercept)`, or `Intercept`
 * where no feature is called so. This is what statsmodels and patsy take as well.
 *
 * Returns: true, or false with %APR_ERROR_SYNTAX, %APR_ERROR_FEATURE_NAMES where there is no such term,
 *   %APR_ERROR_RANGE where a number is too large, no term is left or there are more hypotheses than terms, all with the
 *   position in characters, or %APR_ERROR_NOT_FITTED where the statistics come from no model
 *
 * Since: 0.1
 */
gboolean
apr_regression_statistics_parse_hypothesis (
  AprRegressionStatistics *self, const char *text, AprTensor **factors, AprTensor **values, GError **error)
{
  Parser parser = { text, text, NULL, 0, FALSE, 0 };
  g_auto (Hypotheses) hypotheses = { NULL };
  gsize shape[2];

  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), FALSE);
  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (factors != NULL, FALSE);
  g_return_val_if_fail (values != NULL, FALSE);

  if (self->factors.inference == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED,
                   "Cannot test these statistics: they do not come from a fitted model");
      return FALSE;
    }
  if (!g_utf8_validate (text, -1, NULL))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SYNTAX, "The hypotheses are not UTF-8");
      return FALSE;
    }

  parser.terms = (const char *const *) self->terms;
  parser.n_terms = self->factors.inference->n_terms;
  parser.has_intercept = self->factors.inference->first > 0;
  hypotheses.values = g_new (double, parser.n_terms);
  if (!parse (&parser, &hypotheses, error))
    return FALSE;

  shape[0] = hypotheses.n;
  shape[1] = parser.n_terms;
  *factors = apr_tensor_new_take (APR_DTYPE_F64, shape, 2, g_steal_pointer (&hypotheses.factors),
                                  shape[0] * shape[1] * sizeof (double));
  *values = apr_tensor_new_take (APR_DTYPE_F64, shape, 1, g_steal_pointer (&hypotheses.values),
                                 shape[0] * sizeof (double));

  return TRUE;
}
