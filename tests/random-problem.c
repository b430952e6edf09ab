/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/random-problem.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#ifdef __x86_64__
# include <xmmintrin.h>
#endif

#define MAX_FEATURES 8
#define MAX_TARGETS 3
#define MAX_ROWS 64

static guint32
number_from_environment (const char *name, guint32 otherwise)
{
  const char *text = g_getenv (name);
  guint64 number;

  if (text == NULL)
    return otherwise;
  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32, &number, NULL))
    g_error ("%s is no number: %s", name, text);

  return (guint32) number;
}

guint32
random_problem_get_seed (guint32 otherwise)
{
  return number_from_environment ("APRENDER_SEED", otherwise);
}

guint
random_problem_get_number (guint otherwise)
{
  return number_from_environment ("APRENDER_PROBLEMS", otherwise);
}

void
random_problem_enter_environment (const RandomProblem *self)
{
  fesetround (self->rounding);
#if defined(__x86_64__)
  if (self->flush)
    _mm_setcsr (_mm_getcsr () | 0x8040);
#elif defined(__aarch64__)
  if (self->flush)
    __builtin_aarch64_set_fpcr (__builtin_aarch64_get_fpcr () | 1 << 24);
#endif
}

static RandomProblem *
allocate (gsize n_rows, gsize n_features, gsize n_targets)
{
  RandomProblem *self = g_new0 (RandomProblem, 1);

  self->n_rows = n_rows;
  self->n_features = n_features;
  self->n_targets = n_targets;
  self->x = g_new0 (double, MAX_ROWS *MAX_FEATURES);
  self->y = g_new0 (double, MAX_ROWS *MAX_TARGETS);

  return self;
}

RandomProblem *
random_problem_copy (const RandomProblem *self)
{
  RandomProblem *copy = g_memdup2 (self, sizeof *self);

  copy->x = g_memdup2 (self->x, MAX_ROWS * MAX_FEATURES * sizeof *self->x);
  copy->y = g_memdup2 (self->y, MAX_ROWS * MAX_TARGETS * sizeof *self->y);
  if (self->weights != NULL)
    copy->weights = g_memdup2 (self->weights, MAX_ROWS * sizeof *self->weights);
  if (self->alphas != NULL)
    copy->alphas = g_memdup2 (self->alphas, MAX_TARGETS * sizeof *self->alphas);

  return copy;
}

void
random_problem_free (RandomProblem *self)
{
  g_free (self->x);
  g_free (self->y);
  g_free (self->weights);
  g_free (self->alphas);
  g_free (self);
}

static gboolean
one_in (GRand *rand, int n)
{
  return g_rand_int_range (rand, 0, n) == 0;
}

/* Two draws are never in one expression whose order the compiler chooses: a seed means the same with each. */

/* A number of up to @bits bits, at least -1 and below 1. */
static double
draw_bits (GRand *rand, int bits)
{
  guint64 high = g_rand_int (rand);
  gint64 whole = (gint64) (high << 32 | g_rand_int (rand));

  return ldexp ((double) (whole >> (64 - bits)), 1 - bits);
}

static double
draw_scaled (GRand *rand, int min, int max)
{
  double value = draw_bits (rand, one_in (rand, 4) ? 4 : 53);

  return ldexp (value, g_rand_int_range (rand, min, max + 1));
}

static int
draw_integer (GRand *rand, int most)
{
  return g_rand_int_range (rand, -most, most + 1);
}

/* Every target a sum of small multiples of the features, mostly with something added. */
static void
combine (RandomProblem *self, GRand *rand, double noise)
{
  gsize t;
  gsize i;
  gsize j;

  for (t = 0; t < self->n_targets; t++)
    {
      int multiples[MAX_FEATURES];
      gboolean exact = one_in (rand, 4);

      for (j = 0; j < self->n_features; j++)
        multiples[j] = draw_integer (rand, 3);
      for (i = 0; i < self->n_rows; i++)
        {
          double *y = &self->y[i * self->n_targets + t];

          *y = exact ? 0 : noise * draw_bits (rand, 53);
          for (j = 0; j < self->n_features; j++)
            *y += multiples[j] * self->x[i * self->n_features + j];
        }
    }
}

static void
draw_plain (RandomProblem *self, GRand *rand)
{
  gsize i;
  gsize j;

  for (j = 0; j < self->n_features; j++)
    {
      int exponent = draw_integer (rand, 6);
      double digits = draw_integer (rand, 9);
      double shift = one_in (rand, 2) ? 0 : ldexp (digits, g_rand_int_range (rand, 0, 20));

      for (i = 0; i < self->n_rows; i++)
        self->x[i * self->n_features + j] = shift + ldexp (draw_bits (rand, 53), exponent);
    }
  combine (self, rand, ldexp (1, draw_integer (rand, 6)));
}

static void
draw_small_integers (RandomProblem *self, GRand *rand)
{
  int most = g_rand_int_range (rand, 1, 6);
  gboolean indicators = one_in (rand, 4);
  gsize i;

  for (i = 0; i < self->n_rows * self->n_features; i++)
    self->x[i] = indicators ? one_in (rand, 2) : draw_integer (rand, most);
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = draw_integer (rand, 9);
}

/* Scales whose products are still doubles for the greatest part. */
static void
draw_scales (RandomProblem *self, GRand *rand)
{
  int most = one_in (rand, 2) ? 1000 : 200;
  int of_rows = one_in (rand, 3) ? 1000 - most : 0;
  int rows[MAX_ROWS];
  gsize i;
  gsize j;

  for (i = 0; i < self->n_rows; i++)
    rows[i] = draw_integer (rand, of_rows);
  for (j = 0; j < self->n_features; j++)
    {
      int exponent = draw_integer (rand, most);

      for (i = 0; i < self->n_rows; i++)
        self->x[i * self->n_features + j] = ldexp (draw_bits (rand, 53), exponent + rows[i]);
    }
  for (j = 0; j < self->n_targets; j++)
    {
      int exponent = draw_integer (rand, most);

      for (i = 0; i < self->n_rows; i++)
        self->y[i * self->n_targets + j] = ldexp (draw_bits (rand, 53), exponent + rows[i]);
    }
}

static void
draw_entries (RandomProblem *self, GRand *rand)
{
  int most = one_in (rand, 2) ? 1000 : 60;
  int zeros = g_rand_int_range (rand, 2, 6);
  gsize i;

  for (i = 0; i < self->n_rows * self->n_features; i++)
    self->x[i] = one_in (rand, zeros) ? 0 : draw_scaled (rand, -most, most);
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = one_in (rand, 4) ? 0 : draw_scaled (rand, -most, most);
}

static void
draw_subnormal (RandomProblem *self, GRand *rand)
{
  /* The least exponents of floats, or of doubles, belong to the answers, or to the data. */
  int least = one_in (rand, 2) ? -149 : -1074;
  int of_x = one_in (rand, 3) ? least + g_rand_int_range (rand, 0, 60) : draw_integer (rand, 4);
  int of_y = least + g_rand_int_range (rand, -4, 60);
  int bits = one_in (rand, 2) ? 8 : 53;
  gsize i;

  if (one_in (rand, 3))
    of_y += of_x;
  for (i = 0; i < self->n_rows * self->n_features; i++)
    self->x[i] = ldexp (draw_bits (rand, bits), of_x);
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = ldexp (draw_bits (rand, bits), of_y);
}

static void
draw_overflow (RandomProblem *self, GRand *rand)
{
  int most = one_in (rand, 2) ? 128 : 1024;
  int less = one_in (rand, 2) ? 20 : 0;
  int of_x = draw_integer (rand, 8) - less;
  gsize i;

  for (i = 0; i < self->n_rows * self->n_features; i++)
    self->x[i] = ldexp (draw_bits (rand, 53), of_x);
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    {
      int exponent = most + of_x + g_rand_int_range (rand, -3, 2);

      self->y[i] = ldexp (draw_bits (rand, 53), MIN (exponent, 1023));
    }
}

static void
draw_alike (RandomProblem *self, GRand *rand)
{
  int exponent = -g_rand_int_range (rand, 0, one_in (rand, 2) ? 64 : 30);
  int bits = one_in (rand, 2) ? 53 : 6;
  gsize p = self->n_features;
  gsize i;
  gsize j;

  for (i = 0; i < self->n_rows; i++)
    for (j = 0; j < p; j++)
      self->x[i * p + j] =
        j == 0 ? draw_bits (rand, bits) : self->x[i * p] + ldexp (draw_bits (rand, bits), exponent);
  combine (self, rand, 1);
}

static void
draw_constant (RandomProblem *self, GRand *rand)
{
  gsize p = self->n_features;
  gsize i;
  gsize j;

  for (j = 0; j < p; j++)
    {
      double mean = one_in (rand, 2) ? 1 : draw_scaled (rand, -3, 3);
      int exponent = -g_rand_int_range (rand, 15, one_in (rand, 2) ? 30 : 56);

      for (i = 0; i < self->n_rows; i++)
        self->x[i * p + j] = mean + ldexp (draw_integer (rand, 2), exponent);
    }
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = draw_scaled (rand, -2, 2);
}

static void
draw_dependent (RandomProblem *self, GRand *rand)
{
  gboolean whole = one_in (rand, 2);
  int scale = one_in (rand, 8) ? 900 : one_in (rand, 4) ? 300 : one_in (rand, 2) ? 20 : 0;
  gsize p = self->n_features;
  gsize i;
  gsize j;

  if (one_in (rand, 3))
    self->n_rows = 1 + self->n_rows % p;
  for (j = 0; j < p; j++)
    {
      int kind = j > 0 ? g_rand_int_range (rand, 0, 6) : 0;
      gsize of = j > 0 ? (gsize) g_rand_int_range (rand, 0, (gint) j) : 0;
      gsize and_of = j > 0 ? (gsize) g_rand_int_range (rand, 0, (gint) j) : 0;
      int exponent = draw_integer (rand, scale);

      for (i = 0; i < self->n_rows; i++)
        {
          double *row = self->x + i * p;

          if (kind == 1)
            row[j] = ldexp (row[of], one_in (rand, 2) ? 0 : exponent / 4);
          else if (kind == 2 && whole)
            row[j] = row[of] - 2 * row[and_of];
          else if (kind == 3)
            row[j] = exponent % 3;
          else
            row[j] =
              whole ? ldexp (draw_integer (rand, 4), exponent) : ldexp (draw_bits (rand, 53), exponent);
          row[j] = CLAMP (row[j], -DBL_MAX, DBL_MAX);
        }
    }
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = whole ? draw_integer (rand, 9) : draw_bits (rand, 53);
}

/* Coefficients of one bit more than the dtype has, and perhaps something far below that. The numbers that y would
 * have to be for them are longer than a double, so each sample is there four times, with a part of four times the
 * number. */
static void
draw_halfway (RandomProblem *self, GRand *rand)
{
  const gsize n_copies = 4;
  gsize n_samples = MIN (self->n_rows, MAX_ROWS / n_copies - 1);
  gsize p = self->n_features;
  int digits = self->dtype == APR_DTYPE_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
  int exponent = one_in (rand, 4) ? draw_integer (rand, 900) : draw_integer (rand, 9);
  int far = one_in (rand, 3) ? g_rand_int_range (rand, 900, 1070) : g_rand_int_range (rand, 50, 300);
  gboolean nudged = one_in (rand, 2);
  double sample[MAX_FEATURES];
  gsize i;
  gsize j;
  gsize k;
  gsize t;

  self->n_rows = n_samples * n_copies;
  for (t = 0; t < self->n_targets; t++)
    for (i = 0; i < n_samples; i++)
      {
        /* The coefficients are 2^digits + 2 odd + 1, in units of 2^exponent: the first part and the second. */
        double high = 0;
        double low = 0;

        for (j = 0; j < p; j++)
          {
            sample[j] = t == 0 ? draw_integer (rand, 3) : self->x[i * n_copies * p + j];
            high += sample[j] * ldexp (1, digits);
            low += sample[j] * (double) ((j * 7 + t * 5) % 16 * 2 + 1);
          }
        for (k = 0; k < n_copies; k++)
          {
            gsize row = i * n_copies + k;
            double part = k == 0 ? 4 * high : k == 1 ? 4 * low : 0;

            memcpy (self->x + row * p, sample, p * sizeof *sample);
            if (k == 2 && nudged && i == 0)
              part = ldexp (draw_integer (rand, 2), -far);
            self->y[row * self->n_targets + t] = ldexp (part, CLAMP (exponent, -1000, 960));
          }
      }
  /* A sample that hardly counts: x so small that its y, which is 0, takes next to nothing away. */
  if (nudged && one_in (rand, 2))
    {
      self->n_rows++;
      for (j = 0; j < p; j++)
        self->x[(self->n_rows - 1) * p + j] = ldexp (1, -far);
      for (t = 0; t < self->n_targets; t++)
        self->y[(self->n_rows - 1) * self->n_targets + t] = 0;
    }
}

static void
draw_weights (RandomProblem *self, GRand *rand)
{
  int kind = g_rand_int_range (rand, 0, 4);
  gboolean any = FALSE;
  gsize i;

  self->weights = g_new0 (double, MAX_ROWS);
  for (i = 0; i < self->n_rows; i++)
    {
      self->weights[i] = kind == 0 ? g_rand_int_range (rand, 0, 3)
                       : kind == 1 ? fabs (draw_bits (rand, 53))
                       : kind == 2 ? fabs (draw_scaled (rand, -900, 900))
                                   : ldexp (1, draw_integer (rand, 5));
      any = any || self->weights[i] > 0;
    }
  if (!any)
    self->weights[0] = 1;
}

/* What a float cannot hold is brought into its range first. */
static void
make_floats (double *values, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    {
      int exponent;
      double fraction = frexp (values[i], &exponent);

      if (exponent > 128)
        values[i] = ldexp (fraction, exponent % 128);
      else if (values[i] != 0 && exponent < -149)
        values[i] = ldexp (fraction, -(-exponent % 150));
      values[i] = CLAMP (values[i], -FLT_MAX, FLT_MAX);
      values[i] = (double) (float) values[i];
    }
}

static double
draw_alpha (GRand *rand)
{
  const double alphas[] = { 1, 3, 0.1, 1e-9, 1e5, 0x1p-1074, 0x1p-500, 0x1p600, 1e-30, 1e-120 };

  return alphas[g_rand_int_range (rand, 0, G_N_ELEMENTS (alphas))];
}

/* Targets may have the same penalty, or none. */
static void
draw_alphas (RandomProblem *self, GRand *rand)
{
  gsize t;

  self->alphas = g_new0 (double, MAX_TARGETS);
  for (t = 0; t < self->n_targets; t++)
    if (t > 0 && one_in (rand, 3))
      self->alphas[t] = self->alphas[t - 1];
    else if (!one_in (rand, 3))
      self->alphas[t] = draw_alpha (rand);
}

static void
negate_zeros (double *values, gsize n, GRand *rand)
{
  gsize i;

  for (i = 0; i < n; i++)
    if (values[i] == 0 && one_in (rand, 2))
      values[i] = -0.0;
}

RandomProblem *
random_problem_new (GRand *rand)
{
  static void (*const draw[N_FAMILIES]) (RandomProblem *, GRand *) = {
    draw_plain,    draw_small_integers, draw_scales,   draw_entries,   draw_subnormal,
    draw_overflow, draw_alike,          draw_constant, draw_dependent, draw_halfway,
  };
  const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  const AprDType dtypes[] = { APR_DTYPE_NONE, APR_DTYPE_F32, APR_DTYPE_F64, APR_DTYPE_F64 };
  gsize p = (gsize) g_rand_int_range (rand, 1, one_in (rand, 8) ? MAX_FEATURES + 1 : 5);
  gsize n =
    one_in (rand, 6) ? (gsize) g_rand_int_range (rand, 1, 9) : p + (gsize) g_rand_int_range (rand, 0, 10);
  RandomProblem *self =
    allocate (n, p, one_in (rand, 6) ? (gsize) g_rand_int_range (rand, 2, MAX_TARGETS + 1) : 1);

  self->family = (Family) g_rand_int_range (rand, 0, N_FAMILIES);
  self->dtype = dtypes[g_rand_int_range (rand, 0, G_N_ELEMENTS (dtypes))];
  draw[self->family](self, rand);

  self->x_dtype = one_in (rand, 4) ? APR_DTYPE_F32 : APR_DTYPE_F64;
  self->y_dtype = one_in (rand, 4) ? APR_DTYPE_F32 : APR_DTYPE_F64;
  if (self->x_dtype == APR_DTYPE_F32)
    make_floats (self->x, self->n_rows * p);
  if (self->y_dtype == APR_DTYPE_F32)
    make_floats (self->y, self->n_rows * self->n_targets);
  if (one_in (rand, 4) && self->family != FAMILY_HALFWAY)
    draw_weights (self, rand);

  self->fit_intercept = self->family == FAMILY_HALFWAY ? one_in (rand, 4) : one_in (rand, 2);
  if (one_in (rand, 6))
    self->alpha = draw_alpha (rand);
  else if (self->n_targets > 1 && one_in (rand, 2))
    draw_alphas (self, rand);
  if (one_in (rand, 8))
    {
      negate_zeros (self->x, self->n_rows * p, rand);
      negate_zeros (self->y, self->n_rows * self->n_targets, rand);
    }
  self->positive = p <= 5 && one_in (rand, 6);
  self->rounding = modes[g_rand_int_range (rand, 0, G_N_ELEMENTS (modes))];
  self->flush = one_in (rand, 2);

  return self;
}

static void
append_matrix (GString *text, const char *name, const double *values, gsize n_rows, gsize n_columns)
{
  gsize i;

  g_string_append_printf (text, " %s=[", name);
  for (i = 0; i < n_rows * n_columns; i++)
    g_string_append_printf (text, "%s%s%a", i == 0 ? "" : ", ",
                            n_columns > 1 && i % n_columns == 0 ? "| " : "", values[i]);
  g_string_append_c (text, ']');
}

char *
random_problem_to_string (const RandomProblem *self)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (
    text,
    "%" G_GSIZE_FORMAT " samples, %" G_GSIZE_FORMAT " features, X %s, y %s, dtype %s%s%s, "
    "alpha %a, rounding mode %d%s;",
    self->n_rows, self->n_features, apr_dtype_to_string (self->x_dtype), apr_dtype_to_string (self->y_dtype),
    self->dtype != APR_DTYPE_NONE ? apr_dtype_to_string (self->dtype) : "NONE",
    self->fit_intercept ? ", intercept" : "", self->positive ? ", positive" : "", self->alpha, self->rounding,
    self->flush ? ", flush to zero" : "");
  append_matrix (text, "X", self->x, self->n_rows, self->n_features);
  append_matrix (text, "y", self->y, self->n_rows, self->n_targets);
  if (self->weights != NULL)
    append_matrix (text, "weights", self->weights, self->n_rows, 1);
  if (self->alphas != NULL)
    append_matrix (text, "alphas", self->alphas, self->n_targets, 1);

  return g_string_free (text, FALSE);
}

/* False where no row that is left has a weight. */
static gboolean
remove_row (RandomProblem *self, gsize row)
{
  gsize p = self->n_features;
  gsize q = self->n_targets;
  gsize n_after = self->n_rows - row - 1;
  gsize i;

  memmove (self->x + row * p, self->x + (row + 1) * p, n_after * p * sizeof *self->x);
  memmove (self->y + row * q, self->y + (row + 1) * q, n_after * q * sizeof *self->y);
  if (self->weights != NULL)
    memmove (self->weights + row, self->weights + row + 1, n_after * sizeof *self->weights);
  self->n_rows--;
  for (i = 0; i < self->n_rows; i++)
    if (self->weights == NULL || self->weights[i] > 0)
      return TRUE;

  return FALSE;
}

static void
remove_column (double *values, gsize n_rows, gsize *n_columns, gsize column)
{
  gsize i;
  gsize to = 0;

  for (i = 0; i < n_rows * *n_columns; i++)
    if (i % *n_columns != column)
      values[to++] = values[i];
  (*n_columns)--;
}

static void
remove_target (RandomProblem *self, gsize target)
{
  gsize n_alphas = self->n_targets;

  if (self->alphas != NULL)
    remove_column (self->alphas, 1, &n_alphas, target);
  remove_column (self->y, self->n_rows, &self->n_targets, target);
}

/* The steps that make a problem smaller; false where there is no step of this number, or it changes nothing. */
static gboolean
take_step (RandomProblem *self, gsize step, gboolean *is_last)
{
  const double simple[] = { 0, 1, -1, 2 };
  gsize n_x = self->n_rows * self->n_features;
  gsize n_y = self->n_rows * self->n_targets;
  gsize n_values = n_x + n_y + (self->weights != NULL ? self->n_rows : 0);
  gsize kind;
  double *value;
  double before;
  double after;

  if (step < self->n_rows)
    return remove_row (self, step);
  step -= self->n_rows;
  if (step < self->n_features)
    return self->n_features > 1 && (remove_column (self->x, self->n_rows, &self->n_features, step), TRUE);
  step -= self->n_features;
  if (step < self->n_targets)
    return self->n_targets > 1 && (remove_target (self, step), TRUE);
  step -= self->n_targets;
  if (step < 7)
    {
      RandomProblem old = *self;

      if (step == 0)
        g_clear_pointer (&self->weights, g_free);
      else if (step == 1)
        {
          self->alpha = 0;
          g_clear_pointer (&self->alphas, g_free);
        }
      else if (step == 2)
        self->positive = FALSE;
      else if (step == 3)
        self->fit_intercept = FALSE;
      else if (step == 4)
        self->flush = FALSE;
      else if (step == 5)
        self->rounding = FE_TONEAREST;
      else
        self->dtype = APR_DTYPE_F64;
      return memcmp (&old, self, sizeof old) != 0;
    }
  step -= 7;

  kind = step / n_values;
  if (kind >= G_N_ELEMENTS (simple) + 5)
    {
      *is_last = TRUE;
      return FALSE;
    }
  step %= n_values;
  value = step < n_x       ? &self->x[step]
        : step < n_x + n_y ? &self->y[step - n_x]
                           : &self->weights[step - n_x - n_y];
  before = *value;
  if (before == 0 || before == 1)
    return FALSE;
  if (kind < G_N_ELEMENTS (simple))
    {
      after = simple[kind];
      if ((kind > 1 && (before == 2 || before == -1)) ||
          (value >= self->weights && step >= n_x + n_y && after <= 0))
        return FALSE;
    }
  else
    {
      const int bits[] = { 1, 3, 8, 24, 40 };
      int exponent;
      double fraction = frexp (before, &exponent);

      after = ldexp (rint (ldexp (fraction, bits[kind - G_N_ELEMENTS (simple)])),
                     exponent - bits[kind - G_N_ELEMENTS (simple)]);
    }
  *value = after;
  return isfinite (after) && after != before;
}

RandomProblem *
random_problem_shrink (const RandomProblem *self, gboolean (*fails) (const RandomProblem *))
{
  RandomProblem *smallest = random_problem_copy (self);
  gboolean is_last = FALSE;
  gsize step = 0;

  while (!is_last)
    {
      RandomProblem *next = random_problem_copy (smallest);

      if (take_step (next, step, &is_last) && fails (next))
        {
          random_problem_free (smallest);
          smallest = next;
          step = 0;
          continue;
        }
      random_problem_free (next);
      step++;
    }

  return smallest;
}
