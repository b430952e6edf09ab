/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-packed-operand-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-power-private.h"

/* Between these powers of two of its largest value, a column's products and slices are far from the ends of what a
 * double can hold. */
#define RANGE 500
#define MAX_EXPONENT 400

/* What a column's exponent is guessed from; a multiple of 8. */
#define GUESSED_ROWS 64

/* Takes a part of the pages for @n parts of what @n_allocated columns have, and copies what @n_old of them had at
 * @from. */
static gpointer
divide (guint8 **pages, gconstpointer from, gsize n, gsize n_old, gsize n_allocated, gsize size)
{
  guint8 *part = *pages;
  gsize i;

  for (i = 0; i < n && from != NULL; i++)
    memcpy (part + i * n_allocated * size, (const guint8 *) from + i * n_old * size, n_old * size);
  *pages += n * n_allocated * size;
  return n > 0 ? part : NULL;
}

/* Room for @n_allocated columns; FALSE where there is no memory. All is one piece of memory, which malloc keeps for the
 * next time if it is small. */
static gboolean
allocate (AprPackedOperand *self, gsize n_allocated)
{
  gsize n_old = self->n_allocated;
  gsize n_slices = self->cut == APR_PACKING_SLICES ? APR_SLICE_N_SLICES : 0;
  gsize n_tiles = self->cut == APR_PACKING_BYTES ? 1 : 0;
  gsize n_turned = self->right ? n_tiles : 0;
  gsize column_size = self->stride * sizeof (double);
  gsize tile_size = apr_packed_operand_get_tiles_size (self) / self->panel;
  gsize size_beside = sizeof *self->units + sizeof *self->ranges + sizeof *self->sums + sizeof *self->owner +
                      sizeof *self->offset + sizeof *self->exponent + sizeof *self->n_slices;
  gsize size = (1 + n_slices) * column_size + (n_tiles + n_turned) * tile_size + size_beside;
  gpointer old_pages = self->values;
  guint8 *pages = g_size_checked_mul (&size, size, n_allocated) ? apr_pages_new (size, FALSE) : NULL;

  if (pages == NULL)
    return FALSE;
  self->values = divide (&pages, self->values, 1, n_old, n_allocated, column_size);
  self->slices = divide (&pages, self->slices, n_slices, n_old, n_allocated, column_size);
  self->tiles = divide (&pages, self->tiles, n_tiles, n_old, n_allocated, tile_size);
  self->turned = divide (&pages, self->turned, n_turned, n_old, n_allocated, tile_size);
  self->units = divide (&pages, self->units, 1, n_old, n_allocated, sizeof *self->units);
  self->ranges = divide (&pages, self->ranges, 1, n_old, n_allocated, sizeof *self->ranges);
  self->sums = divide (&pages, self->sums, 1, n_old, n_allocated, sizeof *self->sums);
  self->owner = divide (&pages, self->owner, 1, n_old, n_allocated, sizeof *self->owner);
  self->offset = divide (&pages, self->offset, 1, n_old, n_allocated, sizeof *self->offset);
  self->exponent = divide (&pages, self->exponent, 1, n_old, n_allocated, sizeof *self->exponent);
  self->n_slices = divide (&pages, self->n_slices, 1, n_old, n_allocated, sizeof *self->n_slices);
  apr_pages_free (old_pages);
  self->n_allocated = n_allocated;

  return TRUE;
}

gboolean
apr_packed_operand_init (AprPackedOperand *self,
                         const AprSumsKernel *kernel,
                         AprPacking cut,
                         gboolean right,
                         gsize n_columns,
                         gsize n_layers,
                         gsize n_rows)
{
  gsize n_remainders;
  gsize i;

  self->kernel = kernel->slices;
  self->bytes = kernel->bytes;
  self->cut = cut;
  self->right = right;
  self->panel = cut == APR_PACKING_BYTES ? APR_BYTE_PANEL : APR_SLICE_PANEL;
  self->n_steps = (n_rows + APR_BYTE_STEP - 1) / APR_BYTE_STEP;
  self->stride = cut == APR_PACKING_BYTES ? self->n_steps * APR_BYTE_STEP + 8 : APR_SLICE_STRIDE;
  self->n_columns = n_columns;
  self->n_padded = (n_columns + self->panel - 1) / self->panel * self->panel;
  self->n_main = n_layers * self->n_padded;
  /* Bytes seldom leave anything for remainder columns. */
  n_remainders = cut == APR_PACKING_BYTES ? 0 : self->n_padded / 64 * APR_SLICE_PANEL + APR_SLICE_PANEL;
  if (!allocate (self, self->n_main + n_remainders))
    return FALSE;
  self->running = g_new (gint, self->n_main);
  self->places = g_new (const double *, self->n_main);
  for (i = 0; i < self->n_main; i++)
    {
      gsize owner = i % self->n_padded;

      self->owner[i] = owner < n_columns ? owner : APR_PACKED_OPERAND_NO_OWNER;
      self->exponent[i] = self->running[i] = APR_PACKED_OPERAND_NO_EXPONENT;
      self->n_slices[i / self->panel] = 0;
      if (owner >= n_columns)
        memset (apr_packed_operand_get (self, i), 0, self->stride * sizeof (double));
    }
  apr_packed_operand_reset (self);

  return TRUE;
}

void
apr_packed_operand_clear (AprPackedOperand *self)
{
  apr_pages_free (self->values);
  g_free (self->running);
  g_free (self->places);
}

void
apr_packed_operand_reset (AprPackedOperand *self)
{
  gsize i;

  self->n = self->n_main;
  for (i = 0; i < self->n_main; i++)
    {
      self->offset[i] = 0;
      self->places[i] = NULL;
      self->ranges[i].max = INFINITY;
    }
}

/* Copies a column that is read elsewhere; false where it is here. */
static gboolean
copy_place (AprPackedOperand *self, gsize index, gsize n_rows)
{
  if (index >= self->n_main || self->places[index] == NULL)
    return FALSE;

  memcpy (apr_packed_operand_get (self, index), self->places[index], n_rows * sizeof (double));
  self->places[index] = NULL;
  return TRUE;
}

void
apr_packed_operand_copy_places (AprPackedOperand *self, gsize n_rows)
{
  gsize i;

  for (i = 0; i < self->n_main; i++)
    (void) copy_place (self, i, n_rows);
}

void
apr_packed_operand_forget (AprPackedOperand *self)
{
  gsize i;

  for (i = 0; i < self->n_main; i++)
    self->running[i] = APR_PACKED_OPERAND_NO_EXPONENT;
}

gsize
apr_packed_operand_add_remainder (AprPackedOperand *self, gsize owner, gint offset)
{
  gsize i;

  /* A whole panel at a time. */
  if (self->n == self->n_allocated && !allocate (self, 2 * self->n_allocated))
    {
      self->missing = self->n_allocated;
      return self->n - 1;
    }
  if (self->n % self->panel == 0)
    {
      memset (apr_packed_operand_get (self, self->n), 0, self->panel * self->stride * sizeof (double));
      for (i = self->n; i < self->n + self->panel; i++)
        {
          self->owner[i] = APR_PACKED_OPERAND_NO_OWNER;
          self->offset[i] = 0;
          self->exponent[i] = APR_PACKED_OPERAND_NO_EXPONENT;
        }
    }
  self->owner[self->n] = owner;
  self->offset[self->n] = offset;

  return self->n++;
}

/* Multiplies by 2^@exponent. One factor cannot always do it. */
static void
scale_column (AprPackedOperand *self, gsize index, gsize n_rows, gint exponent)
{
  self->offset[index] -= exponent;
  while (exponent != 0)
    {
      gint step = CLAMP (exponent, -1000, 1000);

      self->kernel->scale (apr_packed_operand_get (self, index), n_rows, ldexp (1.0, step));
      exponent -= step;
    }
}

/* Moves what is below @limit to a remainder column. */
static void
split (AprPackedOperand *self, gsize index, gsize n_rows, double limit)
{
  gsize remainder_index = apr_packed_operand_add_remainder (self, self->owner[index], self->offset[index]);
  double *remainder = apr_packed_operand_get (self, remainder_index);
  double *column = apr_packed_operand_get (self, index);
  gsize row;

  for (row = 0; row < n_rows; row++)
    {
      gboolean small = fabs (column[row]) < limit;

      remainder[row] = small ? column[row] : 0;
      column[row] = small ? 0 : column[row];
    }
}

gboolean
apr_packed_operand_measure (AprPackedOperand *self,
                            gsize n_rows,
                            void (*outgrow) (gpointer user_data, AprPackedOperand *self, gsize column),
                            gpointer user_data)
{
  gsize i;

  /* Remainder columns are appended meanwhile, and are measured in their turn. */
  for (i = 0; i < self->n; i++)
    {
      double max;
      double min;
      gint exponent;

      if (self->owner[i] == APR_PACKED_OPERAND_NO_OWNER)
        continue;
      if (!self->kernel->find_range (apr_packed_operand_get (self, i), n_rows, &max, &min) || isinf (max))
        return FALSE;

      /* What is 0 has no scale: one that is far from its offset would make a factor that is infinite. */
      self->exponent[i] = APR_PACKED_OPERAND_NO_EXPONENT;
      if (max == 0)
        continue;

      (void) frexp (max, &exponent);
      exponent += self->offset[i];
      if (i < self->n_main && exponent > self->running[i])
        {
          outgrow (user_data, self, i);
          /* One more, so that a column seldom outgrows it again. */
          self->running[i] = exponent + 1;
        }

      /* Sums in double must not depend on the blocks that came before. */
      if (self->cut == APR_PACKING_WHOLE)
        {
          self->exponent[i] = exponent;
          /* The factor by which it is weighed must be a double. */
          if (exponent - self->offset[i] < -MAX_EXPONENT)
            scale_column (self, i, n_rows, self->offset[i] - exponent);
          continue;
        }

      self->exponent[i] = i < self->n_main ? self->running[i] : exponent;
      if (min < ldexp (1.0, self->exponent[i] - self->offset[i] - RANGE))
        split (self, i, n_rows, ldexp (1.0, self->exponent[i] - self->offset[i] - RANGE));
      if (ABS (self->exponent[i] - self->offset[i]) > MAX_EXPONENT)
        scale_column (self, i, n_rows, self->offset[i] - self->exponent[i]);
    }

  return TRUE;
}

static double *
slices_of (const AprPackedOperand *self, gsize index)
{
  return self->slices + index * APR_SLICE_STRIDE;
}

/* The bits of the first slice, of the first bytes, or of a head. */
static gint
get_top (const AprPackedOperand *self)
{
  return self->cut == APR_PACKING_BYTES ? APR_BYTE_TOP : self->in_two ? APR_SLICE_WHOLE_BITS : APR_SLICE_TOP;
}

/* The power of two that makes them whole. */
static double
factor_of (const AprPackedOperand *self, gsize index)
{
  if (self->exponent[index] == APR_PACKED_OPERAND_NO_EXPONENT)
    return 1;

  return apr_power_of_two (get_top (self) + self->offset[index] - self->exponent[index]);
}

/* Where a column is read until it is changed. */
static const double *
get_values (const AprPackedOperand *self, gsize index)
{
  return index < self->n_main && self->places[index] != NULL ? self->places[index]
                                                             : apr_packed_operand_get (self, index);
}

/* A remainder column: what cutting a column left. */
static void
add_rest (AprPackedOperand *self, gsize index, gsize n_rows)
{
  gint bits = self->cut == APR_PACKING_BYTES ? APR_BYTE_LOW_BITS : APR_SLICE_BITS;
  gint n_more = self->cut == APR_PACKING_BYTES || self->in_two ? 1 : 2;
  gsize remainder_index = apr_packed_operand_add_remainder (
    self, self->owner[index], self->exponent[index] - get_top (self) - n_more * bits);
  double *remainder = apr_packed_operand_get (self, remainder_index);
  const double *column = get_values (self, index);
  double factor = factor_of (self, index);
  double more = ldexp (1.0, bits);
  double max;
  double min;
  gsize row;
  gint i;

  for (row = 0; row < n_rows; row++)
    {
      double rest = column[row] * factor;

      for (i = 0; i < n_more; i++)
        rest = (rest - rint (rest)) * more;
      remainder[row] = rest - rint (rest);
    }

  (void) self->kernel->find_range (remainder, n_rows, &max, &min);
  (void) frexp (max, &self->exponent[remainder_index]);
  /* One more, as a head is not quite up to the exponent. */
  self->exponent[remainder_index] += self->offset[remainder_index] + (self->in_two ? 1 : 0);
}

/* Whether all of a column is far enough from the ends of what a double can hold for a rest to be exact. */
static gboolean
may_have_rest (const AprPackedOperand *self, gsize index, gsize n_rows)
{
  double max;
  double min;

  return self->kernel->find_range (get_values (self, index), n_rows, &max, &min) &&
         min >= ldexp (1.0, self->exponent[index] - self->offset[index] - RANGE);
}

/* As the functions of the kernel do: into those slices or bytes that come first, or @all. */
static guint
cut_column (AprPackedOperand *self, gsize index, gsize n_rows, gboolean all)
{
  const AprSliceKernel *kernel = self->kernel;
  const double *column = get_values (self, index);
  double factor = factor_of (self, index);
  guint8 *tiles;

  if (self->in_two)
    {
      guint n = self->ones_cut && index == 0
                ? 2
                : (kernel->cut_fixed != NULL ? kernel->cut_fixed : kernel->cut_in_two) (
                    column, n_rows, factor, slices_of (self, index), apr_packed_operand_get_distance (self),
                    self->sums[index]);

      self->ones_cut |= index == 0 && n == 2;
      return n;
    }
  if (self->cut == APR_PACKING_SLICES)
    return (all ? kernel->slice_all : kernel->slice) (column, n_rows, factor, slices_of (self, index),
                                                      apr_packed_operand_get_distance (self));

  tiles = self->tiles + index / self->panel * apr_packed_operand_get_tiles_size (self) +
          index % self->panel * APR_BYTE_STEP;
  /* What is multiplied with columns that fill a panel is not looked at. */
  if (self->owner[index] == APR_PACKED_OPERAND_NO_OWNER)
    return 0;
  return self->bytes->cut (column, n_rows / APR_BYTE_STEP, factor, all, tiles);
}

/* How many slices or bytes come first, and how many there are. */
static guint
count_first (const AprPackedOperand *self)
{
  return self->cut == APR_PACKING_BYTES ? APR_BYTE_HIGH : 2;
}

static guint
count_most (const AprPackedOperand *self)
{
  return self->cut == APR_PACKING_BYTES ? APR_BYTE_MAX : self->in_two ? 2 : 3;
}

/* Cuts a panel; false where a value does not fit into the exponent of its column. */
static gboolean
cut_panel (AprPackedOperand *self, gsize panel, gsize n_rows, gboolean measured, gboolean all)
{
  const guint most = count_most (self);
  const gsize first = panel * self->panel;
  guint *n_slices = &self->n_slices[panel];
  guint n[APR_BYTE_PANEL];
  gsize i;

  /* What remainder columns leave goes to another panel, which comes in its turn. */
  self->n = MAX (self->n, first + self->panel);

  *n_slices = 0;
  for (i = 0; i < self->panel; i++)
    {
      n[i] = cut_column (self, first + i, n_rows, all);
      /* What is left of a column takes another look at it, which must see the same even where a thread of the program
       * writes to what was handed over. */
      if (n[i] > most && copy_place (self, first + i, n_rows))
        n[i] = cut_column (self, first + i, n_rows, all);
      if (n[i] == APR_SLICE_OUTSIDE || (n[i] > most && !measured && !may_have_rest (self, first + i, n_rows)))
        {
          g_assert (!measured);
          return FALSE;
        }
      *n_slices = MAX (*n_slices, MIN (n[i], most));
      if (n[i] > count_first (self) && !all && !self->in_two)
        return cut_panel (self, panel, n_rows, measured, TRUE);
    }

  if (self->turned != NULL)
    self->bytes->turn (apr_packed_operand_get_tiles (self, panel), n_rows / APR_BYTE_STEP, *n_slices,
                       self->turned + panel * apr_packed_operand_get_tiles_size (self));
  for (i = 0; i < self->panel; i++)
    if (n[i] > most)
      add_rest (self, first + i, n_rows);
  return TRUE;
}

/* Whether a panel was cut into all in the block before. */
static gboolean
had_all (const AprPackedOperand *self, gsize panel)
{
  return panel * self->panel < self->n_main && self->n_slices[panel] > count_first (self);
}

/* The exponents that the first rows bring, for a first block: what they do not hold for is measured. */
static void
guess_exponents (AprPackedOperand *self, gsize n_rows)
{
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    {
      double max;
      double min;
      gint exponent;

      if (self->running[i] != APR_PACKED_OPERAND_NO_EXPONENT ||
          !self->kernel->find_range (get_values (self, i), n_rows, &max, &min) || max == 0 || isinf (max))
        continue;
      (void) frexp (max, &exponent);
      self->running[i] = exponent + 1;
    }
}

/* Takes the exponents that the layers have, if none is above @max or for columns that have to be scaled first. */
static gboolean
take_exponents (AprPackedOperand *self, gsize n_rows, gint max)
{
  gsize i;

  if (self->n > self->n_main)
    return FALSE;
  if (self->n_columns > 0 && self->running[0] == APR_PACKED_OPERAND_NO_EXPONENT)
    guess_exponents (self, MIN (n_rows, GUESSED_ROWS));
  for (i = 0; i < self->n_main; i++)
    {
      if (self->owner[i] != APR_PACKED_OPERAND_NO_OWNER &&
          (self->offset[i] != 0 || self->running[i] < -MAX_EXPONENT || self->running[i] > max))
        return FALSE;
      self->exponent[i] = self->running[i];
    }

  return TRUE;
}

/* Whether the range of a column says that it can be multiplied whole. A float has 24 bits: if the smallest one is at
 * least 2^25 units, all are multiples of four units. They are below 2^47 units, so that no addition rounds the sum of
 * as many as a block has rows. */
static gboolean
is_whole (const AprColumnRange *range, double unit)
{
  G_STATIC_ASSERT (APR_SLICE_ROWS <= 1 << (53 + 2 - APR_SLICE_WHOLE_BITS));

  return range->max < APR_SLICE_WHOLE_LIMIT * unit && range->min >= 0x1p25 * unit;
}

gboolean
apr_packed_operand_try_whole (AprPackedOperand *self, gsize n_rows)
{
  gsize i;

  if (!take_exponents (self, n_rows, MAX_EXPONENT))
    return FALSE;

  for (i = 0; i < self->n_main; i++)
    {
      gint unit =
        self->exponent[i] == APR_PACKED_OPERAND_NO_EXPONENT ? 0 : self->exponent[i] - APR_SLICE_WHOLE_BITS;

      (void) copy_place (self, i, n_rows);
      self->units[i] = apr_power_of_two (unit);
      if (is_whole (&self->ranges[i], self->units[i]))
        self->sums[i][0] = (gint64) (self->ranges[i].sum * apr_power_of_two (-unit));
      else if (!self->kernel->sum_whole (apr_packed_operand_get (self, i), n_rows, self->units[i],
                                         &self->sums[i][0]))
        return FALSE;
      self->sums[i][1] = 0;
    }
  return TRUE;
}

gboolean
apr_packed_operand_cut_weighted (
  AprPackedOperand *self, gsize index, const double *from, const double *weights, gsize n_rows, gint exponent)
{
  guint *n_slices = &self->n_slices[index / self->panel];
  double factor = self->running[index] == APR_PACKED_OPERAND_NO_EXPONENT
                  ? 1
                  : apr_power_of_two (APR_SLICE_WHOLE_BITS + exponent - self->running[index]);
  guint n = self->kernel->cut_weighted (from, weights, n_rows, factor, slices_of (self, index),
                                        apr_packed_operand_get_distance (self));

  if (n == APR_SLICE_OUTSIDE)
    return FALSE;

  *n_slices = MAX (index % self->panel == 0 ? 0 : *n_slices, n);
  return TRUE;
}

gboolean
apr_packed_operand_try_slice (AprPackedOperand *self, gsize n_rows)
{
  /* Where the factor of a column, or what a double is multiplied by first, is at least 1, so that however small a
   * value is, their product is exact. */
  gint max = self->cut == APR_PACKING_BYTES ? APR_BYTE_TOP : APR_SLICE_TOP + APR_SLICE_BITS;
  gsize panel;

  if (!take_exponents (self, n_rows, max))
    return FALSE;

  self->in_two = self->cut == APR_PACKING_SLICES && self->kernel->multiply_whole != NULL;
  for (panel = 0; panel * self->panel < self->n; panel++)
    if (!cut_panel (self, panel, n_rows, panel * self->panel >= self->n_main, had_all (self, panel)))
      {
        self->n = self->n_main;
        self->in_two = FALSE;
        return FALSE;
      }
  return TRUE;
}

void
apr_packed_operand_slice (AprPackedOperand *self, gsize n_rows)
{
  gsize panel;

  self->in_two = FALSE;
  for (panel = 0; panel * self->panel < self->n; panel++)
    (void) cut_panel (self, panel, n_rows, TRUE, had_all (self, panel));
}

void
apr_packed_operand_normalize (AprPackedOperand *self, gsize n_rows)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    if (self->exponent[i] != APR_PACKED_OPERAND_NO_EXPONENT)
      scale_column (self, i, n_rows, self->offset[i] - self->exponent[i]);
}
