/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-worker-parts-private.h"

/* The way of a worker's sums to the state. */

/* The exponents that columns have. */
static void
find_exponents (const AprPackedOperand *operand, gint *min, gint *max)
{
  gsize i;

  *min = G_MAXINT / 4;
  *max = -G_MAXINT / 4;
  for (i = 0; i < operand->n_main; i++)
    if (operand->running[i] != APR_PACKED_OPERAND_NO_EXPONENT)
      {
        *min = MIN (*min, operand->running[i]);
        *max = MAX (*max, operand->running[i]);
      }
}

gboolean
apr_exact_sums_worker_cover (AprExactSumsWorker *self, AprExactSums *sums, GError **error)
{
  gint left_min;
  gint left_max;
  gint right_min;
  gint right_max;
  gsize left_n_layers = worker_get_left (self)->n_main / self->right.n_padded;

  self->n_blocks = 0;
  apr_exact_sums_worker_add_up_lanes (self);
  find_exponents (worker_get_left (self), &left_min, &left_max);
  find_exponents (&self->right, &right_min, &right_max);
  return left_min > left_max || right_min > right_max || self->n_used == 0 ||
         apr_exact_sums_cover (sums, left_min + right_min + worker_get_unit (self, self->n_used - 1),
                               left_max + right_max + worker_get_unit (self, 0),
                               (guint) (left_n_layers * self->n_used), self->cancellable, error);
}

gboolean
apr_exact_sums_worker_has_all (const AprExactSumsWorker *self, const AprExactSums *sums)
{
  gsize n_limbs;

  (void) apr_exact_sums_get_limbs (sums, &n_limbs);

  return n_limbs == 0 && self->terms->len == 0 && self->weights == NULL &&
         self->right.cut == APR_PACKING_SLICES;
}

/* Adds the parts of slices at once, as one number of 32 bits times five; @exponent is that of the last. */
static void
add_slices (AprExactSums *sums, gsize entry, const gint64 parts[APR_SLICE_PARTS], gint exponent, gboolean all)
{
  const __int128 unit = (__int128) 1 << APR_SLICE_BITS;
  __int128 low = parts[4] + unit * (parts[3] + unit * parts[2]);
  __int128 high = (low >> 64) + ((__int128) 1 << (3 * APR_SLICE_BITS - 64)) * (parts[1] + unit * parts[0]);
  const gint64 wide[] = { (gint64) (high >> 64), (guint32) (high >> 32), (guint32) high,
                          (guint32) (low >> 32), (guint32) low };

  G_STATIC_ASSERT (APR_SLICE_PARTS == 5 && APR_SLICE_BITS == 24);
  if (all)
    apr_exact_sums_set_entry (sums, entry, high, (guint64) low, exponent);
  else if (high != 0 || (guint64) low != 0)
    apr_exact_sums_add_parts (sums, entry, wide, G_N_ELEMENTS (wide),
                              exponent + 32 * ((gint) G_N_ELEMENTS (wide) - 1));
}

/* Moves the entries of a row in the columns of a panel. */
static void
move_panel (AprExactSumsWorker *self,
            AprExactSums *sums,
            gboolean all,
            gsize layer,
            gsize row,
            gsize first_column,
            gsize end_column)
{
  gboolean diagonal = row - first_column < self->right.panel;
  gint row_exponent = worker_get_left (self)->running[layer * self->right.n_padded + row];
  gint64 *from = worker_get_sums (self, layer, row, first_column);
  gint64 parts[APR_BYTE_PARTS];
  gsize entry = apr_triangle (row, first_column);
  gsize column;
  gsize part;

  for (column = first_column; column < end_column; column++, entry++, from++)
    {
      gint exponent = row_exponent + self->right.running[column];

      if (!worker_take_parts (self, from, diagonal ? worker_get_mirrored (self, row, column) : NULL, parts))
        continue;
      if (self->right.cut == APR_PACKING_BYTES)
        apr_exact_sums_add_parts (sums, entry, parts, self->n_used, exponent + worker_get_unit (self, 0));
      else if (self->right.cut == APR_PACKING_SLICES)
        add_slices (sums, entry, parts, exponent + worker_get_unit (self, APR_SLICE_PARTS - 1), all);
      else
        for (part = 0; part < self->n_used; part++)
          apr_exact_sums_add_term (sums, entry, parts[part], exponent + worker_get_unit (self, part));
    }
}

void
apr_exact_sums_worker_move_rows (
  AprExactSumsWorker *self, AprExactSums *sums, gboolean all, gsize first_row, gsize end_row)
{
  gsize panel = self->right.panel;
  gsize layer;
  gsize row;
  gsize column;

  first_row = MAX (first_row, self->first_panel * panel);
  end_row = MIN (end_row, self->end_panel * panel);
  for (layer = 0; layer * self->right.n_padded < worker_get_left (self)->n_main; layer++)
    for (row = first_row; row < end_row; row++)
      for (column = 0; column <= row; column += panel)
        move_panel (self, sums, all, layer, row, column, MIN (column + panel, row + 1));
}

gboolean
apr_exact_sums_worker_move_terms (AprExactSumsWorker *self, AprExactSums *sums, GError **error)
{
  gboolean moved = TRUE;
  guint i;

  for (i = 0; i < self->terms->len && moved; i++)
    {
      AprExactTerm *term = &g_array_index (self->terms, AprExactTerm, i);

      moved = apr_exact_sums_cover (sums, term->exponent, term->exponent, 1, self->cancellable, error);
      if (moved)
        apr_exact_sums_add_term (sums, term->entry, term->value, term->exponent);
    }
  g_array_set_size (self->terms, 0);

  return moved;
}
