/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-team-private.h"

#include "aprender/base/apr-power-private.h"

/* The values z of a row are whole numbers h and, some of them, rests d, times powers of two: where column j has one,
 * z_j z_k = h_j z_k + d_j z_k. Each rest is multiplied by its whole row, in which what came before it has no rests any
 * more. */

/* Rests that are multiplied before their products are moved. */
#define BATCH 64

/* Terms that are added between two looks at whether the work was cancelled. Where the state's memory is new, each may
 * have the system clear a large page. */
#define TERMS_PER_LOOK 32

/* Adds @value 2^@exponent to an entry. */
typedef struct
{
  gsize entry;
  gint64 value;
  gint exponent;
} Term;

static gint
compare_rests (gconstpointer a, gconstpointer b)
{
  const AprResidueRest *one = a;
  const AprResidueRest *other = b;

  if (one->row != other->row)
    return one->row < other->row ? -1 : 1;
  return one->column < other->column ? -1 : one->column > other->column;
}

/* All rests of the block, row by row. Returns: (transfer full) */
static GArray *
sort_rests (const AprResidueTeam *self)
{
  GArray *rests = g_array_new (FALSE, FALSE, sizeof (AprResidueRest));
  guint i;

  for (i = 0; i < self->n_threads; i++)
    g_array_append_vals (rests, self->threads[i].rests->data, self->threads[i].rests->len);
  g_array_sort (rests, compare_rests);

  return rests;
}

/* A number as an odd one times a power of two. */
static gint64
split (double value, gint *exponent)
{
  gint64 size = (gint64) apr_split_double (value, exponent);

  return value < 0 ? -size : size;
}

static void
append_term (AprResidueThread *thread, gsize entry, gint64 value, gint exponent)
{
  Term term = { entry, value, exponent };

  g_array_append_val (thread->terms, term);
  thread->min_exponent = MIN (thread->min_exponent, exponent);
  thread->max_exponent = MAX (thread->max_exponent, exponent);
}

/* Adds the product of two numbers, neither of them 0, to an entry; one of them is a whole number times a power of
 * two. */
static void
append_product (AprResidueThread *thread, gsize entry, gint64 whole, gint whole_exponent, double other)
{
  gint other_exponent;
  __int128 product = (__int128) whole * split (other, &other_exponent);
  gint exponent = whole_exponent + other_exponent;

  if (product == (gint64) product)
    {
      append_term (thread, entry, (gint64) product, exponent);
      return;
    }
  append_term (thread, entry, (gint64) product & (((gint64) 1 << 53) - 1), exponent);
  append_term (thread, entry, (gint64) (product >> 53), exponent + 53);
}

/* Adds the product of three numbers, none of them 0, to an entry. */
static void
append_weighted (AprResidueThread *thread, gsize entry, double rest, double weight, double other)
{
  gint rest_exponent;
  gint weight_exponent;
  __int128 product = (__int128) split (rest, &rest_exponent) * split (weight, &weight_exponent);
  gint exponent = rest_exponent + weight_exponent;
  gint64 low = (gint64) product & (((gint64) 1 << 53) - 1);

  if (product == (gint64) product)
    {
      append_product (thread, entry, (gint64) product, exponent, other);
      return;
    }
  if (low != 0)
    append_product (thread, entry, low, exponent, other);
  append_product (thread, entry, (gint64) (product >> 53), exponent + 53, other);
}

/* Multiplies a rest by its row, for those rows of the matrix that are this part's. */
static void
multiply_rest (AprResidueTeam *self,
               AprResidueThread *thread,
               const AprResidueRest *rest,
               const double *row,
               gsize part,
               gsize n_parts)
{
  gsize own = apr_residue_team_get_column (self, rest->column);
  double value = row[rest->column];
  double weight = self->weights.all.rows != NULL ? self->weights.values[rest->row] : 1;
  gsize i;

  if (weight == 0)
    return;

  for (i = 0; i < self->n_columns; i++)
    {
      gsize entry_row = MAX (own, apr_residue_team_get_column (self, i));

      if (row[i] != 0 && entry_row % n_parts == part)
        append_weighted (thread, apr_residue_team_get_entry (self, rest->column, i), rest->value, weight,
                         row[i]);
    }
  if (value != rest->value && own % n_parts == part)
    append_weighted (thread, apr_residue_team_get_entry (self, rest->column, rest->column), rest->value,
                     weight, value - rest->value);
}

static void
read_row (const AprResidueTeam *self, gsize row, double *values)
{
  apr_rows_read (self->x, self->first_row + row, 1, 0, self->x->n_columns, self->n_columns, values);
  apr_rows_read (self->y, self->first_row + row, 1, 0, self->y->n_columns, self->n_columns,
                 values + self->x->n_columns);
  values[self->n_columns - 1] = 1;
}

/* Makes room for the terms of all threads. */
static void
cover_terms (AprResidueTeam *self, AprTeam *team)
{
  gint min = G_MAXINT;
  gint max = G_MININT;
  gint i;

  for (i = 0; i < team->n_parts; i++)
    {
      min = MIN (min, self->threads[i].min_exponent);
      max = MAX (max, self->threads[i].max_exponent);
    }
  apr_residue_team_cover (self, min, max, 8 * BATCH);
}

void
apr_residue_team_add_rests (AprResidueTeam *self, AprTeam *team, gsize part)
{
  AprResidueThread *thread = &self->threads[part];
  g_autofree double *row = g_new (double, self->n_columns);
  g_autoptr (GArray) rests = sort_rests (self);
  const AprResidueRest *all = (const AprResidueRest *) (gconstpointer) rests->data;
  guint first;
  guint i;

  if (thread->terms == NULL)
    thread->terms = g_array_new (FALSE, FALSE, sizeof (Term));
  for (first = 0; first < rests->len; first += BATCH)
    {
      guint begin = first;

      g_array_set_size (thread->terms, 0);
      thread->min_exponent = G_MAXINT;
      thread->max_exponent = G_MININT;
      while (begin > 0 && all[begin - 1].row == all[first].row)
        begin--;
      for (i = begin; i < MIN (first + BATCH, rests->len); i++)
        {
          if (i == begin || all[i].row != all[i - 1].row)
            read_row (self, all[i].row, row);
          if (i >= first)
            multiply_rest (self, thread, &all[i], row, part, (gsize) team->n_parts);
          row[all[i].column] -= all[i].value;
        }

      apr_team_barrier (team);
      if (part == 0)
        cover_terms (self, team);
      apr_team_barrier (team);
      if (self->error != NULL || g_atomic_int_get (&self->stopped))
        return;
      for (i = 0; i < thread->terms->len; i++)
        {
          const Term *term = &g_array_index (thread->terms, Term, i);

          if (i % TERMS_PER_LOOK == 0 && g_cancellable_is_cancelled (self->cancellable))
            break;
          apr_exact_sums_add_term (self->state, term->entry, term->value, term->exponent);
        }
    }
}
