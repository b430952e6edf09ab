/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-parts-private.h"

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-triangle-private.h"
#include "aprender/exact-sums/apr-rows-private.h"

/* Few rows, whose products are added to the sums one by one: to pack columns, and to have sums of their own for each
 * thread, would take longer than the products. */

/* For more rows, it is faster to pack columns. */
#define MAX_ROWS 8

/* Products that are worth a thread of their own. */
#define PRODUCTS_PER_THREAD 50000

/* Limbs that a product of two numbers can reach into, wherever it begins. */
#define PRODUCT_LIMBS 5

/* The rows as whole numbers, and, as the left operand, the same times their weights. Such a product has up to 128 bits,
 * so it takes two numbers, and the upper ones make a row of their own. */
typedef struct
{
  AprExactSums *sums; /* (unowned) */
  GCancellable *cancellable;
  gsize n_columns;
  gsize n_right_rows;
  gsize n_rows;          /* of the left operand */
  AprWholeNumber *left;  /* (owned) */
  AprWholeNumber *right; /* (owned) */
  gsize *owners;         /* (owned) for each row of the left operand, that of the right one */
} Job;

static void
job_clear (Job *self)
{
  g_free (self->left);
  g_free (self->right);
  g_free (self->owners);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Job, job_clear)

static void
read_row (const AprRows *x, const AprRows *y, gsize row, AprWholeNumber *numbers)
{
  gsize i;

  numbers[0] = (AprWholeNumber){ 1, 0, 0 };
  for (i = 0; i < x->n_columns; i++)
    numbers[1 + i] = apr_rows_get_number (x, row, i);
  for (i = 0; i < y->n_columns; i++)
    numbers[1 + x->n_columns + i] = apr_rows_get_number (y, row, i);
}

/* Adds the row @owner of the right operand, times @weight, to the left one. */
static void
weigh (Job *self, gsize owner, AprWholeNumber weight)
{
  const AprWholeNumber *numbers = self->right + owner * self->n_columns;
  AprWholeNumber *low = self->left + self->n_rows * self->n_columns;
  AprWholeNumber *high = low + self->n_columns;
  gboolean any_high = FALSE;
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    {
      unsigned __int128 product = (unsigned __int128) numbers[i].size * weight.size;
      gint exponent = numbers[i].exponent + weight.exponent;

      low[i] = (AprWholeNumber){ (guint64) product, exponent, numbers[i].sign };
      high[i] = (AprWholeNumber){ (guint64) (product >> 64), exponent + 64, numbers[i].sign };
      any_high |= high[i].size != 0;
    }

  self->owners[self->n_rows++] = owner;
  if (any_high)
    self->owners[self->n_rows++] = owner;
}

/* Finds the least and the largest exponent of the numbers that are not 0; false where there are none. Zeros get the
 * least one, so that they fit wherever the others do. */
static gboolean
find_exponents (AprWholeNumber *numbers, gsize n, gint *min, gint *max)
{
  gsize i;

  *min = G_MAXINT;
  *max = G_MININT;
  for (i = 0; i < n; i++)
    if (numbers[i].size != 0)
      {
        *min = MIN (*min, numbers[i].exponent);
        *max = MAX (*max, numbers[i].exponent);
      }
  for (i = 0; i < n; i++)
    if (numbers[i].size == 0)
      numbers[i].exponent = *min;

  return *min <= *max;
}

/* Makes room, where there is anything to add, which @any tells; false where that fails. */
static gboolean
cover (Job *self, gboolean *any, GError **error)
{
  AprExactSums *sums = self->sums;
  gsize n_before = sums->n_limbs;
  gint left_min;
  gint left_max;
  gint right_min;
  gint right_max;
  gint end;
  gsize i;

  *any = find_exponents (self->left, self->n_rows * self->n_columns, &left_min, &left_max) &&
         find_exponents (self->right, self->n_right_rows * self->n_columns, &right_min, &right_max);
  if (!*any)
    return TRUE;

  /* Each product carries at most 1 to the limbs above its own, so these must not be at their ends. */
  end = apr_exact_sums_find_limb (left_max + right_max) + PRODUCT_LIMBS + 1;
  if (n_before > 0 && (guint64) sums->top_bits + self->n_rows > G_MAXINT32)
    end = MAX (end, sums->first_limb + (gint) n_before + 1);
  if (!apr_exact_sums_cover_limbs (sums, apr_exact_sums_find_limb (left_min + right_min), end,
                                   self->cancellable, error))
    return FALSE;
  if (n_before > 0 && n_before != sums->n_limbs)
    {
      sums->top_bits = 0;
      apr_exact_sums_carry (sums, 0, self->n_columns);
    }

  /* Bits are counted from the first limb's on. */
  for (i = 0; i < self->n_rows * self->n_columns; i++)
    self->left[i].exponent -= 32 * sums->first_limb;
  return TRUE;
}

/* Adds a product to an entry whose limbs are carried, as they are then again. Returns the bits of the topmost limb that
 * differ from its sign, where it is carried to there. */
static inline guint64
add_product (gint64 *limbs, gsize n_limbs, AprWholeNumber left, AprWholeNumber right)
{
  unsigned __int128 product = (unsigned __int128) left.size * right.size;
  gint64 sign = left.sign ^ right.sign;
  guint first_bit = (guint) (left.exponent + right.exponent);
  guint shift = first_bit % 32;
  guint64 low = (guint64) product << shift;
  unsigned __int128 above = product >> 1 >> (63 - shift);
  const gint64 parts[PRODUCT_LIMBS] = { (gint64) (guint32) low, (gint64) (low >> 32),
                                        (gint64) (guint32) above, (gint64) (guint32) (above >> 32),
                                        (gint64) (above >> 64) };
  gint64 *limb = limbs + first_bit / 32;
  gint64 *top = limbs + n_limbs - 1;
  gint64 carry = 0;
  gsize i;

  for (i = 0; i < PRODUCT_LIMBS; i++)
    {
      carry += limb[i] + ((parts[i] ^ sign) - sign);
      limb[i] = carry & 0xffffffff;
      carry >>= 32;
    }
  for (limb += PRODUCT_LIMBS; carry != 0; limb++)
    {
      carry += *limb;
      if (limb == top)
        {
          *limb = carry;
          return (guint64) (carry ^ carry >> 63);
        }
      *limb = carry & 0xffffffff;
      carry >>= 32;
    }

  return 0;
}

/* Adds all products of some rows of the matrix. */
static void
add_products (gpointer data, gsize part, gsize n_parts)
{
  const Job *job = data;
  AprExactSums *sums = job->sums;
  gsize end_row = apr_triangle_part (sums->n_columns, part + 1, n_parts);
  guint64 top_bits = 0;
  gsize row;
  gsize column;
  gsize i;

  for (row = apr_triangle_part (sums->n_columns, part, n_parts);
       row < end_row && !g_cancellable_is_cancelled (job->cancellable); row++)
    for (i = 0; i < job->n_rows; i++)
      {
        gint64 *limbs = sums->limbs + apr_triangle (row, 0) * sums->n_limbs;
        AprWholeNumber left = job->left[i * job->n_columns + row];
        const AprWholeNumber *right = job->right + job->owners[i] * job->n_columns;

        for (column = 0; column <= row; column++, limbs += sums->n_limbs)
          top_bits |= add_product (limbs, sums->n_limbs, left, right[column]);
      }

  g_assert (top_bits <= G_MAXINT32);
  g_atomic_int_or (&sums->top_bits, (guint) top_bits);
}

gboolean
apr_exact_sums_are_few_rows (gsize n_rows)
{
  return n_rows <= MAX_ROWS;
}

gboolean
apr_exact_sums_check_rows (AprTensor *x_tensor, AprTensor *y_tensor, AprTensor *sample_weight, GError **error)
{
  /* Values may be subnormal. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprRows x;
  AprRows y;
  AprRows weights;

  apr_rows_init (&x, "X", x_tensor);
  apr_rows_init (&y, "y", y_tensor);
  if (sample_weight != NULL)
    apr_rows_init (&weights, "sample_weight", sample_weight);

  return (sample_weight == NULL || apr_rows_check_weights (&weights, error)) &&
         apr_rows_check_finite (&x, error) && apr_rows_check_finite (&y, error);
}

gboolean
apr_exact_sums_add_few_rows (AprExactSums *self,
                             AprTensor *x_tensor,
                             AprTensor *y_tensor,
                             AprTensor *sample_weight,
                             const AprRun *run,
                             GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_auto (Job) job = { .sums = self, .cancellable = run->cancellable, .n_columns = self->n_columns };
  AprRows x;
  AprRows y;
  AprRows weights;
  gsize size;
  gsize i;
  gboolean any;

  apr_rows_init (&x, "X", x_tensor);
  apr_rows_init (&y, "y", y_tensor);
  if (sample_weight != NULL)
    apr_rows_init (&weights, "sample_weight", sample_weight);

  job.n_right_rows = x.n_rows;
  size = x.n_rows * self->n_columns;
  job.right = g_new (AprWholeNumber, size);
  job.left = g_new (AprWholeNumber, 2 * size);
  job.owners = g_new (gsize, 2 * x.n_rows);
  for (i = 0; i < x.n_rows; i++)
    {
      AprWholeNumber weight = { 1, 0, 0 };

      if (sample_weight != NULL)
        weight = apr_rows_get_number (&weights, i, 0);
      read_row (&x, &y, i, job.right + i * self->n_columns);
      if (weight.size != 0)
        weigh (&job, i, weight);
    }

  if (!cover (&job, &any, error))
    return FALSE;
  if (any)
    {
      double n_products = (double) job.n_rows * (double) self->n_entries;
      guint n = apr_parallel_count (run->n_threads, n_products / PRODUCTS_PER_THREAD);

      apr_parallel_run_parts (add_products, &job, n, n > 1 ? 4 * n : 1);
    }

  return !g_cancellable_set_error_if_cancelled (run->cancellable, error);
}
