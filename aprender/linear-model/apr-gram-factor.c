/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-gram-factor-private.h"

#include <math.h>
#include <string.h>

#include "aprender/linear-model/apr-pages-private.h"

/* Between these powers of two of its greatest value, a column's products and slices are far from the ends of what a double
 * can hold. */
#define RANGE 500
#define MAX_EXPONENT 400

/* Where 2^24 times the factor of a column is at least 1, so that however small a value is, their product is exact. */
#define MAX_UNMEASURED_EXPONENT (APR_GRAM_TOP + APR_GRAM_SLICE)

static double *
columns_new (gsize n)
{
  double *columns = apr_pages_new (n * APR_GRAM_STRIDE * sizeof (double), FALSE);

  if (columns == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " columns", n);
  return columns;
}

/* Room for @n_allocated columns, of which the first self->n are kept. */
static void
allocate (AprGramFactor *self, gsize n_allocated)
{
  double *values = columns_new (n_allocated);

  if (self->values != NULL)
    memcpy (values, self->values, self->n * APR_GRAM_STRIDE * sizeof (double));
  apr_pages_free (self->values);
  self->values = values;
  if (self->slices != NULL)
    {
      double *slices = columns_new (APR_GRAM_N_SLICES * n_allocated);
      gsize i;

      for (i = 0; i < APR_GRAM_N_SLICES && self->n_allocated > 0; i++)
        memcpy (slices + i * n_allocated * APR_GRAM_STRIDE,
                self->slices + i * self->n_allocated * APR_GRAM_STRIDE,
                self->n_allocated * APR_GRAM_STRIDE * sizeof (double));
      apr_pages_free (self->slices);
      self->slices = slices;
    }
  self->owner = g_renew (gsize, self->owner, n_allocated);
  self->offset = g_renew (gint, self->offset, n_allocated);
  self->exponent = g_renew (gint, self->exponent, n_allocated);
  self->n_slices = g_renew (guint, self->n_slices, n_allocated / APR_GRAM_PANEL);
  self->n_allocated = n_allocated;
}

void
apr_gram_factor_init (
  AprGramFactor *self, const AprGramKernel *kernel, gsize n_columns, gsize n_layers, gboolean sliced)
{
  gsize i;

  self->kernel = kernel;
  self->n_columns = n_columns;
  self->n_padded = (n_columns + APR_GRAM_PANEL - 1) / APR_GRAM_PANEL * APR_GRAM_PANEL;
  self->n_main = n_layers * self->n_padded;
  if (sliced)
    self->slices = columns_new (1);
  allocate (self, self->n_main + self->n_padded / 64 * APR_GRAM_PANEL + APR_GRAM_PANEL);
  self->running = g_new (gint, self->n_main);
  for (i = 0; i < self->n_main; i++)
    {
      gsize owner = i % self->n_padded;

      self->owner[i] = owner < n_columns ? owner : APR_GRAM_NO_OWNER;
      self->exponent[i] = self->running[i] = APR_GRAM_NO_EXPONENT;
      self->n_slices[i / APR_GRAM_PANEL] = 0;
      if (owner >= n_columns)
        memset (apr_gram_factor_get (self, i), 0, APR_GRAM_STRIDE * sizeof (double));
    }
  apr_gram_factor_reset (self);
}

void
apr_gram_factor_clear (AprGramFactor *self)
{
  apr_pages_free (self->values);
  apr_pages_free (self->slices);
  g_free (self->owner);
  g_free (self->offset);
  g_free (self->exponent);
  g_free (self->running);
  g_free (self->n_slices);
}

void
apr_gram_factor_reset (AprGramFactor *self)
{
  gsize i;

  self->n = self->n_main;
  for (i = 0; i < self->n_main; i++)
    self->offset[i] = 0;
}

gsize
apr_gram_factor_add_strip (AprGramFactor *self, gsize owner, gint offset)
{
  gsize i;

  /* A whole panel at a time. */
  if (self->n == self->n_allocated)
    allocate (self, 2 * self->n_allocated);
  if (self->n % APR_GRAM_PANEL == 0)
    {
      memset (apr_gram_factor_get (self, self->n), 0, APR_GRAM_PANEL * APR_GRAM_STRIDE * sizeof (double));
      for (i = self->n; i < self->n + APR_GRAM_PANEL; i++)
        {
          self->owner[i] = APR_GRAM_NO_OWNER;
          self->offset[i] = 0;
          self->exponent[i] = APR_GRAM_NO_EXPONENT;
        }
    }
  self->owner[self->n] = owner;
  self->offset[self->n] = offset;

  return self->n++;
}

/* Multiplies by 2^@exponent. One factor cannot always do it. */
static void
scale_column (AprGramFactor *self, gsize index, gsize n_rows, gint exponent)
{
  self->offset[index] -= exponent;
  while (exponent != 0)
    {
      gint step = CLAMP (exponent, -1000, 1000);

      self->kernel->scale (apr_gram_factor_get (self, index), n_rows, ldexp (1.0, step));
      exponent -= step;
    }
}

/* Moves what is below @limit to a strip. */
static void
split (AprGramFactor *self, gsize index, gsize n_rows, double limit)
{
  gsize strip_index = apr_gram_factor_add_strip (self, self->owner[index], self->offset[index]);
  double *strip = apr_gram_factor_get (self, strip_index);
  double *column = apr_gram_factor_get (self, index);
  gsize row;

  for (row = 0; row < n_rows; row++)
    {
      gboolean small = fabs (column[row]) < limit;

      strip[row] = small ? column[row] : 0;
      column[row] = small ? 0 : column[row];
    }
}

gboolean
apr_gram_factor_measure (AprGramFactor *self,
                         gsize n_rows,
                         void (*outgrow) (gpointer user_data, AprGramFactor *self, gsize column),
                         gpointer user_data)
{
  gsize i;

  /* Strips are put behind, and come in their turn. */
  for (i = 0; i < self->n; i++)
    {
      double greatest;
      double least;
      gint exponent;

      if (self->owner[i] == APR_GRAM_NO_OWNER)
        continue;
      if (!self->kernel->find_range (apr_gram_factor_get (self, i), n_rows, &greatest, &least) ||
          isinf (greatest))
        return FALSE;

      /* What is 0 has no scale: one that is far from its offset would make a factor that is infinite. */
      self->exponent[i] = APR_GRAM_NO_EXPONENT;
      if (greatest == 0)
        continue;

      (void) frexp (greatest, &exponent);
      exponent += self->offset[i];
      if (i < self->n_main && exponent > self->running[i])
        {
          outgrow (user_data, self, i);
          /* One more, so that a column seldom outgrows it again. */
          self->running[i] = exponent + 1;
        }

      /* Sums in double must not depend on the blocks that came before. */
      if (self->slices == NULL)
        {
          self->exponent[i] = exponent;
          continue;
        }

      self->exponent[i] = i < self->n_main ? self->running[i] : exponent;
      if (least < ldexp (1.0, self->exponent[i] - self->offset[i] - RANGE))
        split (self, i, n_rows, ldexp (1.0, self->exponent[i] - self->offset[i] - RANGE));
      if (ABS (self->exponent[i] - self->offset[i]) > MAX_EXPONENT)
        scale_column (self, i, n_rows, self->offset[i] - self->exponent[i]);
    }

  return TRUE;
}

static double *
slices_of (const AprGramFactor *self, gsize index)
{
  return self->slices + index * APR_GRAM_STRIDE;
}

/* The power of two that makes the first slice whole. */
static double
factor_of (const AprGramFactor *self, gsize index)
{
  if (self->exponent[index] == APR_GRAM_NO_EXPONENT)
    return 1;

  return ldexp (1.0, APR_GRAM_TOP + self->offset[index] - self->exponent[index]);
}

/* A strip of what three slices have left of a column. */
static void
add_rest (AprGramFactor *self, gsize index, gsize n_rows)
{
  gsize strip_index = apr_gram_factor_add_strip (self, self->owner[index],
                                                 self->exponent[index] - APR_GRAM_TOP - 2 * APR_GRAM_SLICE);
  double *strip = apr_gram_factor_get (self, strip_index);
  const double *column = apr_gram_factor_get (self, index);
  double factor = factor_of (self, index);
  double greatest;
  double least;
  gsize row;

  for (row = 0; row < n_rows; row++)
    {
      double rest = column[row] * factor - apr_gram_factor_get_slice (self, APR_GRAM_S0, index)[row];

      rest = rest * 0x1p24 - apr_gram_factor_get_slice (self, APR_GRAM_S1, index)[row];
      strip[row] = rest * 0x1p24 - apr_gram_factor_get_slice (self, APR_GRAM_S2, index)[row];
    }

  (void) self->kernel->find_range (strip, n_rows, &greatest, &least);
  (void) frexp (greatest, &self->exponent[strip_index]);
  self->exponent[strip_index] += self->offset[strip_index];
}

/* Whether all of a column is far enough from the ends of what a double can hold for a rest to be exact. */
static gboolean
may_have_rest (const AprGramFactor *self, gsize index, gsize n_rows)
{
  double greatest;
  double least;

  return self->kernel->find_range (apr_gram_factor_get (self, index), n_rows, &greatest, &least) &&
         least >= ldexp (1.0, self->exponent[index] - self->offset[index] - RANGE);
}

#ifndef NDEBUG
/* What the sums of APR_GRAM_STEPS products rely on. */
static void
check_slices (const AprGramFactor *self, gsize index, gsize n_rows, guint n_slices)
{
  static const gint pairs[][3] = {
    { APR_GRAM_S01, APR_GRAM_S0, APR_GRAM_S1 },
    { APR_GRAM_S02, APR_GRAM_S0, APR_GRAM_S2 },
    { APR_GRAM_S12, APR_GRAM_S1, APR_GRAM_S2 },
  };
  gsize row;
  gsize i;

  for (i = 0; i < MIN (n_slices, 3); i++)
    for (row = 0; row < n_rows; row++)
      {
        double value = apr_gram_factor_get_slice (self, i, index)[row];

        g_assert (fabs (value) <= 0x1p23 && value == floor (value));
      }
  for (i = 0; i < (n_slices >= 3 ? 3 : n_slices == 2 ? 1 : 0); i++)
    for (row = 0; row < n_rows; row++)
      g_assert (apr_gram_factor_get_slice (self, pairs[i][0], index)[row] ==
                apr_gram_factor_get_slice (self, pairs[i][1], index)[row] +
                  apr_gram_factor_get_slice (self, pairs[i][2], index)[row]);
}
#endif

/* Cuts a panel; false where a value does not fit into the exponent of its column. */
static gboolean
slice_panel (AprGramFactor *self, gsize first, gsize n_rows, gboolean measured)
{
  gsize distance = self->n_allocated * APR_GRAM_STRIDE;
  guint *n_slices = &self->n_slices[first / APR_GRAM_PANEL];
  /* As the panel was in the block before. */
  gboolean all = first < self->n_main && *n_slices == 3;
  gboolean has_rest[APR_GRAM_PANEL] = { FALSE };
  guint most = 0;
  gsize i;

  /* What strips leave goes to another panel, which comes in its turn. */
  self->n = MAX (self->n, first + APR_GRAM_PANEL);

  for (i = 0; i < APR_GRAM_PANEL; i++)
    {
      gsize index = first + i;
      guint n = (all ? self->kernel->slice_all : self->kernel->slice) (apr_gram_factor_get (self, index),
                                                                       n_rows, factor_of (self, index),
                                                                       slices_of (self, index), distance);

      if (n == APR_GRAM_OUTSIDE || (n > 3 && !measured && !may_have_rest (self, index, n_rows)))
        {
          g_assert (!measured);
          return FALSE;
        }
      if (!all && n >= 3)
        {
          /* Now for all columns of the panel. */
          all = TRUE;
          most = 0;
          i = G_MAXSIZE;
          continue;
        }
      most = MAX (most, n);
      has_rest[i] = n > 3;
    }
  *n_slices = MIN (most, 3);
#ifndef NDEBUG
  for (i = 0; i < APR_GRAM_PANEL; i++)
    check_slices (self, first + i, n_rows, *n_slices);
#endif

  for (i = 0; i < APR_GRAM_PANEL; i++)
    if (has_rest[i])
      add_rest (self, first + i, n_rows);
  return TRUE;
}

gboolean
apr_gram_factor_try_slice (AprGramFactor *self, gsize n_rows)
{
  gsize i;

  if (self->n > self->n_main)
    return FALSE;
  for (i = 0; i < self->n_main; i++)
    {
      if (self->owner[i] != APR_GRAM_NO_OWNER && (self->offset[i] != 0 || self->running[i] < -MAX_EXPONENT ||
                                                  self->running[i] > MAX_UNMEASURED_EXPONENT))
        return FALSE;
      self->exponent[i] = self->running[i];
    }

  for (i = 0; i < self->n; i += APR_GRAM_PANEL)
    if (!slice_panel (self, i, n_rows, i >= self->n_main))
      {
        self->n = self->n_main;
        return FALSE;
      }
  return TRUE;
}

void
apr_gram_factor_slice (AprGramFactor *self, gsize n_rows)
{
  gsize first;

  for (first = 0; first < self->n; first += APR_GRAM_PANEL)
    (void) slice_panel (self, first, n_rows, TRUE);
}

void
apr_gram_factor_normalize (AprGramFactor *self, gsize n_rows)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    if (self->exponent[i] != APR_GRAM_NO_EXPONENT)
      scale_column (self, i, n_rows, self->offset[i] - self->exponent[i]);
}
