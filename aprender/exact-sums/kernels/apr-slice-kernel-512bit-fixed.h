/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Columns that are multiplied as numbers of fixed point: a part of apr-slice-kernel-512bit-template.h. */

/* FIXED_BITS of the last bits of products of integers are known, lower sums are multiples of 2^FIXED_LOWER_SHIFT, and
 * they are counted after FIXED_STEPS rows of a lane. */
#ifdef MULTIPLY_ADD_BITS
# define FIXED_BITS 52
# define FIXED_LOWER_SHIFT 0
# define FIXED_STEPS 15
#else
# define FIXED_BITS 64
# define FIXED_LOWER_SHIFT 1
# define FIXED_STEPS APR_SLICE_STEPS
#endif

/* In each row, a lower sum lacks at most half of its last bit and 2^-7. What it lacks in all has to be below half of
 * 2^(FIXED_BITS - 48), as FIXED_BITS of 2^48 times that are known. Both sides are times 2^7 here. */
G_STATIC_ASSERT (((1 << (FIXED_LOWER_SHIFT + 6)) + 1) * FIXED_STEPS < 1 << (FIXED_BITS - 48 - 1 + 7));

/* What upper and lower sums begin with, so that they are whole numbers of their last bits. */
#define FIXED_UPPER_START (0x1.8p52 * APR_SLICE_WHOLE_UPPER)
#define FIXED_LOWER_START (0x1.8p52 * (1 << FIXED_LOWER_SHIFT))

/* No sum leaves the doubles that have the last bit of its start, from which it may go up and down by 2^51 times that
 * bit: the products are below 2^94, and what the upper sum leaves of them is at most 2^47. */
G_STATIC_ASSERT (APR_SLICE_ROWS / 8 <= APR_SLICE_STEPS && FIXED_STEPS <= 16 << FIXED_LOWER_SHIFT);

/* Adding the first one and subtracting it again rounds what is at most 2^51 - 2^28 in magnitude to a whole number, the
 * head; the second one rounds what is at most 1 to a multiple of 2^-24, the tail. Before they are subtracted, the last
 * 52 bits of the doubles are those of 2^51 + 2^27 + head and of 2^51 + 2^24 tail. So 2^24 times the former and the
 * latter have together the last 52 bits of 2^24 (head + tail), as 2^27 times 2^24 is the other 2^51. */
#define FIXED_HEAD_ROUNDER (0x1.8p52 + 0x1p27)
#define FIXED_TAIL_ROUNDER 0x1.8p28

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

/* Without that instruction, all 64 bits of the product. */
#ifndef MULTIPLY_ADD_BITS
# define MULTIPLY_ADD_BITS(sum, a, b) _mm512_add_epi64 (sum, _mm512_mullo_epi64 (a, b))
#endif

/* What the lower sums lack of the products, of both of which the last bits are known. */
static inline __m512i
find_lack (__m512i products, __m512i counted)
{
  __m512i lack = _mm512_sub_epi64 (products, _mm512_slli_epi64 (counted, 48));

  return _mm512_srai_epi64 (_mm512_slli_epi64 (lack, 64 - FIXED_BITS), 64 - FIXED_BITS);
}

/* Adds the upper and the lower sums, and what they lack; bit 4 i + j of @products is for column i of the left panel and
 * j of the right one. */
static inline G_ALWAYS_INLINE void
sum_fixed (const double *left,
           const double *right,
           gsize distance,
           guint products,
           gsize n_rows,
           AprSliceFetch *fetch,
           gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
           gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES],
           gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES])
{
  __m512d high[APR_SLICE_TILE];
  const guint8 *next = fetch->next;
  gsize step = apr_slice_fetch_step (fetch, 2 * n_rows / 8);
  gsize first;
  gsize end;
  gsize row;
  gsize i;

  EACH_PRODUCT
  {
    high[i] = _mm512_set1_pd (FIXED_UPPER_START);
  }
  for (first = 0; first < n_rows; first = end)
    {
      __m512d low[APR_SLICE_TILE];
      __m512i sum[APR_SLICE_TILE];

      end = MIN (first + FIXED_STEPS * 8, n_rows);
      EACH_PRODUCT
      {
        low[i] = _mm512_set1_pd (FIXED_LOWER_START);
        sum[i] = _mm512_setzero_si512 ();
      }
      for (row = first; row < end; row += 8, next += step)
        {
          apr_slice_fetch_line (next);
          EACH_PRODUCT
          {
            __m512d x = FIXED_COLUMN (left, i / APR_SLICE_PANEL);
            __m512d y = FIXED_COLUMN (right, i % APR_SLICE_PANEL);
            __m512d old = high[i];

            high[i] = _mm512_fmadd_pd (x, y, old);
            low[i] = _mm512_add_pd (low[i], _mm512_fmadd_pd (x, y, _mm512_sub_pd (old, high[i])));
          }
        }
      for (row = first; row < end; row += 8, next += step)
        {
          apr_slice_fetch_line (next);
          EACH_PRODUCT
          {
            sum[i] = MULTIPLY_ADD_BITS (sum[i], FIXED_INTEGERS (left + distance, i / APR_SLICE_PANEL),
                                        FIXED_INTEGERS (right + distance, i % APR_SLICE_PANEL));
          }
        }
      EACH_PRODUCT
      {
        __m512i counted = _mm512_slli_epi64 (subtract_bits (low[i], FIXED_LOWER_START), FIXED_LOWER_SHIFT);

        add_integers (counted, lower[i]);
        add_integers (find_lack (sum[i], counted), wrapped[i]);
      }
    }
  EACH_PRODUCT
  {
    add_integers (subtract_bits (high[i], FIXED_UPPER_START), upper[i]);
  }
  fetch->next = MIN (next, fetch->end);
}
#undef EACH_PRODUCT

#define SUM_FIXED(products) sum_fixed (left, right, distance, products, n_rows, fetch, upper, lower, wrapped)

/* As many products at a time as there are registers for. Where the panels are the same one, those right of the diagonal
 * are left out. */
static void
multiply_fixed (const double *left,
                const double *right,
                gsize distance,
                gsize n_rows,
                gsize first,
                AprSliceFetch *fetch,
                gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES],
                gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES])
{
  if (left == right && first == 0)
    SUM_FIXED (0xf731);
  else if (left == right)
    SUM_FIXED (0xe620);
  else if (first == 0)
    {
      SUM_FIXED (0x00ff);
      SUM_FIXED (0xff00);
    }
  else
    {
      SUM_FIXED (0x00ee);
      SUM_FIXED (0xee00);
    }
}

/* The last bits of a head and of a tail together. */
static inline __m512i
join_bits (__m512d head, __m512d tail)
{
#if FIXED_BITS == 52
  return MULTIPLY_ADD_BITS (_mm512_castpd_si512 (tail), _mm512_castpd_si512 (head),
                            _mm512_set1_epi64 (1 << 24));
#else
  return _mm512_add_epi64 (_mm512_slli_epi64 (subtract_bits (head, FIXED_HEAD_ROUNDER), 24),
                           subtract_bits (tail, FIXED_TAIL_ROUNDER));
#endif
}

/* Modulo 2^64: what is not finite makes integers whose sum would overflow. */
static inline gint64
add_up_whole (__m512d values)
{
  __m512i eight = _mm512_cvtpd_epi64 (values);
  __m256i four = _mm256_add_epi64 (_mm512_castsi512_si256 (eight), _mm512_extracti64x4_epi64 (eight, 1));
  __m128i two = _mm_add_epi64 (_mm256_castsi256_si128 (four), _mm256_extracti128_si256 (four, 1));

  return _mm_cvtsi128_si64 (_mm_add_epi64 (two, _mm_unpackhi_epi64 (two, two)));
}

static guint
cut_fixed (const double *column, gsize n_rows, double factor, double *parts, gsize distance, gint64 sums[2])
{
  const __m512d one = _mm512_set1_pd (1.0);
  const __m512d factors = _mm512_set1_pd (factor);
  const __m512d head_rounder = _mm512_set1_pd (FIXED_HEAD_ROUNDER);
  const __m512d tail_rounder = _mm512_set1_pd (FIXED_TAIL_ROUNDER);
  __m512d max_lanes = _mm512_setzero_pd ();
  __m512i any_rest = _mm512_setzero_si512 ();
  __m512d heads = _mm512_setzero_pd ();
  __m512d tails = _mm512_setzero_pd ();
  double max;
  gsize row;

  for (row = 0; row < n_rows; row += 8)
    {
      /* A power of two: the only operations that round are those with the rounders. */
      __m512d value = _mm512_loadu_pd (column + row);
      __m512d rounded = _mm512_fmadd_pd (value, factors, head_rounder);
      __m512d head = _mm512_sub_pd (rounded, head_rounder);
      __m512d rest = _mm512_fmsub_pd (value, factors, head);
      __m512d rest_rounded = _mm512_add_pd (rest, tail_rounder);
      __m512d tail = _mm512_sub_pd (rest_rounded, tail_rounder);

      /* head + tail, by the unit that multiplies: the one that adds has more to do. */
      _mm512_store_pd (parts + row, _mm512_fmadd_pd (tail, one, head));
      _mm512_store_si512 (parts + distance + row, join_bits (rounded, rest_rounded));
      heads = _mm512_add_pd (head, heads);
      tails = _mm512_add_pd (tail, tails);
      /* The greater magnitude, and the bits in which rest and tail differ. */
      max_lanes = _mm512_range_pd (value, max_lanes, 0x0b);
      any_rest =
        _mm512_ternarylogic_epi64 (any_rest, _mm512_castpd_si512 (rest), _mm512_castpd_si512 (tail), 0xf6);
    }
  sums[0] = add_up_whole (heads);
  sums[1] = add_up_whole (_mm512_mul_pd (tails, _mm512_set1_pd (0x1p24)));
  max = _mm512_reduce_max_pd (max_lanes);
  if (!(max * factor < APR_SLICE_WHOLE_LIMIT - 0x1p24))
    return APR_SLICE_OUTSIDE;

  /* 0 has either sign, and NaN is left in the sum of the heads. */
  return _mm512_test_epi64_mask (any_rest, _mm512_set1_epi64 (G_MAXINT64)) != 0 ||
             _mm512_cmp_pd_mask (heads, heads, _CMP_UNORD_Q) != 0
         ? 3
       : max > 0 ? 2
                 : 0;
}

/* What is found of values: the greatest magnitude so far, and the bits in which a value and the multiple of the unit
 * next to it differ. */
typedef struct
{
  __m512d total;
  __m512d max;
  __m512i rest;
} Found;

static inline G_ALWAYS_INLINE void
add_eight (const double *column, __m512d rounder, Found *found)
{
  __m512d value = _mm512_load_pd (column);
  __m512d whole = _mm512_sub_pd (_mm512_add_pd (value, rounder), rounder);

  found->total = _mm512_add_pd (value, found->total);
  /* The greater magnitude; and the bits that differ, by "or". */
  found->max = _mm512_range_pd (value, found->max, 0x0b);
  found->rest =
    _mm512_ternarylogic_epi64 (found->rest, _mm512_castpd_si512 (value), _mm512_castpd_si512 (whole), 0xf6);
}

/* Two vectors at a time, as the sums and the magnitudes of each wait for those of the one before. */
static gboolean
sum_whole (const double *column, gsize n_rows, double unit, gint64 *sum)
{
  const __m512d rounder = _mm512_set1_pd (0x1.8p52 * unit);
  Found even = { _mm512_setzero_pd (), _mm512_setzero_pd (), _mm512_setzero_si512 () };
  Found odd = even;
  __m512d total;
  __m512i rest;
  gsize row;

  for (row = 0; row + 16 <= n_rows; row += 16)
    {
      add_eight (column + row, rounder, &even);
      add_eight (column + row + 8, rounder, &odd);
    }
  if (row < n_rows)
    add_eight (column + row, rounder, &even);

  total = _mm512_add_pd (even.total, odd.total);
  rest = _mm512_or_si512 (even.rest, odd.rest);
  *sum = add_up_whole (_mm512_mul_pd (total, _mm512_set1_pd (1 / unit)));

  /* 0 has either sign, and a NaN is left in the total. */
  return _mm512_reduce_max_pd (_mm512_max_pd (even.max, odd.max)) < APR_SLICE_WHOLE_LIMIT * unit &&
         _mm512_test_epi64_mask (rest, _mm512_set1_epi64 (G_MAXINT64)) == 0 &&
         _mm512_cmp_pd_mask (total, total, _CMP_UNORD_Q) == 0;
}
