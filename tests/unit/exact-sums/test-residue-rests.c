/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/exact-reference.h"

#include <math.h>

#include "aprender/exact-sums/apr-residue-team-private.h"

/* Rests, short and long, with numbers of moduli that the test chooses, against sums in slices. */

#define TARGETS 2
#define BLOCK 128
#define N_ROWS 1280

typedef enum
{
  LARGEST, /* nearly a half in every row, all of one sign, beside columns that are proportional */
  EDGE,    /* their last bit is the last of a short rest, or the one behind it */
  RANDOM,  /* in any columns, several in some rows */
  TINY,    /* rests that are all of a value, down to the smallest */
  SCALES,  /* of columns of all sizes */
  GROWING, /* which begin with new scales */
  LATE,    /* beside two values that are too large for whole numbers, though their squares are not */
  FLOATS,  /* floats that are small */
  N_KINDS,
} Kind;

/* What values of 1 are scaled by, and the bits of short rests. */
typedef struct
{
  gsize p;
  gint scale;
  guint n_bits;
} Target;

typedef struct
{
  AprResidueTeam self;
  gsize n_rows;
  gsize n_short;
  gsize n_long;
} Sum;

static void
sum_blocks (AprTeam *team, gpointer data, gsize part)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  Sum *sum = data;
  AprResidueTeam *self = &sum->self;
  gsize row;
  guint i;

  for (row = 0; row < sum->n_rows; row += BLOCK)
    {
      apr_team_barrier (team);
      if (part == 0)
        {
          self->first_row = row;
          self->n_rows = MIN (BLOCK, sum->n_rows - row);
          self->n_expected = sum->n_rows - row;
          memset (self->next_task, 0, sizeof self->next_task);
        }
      apr_team_barrier (team);
      apr_residue_team_add_block (self, team, part);
      apr_team_barrier (team);
      g_assert_false (self->unsuited);
      g_assert_no_error (self->error);
      for (i = 0; i < self->n_threads && part == 0; i++)
        {
          sum->n_short += self->threads[i].short_rests->len;
          sum->n_long += self->threads[i].rests->len;
        }
    }
  apr_residue_team_flush (self, team, part);
}

/* Adds the rows to a state; returns the scale of the first column. */
static gint
add_rows (AprExactSums *state,
          const AprResidueKernel *kernel,
          guint n_moduli,
          AprTensor *x,
          AprTensor *y,
          AprTensor *weights,
          guint n_threads,
          gsize *n_short,
          gsize *n_long)
{
  AprResidueModuli moduli;
  AprRows x_rows;
  AprRows y_rows;
  AprRows weight_rows;
  AprWholeWeights whole;
  Sum sum = { .n_rows = apr_tensor_get_shape (x, NULL)[0] };
  gint scale;

  apr_residue_moduli_init (&moduli, kernel->residue_size, kernel->long_words, n_moduli);
  apr_residue_moduli_prepare (&moduli);
  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);
  if (weights != NULL)
    apr_rows_init (&weight_rows, "sample_weight", weights);
  g_assert_true (apr_whole_weights_init (&whole, weights != NULL ? &weight_rows : NULL));
  g_assert_true (apr_residue_team_init (&sum.self, state, kernel, &moduli, &x_rows, &y_rows, &whole, TRUE,
                                        BLOCK, n_threads));
  apr_team_run (sum_blocks, &sum, n_threads, (double) n_threads * APR_PARALLEL_OPERATIONS);
  apr_exact_sums_carry (state, 0, x_rows.n_columns + TARGETS + 1);
  scale = sum.self.scale[0];
  *n_short = sum.n_short;
  *n_long = sum.n_long;
  apr_residue_team_clear (&sum.self);

  return scale;
}

/* A value whose rest is @rest times the unit of its column, beside a whole number. */
static double
draw (GRand *rand, Kind kind, const Target *target, gsize row, gsize column)
{
  double unit = ldexp (1, -target->scale);
  double last = ldexp (unit, -(gint) target->n_bits);
  double value = g_rand_boolean (rand) ? 1 : -1;
  gboolean rare = g_rand_int_range (rand, 0, kind == FLOATS ? 320 : 160) == 0;

  switch (kind)
    {
    case LARGEST:
      return 1 + unit + (column == 0 ? unit / 2 - last : 0);
    case EDGE:
      return column != row % (target->p + TARGETS) ? value : value * (1 + last / (row % 150 == 0 ? 2 : 1));
    case TINY:
      return value * (!rare ? 1 : g_rand_boolean (rand) ? last : row % 5 == 0 ? 0x1p-1074 : unit / 2);
    case FLOATS:
      return !rare ? value : ldexp (g_rand_double (rand), -target->scale + (gint) column % 20) * value;
    case SCALES:
      return ldexp (draw (rand, RANDOM, target, row, column), 15 * (gint) column - 280);
    case GROWING:
      return ldexp (draw (rand, RANDOM, target, row, column), row < N_ROWS / 2 ? 0 : 20);
    case LATE:
      value = row == 199 && column == 3 ? 10 : row == 999 && column == 11 ? 40 : 1;
      return value * draw (rand, RANDOM, target, row, column);
    case RANDOM:
    case N_KINDS:
    default:
      return value * (1 + (rare ? last * g_rand_int_range (rand, 1, 1 << target->n_bits) : 0));
    }
}

/* Columns from @first on. */
static AprTensor *
make_matrix (GRand *rand, Kind kind, const Target *target, gsize first, gsize p)
{
  g_autofree double *values = g_new (double, N_ROWS *p);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (GError) error = NULL;
  AprTensor *tensor;
  gsize i;

  for (i = 0; i < N_ROWS * p; i++)
    values[i] = draw (rand, kind, target, i / p, first + i % p);
  doubles = matrix_new (N_ROWS, p, values);
  tensor = apr_tensor_cast (doubles, kind == FLOATS ? APR_DTYPE_F32 : APR_DTYPE_F64, &error);
  g_assert_no_error (error);

  return tensor;
}

/* The scale that a column of ones has. */
static Target
find_target (const AprResidueKernel *kernel, guint n_moduli, gsize p)
{
  g_autofree double *ones = g_new (double, N_ROWS *p);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprExactSums) state = apr_exact_sums_new (p, TARGETS, NULL);
  AprResidueModuli moduli;
  Target target = { .p = p };
  gsize n_short;
  gsize n_long;
  gsize i;

  for (i = 0; i < N_ROWS * p; i++)
    ones[i] = 1;
  x = matrix_new (N_ROWS, p, ones);
  y = matrix_new (N_ROWS, TARGETS, ones);
  target.scale = add_rows (state, kernel, n_moduli, x, y, NULL, 1, &n_short, &n_long);
  g_assert_cmpuint (n_short + n_long, ==, 0);
  apr_residue_moduli_init (&moduli, kernel->residue_size, kernel->long_words, n_moduli);
  target.n_bits = apr_residue_short_rests_count_bits (&moduli, p);

  return target;
}

static void
assert_equal (AprExactSums *one, AprExactSums *other)
{
  gsize size;
  gsize other_size;
  gint first;
  gint other_first;
  g_autofree guint32 *words = apr_exact_sums_to_words (one, &size, &first, NULL, NULL);
  g_autofree guint32 *other_words = apr_exact_sums_to_words (other, &other_size, &other_first, NULL, NULL);
  gsize n = apr_exact_sums_get_n_entries (one) * sizeof *words;

  g_assert_cmpmem (words, size * n, other_words, other_size * n);
  g_assert_cmpint (first, ==, other_first);
}

static void
check (const AprResidueKernel *kernel, GRand *rand, guint n_moduli, Kind kind, AprTensor *weights)
{
  const guint threads[] = { 1, 2, 3 };
  /* So many that a rest in each row suits residues, though it is not short. */
  gsize p = kind == LARGEST ? 130 : 37;
  AprSumsKernel slices = *apr_sums_kernels ()[0];
  Target target = find_target (kernel, n_moduli, p);
  g_autoptr (AprTensor) x = make_matrix (rand, kind, &target, 0, p);
  g_autoptr (AprTensor) y = make_matrix (rand, kind, &target, p, TARGETS);
  g_autoptr (AprExactSums) expected = apr_exact_sums_new (p, TARGETS, NULL);
  gsize i;

  slices.residues = NULL;
  g_assert_true (apr_exact_sums_update_with (expected, x, y, weights, APR_PRECISION_EXACT, &slices,
                                             &(AprRun){ .n_threads = 1 }, NULL));
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      g_autoptr (AprExactSums) state = apr_exact_sums_new (p, TARGETS, NULL);
      gsize n_short;
      gsize n_long;
      gint scale = add_rows (state, kernel, n_moduli, x, y, weights, threads[i], &n_short, &n_long);

      assert_equal (state, expected);
      if (weights != NULL)
        g_assert_cmpuint (n_short, ==, 0);
      else
        g_assert_cmpuint (n_short, >, 0);
      /* That there are so many rests as the squares allow, or such as have more bits. */
      if (weights == NULL && kind != SCALES && kind != GROWING && kind != LATE)
        g_assert_cmpint (scale, ==, target.scale);
      if (kind == EDGE || kind == TINY || kind == FLOATS || (kind == LARGEST && target.n_bits < 16))
        g_assert_cmpuint (n_long, >, 0);
    }
}

static void
test_rests (gconstpointer data)
{
  const AprResidueKernel *kernel = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint max = kernel->residue_size == 1 ? 12 : 7;
  guint n_moduli;
  int kind;

  for (n_moduli = max - 3; n_moduli <= max; n_moduli += runs_slowly () ? 3 : 1)
    for (kind = 0; kind < N_KINDS; kind++)
      check (kernel, rand, n_moduli, (Kind) kind, NULL);
}

/* Where there are weights, no rest is short. */
static void
test_weights (gconstpointer data)
{
  const AprResidueKernel *kernel = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  g_autofree double *values = g_new (double, N_ROWS);
  g_autoptr (AprTensor) weights = NULL;
  gsize i;

  for (i = 0; i < N_ROWS; i++)
    values[i] = 1 + (double) (i % 2);
  weights = vector_new (N_ROWS, values);
  check (kernel, rand, kernel->residue_size == 1 ? 10 : 6, FLOATS, weights);
}

static void
test_bits (void)
{
  gsize size;
  guint n;

  for (size = 1; size <= 2; size++)
    for (n = 1; n <= apr_residue_moduli_get_max (size); n++)
      {
        AprResidueModuli moduli;
        guint bits;

        apr_residue_moduli_init (&moduli, size, FALSE, n);
        bits = apr_residue_short_rests_count_bits (&moduli, 1024);
        /* Products of two have a word of 32 bits; those with whole numbers are below 2^53. */
        g_assert_cmpuint (bits, <=, 16);
        if (bits > 0)
          g_assert_cmpfloat (2 * bits + moduli.bits, <, 106);
        g_assert_cmpuint (apr_residue_short_rests_count_bits (&moduli, 1025), ==, 0);
      }
}

/* No more squares are counted than there is room for. */
static void
test_limit (void)
{
  AprResidueShortRests shorts;
  AprResidueModuli moduli;
  gsize n = 0;

  apr_residue_moduli_init (&moduli, 1, FALSE, 10);
  apr_residue_short_rests_init (&shorts, &moduli, APR_RESIDUE_PANEL, TRUE);
  apr_residue_short_rests_set_scale (&shorts, 3, 40);
  g_assert_false (apr_residue_short_rests_count (&shorts, 3, ldexp (1, -41 - (gint) shorts.n_bits)));
  g_assert_cmpfloat (shorts.totals[3], ==, 0);
  while (apr_residue_short_rests_count (&shorts, 3, n % 2 == 0 ? 0x1p-41 : -0x1p-41))
    n++;
  /* The root of the squares of n rests times that of half the product of the moduli. */
  g_assert_cmpfloat (sqrt ((double) n) * exp2 (shorts.n_bits - 1 + (moduli.bits - 1) / 2), <=, 0x1p53);
  g_assert_cmpuint (n, >, 40);
  apr_residue_short_rests_set_scale (&shorts, 3, 40);
  g_assert_true (apr_residue_short_rests_count (&shorts, 3, 0x1p-41));
  apr_residue_short_rests_clear (&shorts);
}

int
main (int argc, char *argv[])
{
  const AprSumsKernel *const *kernel;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/residue-rests/bits", test_bits);
  g_test_add_func ("/residue-rests/limit", test_limit);
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    {
      const AprResidueKernel *residues = (*kernel)->residues;
      g_autofree char *path = g_strdup_printf ("/residue-rests/%s/rests", (*kernel)->name);
      g_autofree char *weighted = g_strdup_printf ("/residue-rests/%s/weights", (*kernel)->name);

      if (residues == NULL)
        continue;
      g_test_add_data_func (path, residues, test_rests);
      g_test_add_data_func (weighted, residues, test_weights);
    }

  return g_test_run ();
}
