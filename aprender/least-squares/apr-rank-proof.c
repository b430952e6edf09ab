/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-normal-equations-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"

/* Proves the rank that apr-rank found: finds the combinations of independent features that the dependent ones nearly
 * are, many at a time, and bounds the Schur complement of each dependent feature.
 *
 * With A the products of the independent features with each other, and c those with a dependent feature a, the Schur
 * complement of a is, for any w,
 *
 *   a'a - c'A^-1 c = (a'a - w'c) - w'r - r'A^-1 r, with r = c - A w.
 *
 * w is rounded to two digits of 21 bits, and A is cut into slices of 21 bits whose products with them are exact in
 * double (K. Ozaki, T. Ogita, S. Oishi and S. Rump, "Error-free transformations of matrix multiplication", 2012), so r
 * is exact but for what A has below its last slice. The last term is small, and the Cholesky factor of A bounds it
 * from below: the nearer A is to a singular matrix, the less closely. Where that leaves a doubt, w is corrected by
 * A^-1 r and rounded to three digits, so that there is next to nothing to bound.
 */

/* Dependent features that are solved for at once, and rows and columns of the blocks that are multiplied. */
#define CHUNK 128
#define ROWS 64

/* The bits of a slice of a product, and of a digit of w. The first slice counts 2^-FIRST_SLICE. */
#define SLICE_BITS 21
#define BASE (1 << SLICE_BITS)
#define FIRST_SLICE 18

#define FIRST_DIGITS 2
#define MAX_DIGITS 3
#define MAX_SLICES 6
#define N_LEVELS (MAX_SLICES + MAX_DIGITS - 1)

/* The sum of so many products of a slice and a digit, for each of the digits, is exact in double. */
#define MAX_TERMS 1024

/* Combinations with larger coefficients need more digits. */
#define MAX_EXPONENT 20

typedef struct
{
  AprNormalEquations *equations; /* (unowned) */
  const AprRun *run;             /* (unowned) */
  double rank_tolerance;
  gsize n;        /* independent features */
  gsize m;        /* dependent ones */
  gsize stride;   /* of the rows, one for each independent feature */
  gsize *limits;  /* (owned) of each dependent feature, how many independent ones are before it */
  double *values; /* (owned) of the rows: w, then r */
  gsize n_digits;

  /* (owned) whole numbers: the second counts 2^(exponent - 41), and the third 2^(exponent - 62). The third's place has
   * what w has beyond double before it is cut, and U'^-1 r in the end. */
  double *digits[MAX_DIGITS];

  gint *exponents; /* (owned) of each dependent feature: |w| is at most 2^this, which is at least 1 */
  double *lengths; /* (owned) of each: 1 plus the 1-norm of w */
  gsize n_slices;
  AprLongSum *sums;   /* (owned) of each block of rows and each dependent one: -w'c - w'r */
  gboolean *proven;   /* (unowned) */
  gboolean *doubtful; /* (owned) the bound on the last term may be what keeps each from being proven */
} Combinations;

static const mp_limb_t *
get_entry (const Combinations *self, gsize i, gsize j, gint64 *scale)
{
  const AprNormalEquations *equations = self->equations;

  *scale = equations->scales[equations->independent[i]] + equations->scales[equations->dependent[j]];
  return apr_products_get (equations->products, equations->independent[i], equations->dependent[j]);
}

/* A dependent feature is combined of those before it only. */
static void
clear_after (const Combinations *self, double *x, gsize begin, gsize end)
{
  gsize i;
  gsize j;

  for (j = begin; j < MIN (end, self->m); j++)
    for (i = self->limits[j]; i < self->n; i++)
      x[i * self->stride + j] = 0;
}

/* Divides by A. */
static void
solve (const Combinations *self, gsize begin, gsize end)
{
  const AprCholesky *cholesky = &self->equations->cholesky;

  apr_cholesky_solve_many (cholesky, TRUE, self->values + begin, self->stride, end - begin, self->run);
  clear_after (self, self->values, begin, end);
  apr_cholesky_solve_many (cholesky, FALSE, self->values + begin, self->stride, end - begin, self->run);
}

/* Finds w. */
static void
combine (const Combinations *self, gsize begin, gsize end)
{
  AprNormalEquations *equations = self->equations;
  guint64 too_large = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      double *row = self->values + i * self->stride;

      for (j = begin; j < end; j++)
        {
          gint64 scale;
          const mp_limb_t *limbs;

          row[j] = 0;
          if (j >= self->m || i >= self->limits[j])
            continue;
          limbs = get_entry (self, i, j, &scale);
          row[j] = apr_limbs_get_double (limbs, (gint64) equations->products->n_limbs, scale, &too_large);
        }
    }
  g_assert (too_large == 0);
  solve (self, begin, end);
}

/* Puts w in place of r, corrected: what its two digits are, and A^-1 r. */
static void
correct (const Combinations *self, gsize begin, gsize end)
{
  double units[CHUNK];
  gsize i;
  gsize j;

  solve (self, begin, end);
  for (j = begin; j < end; j++)
    units[j - begin] = ldexp (1, self->exponents[j] - (FIRST_DIGITS * SLICE_BITS - 1));
  for (i = 0; i < self->n; i++)
    for (j = begin; j < end; j++)
      {
        gsize at = i * self->stride + j;
        double rounded = (self->digits[0][at] * BASE + self->digits[1][at]) * units[j - begin];
        AprDoubleDouble corrected = apr_dd_two_sum (rounded, self->values[at]);

        self->values[at] = corrected.high;
        self->digits[2][at] = corrected.low;
      }
}

/* Rounds w to digits, and keeps it. */
static void
cut (const Combinations *self, gsize begin, gsize end)
{
  AprNormalEquations *equations = self->equations;
  double max[CHUNK] = { 0 };
  double factors[CHUNK];
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    for (j = begin; j < end; j++)
      max[j - begin] = MAX (max[j - begin], fabs (self->values[i * self->stride + j]));
  for (j = begin; j < end; j++)
    {
      gint exponent;

      (void) frexp (max[j - begin], &exponent);
      self->exponents[j] = CLAMP (exponent, 0, MAX_EXPONENT);
      self->lengths[j] = exponent > MAX_EXPONENT ? INFINITY : 1;
      factors[j - begin] = exponent > MAX_EXPONENT ? 0 : ldexp (1, SLICE_BITS - 1 - self->exponents[j]);
    }

  for (i = 0; i < self->n; i++)
    for (j = begin; j < end; j++)
      {
        gsize at = i * self->stride + j;
        double rest = self->values[at] * factors[j - begin];

        self->lengths[j] += fabs (self->values[at]);
        self->digits[0][at] = rint (rest);
        rest = (rest - self->digits[0][at]) * BASE;
        self->digits[1][at] = rint (rest);
        if (self->n_digits > FIRST_DIGITS)
          self->digits[2][at] = rint ((rest - self->digits[1][at]) * BASE +
                                      self->digits[2][at] * factors[j - begin] * BASE * BASE);
        if (j < self->m)
          equations->combinations[j * equations->cholesky.stride + i] = self->values[at];
      }
}

static void
combine_some (gpointer data, gsize part, gsize n_parts)
{
  Combinations *self = data;
  gsize begin;

  for (begin = part * CHUNK; begin < self->stride && !apr_run_is_cancelled (self->run);
       begin += n_parts * CHUNK)
    {
      gsize end = MIN (begin + CHUNK, self->stride);

      if (self->n_digits == FIRST_DIGITS)
        combine (self, begin, end);
      else
        correct (self, begin, end);
      cut (self, begin, end);
    }
}

/* Slices of A, whose entries fit, in double. */
typedef struct
{
  double slices[MAX_SLICES][ROWS][ROWS];
  double levels[N_LEVELS][ROWS][CHUNK]; /* sums of products that count the same */
  __int128 residuals[ROWS][CHUNK];
} Work;

static void
cut_block (
  const Combinations *self, gsize first_row, gsize n_rows, gsize first_column, gsize n_columns, Work *work)
{
  const AprNormalEquations *equations = self->equations;
  const AprProducts *products = equations->products;
  gint64 bits = FIRST_SLICE + SLICE_BITS * ((gint64) self->n_slices - 1);
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < n_rows; i++)
    for (j = 0; j < n_columns; j++)
      {
        gsize row = equations->independent[first_row + i];
        gsize column = equations->independent[first_column + j];
        const mp_limb_t *limbs = apr_products_get (products, row, column);
        __int128 value = (__int128) apr_limbs_get_part (
          limbs, (gint64) products->n_limbs, equations->scales[row] + equations->scales[column] - bits);

        /* The next entry of its row: above the diagonal, that is the one of the next i. */
        __builtin_prefetch ((gconstpointer) ((guintptr) limbs + (2 * products->n_limbs - 1) * sizeof *limbs));
        for (k = self->n_slices; --k > 0;)
          {
            work->slices[k][i][j] = (double) ((gint32) value & (BASE - 1));
            value >>= SLICE_BITS;
          }
        work->slices[0][i][j] = (double) (gint32) value;
      }
}

/* The bits behind the point that residuals have, but for the exponent of w: they stay below 2^127. */
static gint
count_residual_bits (const Combinations *self)
{
  return 124 - (gint) g_bit_storage (self->n);
}

static void
clear_levels (const Combinations *self, gsize n_rows, gsize n_columns, Work *work)
{
  gsize level;
  gsize i;

  for (level = 0; level < self->n_slices + self->n_digits - 1; level++)
    for (i = 0; i < n_rows; i++)
      memset (work->levels[level][i], 0, n_columns * sizeof (double));
}

static void
add_levels (const Combinations *self, gsize n_rows, gsize n_columns, Work *work)
{
  gint bits = count_residual_bits (self);
  gsize level;
  gsize i;
  gsize j;

  for (level = 0; level < self->n_slices + self->n_digits - 1; level++)
    {
      /* Before the exponent. */
      gint shift = MAX (bits - (FIRST_SLICE + SLICE_BITS * (gint) level + SLICE_BITS - 1), -63);

      for (i = 0; i < n_rows; i++)
        for (j = 0; j < n_columns; j++)
          {
            gint64 value = (gint64) work->levels[level][i][j];
            unsigned __int128 shifted =
              shift >= 0 ? (unsigned __int128) value << shift : (unsigned __int128) (value >> -shift);

            /* Modulo 2^128: the sum of all fits. */
            work->residuals[i][j] = (__int128) ((unsigned __int128) work->residuals[i][j] + shifted);
          }
    }
}

/* The whole number that w is when its digits are joined. */
static inline gint64
join_digits (const Combinations *self, gsize i, gsize j)
{
  gint64 joined = 0;
  gsize digit;

  for (digit = 0; digit < self->n_digits; digit++)
    joined = joined * BASE + (gint64) self->digits[digit][i * self->stride + j];

  return joined;
}

/* r, in place of w. */
static void
find_residuals (Combinations *self, gsize first, gsize begin, Work *work)
{
  const AprNormalEquations *equations = self->equations;
  const AprDenseKernel *kernel = equations->cholesky.kernel;
  AprLongSum *sums = self->sums + first / ROWS * self->stride + begin;
  gint64 n_limbs = (gint64) equations->products->n_limbs;
  gint bits = count_residual_bits (self);
  gsize n_rows = MIN (ROWS, self->n - first);
  gsize n_columns = MIN (CHUNK, self->stride - begin);
  gsize inner;
  gsize slice;
  gsize digit;
  gsize i;
  gsize j;

  for (i = 0; i < n_rows; i++)
    memset (work->residuals[i], 0, n_columns * sizeof work->residuals[i][0]);
  for (i = 0; i < n_rows; i++)
    for (j = 0; j < n_columns && begin + j < self->m; j++)
      if (first + i < self->limits[begin + j])
        {
          gint64 scale;
          const mp_limb_t *limbs = get_entry (self, first + i, begin + j, &scale);

          unsigned __int128 value =
            apr_limbs_get_part (limbs, n_limbs, scale - bits + self->exponents[begin + j]);

          work->residuals[i][j] = (__int128) value;
          apr_long_sum_add (&sums[j], value, -join_digits (self, first + i, begin + j));
        }

  clear_levels (self, n_rows, n_columns, work);
  for (inner = 0; inner < self->n && !apr_run_is_cancelled (self->run); inner += ROWS)
    {
      gsize n_inner = MIN (ROWS, self->n - inner);

      if (inner % MAX_TERMS == 0)
        {
          add_levels (self, n_rows, n_columns, work);
          clear_levels (self, n_rows, n_columns, work);
        }
      cut_block (self, inner, n_inner, first, n_rows, work);
      for (slice = 0; slice < self->n_slices; slice++)
        for (digit = 0; digit < self->n_digits; digit++)
          kernel->subtract_products_fused (work->levels[slice + digit][0], CHUNK, work->slices[slice][0],
                                           ROWS, self->digits[digit] + inner * self->stride + begin,
                                           self->stride, n_rows, n_columns, n_inner);
    }
  add_levels (self, n_rows, n_columns, work);

  for (j = 0; j < n_columns; j++)
    {
      double unit = ldexp (1, self->exponents[begin + j] - bits);

      for (i = 0; i < n_rows; i++)
        {
          gboolean before = begin + j < self->m && first + i < self->limits[begin + j];

          self->values[(first + i) * self->stride + begin + j] =
            before ? (double) work->residuals[i][j] * unit : 0;
          if (before)
            apr_long_sum_add (&sums[j], (unsigned __int128) work->residuals[i][j],
                              -join_digits (self, first + i, begin + j));
        }
    }
}

static void
find_some_residuals (gpointer data, gsize part, gsize n_parts)
{
  Combinations *self = data;
  gsize n_chunks = (self->stride + CHUNK - 1) / CHUNK;
  gsize n_tasks = (self->n + ROWS - 1) / ROWS * n_chunks;
  Work *work = g_aligned_alloc (1, sizeof *work, 64);
  gsize task;

  for (task = part; task < n_tasks && !apr_run_is_cancelled (self->run); task += n_parts)
    find_residuals (self, task / n_chunks * ROWS, task % n_chunks * CHUNK, work);
  g_aligned_free (work);
}

/* a'a - w'c - w'r of the feature at @j, in double, and a'a. */
static double
find_left (const Combinations *self, gsize j, double *whole)
{
  const AprNormalEquations *equations = self->equations;
  gsize feature = equations->dependent[j];
  gint64 n_limbs = (gint64) equations->products->n_limbs;
  gint bits = count_residual_bits (self) - self->exponents[j];
  gint digit_bits = (gint) self->n_digits * SLICE_BITS - 1 - self->exponents[j];
  const mp_limb_t *square = apr_products_get (equations->products, feature, feature);
  AprLongSum sum = { 0 };
  guint64 too_large = 0;
  gsize block;

  *whole = apr_limbs_get_double (square, n_limbs, 2 * equations->scales[feature], &too_large);
  g_assert (too_large == 0);
  apr_long_sum_add (&sum, apr_limbs_get_part (square, n_limbs, 2 * equations->scales[feature] - bits),
                    (gint64) 1 << digit_bits);
  for (block = 0; block * ROWS < self->n; block++)
    {
      const AprLongSum *part = &self->sums[block * self->stride + j];

      sum.low += part->low;
      sum.high += part->high + (sum.low < part->low);
    }

  return ((double) sum.high * 0x1p64 + (double) sum.low) * ldexp (1, -bits - digit_bits);
}

/* The part of |U'^-1 r|^2 that is sure to be in r'A^-1 r: U'U is A but for an error, and dividing by U' is exact for
 * factors that differ by rounding errors. */
static double
find_sure_part (const AprNormalEquations *equations)
{
  double n = (double) equations->n_independent;
  double error = (apr_cholesky_bound_error (&equations->cholesky) + n * 0x1p-50) / equations->min_eigenvalue;

  return error < 0x1p-4 ? 1 - 1.1 * (error + 2 * sqrt ((n + 2) * 0x1p-53 * error)) - 0x1p-40 : 0;
}

typedef struct
{
  Combinations *combinations;
  double *corrected; /* rows of U'^-1 r */
  double sure_part;
} Proof;

static void
prove_some (gpointer data, gsize part, gsize n_parts)
{
  const Proof *proof = data;
  Combinations *self = proof->combinations;
  const AprNormalEquations *equations = self->equations;
  double n = (double) self->n;
  gsize begin;

  for (begin = part * CHUNK; begin < self->stride && !apr_run_is_cancelled (self->run);
       begin += n_parts * CHUNK)
    {
      gsize end = MIN (begin + CHUNK, self->stride);
      double gains[CHUNK] = { 0 };
      gsize i;
      gsize j;

      for (i = 0; i < self->n; i++)
        memcpy (proof->corrected + i * self->stride + begin, self->values + i * self->stride + begin,
                (end - begin) * sizeof (double));
      apr_cholesky_solve_many (&equations->cholesky, TRUE, proof->corrected + begin, self->stride,
                               end - begin, self->run);
      for (i = 0; i < self->n; i++)
        for (j = begin; j < MIN (end, self->m); j++)
          if (i < self->limits[j])
            gains[j - begin] +=
              proof->corrected[i * self->stride + j] * proof->corrected[i * self->stride + j];

      for (j = begin; j < MIN (end, self->m); j++)
        {
          /* A bound on the error of a residual: what is cut off from the entries of A, the sums and c. */
          double off =
            1.01 * ldexp (self->lengths[j], -(FIRST_SLICE + SLICE_BITS * ((gint) self->n_slices - 1))) +
            ldexp (8 + 4 * n / MAX_TERMS, self->exponents[j] - count_residual_bits (self));
          double whole;
          double left = find_left (self, j, &whole);
          double gain = sqrt (gains[j - begin]) - 1.1 * off * sqrt (n / equations->min_eigenvalue);
          double most = left + 0x1p-50 * fabs (left) + 2 * off * self->lengths[j];
          double limit;

          if (gain > 0)
            most -= gain * gain * proof->sure_part;
          limit = self->rank_tolerance * whole * (1 - 0x1p-40);
          /* A clearly negative bound proves nothing: these are not products of samples. */
          self->proven[j] = fabs (most) < limit;
          self->doubtful[j] = most >= limit && most - 2 * (1 - proof->sure_part) * gains[j - begin] < limit;
        }
    }
}

/* Returns the number of slices that cut off so little that the proof holds, for combinations of a norm up to
 * @length. */
static gsize
count_slices (double rank_tolerance, double length)
{
  double bits = 8 - log2 (rank_tolerance) + 2 * log2 (length);

  return (gsize) CLAMP (ceil ((bits - FIRST_SLICE) / SLICE_BITS) + 1, 2, MAX_SLICES);
}

/* Finds combinations of that many digits, and what they prove. Returns whether they do not prove all, and more digits
 * may. The sums are 0. */
static gboolean
attempt (Combinations *self, const AprRun *run)
{
  double size = (double) self->n * (double) self->n * (double) self->stride;
  Proof proof = { self, self->digits[MAX_DIGITS - 1], find_sure_part (self->equations) };
  double longest = 1;
  gboolean any = FALSE;
  gboolean all = TRUE;
  gsize j;

  apr_parallel_run (combine_some, self, run->n_threads, size / 4);
  apr_run_report (run, 0.3);
  /* Where it is cancelled, some lengths are unknown. */
  if (apr_run_is_cancelled (run))
    return FALSE;

  for (j = 0; j < self->m; j++)
    if (isfinite (self->lengths[j]))
      longest = MAX (longest, self->lengths[j]);
  self->n_slices = count_slices (self->rank_tolerance, longest);
  apr_parallel_run (find_some_residuals, self, run->n_threads, size * (double) self->n_slices / 4);
  apr_run_report (run, 0.8);
  apr_parallel_run (prove_some, &proof, run->n_threads, size / 8);
  for (j = 0; j < self->m; j++)
    {
      any = any || !self->proven[j];
      all = all && (self->proven[j] || self->doubtful[j]);
    }

  return any && all;
}

/* @sums and @rows are 0. */
static void
find_combinations (
  AprNormalEquations *self, AprLongSum *sums, double *rows, gboolean *proven, const AprRun *run)
{
  gsize n = self->n_independent;
  gsize m = self->n_dependent;
  gsize stride = apr_dense_pad (m);
  AprRun of_first = apr_run_get_part (run, 0, 0.8);
  AprRun of_second = apr_run_get_part (run, 0.8, 1);
  g_autofree gsize *limits = g_new (gsize, m);
  g_autofree gint *exponents = g_new (gint, stride);
  g_autofree double *lengths = g_new (double, stride);
  g_autofree gboolean *doubtful = g_new0 (gboolean, m);
  Combinations combinations = { self, run, self->rank_tolerance, n, m, stride, limits, rows };
  gsize i;
  gsize j;

  combinations.n_digits = FIRST_DIGITS;
  for (i = 0; i < MAX_DIGITS; i++)
    combinations.digits[i] = rows + (1 + i) * n * stride;
  combinations.sums = sums;
  combinations.exponents = exponents;
  combinations.lengths = lengths;
  combinations.proven = proven;
  combinations.doubtful = doubtful;
  for (i = 0, j = 0; j < m; j++)
    {
      while (i < n && self->independent[i] < self->dependent[j])
        i++;
      limits[j] = i;
    }

  if (attempt (&combinations, &of_first))
    {
      combinations.n_digits = MAX_DIGITS;
      memset (sums, 0, (n / ROWS + 1) * stride * sizeof *sums);
      (void) attempt (&combinations, &of_second);
    }
}

void
apr_normal_equations_find_combinations (AprNormalEquations *self, gboolean *proven, const AprRun *run)
{
  gsize n = self->n_independent;
  gsize stride = apr_dense_pad (self->n_dependent);
  AprLongSum *sums = apr_run_new_pages (run, n / ROWS + 1, stride * sizeof *sums, TRUE);
  double *rows = apr_run_new_pages (run, n, 4 * stride * sizeof *rows, TRUE);

  if (sums != NULL && rows != NULL)
    find_combinations (self, sums, rows, proven, run);
  apr_pages_free (sums);
  apr_pages_free (rows);
}

gboolean
apr_normal_equations_prove_dependence (AprNormalEquations *self, const AprRun *run)
{
  g_autofree gboolean *proven = g_new0 (gboolean, self->n_dependent);
  gboolean all;
  gsize i;

  self->combinations =
    apr_run_new_pages (run, self->n_dependent, self->cholesky.stride * sizeof (double), TRUE);
  if (self->combinations == NULL)
    return FALSE;
  apr_normal_equations_find_combinations (self, proven, run);
  all = !apr_run_is_cancelled (run);
  for (i = 0; i < self->n_dependent; i++)
    all = all && proven[i];

  return all;
}

/* The bits behind the point of the entries that are multiplied, and those of a combination, which is rounded. */
#define ENTRY_BITS 124
#define ROUNDED_BITS 41

/* A Schur complement above this part of the diagonal is not from rounding a combination of so many features whose
 * coefficients are at most 1. What is from rounding grows with their number, and with the square of the largest
 * coefficient, to the unit of which all are rounded. */
#define EVIDENT 0x1p-70
#define N_EVIDENT 64

gboolean
apr_normal_equations_look_independent (const AprNormalEquations *self, const AprRun *run)
{
  const AprProducts *products = self->products;
  gint64 n_limbs = (gint64) products->n_limbs;
  gsize feature = self->dependent[0];
  AprCholesky before = self->cholesky;
  g_autofree double *combination = g_new (double, self->n_independent + 1);
  g_autofree gint64 *rounded = g_new (gint64, self->n_independent + 1);
  AprLongSum total = { 0 };
  double max = 1;
  double whole = 0;
  double evident;
  guint64 too_large = 0;
  int exponent;
  gsize i;
  gsize j;

  for (i = 0; i < self->n_independent && self->independent[i] < feature; i++)
    combination[i] =
      apr_limbs_get_double (apr_products_get (products, feature, self->independent[i]), n_limbs,
                            self->scales[feature] + self->scales[self->independent[i]], &too_large);
  before.n = i;
  apr_cholesky_solve (&before, combination);
  combination[before.n] = -1;

  for (i = 0; i < before.n; i++)
    max = MAX (max, fabs (combination[i]));
  if (!(max < ldexp (1, MAX_EXPONENT)))
    return FALSE;
  (void) frexp (max, &exponent);
  for (i = 0; i <= before.n; i++)
    rounded[i] = (gint64) rint (ldexp (combination[i], ROUNDED_BITS - exponent));

  /* The square of the combination: twice the products below the diagonal, and those on it. */
  for (i = 0; i <= before.n && !apr_run_is_cancelled (run); i++)
    {
      gsize row = i < before.n ? self->independent[i] : feature;
      const mp_limb_t *limbs = apr_products_get (products, row, 0);
      AprLongSum sum = { 0 };

      for (j = 0; j < i; j++)
        {
          const mp_limb_t *entry = limbs + self->independent[j] * products->n_limbs;

          apr_products_prefetch (entry);
          apr_long_sum_add (
            &sum,
            apr_limbs_get_part (entry, n_limbs,
                                self->scales[row] + self->scales[self->independent[j]] - ENTRY_BITS),
            2 * rounded[j]);
        }
      limbs += row * products->n_limbs;
      apr_long_sum_add (&sum, apr_limbs_get_part (limbs, n_limbs, 2 * self->scales[row] - ENTRY_BITS),
                        rounded[i]);
      apr_long_sum_add (&total, (unsigned __int128) sum.high, rounded[i]);
      whole = apr_limbs_get_double (limbs, n_limbs, 2 * self->scales[row], &too_large);
    }

  evident = EVIDENT * MAX ((double) before.n / N_EVIDENT, 1) * max * max;

  return ldexp ((double) total.high, 128 - ENTRY_BITS - 2 * (ROUNDED_BITS - exponent)) >
         MAX (evident, 2 * self->rank_tolerance) * whole;
}
