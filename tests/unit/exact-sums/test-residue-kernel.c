/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

/* What each kernel does with residues, against the same in plain C and whole numbers of any size. */

#define ROWS 1024
#define PANEL APR_RESIDUE_PANEL

/* Sixteen columns, with the whole numbers that they are to become. */
typedef struct
{
  double magic[APR_RESIDUE_WORDS][PANEL] __attribute__ ((aligned (64)));
  AprResidueModuli moduli;
  double *values; /* ROWS times PANEL, row-major */
  float *floats;
  gsize n_rows;
  gint scale[PANEL];
} Columns;

typedef struct
{
  guint8 *residues;
  gsize distance;
  AprResidueRest *rests;
  gsize n_rests;
} Cut;

static double
draw (GRand *rand, const Columns *self, gsize column)
{
  /* As large as values may be, tiny ones, and those on which rounding is a tie. */
  gint bits = (gint) self->moduli.max_bits;
  double whole;

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      whole = ldexp (1 - 0x1p-20, bits);
      break;
    case 1:
      whole = ldexp (g_rand_double (rand), bits - g_rand_int_range (rand, 0, bits)) + 0.5;
      break;
    case 2:
      whole = ldexp (g_rand_double (rand), -3);
      break;
    case 3:
      whole = ldexp (0.5 + g_rand_int_range (rand, 0, 3), 24 * g_rand_int_range (rand, 0, 2));
      break;
    case 4:
      whole = 0;
      break;
    default:
      whole = ldexp (g_rand_double (rand), bits - 1);
      break;
    }
  if (self->floats != NULL)
    whole = (double) (float) whole;

  return ldexp (g_rand_boolean (rand) ? whole : -whole, -self->scale[column]);
}

/* The first value of the first column becomes 1: its residues are the units. */
static void
columns_init (
  Columns *self, GRand *rand, const AprResidueKernel *kernel, guint n_moduli, gsize n_rows, gboolean is_float)
{
  gsize i;
  guint word;

  memset (self, 0, sizeof *self);
  apr_residue_moduli_init (&self->moduli, kernel->residue_size, kernel->long_words, n_moduli);
  apr_residue_moduli_prepare (&self->moduli);
  self->n_rows = n_rows;
  self->values = g_new0 (double, ROWS *PANEL);
  self->floats = is_float ? g_new0 (float, ROWS *PANEL) : NULL;
  for (i = 0; i < PANEL; i++)
    {
      self->scale[i] = is_float ? g_rand_int_range (rand, 60, 140) : g_rand_int_range (rand, -300, 380);
      for (word = 0; word < self->moduli.n_words; word++)
        self->magic[word][i] = ldexp (0x1.8p52 + apr_residue_moduli_get_bias (&self->moduli, word),
                                      24 * (gint) word - self->scale[i]);
    }
  for (i = 0; i < n_rows * PANEL; i++)
    self->values[i] = draw (rand, self, i % PANEL);
  self->values[0] = ldexp (1, -self->scale[0]);
  for (i = 0; i < n_rows * PANEL && is_float; i++)
    self->values[i] = self->floats[i] = (float) self->values[i];
}

static void
columns_clear (Columns *self)
{
  g_free (self->values);
  g_free (self->floats);
}

static Cut
cut (const AprResidueKernel *kernel, const Columns *columns)
{
  AprResidueColumns source = { columns->floats != NULL ? (gconstpointer) columns->floats : columns->values,
                               columns->floats != NULL, PANEL, columns->n_rows };
  gsize size = apr_residue_kernel_get_panel_size (kernel, ROWS);
  Cut self = { NULL, size, g_new (AprResidueRest, ROWS * PANEL), 0 };
  guint half = columns->moduli.n_moduli / 2;
  AprResidueModuli share;

  self.residues = g_aligned_alloc0 (columns->moduli.n_moduli, size, 64);
  self.n_rests =
    kernel->cut (&columns->moduli, &source, columns->magic, self.residues, self.distance, self.rests);
  apr_residue_moduli_share (&share, &columns->moduli, half, columns->moduli.n_moduli - half);
  kernel->cut (&share, &source, columns->magic, self.residues + half * size, self.distance, self.rests);

  return self;
}

/* Multiplies as threads do: with the panel on the left turned where the kernel turns it. */
static void
multiply (const AprResidueKernel *kernel,
          const guint8 *left,
          gsize n_left,
          const guint8 *right,
          gsize distance,
          gsize n_right,
          gboolean diagonal,
          gsize n_rows,
          guint modulus,
          guint8 *tiles,
          gsize tile_distance)
{
  gsize size = apr_residue_kernel_get_left_size (kernel, n_rows);
  guint8 *turned = NULL;

  if (kernel->turn != NULL)
    {
      turned = g_aligned_alloc (1, size, 64);
      memset (turned, 0xff, size);
      kernel->turn (left, n_rows, turned);
    }
  if (kernel->start != NULL)
    kernel->start ();
  kernel->multiply (turned != NULL ? turned : left, n_left, right, distance, n_right, diagonal, n_rows,
                    modulus, tiles, tile_distance);
  if (kernel->stop != NULL)
    kernel->stop ();
  g_aligned_free (turned);
}

static void
cut_clear (Cut *self)
{
  g_aligned_free (self->residues);
  g_free (self->rests);
}

static gint
get_residue (const AprResidueKernel *kernel, const Cut *self, guint modulus, gsize row, gsize column)
{
  gsize step = kernel->step;
  gsize place = row / step * step * PANEL + column * step + row % step;
  const guint8 *panel = self->residues + modulus * self->distance + APR_RESIDUE_HEADER;

  return kernel->residue_size == 1 ? panel[place] : ((const gint16 *) (gconstpointer) panel)[place];
}

static gint
compare_rests (gconstpointer a, gconstpointer b)
{
  const AprResidueRest *one = a;
  const AprResidueRest *other = b;

  return (gint) (one->row * PANEL + one->column) - (gint) (other->row * PANEL + other->column);
}

/* Each value is its whole number, which the residues are of, and its rest. */
static void
check_cut (const AprResidueKernel *kernel, GRand *rand, guint n_moduli, gsize n_rows, gboolean is_float)
{
  Columns columns;
  Cut found;
  gsize n_rests = 0;
  gsize i;
  guint k;
  mpz_t whole;

  mpz_init (whole);
  columns_init (&columns, rand, kernel, n_moduli, n_rows, is_float);
  found = cut (kernel, &columns);
  qsort (found.rests, found.n_rests, sizeof *found.rests, compare_rests);
  for (i = 0; i < apr_residue_kernel_fill_up (kernel, n_rows) * PANEL; i++)
    {
      gsize row = i / PANEL;
      gsize column = i % PANEL;
      double scaled = row < n_rows ? ldexp (columns.values[i], columns.scale[column]) : 0;
      double rounded = rint (scaled);

      mpz_set_d (whole, rounded);
      if (scaled != rounded)
        {
          const AprResidueRest *rest = &found.rests[n_rests++];

          g_assert_cmpuint (rest->row, ==, row);
          g_assert_cmpuint (rest->column, ==, column);
          g_assert_true (rest->value == ldexp (scaled - rounded, -columns.scale[column]));
        }
      for (k = 0; k < n_moduli; k++)
        {
          gint modulus = (gint) columns.moduli.modulus[k];
          gint unit = get_residue (kernel, &found, k, 0, 0);
          gint expected = (gint) mpz_fdiv_ui (whole, (gulong) modulus) * unit;

          g_assert_cmpint ((get_residue (kernel, &found, k, row, column) - expected) % modulus, ==, 0);
          if (kernel->residue_size == 2 && modulus != 65536)
            g_assert_cmpint (ABS (get_residue (kernel, &found, k, row, column)), <=, 4800);
        }
    }
  g_assert_cmpuint (found.n_rests, ==, n_rests);
  cut_clear (&found);
  columns_clear (&columns);
  mpz_clear (whole);
}

/* Products of residues and weights, modulo the modulus, and small enough to be multiplied. */
static void
check_weigh (const AprResidueKernel *kernel, GRand *rand, guint n_moduli, gsize n_rows)
{
  gsize size = apr_residue_kernel_get_panel_size (kernel, ROWS);
  guint8 *weights = g_aligned_alloc0 (ROWS, kernel->residue_size, 64);
  guint8 *tile = g_aligned_alloc0 (APR_RESIDUE_TILE, kernel->residue_size, 64);
  Columns columns;
  Cut found;
  Cut weighed = { g_aligned_alloc0 (n_moduli, size, 64), size, NULL, 0 };
  gsize i;
  guint k;

  columns_init (&columns, rand, kernel, n_moduli, n_rows, FALSE);
  found = cut (kernel, &columns);
  for (k = 0; k < n_moduli; k++)
    {
      gint modulus = (gint) columns.moduli.modulus[k];
      gint64 sum = 0;

      for (i = 0; i < n_rows; i++)
        {
          gint residue = i % 3 == 0 ? modulus - 1 : g_rand_int_range (rand, 0, modulus);

          if (kernel->residue_size == 1)
            weights[i] = (guint8) residue;
          else
            ((gint16 *) (gpointer) weights)[i] =
              (gint16) (residue - (residue >= (modulus + 1) / 2 ? modulus : 0));
        }
      kernel->weigh (found.residues + k * size, weights, n_rows, (guint) modulus,
                     weighed.residues + k * size);
      for (i = 0; i < n_rows * PANEL; i++)
        {
          gint64 weight =
            kernel->residue_size == 1 ? weights[i / PANEL] : ((gint16 *) (gpointer) weights)[i / PANEL];
          gint64 product = get_residue (kernel, &weighed, k, i / PANEL, i % PANEL);

          g_assert_cmpint (
            (product - weight * get_residue (kernel, &found, k, i / PANEL, i % PANEL)) % modulus, ==, 0);
          if (kernel->residue_size == 2 && modulus != 65536)
            g_assert_cmpint (ABS (product), <=, 4800);
          if (i % PANEL == 0)
            sum += product * get_residue (kernel, &found, k, i / PANEL, PANEL - 1);
        }

      /* What a kernel keeps beside the residues is there too. */
      memset (tile, 0, APR_RESIDUE_TILE * kernel->residue_size);
      multiply (kernel, weighed.residues + k * size, PANEL, found.residues + k * size, size, 1, FALSE, n_rows,
                (guint) modulus, tile, 0);
      g_assert_cmpint (
        ((kernel->residue_size == 1 ? tile[PANEL - 1] : ((gint16 *) (gpointer) tile)[PANEL - 1]) - sum) %
          modulus,
        ==, 0);
    }
  g_aligned_free (weights);
  g_aligned_free (tile);
  cut_clear (&found);
  cut_clear (&weighed);
  columns_clear (&columns);
}

static void
check_multiply (const AprResidueKernel *kernel,
                GRand *rand,
                guint n_moduli,
                gsize n_rows,
                gsize n_right,
                gsize n_left,
                gboolean diagonal)
{
  gsize size = apr_residue_kernel_get_panel_size (kernel, ROWS);
  gsize tile_size = APR_RESIDUE_TILE * kernel->residue_size;
  guint8 *right = g_aligned_alloc0 (n_right, size, 64);
  guint8 *tiles = g_aligned_alloc0 (2 * n_right, tile_size, 64);
  g_autofree gint64 *expected = g_new0 (gint64, n_right * APR_RESIDUE_TILE);
  guint which = (guint) g_rand_int_range (rand, 0, (gint) n_moduli);
  Columns columns[1 + APR_RESIDUE_RIGHT];
  Cut found[1 + APR_RESIDUE_RIGHT];
  gint modulus;
  gsize pass;
  gsize row;
  gsize i;
  gsize j;

  for (i = 0; i <= n_right; i++)
    {
      columns_init (&columns[i], rand, kernel, n_moduli, n_rows, i % 2 == 1);
      found[i] = cut (kernel, &columns[i]);
      /* As large as residues may be, but in a last row that is filled up. */
      for (j = 0; kernel->residue_size == 2 && diagonal && j < n_rows / 2 * 2 * PANEL; j++)
        ((gint16 *) (gpointer) (found[i].residues + which * found[i].distance + APR_RESIDUE_HEADER))[j] =
          which == 0 ? G_MININT16 : 4800;
      if (diagonal && i == n_right)
        memcpy (found[i].residues, found[0].residues, n_moduli * found[0].distance);
      if (i > 0)
        memcpy (right + (i - 1) * size, found[i].residues + which * found[i].distance, size);
    }
  modulus = (gint) columns[0].moduli.modulus[which];

  for (i = 0; i < n_right * APR_RESIDUE_TILE; i++)
    for (row = 0; row < n_rows; row++)
      expected[i] += (gint64) get_residue (kernel, &found[0], which, row, i % APR_RESIDUE_TILE / PANEL) *
                     get_residue (kernel, &found[1 + i / APR_RESIDUE_TILE], which, row, i % PANEL);

  /* Onto nothing, and onto what is there. */
  for (pass = 1; pass < 4; pass++)
    {
      multiply (kernel, found[0].residues + which * found[0].distance, n_left, right, size, n_right, diagonal,
                n_rows, (guint) modulus, tiles, 2 * tile_size);
      for (j = 0; j < n_right; j++)
        for (i = 0; i < APR_RESIDUE_TILE; i++)
          {
            const guint8 *tile = tiles + 2 * j * tile_size;
            gint64 sum = kernel->residue_size == 1 ? tile[i] : ((const gint16 *) (gconstpointer) tile)[i];

            if (i / PANEL < n_left && !(diagonal && j == n_right - 1 && i % PANEL > i / PANEL))
              g_assert_cmpint ((sum - (gint64) pass * expected[j * APR_RESIDUE_TILE + i]) % modulus, ==, 0);
            /* What is beside a tile is not written to. */
            g_assert_cmpint (tile[tile_size + i], ==, 0);
          }
    }

  for (i = 0; i <= n_right; i++)
    {
      columns_clear (&columns[i]);
      cut_clear (&found[i]);
    }
  g_aligned_free (right);
  g_aligned_free (tiles);
}

/* A whole number below M / 2, or as near to it as sums may come. */
static void
draw_sum (GRand *rand, mpz_t sum, mpz_t product)
{
  guint i;

  mpz_set_ui (sum, 0);
  for (i = 0; i < 8; i++)
    {
      mpz_mul_2exp (sum, sum, 32);
      mpz_add_ui (sum, sum, g_rand_int (rand));
    }
  if (g_rand_boolean (rand))
    mpz_fdiv_q_2exp (sum, sum, (mp_bitcnt_t) g_rand_int_range (rand, 0, 256));
  mpz_mul_ui (product, product, 248);
  mpz_fdiv_q_2exp (product, product, 9);
  mpz_mod (sum, sum, product);
  if (g_rand_int_range (rand, 0, 5) == 0)
    mpz_set (sum, product);
  if (g_rand_boolean (rand))
    mpz_neg (sum, sum);
}

/* A sum for which the reconstruction adds the largest products: its weights are as large as they can be, and have the
 * signs of the limbs that they are multiplied by in one place. One weight is half of that, so that the sum stays away
 * from half of the product of the moduli. */
static void
set_extreme_sum (mpz_t sum, const AprResidueModuli *moduli, guint limb, mpz_t product)
{
  mpz_t cofactor;
  guint k;

  mpz_init (cofactor);
  mpz_set_ui (sum, 0);
  for (k = 0; k < moduli->n_moduli; k++)
    {
      gint modulus = (gint) moduli->modulus[k];
      gint weight = k + 1 < moduli->n_moduli ? (modulus - 1) / 2 : modulus / 4;

      mpz_divexact_ui (cofactor, product, (gulong) modulus);
      mpz_mul_si (cofactor, cofactor, moduli->limbs[limb][k] < 0 ? -weight : weight);
      mpz_add (sum, sum, cofactor);
    }
  mpz_fdiv_q_2exp (cofactor, product, 1);
  mpz_add (sum, sum, cofactor);
  mpz_fdiv_r (sum, sum, product);
  mpz_sub (sum, sum, cofactor);
  mpz_clear (cofactor);
}

static void
check_reconstruct (const AprResidueKernel *kernel, GRand *rand, guint n_moduli)
{
  gsize tile_size = APR_RESIDUE_TILE * kernel->residue_size;
  guint8 *tiles = g_aligned_alloc0 (n_moduli, tile_size, 64);
  gint64 parts[APR_RESIDUE_PARTS][APR_RESIDUE_TILE] __attribute__ ((aligned (64)));
  Columns columns;
  Cut units;
  mpz_t sums[APR_RESIDUE_TILE];
  mpz_t product;
  mpz_t found;
  gsize i;
  gsize k;

  columns_init (&columns, rand, kernel, n_moduli, 1, FALSE);
  units = cut (kernel, &columns);
  mpz_inits (product, found, NULL);
  for (i = 0; i < APR_RESIDUE_TILE; i++)
    {
      mpz_init (sums[i]);
      mpz_set_ui (product, 1);
      for (k = 0; k < n_moduli; k++)
        mpz_mul_ui (product, product, columns.moduli.modulus[k]);
      if (i < columns.moduli.n_limbs)
        set_extreme_sum (sums[i], &columns.moduli, (guint) i, product);
      else
        draw_sum (rand, sums[i], product);
      for (k = 0; k < n_moduli; k++)
        {
          gint modulus = (gint) columns.moduli.modulus[k];
          gint unit = get_residue (kernel, &units, (guint) k, 0, 0);
          gint64 residue = (gint64) mpz_fdiv_ui (sums[i], (gulong) modulus) * unit % modulus * unit % modulus;

          if (kernel->residue_size == 1)
            tiles[k * tile_size + i] = (guint8) residue;
          else
            ((gint16 *) (gpointer) (tiles + k * tile_size))[i] =
              (gint16) (residue > modulus / 2 ? residue - modulus : residue);
        }
    }

  kernel->reconstruct (&columns.moduli, tiles, parts);
  for (i = 0; i < APR_RESIDUE_TILE; i++)
    {
      mpz_set_ui (found, 0);
      for (k = (columns.moduli.n_limbs + 1) / 2; k-- > 0;)
        {
          mpz_mul_2exp (found, found, 32);
          if (parts[k][i] < 0)
            mpz_sub_ui (found, found, (gulong) -parts[k][i]);
          else
            mpz_add_ui (found, found, (gulong) parts[k][i]);
        }
      g_assert_cmpint (mpz_cmp (found, sums[i]), ==, 0);
      mpz_clear (sums[i]);
    }
  mpz_clears (product, found, NULL);
  cut_clear (&units);
  columns_clear (&columns);
  g_aligned_free (tiles);
}

static void
check_squares (const AprResidueKernel *kernel, GRand *rand, gsize n_panels, gboolean is_float)
{
  enum
  {
    N = 100,
    STRIDE = 9 * PANEL + 3
  };
  g_autofree double *values = g_new (double, N *STRIDE);
  g_autofree float *floats = g_new (float, N *STRIDE);
  g_autofree double *squares = g_new0 (double, n_panels *PANEL);
  g_autofree double *largest = g_new0 (double, n_panels *PANEL);
  AprResidueColumns columns = { is_float ? (gconstpointer) floats : values, is_float, STRIDE, N };
  gsize i;
  gsize row;

  for (i = 0; i < N * STRIDE; i++)
    values[i] = floats[i] = (float) g_rand_double_range (rand, -3, 3);
  values[2] = floats[2] = NAN;
  largest[3] = 5;
  kernel->square (&columns, n_panels, squares, largest);
  for (i = 0; i < n_panels * PANEL; i++)
    {
      double expected = 0;
      double max = i == 3 ? 5 : 0;

      for (row = 0; row < N; row++)
        max = MAX (max, fabs (values[row * STRIDE + i]));
      for (row = 0; row < N; row++)
        expected += values[row * STRIDE + i] * values[row * STRIDE + i];
      g_assert_true (i == 2 || largest[i] == max);
      g_assert_true (i == 2 ? isnan (squares[i]) : fabs (squares[i] - expected) < 1e-12 * expected);
    }
}

/* Pairs of panels with a pair, each residue as large as one can be or any other; rows that are beyond are not read. */
static void
check_pairs (const AprResidueKernel *kernel, GRand *rand, gsize n_pairs, gsize n_rows, guint modulus)
{
  gsize n_left = 2 * n_pairs;
  gsize size = apr_residue_kernel_get_panel_size (kernel, ROWS);
  gsize left_size = apr_residue_kernel_get_left_size (kernel, ROWS);
  gsize n_filled = apr_residue_kernel_fill_up (kernel, n_rows);
  Cut panels = { g_aligned_alloc (n_left + 2, size, 64), size, NULL, 0 };
  guint8 *turned = g_aligned_alloc0 (n_left, left_size, 64);
  guint8 *tiles = g_aligned_alloc0 (4 * n_left, APR_RESIDUE_TILE, 64);
  guint8 *(*places)[4] = g_malloc_n (n_pairs, sizeof *places);
  gint pass;
  gsize row;
  gsize i;
  gsize j;

  g_assert_cmpuint (kernel->residue_size, ==, 1);
  memset (panels.residues, 0xff, (n_left + 2) * size);
  for (i = 0; i < n_left + 2; i++)
    for (j = 0; j < n_filled * PANEL; j++)
      {
        gsize place = i * size + APR_RESIDUE_HEADER + j;

        if (j / PANEL / kernel->step * kernel->step + j % kernel->step >= n_rows)
          panels.residues[place] = 0;
        else if (g_rand_boolean (rand))
          panels.residues[place] = (guint8) g_rand_int_range (rand, 0, 256);
      }
  for (i = 0; i < n_left; i++)
    kernel->turn (panels.residues + i * size, n_rows, turned + i * left_size);
  for (i = 0; i < 2 * n_left; i++)
    places[i / 4][i % 4] = tiles + 2 * i * APR_RESIDUE_TILE;

  /* Onto nothing, and onto what is there. */
  kernel->start ();
  for (pass = 0; pass < 2; pass++)
    kernel->multiply_pairs (turned, left_size, n_pairs, panels.residues + n_left * size, size, n_rows,
                            modulus, places);
  kernel->stop ();
  for (i = 0; i < 2 * n_left; i++)
    for (j = 0; j < APR_RESIDUE_TILE; j++)
      {
        const guint8 *tile = tiles + 2 * i * APR_RESIDUE_TILE;
        gint sum = 0;

        for (row = 0; row < n_rows; row++)
          sum += get_residue (kernel, &panels, (guint) (i / 2), row, j / PANEL) *
                 get_residue (kernel, &panels, (guint) (n_left + i % 2), row, j % PANEL);
        g_assert_cmpint ((tile[j] - 2 * sum) % (gint) modulus, ==, 0);
        /* What is beside a tile is not written to. */
        g_assert_cmpint (tile[APR_RESIDUE_TILE + j], ==, 0);
      }

  g_aligned_free (panels.residues);
  g_aligned_free (turned);
  g_aligned_free (tiles);
  g_free (places);
}

/* Of panels that stand side by side, whole numbers, of which no product has more bits than a double. */
static void
check_rest (const AprResidueKernel *kernel, GRand *rand, gsize n_panels, gboolean is_float)
{
  gsize n = n_panels * PANEL;
  gsize stride = n + 5;
  g_autofree double *values = g_new (double, 3 * stride);
  g_autofree float *floats = g_new (float, 3 * stride);
  double *sums = g_aligned_alloc (n, sizeof *sums, 64);
  AprResidueColumns columns = { is_float ? (gconstpointer) floats : values, is_float, stride, 3 };
  double rest = -65535;
  gsize i;

  for (i = 0; i < 3 * stride; i++)
    values[i] = floats[i] = (float) g_rand_int_range (rand, -(1 << 24), 1 << 24);
  for (i = 0; i < n; i++)
    sums[i] = (double) i;
  kernel->multiply_rest (&columns, 1, n_panels, rest, sums);
  for (i = 0; i < n; i++)
    g_assert_cmpfloat (sums[i], ==, (double) i + rest * values[stride + i]);
  g_aligned_free (sums);
}

static void
test_kernel (gconstpointer data)
{
  const AprResidueKernel *kernel = data;
  const guint numbers[] = { 1, 4, 7, 8, 10, 11, 12, 13, 17, 19, 20, 21, 28 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  gsize i;
  gsize n;

  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      guint n_moduli = numbers[i];

      if (n_moduli > apr_residue_moduli_get_max (kernel->residue_size))
        continue;
      check_cut (kernel, rand, n_moduli, ROWS, FALSE);
      check_cut (kernel, rand, n_moduli, 1, FALSE);
      check_cut (kernel, rand, n_moduli, 203, TRUE);
      for (n = 1; n <= APR_RESIDUE_RIGHT; n++)
        {
          gsize n_rows = n == 2 ? ROWS : (gsize) g_rand_int_range (rand, 1, 300);

          check_multiply (kernel, rand, n_moduli, n_rows, n, PANEL, FALSE);
          check_multiply (kernel, rand, n_moduli, n_rows, n, (gsize) g_rand_int_range (rand, 1, PANEL + 1),
                          FALSE);
          check_multiply (kernel, rand, n_moduli, n_rows, n, (gsize) g_rand_int_range (rand, 1, PANEL + 1),
                          TRUE);
        }
      check_weigh (kernel, rand, n_moduli, ROWS);
      check_weigh (kernel, rand, n_moduli, (gsize) g_rand_int_range (rand, 1, 99));
      check_reconstruct (kernel, rand, n_moduli);
    }
  for (n = 1; n < 10; n++)
    {
      check_squares (kernel, rand, n, n % 2 == 0);
      check_rest (kernel, rand, n, n % 2 == 0);
    }
  for (n = 1; n < 5 && kernel->multiply_pairs != NULL; n++)
    {
      check_pairs (kernel, rand, n, ROWS, 255);
      check_pairs (kernel, rand, n, (gsize) g_rand_int_range (rand, 1, ROWS), 149);
      check_pairs (kernel, rand, n, (gsize) g_rand_int_range (rand, 1, 64), 251);
    }
}

/* Sums of digits times weights, and of what is looked up, are not negative, and below 2^16, for numbers of any bits. */
static void
check_cut_sums (gboolean long_words, guint n_moduli)
{
  AprResidueModuli moduli;
  guint k;
  guint i;

  apr_residue_moduli_init (&moduli, 1, long_words, n_moduli);
  apr_residue_moduli_prepare (&moduli);
  for (k = 0; k < n_moduli; k++)
    {
      gint min = moduli.start[k];
      gint max = moduli.start[k];
      gint top = 0;

      for (i = 0; i < 4 * moduli.n_words; i++)
        {
          gint8 weight = (gint8) (moduli.weights[k][i / 4] >> 8 * (i % 4));
          /* Of a word that is not the last, 2^24 may be a number, too. */
          gint digit = moduli.n_words == 1 || i + 1 == 4 * moduli.n_words ? 255 : i % 4 == 3 ? 64 : 63;

          min += MIN (weight, 0) * digit;
          max += MAX (weight, 0) * digit;
        }
      for (i = 0; i < APR_RESIDUE_TOPS; i++)
        top = MAX (top, moduli.tops[k][i]);
      g_assert_cmpint (min, >=, 0);
      g_assert_cmpint (max + top, <=, G_MAXUINT16);
      g_assert_cmpint (top, <, (gint) moduli.modulus[k]);
    }
}

static void
test_cut_sums (void)
{
  guint n;

  for (n = 1; n <= apr_residue_moduli_get_max (1); n++)
    {
      check_cut_sums (FALSE, n);
      check_cut_sums (TRUE, n);
    }
}

int
main (int argc, char *argv[])
{
  const AprSumsKernel *const *kernel;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/residue-kernel/cut-sums", test_cut_sums);
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    {
      const AprResidueKernel *residues = (*kernel)->residues;
      g_autofree char *path = g_strdup_printf ("/residue-kernel/%s", (*kernel)->name);

      if (residues != NULL)
        g_test_add_data_func (path, residues, test_kernel);
    }

  return g_test_run ();
}
