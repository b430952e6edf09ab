/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-short-rests-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/exact-sums/apr-residue-team-private.h"

/* The squares of sums may reach that power of two, half of what doubles allow. */
#define SQUARES_BITS 106

/* Bits of a rest that are left out, so that there is room for many. */
#define ROOM_BITS 2

/* Products of two rests have twice as many, in a word of 32 bits. */
#define MAX_BITS 16

/* With more, the sums would take much memory, and each product would wait for it. */
#define MAX_COLUMNS 1024

static double
get_limit (const AprResidueModuli *moduli)
{
  return exp2 (MIN (SQUARES_BITS - moduli->bits, 52));
}

guint
apr_residue_short_rests_count_bits (const AprResidueModuli *moduli, gsize n_columns)
{
  double bits = (SQUARES_BITS - moduli->bits) / 2 - ROOM_BITS;

  return n_columns <= MAX_COLUMNS ? (guint) CLAMP (bits, 0, MAX_BITS) : 0;
}

void
apr_residue_short_rests_init (AprResidueShortRests *self,
                              const AprResidueModuli *moduli,
                              gsize n_columns,
                              gboolean any)
{
  self->n_bits = any ? apr_residue_short_rests_count_bits (moduli, n_columns) : 0;
  self->n_columns = n_columns;
  self->limit = get_limit (moduli);
  self->units = g_new0 (double, n_columns);
  self->factors = g_new0 (double, n_columns);
  self->totals = g_new0 (double, n_columns);
  if (self->n_bits == 0)
    return;

  self->sums = apr_pages_new (n_columns * n_columns * sizeof *self->sums, TRUE);
  self->pairs = apr_pages_new (n_columns * n_columns * sizeof *self->pairs, TRUE);
  if (self->sums == NULL || self->pairs == NULL)
    self->n_bits = 0;
}

void
apr_residue_short_rests_clear (AprResidueShortRests *self)
{
  g_free (self->units);
  g_free (self->factors);
  g_free (self->totals);
  apr_pages_free (self->sums);
  apr_pages_free (self->pairs);
}

void
apr_residue_short_rests_set_scale (AprResidueShortRests *self, gsize column, gint scale)
{
  self->units[column] = ldexp (1, scale);
  self->factors[column] = ldexp (1, scale + (gint) self->n_bits);
  self->totals[column] = 0;
}

gboolean
apr_residue_short_rests_count (AprResidueShortRests *self, gsize column, double rest)
{
  double whole = rest * self->factors[column];
  double total = self->totals[column] + whole * whole;

  /* One that is too small for doubles is 0. */
  if (self->n_bits == 0 || whole == 0 || whole != (gint32) whole || total > self->limit)
    return FALSE;
  self->totals[column] = total;

  return TRUE;
}

void
apr_residue_short_rests_fetch (const AprResidueShortRests *self, gsize left, gsize right)
{
  const gsize line = 64 / sizeof (double);
  gsize i;
  gsize j;

  for (i = 0; i < APR_RESIDUE_PANEL; i++)
    for (j = 0; j < APR_RESIDUE_PANEL; j += line)
      {
        gsize lower = (left * APR_RESIDUE_PANEL + i) * self->n_columns + right * APR_RESIDUE_PANEL + j;
        gsize upper = (right * APR_RESIDUE_PANEL + i) * self->n_columns + left * APR_RESIDUE_PANEL + j;

        __builtin_prefetch (self->sums + lower, 1);
        __builtin_prefetch (self->sums + upper, 1);
        __builtin_prefetch (self->pairs + lower, 1);
      }
}

void
apr_residue_short_rests_move (AprResidueShortRests *self, gsize one, gsize other, gint64 parts[2])
{
  double *product = self->sums + one * self->n_columns + other;
  double *turned = self->sums + other * self->n_columns + one;
  double *pair = self->pairs + one * self->n_columns + other;
  gint64 sum = (gint64) (*product * self->units[other]) + (gint64) (*turned * self->units[one]);

  parts[0] += sum >> self->n_bits;
  parts[1] = (gint64) (((guint64) sum << (32 - self->n_bits)) & G_MAXUINT32) +
             (gint64) *pair * ((gint64) 1 << (32 - 2 * self->n_bits));
  *product = *turned = *pair = 0;
}

/* All rests of the block, the short ones last. Returns: (transfer full) */
static GArray *
collect_rests (const AprResidueTeam *self, guint *n_long)
{
  GArray *rests = g_array_new (FALSE, FALSE, sizeof (AprResidueRest));
  guint i;

  for (i = 0; i < self->n_threads; i++)
    g_array_append_vals (rests, self->threads[i].rests->data, self->threads[i].rests->len);
  *n_long = rests->len;
  for (i = 0; i < self->n_threads; i++)
    g_array_append_vals (rests, self->threads[i].short_rests->data, self->threads[i].short_rests->len);

  return rests;
}

/* The panels of a row that a thread multiplies. */
typedef struct
{
  gsize first;
  gsize end;
} Panels;

static gboolean
is_within (const Panels *panels, gsize column)
{
  return column / APR_RESIDUE_PANEL >= panels->first && column / APR_RESIDUE_PANEL < panels->end;
}

static double
read_value (const AprResidueTeam *self, gsize row, gsize column)
{
  AprResidueColumns panel = apr_residue_team_get_columns (self, column / APR_RESIDUE_PANEL);
  gsize place = row * panel.stride + column % APR_RESIDUE_PANEL;

  return panel.is_float ? (double) ((const float *) panel.values)[place]
                        : ((const double *) panel.values)[place];
}

/* Adds a rest times its row to @sums: those of the panels that are read in place at once, the others one by one. */
static void
multiply_row (const AprResidueTeam *self, const Panels *panels, gsize row, double rest, double *sums)
{
  gsize panel = panels->first;

  while (panel < panels->end)
    {
      AprResidueColumns columns = apr_residue_team_get_columns (self, panel);
      gsize n = panel < self->n_in_place ? MIN (panels->end, self->n_in_place) - panel : 1;

      self->kernel->multiply_rest (&columns, row, n, rest, sums + panel * APR_RESIDUE_PANEL);
      panel += n;
    }
}

/* The rests of a block. Those of a row that are in the thread's panels are chained. */
typedef struct
{
  const AprResidueRest *all; /* (unowned) */
  guint n_long;              /* which come before the others */
  guint *last;               /* (owned) one more than the index of the first in the chain of each row, or 0 */
  guint *before;             /* (owned) the same of what comes behind each rest */
  double *whole;             /* (owned) what is left of the value of each */
  double *kept;              /* (owned) a sum */
} Chains;

static void
multiply_short_rest (AprResidueTeam *self, const Panels *panels, Chains *chains, const AprResidueRest *rest)
{
  AprResidueShortRests *shorts = &self->short_rests;
  double whole = rest->value * shorts->factors[rest->column];
  double *sums = shorts->sums + rest->column * shorts->n_columns;
  guint i;

  for (i = chains->last[rest->row]; i > 0; i = chains->before[i - 1])
    chains->kept[i - 1] = sums[chains->all[i - 1].column];
  multiply_row (self, panels, rest->row, whole, sums);
  /* The values that have rests are no whole numbers: their products, which may be rounded, are undone. */
  for (i = chains->last[rest->row]; i > 0; i = chains->before[i - 1])
    {
      const AprResidueRest *other = &chains->all[i - 1];

      sums[other->column] = chains->kept[i - 1] + whole * chains->whole[i - 1];
      if (other->column <= rest->column && i > chains->n_long)
        shorts->pairs[rest->column * shorts->n_columns + other->column] +=
          whole * (other->value * shorts->factors[other->column]);
    }
}

void
apr_residue_team_add_short_rests (AprResidueTeam *self, gsize part, gsize n_parts)
{
  const Panels panels = { self->n_panels * part / n_parts, self->n_panels * (part + 1) / n_parts };
  guint n_long;
  g_autoptr (GArray) rests = collect_rests (self, &n_long);
  const AprResidueRest *all = (const AprResidueRest *) (gconstpointer) rests->data;
  g_autofree guint *last = g_new0 (guint, self->n_rows);
  g_autofree guint *before = g_new (guint, rests->len);
  g_autofree double *whole = g_new (double, rests->len);
  g_autofree double *kept = g_new (double, rests->len);
  Chains chains = { all, n_long, last, before, whole, kept };
  guint i;

  for (i = 0; i < rests->len; i++)
    if (is_within (&panels, all[i].column))
      {
        before[i] = last[all[i].row];
        last[all[i].row] = i + 1;
        whole[i] = read_value (self, all[i].row, all[i].column) - all[i].value;
      }
  for (i = n_long; i < rests->len; i++)
    multiply_short_rest (self, &panels, &chains, &all[i]);
}
