/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/portable-byte-kernel.h"

#include <float.h>
#include <math.h>

#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

/* Bytes against the numbers that they are of, and every implementation against plain C. */

#define N_STEPS 3
#define N_ROWS (N_STEPS * APR_BYTE_STEP)
#define SIZE (N_STEPS * APR_BYTE_MAX * APR_BYTE_TILE)

typedef struct
{
  double column[N_ROWS] __attribute__ ((aligned (64)));
  guint8 tiles[SIZE] __attribute__ ((aligned (64)));
  guint8 turned[SIZE] __attribute__ ((aligned (64)));
  guint8 others[SIZE] __attribute__ ((aligned (64)));
  guint8 others_turned[SIZE] __attribute__ ((aligned (64)));
  gint64 sums[APR_BYTE_PARTS * APR_BYTE_SUMS] __attribute__ ((aligned (64)));
} Room;

static Room *
room_new (void)
{
  Room *room = g_aligned_alloc0 (1, sizeof (Room), 64);

  return room;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Room, g_aligned_free)

/* Those of this processor, plain C first. */
static const AprByteKernel *const *
get_all (void)
{
  static const AprByteKernel *all[3];

  all[0] = &portable_byte_kernel;
  all[1] = apr_sums_kernels ()[0]->bytes;
  if (all[1] == NULL)
    g_test_message ("this processor does not multiply matrices of bytes: plain C alone is tested");
  return all;
}

static guint8
get_byte (const guint8 *tiles, gsize row, guint index)
{
  return tiles[(row / APR_BYTE_STEP * APR_BYTE_MAX + index) * APR_BYTE_TILE + row % APR_BYTE_STEP];
}

/* A row of a column in bytes, times 2^32. */
static __int128
read_row (const guint8 *tiles, gsize row, guint n_bytes)
{
  __int128 value = (gint8) get_byte (tiles, row, 0);
  guint i;

  for (i = 1; i < APR_BYTE_MAX; i++)
    value = value * 256 + (i < n_bytes ? get_byte (tiles, row, i) : 0);

  return value;
}

static double
draw_bytes (GRand *rand, gsize kind, gsize row)
{
  const double ends[] = { 0x1.fffffffffffffp62, -0x1.fffffffffffffp62, 0.5, -0.5, 1.5, -0x1p-32, 0x1p-32 };

  switch (kind)
    {
    case 0:
      return 0;
    case 1:
      return g_rand_int_range (rand, -100, 100) * 0x1p56;
    case 2:
      return (double) (float) g_rand_double_range (rand, -1, 1) * 0x1p63;
    case 3:
      return (double) (float) ldexp (g_rand_double_range (rand, -1, 1), -g_rand_int_range (rand, 0, 60)) *
             0x1p63;
    case 4:
      return ldexp (floor (g_rand_double_range (rand, -0x1p50, 0x1p50)), g_rand_int_range (rand, -32, 13));
    case 5:
      return ends[row % G_N_ELEMENTS (ends)];
    default:
      return g_rand_boolean (rand) ? -0x1p-31 : 0x1p62;
    }
}

static void
test_cut (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  g_autoptr (Room) room = room_new ();
  const AprByteKernel *const *kernels;
  gsize kind;
  gsize row;
  guint n;
  guint round;

  for (kind = 0; kind < 7; kind++)
    for (round = 0; round < 20; round++)
      {
        gint exponent = g_rand_int_range (rand, -400, 400);
        guint expected[2] = { 0 };
        gboolean more = FALSE;

        for (row = 0; row < N_ROWS; row++)
          {
            double value = draw_bytes (rand, kind, row);
            __int128 bits = (__int128) (value * 0x1p32);

            room->column[row] = ldexp (value, exponent);
            more |= value != rint (value);
            for (n = 0; n < APR_BYTE_MAX; n++)
              if ((bits & (((__int128) 1 << 8 * (APR_BYTE_MAX - n)) - 1)) != 0)
                expected[1] = MAX (expected[1], n + 1);
          }
        expected[0] = more ? APR_BYTE_HIGH + 1 : expected[1];

        for (kernels = get_all (); *kernels != NULL; kernels++)
          {
            memset (room->tiles, 0xa5, SIZE);
            n = (*kernels)->cut (room->column, N_STEPS, ldexp (1.0, -exponent), FALSE, room->tiles);
            g_assert_cmpuint (n, ==, expected[0]);
            for (row = 0; row < N_ROWS && !more; row++)
              g_assert_true (read_row (room->tiles, row, APR_BYTE_HIGH) ==
                             (__int128) (ldexp (room->column[row], -exponent) * 0x1p32));

            n = (*kernels)->cut (room->column, N_STEPS, ldexp (1.0, -exponent), TRUE, room->tiles);
            g_assert_cmpuint (n, ==, expected[1]);
            for (row = 0; row < N_ROWS; row++)
              g_assert_true (read_row (room->tiles, row, APR_BYTE_MAX) ==
                             (__int128) (ldexp (room->column[row], -exponent) * 0x1p32));
          }
      }
}

static void
test_cut_too_much (void)
{
  const struct
  {
    double value;
    guint first;
    guint all;
  } cases[] = {
    { 0x1p63, APR_SLICE_OUTSIDE, APR_SLICE_OUTSIDE },
    { -0x1p63, APR_SLICE_OUTSIDE, APR_SLICE_OUTSIDE },
    { DBL_MAX, APR_SLICE_OUTSIDE, APR_SLICE_OUTSIDE },
    { -INFINITY, APR_SLICE_OUTSIDE, APR_SLICE_OUTSIDE },
    { NAN, APR_BYTE_HIGH + 1, APR_BYTE_MAX + 1 },
    { 0x1p-33, APR_BYTE_HIGH + 1, APR_BYTE_MAX + 1 },
    { -DBL_TRUE_MIN, APR_BYTE_HIGH + 1, APR_BYTE_MAX + 1 },
    { 1 + 0x1p-33, APR_BYTE_HIGH + 1, APR_BYTE_MAX + 1 },
  };
  g_autoptr (Room) room = room_new ();
  const AprByteKernel *const *kernels;
  gsize i;
  gsize row;

  g_test_summary ("What does not fit is seen wherever it is.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (row = 0; row < N_ROWS; row++)
      for (kernels = get_all (); *kernels != NULL; kernels++)
        {
          room->column[row] = cases[i].value;
          g_assert_cmpuint ((*kernels)->cut (room->column, N_STEPS, 1, FALSE, room->tiles), ==,
                            cases[i].first);
          g_assert_cmpuint ((*kernels)->cut (room->column, N_STEPS, 1, TRUE, room->tiles), ==, cases[i].all);
          room->column[row] = 0;
        }
}

/* Any bytes will do. */
static void
fill (GRand *rand, gsize kind, guint8 *tiles)
{
  gsize i;

  for (i = 0; i < SIZE; i++)
    tiles[i] = kind == 0 ? 0xff : kind == 1 ? 0x80 : (guint8) g_rand_int (rand);
}

/* The first byte is signed. */
static gint64
get_byte_of_column (const guint8 *tiles, gsize column, gsize row, guint index)
{
  guint8 byte = get_byte (tiles + column * APR_BYTE_STEP, row, index);

  return index == 0 ? (gint8) byte : byte;
}

/* The sum over rows of the products of two columns, times 2^(8 22), modulo 2^192 in parts of 32 bits: in whole
 * numbers of 128 bits where there are few bytes. */
static __int128
multiply_columns (const guint8 *left, gsize i, guint n_left, const guint8 *right, gsize j, guint n_right)
{
  __int128 sum = 0;
  gsize row;
  guint k;

  for (row = 0; row < N_ROWS; row++)
    {
      __int128 x = 0;
      __int128 y = 0;

      for (k = 0; k < n_left; k++)
        x = x * 256 + get_byte_of_column (left, i, row, k);
      for (k = 0; k < n_right; k++)
        y = y * 256 + get_byte_of_column (right, j, row, k);
      sum += x * y;
    }

  return sum;
}

/* The parts as one number in units of the last bytes' product. */
static __int128
add_parts (const gint64 *sums, gsize entry, guint n_groups)
{
  __int128 sum = 0;
  guint n_parts = (n_groups + 3) / 4;
  guint part;

  for (part = 0; part < n_parts; part++)
    sum = sum * ((__int128) 1 << 32) + sums[part * APR_BYTE_SUMS + entry];

  /* A part has four groups, the last one perhaps fewer. */
  return sum / ((__int128) 1 << 8 * (4 * n_parts - n_groups));
}

static void
test_multiply (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autoptr (Room) room = room_new ();
  const AprByteKernel *const *kernels;
  gsize kind;
  guint n_left;
  guint n_right;
  gsize entry;

  for (kind = 0; kind < 3; kind++)
    {
      fill (rand, kind, room->tiles);
      fill (rand, kind, room->others);
      for (kernels = get_all (); *kernels != NULL; kernels++)
        {
          (*kernels)->turn (room->tiles, N_STEPS, APR_BYTE_MAX, room->turned);
          (*kernels)->turn (room->others, N_STEPS, APR_BYTE_MAX, room->others_turned);
          (*kernels)->start ();
          /* Products of at most 12 bytes, with the sums below 2^127. */
          for (n_left = 1; n_left <= APR_BYTE_MAX; n_left++)
            for (n_right = 1; n_left + n_right <= APR_BYTE_MAX + 1; n_right++)
              {
                memset (room->sums, 0, sizeof room->sums);
                (*kernels)->multiply (room->tiles, n_left, room->others_turned, n_right, N_STEPS, room->sums);
                for (entry = 0; entry < APR_BYTE_SUMS; entry++)
                  g_assert_true (add_parts (room->sums, entry, n_left + n_right - 1) ==
                                 multiply_columns (room->tiles, entry / APR_BYTE_PANEL, n_left, room->others,
                                                   entry % APR_BYTE_PANEL, n_right));
              }

          for (n_left = 1; 2 * n_left <= APR_BYTE_MAX; n_left++)
            {
              memset (room->sums, 0, sizeof room->sums);
              (*kernels)->multiply_self (room->tiles, room->turned, n_left, N_STEPS, room->sums);
              for (entry = 0; entry < APR_BYTE_SUMS; entry++)
                {
                  gsize i = entry / APR_BYTE_PANEL;
                  gsize j = entry % APR_BYTE_PANEL;
                  __int128 sum = add_parts (room->sums, entry, 2 * n_left - 1);

                  if (i != j)
                    sum += add_parts (room->sums, j * APR_BYTE_PANEL + i, 2 * n_left - 1);
                  g_assert_true (sum == multiply_columns (room->tiles, i, n_left, room->tiles, j, n_left));
                }
            }
          (*kernels)->stop ();
        }
    }
}

static void
test_same (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);
  g_autoptr (Room) room = room_new ();
  g_autoptr (Room) plain = room_new ();
  const AprByteKernel *const *kernels;
  guint round;

  g_test_summary ("Every number of bytes, added to what is there: as plain C does it.");
  for (round = 0; round < 60; round++)
    {
      guint n_left = (guint) g_rand_int_range (rand, 1, APR_BYTE_MAX + 1);
      guint n_right = (guint) g_rand_int_range (rand, 1, APR_BYTE_MAX + 1);

      fill (rand, round % 3, plain->tiles);
      fill (rand, round % 3, plain->others);
      memset (plain->turned, 0, SIZE);
      memset (plain->sums, 1, sizeof plain->sums);
      memcpy (room, plain, sizeof *room);
      portable_byte_kernel.turn (plain->others, N_STEPS, n_right, plain->turned);
      portable_byte_kernel.multiply (plain->tiles, n_left, plain->turned, n_right, N_STEPS, plain->sums);
      portable_byte_kernel.multiply_self (plain->others, plain->turned, n_right, N_STEPS, plain->sums);
      for (kernels = get_all () + 1; *kernels != NULL; kernels++)
        {
          (*kernels)->start ();
          (*kernels)->turn (room->others, N_STEPS, n_right, room->turned);
          (*kernels)->multiply (room->tiles, n_left, room->turned, n_right, N_STEPS, room->sums);
          (*kernels)->multiply_self (room->others, room->turned, n_right, N_STEPS, room->sums);
          (*kernels)->stop ();
          g_assert_cmpmem (room->turned, SIZE, plain->turned, SIZE);
          g_assert_cmpmem (room->sums, sizeof room->sums, plain->sums, sizeof plain->sums);
        }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/byte-kernel/cut", test_cut);
  g_test_add_func ("/byte-kernel/cut-too-much", test_cut_too_much);
  g_test_add_func ("/byte-kernel/multiply", test_multiply);
  g_test_add_func ("/byte-kernel/same", test_same);

  return g_test_run ();
}
