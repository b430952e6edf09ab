/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Columns that are multiplied as numbers of fixed point: a part of apr-slice-kernel-avx512.c. */

/* What upper and lower sums begin with, so that they are whole numbers of their last bits. */
#define FIXED_UPPER_START (0x1.8p52 * APR_SLICE_WHOLE_UPPER)
#define FIXED_LOWER_START (0x1.8p52 * APR_SLICE_FIXED_LOWER)

/* Adding and subtracting it rounds to a whole number what is at most 2^51. */
#define FIXED_ROUNDER 0x1.8p52

/* No sum leaves the doubles that have the last bit of its start: the products are below 2^94, and what the upper sum
 * leaves of them is at most 2^47. */
G_STATIC_ASSERT (APR_SLICE_ROWS / 8 <= APR_SLICE_STEPS);

#define FIXED_COLUMN(panel, i) _mm512_load_pd ((panel) + (i) *APR_SLICE_STRIDE + row)
#define FIXED_INTEGERS(panel, i) _mm512_load_si512 ((panel) + (i) *APR_SLICE_STRIDE + row)
#define EACH_PRODUCT \
 _Pragma ("GCC unroll 16") for (i = 0; i < APR_SLICE_TILE; i++) if ((products >> i & 1) != 0)

static inline __m512i
subtract_bits (__m512d a, double b)
{
  return _mm512_sub_epi64 (_mm512_castpd_si512 (a), _mm512_castpd_si512 (_mm512_set1_pd (b)));
}

static inline void
add_integers (__m512i integers, gint64 *lanes)
{
  _mm512_storeu_si512 (lanes, _mm512_add_epi64 (_mm512_loadu_si512 (lanes), integers));
}

/* Adds the upper and the lower sums, and takes 2^48 times the lower ones from the wrapped sums; bit 4 i + j of
 * @products is for column i of the left panel and j of the right one. */
static inline G_ALWAYS_INLINE void
sum_fixed (const double *left,
           const double *right,
           guint products,
           gsize n_rows,
           gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
           gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES],
           gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES])
{
  __m512d high[APR_SLICE_TILE];
  __m512d low[APR_SLICE_TILE];
  gsize row;
  gsize i;

  EACH_PRODUCT
  {
    high[i] = _mm512_set1_pd (FIXED_UPPER_START);
    low[i] = _mm512_set1_pd (FIXED_LOWER_START);
  }
  for (row = 0; row < n_rows; row += 8)
    EACH_PRODUCT
    {
      __m512d x = FIXED_COLUMN (left, i / APR_SLICE_PANEL);
      __m512d y = FIXED_COLUMN (right, i % APR_SLICE_PANEL);
      __m512d old = high[i];

      high[i] = _mm512_fmadd_pd (x, y, old);
      low[i] = _mm512_add_pd (low[i], _mm512_fmadd_pd (x, y, _mm512_sub_pd (old, high[i])));
    }
  EACH_PRODUCT
  {
    __m512i counted = subtract_bits (low[i], FIXED_LOWER_START);

    add_integers (subtract_bits (high[i], FIXED_UPPER_START), upper[i]);
    add_integers (_mm512_slli_epi64 (counted, 1), lower[i]);
    add_integers (_mm512_sub_epi64 (_mm512_setzero_si512 (), _mm512_slli_epi64 (counted, 49)), wrapped[i]);
  }
}

/* The products modulo 2^64. */
static inline G_ALWAYS_INLINE void
sum_wrapped (const double *left,
             const double *right,
             guint products,
             gsize n_rows,
             gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES])
{
  __m512i sum[APR_SLICE_TILE];
  gsize row;
  gsize i;

  EACH_PRODUCT
  {
    sum[i] = _mm512_setzero_si512 ();
  }
  for (row = 0; row < n_rows; row += 8)
    EACH_PRODUCT
    {
      __m512i x = FIXED_INTEGERS (left, i / APR_SLICE_PANEL);
      __m512i y = FIXED_INTEGERS (right, i % APR_SLICE_PANEL);

      sum[i] = _mm512_add_epi64 (sum[i], _mm512_mullo_epi64 (x, y));
    }
  EACH_PRODUCT
  {
    add_integers (sum[i], wrapped[i]);
  }
}
#undef EACH_PRODUCT

#define SUM_FIXED(products) sum_fixed (left, right, products, n_rows, upper, lower, wrapped)
#define SUM_WRAPPED(products) sum_wrapped (left + distance, right + distance, products, n_rows, wrapped)

/* As many products at a time as there are registers for. Where the panels are the same one, those right of the diagonal
 * are left out. */
static void
multiply_fixed (const double *left,
                const double *right,
                gsize distance,
                gsize n_rows,
                gsize first,
                gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES],
                gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES])
{
  if (left == right && first == 0)
    {
      SUM_FIXED (0xf731);
      SUM_WRAPPED (0xf731);
    }
  else if (left == right)
    {
      SUM_FIXED (0xe620);
      SUM_WRAPPED (0xe620);
    }
  else if (first == 0)
    {
      SUM_FIXED (0x00ff);
      SUM_FIXED (0xff00);
      SUM_WRAPPED (0xffff);
    }
  else
    {
      SUM_FIXED (0x00ee);
      SUM_FIXED (0xee00);
      SUM_WRAPPED (0xeeee);
    }
}

static inline gint64
add_up_whole (__m512d values)
{
  return _mm512_reduce_add_epi64 (_mm512_cvtpd_epi64 (values));
}

static guint
cut_fixed (const double *column, gsize n_rows, double factor, double *parts, gsize distance, gint64 sums[2])
{
  const __m512d factors = _mm512_set1_pd (factor);
  const __m512d finer = _mm512_set1_pd (factor * 0x1p24);
  const __m512d rounder = _mm512_set1_pd (FIXED_ROUNDER);
  const __m512d next = _mm512_set1_pd (0x1p24);
  const __m512d back = _mm512_set1_pd (0x1p-24);
  __m512d max_lanes = _mm512_setzero_pd ();
  __m512d any_rest = _mm512_setzero_pd ();
  __m512d heads = _mm512_setzero_pd ();
  __m512d tails = _mm512_setzero_pd ();
  double max;
  gsize row;

  for (row = 0; row < n_rows; row += 8)
    {
      /* Powers of two: the only operations that round are those with the rounder. */
      __m512d value = _mm512_loadu_pd (column + row);
      __m512d rounded = _mm512_fmadd_pd (value, factors, rounder);
      __m512d head = _mm512_sub_pd (rounded, rounder);
      __m512d rest = _mm512_fmsub_pd (value, finer, _mm512_mul_pd (head, next));
      __m512d rest_rounded = _mm512_add_pd (rest, rounder);
      __m512d tail = _mm512_sub_pd (rest_rounded, rounder);

      _mm512_store_pd (parts + row, _mm512_fmadd_pd (tail, back, head));
      _mm512_store_si512 (parts + distance + row,
                          _mm512_add_epi64 (_mm512_slli_epi64 (subtract_bits (rounded, FIXED_ROUNDER), 24),
                                            subtract_bits (rest_rounded, FIXED_ROUNDER)));
      heads = _mm512_add_pd (head, heads);
      tails = _mm512_add_pd (tail, tails);
      max_lanes = _mm512_max_pd (_mm512_abs_pd (value), max_lanes);
      any_rest = _mm512_or_pd (_mm512_sub_pd (rest, tail), any_rest);
    }
  sums[0] = add_up_whole (heads);
  sums[1] = add_up_whole (tails);
  max = _mm512_reduce_max_pd (max_lanes);
  if (!(max * factor < APR_SLICE_WHOLE_LIMIT - 0x1p24))
    return APR_SLICE_OUTSIDE;

  return _mm512_cmp_pd_mask (any_rest, _mm512_setzero_pd (), _CMP_NEQ_UQ) != 0 ? 3 : max > 0 ? 2 : 0;
}
