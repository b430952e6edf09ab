/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-weights-private.h"

#include <string.h>

#include "aprender/base/apr-power-private.h"
#include "aprender/exact-sums/apr-weight-windows-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"

#define WORD_BITS 24

gboolean
apr_whole_weights_init (AprWholeWeights *self, const AprRows *rows)
{
  gint min;
  gint max;

  *self = (AprWholeWeights){ .rows = rows };
  if (rows == NULL || !apr_weight_windows_find_exponents (rows, &min, &max))
    return TRUE;
  if (max - min > APR_WEIGHT_WINDOW_BITS)
    return FALSE;

  self->unit = min;
  self->n_bits = (guint) (max - min);
  return TRUE;
}

void
apr_residue_weights_init (AprResidueWeights *self,
                          const AprWholeWeights *all,
                          gsize block_rows,
                          guint n_moduli,
                          const AprResidueKernel *kernel)
{
  gsize i;

  memset (self, 0, sizeof *self);
  self->all = *all;
  if (all->rows == NULL)
    return;

  block_rows = apr_residue_kernel_fill_up (kernel, block_rows);
  self->stride = block_rows * kernel->residue_size;
  self->values = g_new0 (double, block_rows);
  for (i = 0; i < APR_RESIDUE_WORDS; i++)
    self->words[i] = g_new0 (guint32, block_rows);
  self->residues = g_aligned_alloc0 (n_moduli, self->stride, 64);
}

void
apr_residue_weights_clear (AprResidueWeights *self)
{
  gsize i;

  g_free (self->values);
  for (i = 0; i < APR_RESIDUE_WORDS; i++)
    g_free (self->words[i]);
  g_aligned_free (self->residues);
}

gboolean
apr_residue_weights_read (AprResidueWeights *self, gsize first_row, gsize n_rows)
{
  gboolean any = FALSE;
  gsize row;
  gsize i;

  apr_rows_read (self->all.rows, first_row, n_rows, 0, 1, 1, self->values);
  for (row = 0; row < n_rows; row++)
    {
      gint exponent;
      unsigned __int128 whole = apr_split_double (self->values[row], &exponent);

      /* Where another program changes the weights meanwhile, one may not fit. */
      if (exponent < self->all.unit || exponent - self->all.unit > APR_WEIGHT_WINDOW_BITS)
        whole = 0;
      if (whole != 0)
        whole <<= exponent - self->all.unit;
      any |= whole != 0;
      for (i = 0; i < APR_RESIDUE_WORDS; i++)
        self->words[i][row] = (guint32) (whole >> WORD_BITS * i) & ((1u << WORD_BITS) - 1);
    }

  return any;
}

void
apr_residue_weights_cut (AprResidueWeights *self, const AprResidueModuli *moduli, guint index, gsize n_rows)
{
  gint64 modulus = moduli->modulus[index];
  double reciprocal = 1.0 / (double) modulus;
  guint8 *bytes = self->residues + index * self->stride;
  gint16 *numbers = (gint16 *) (gpointer) bytes;
  gint64 power[APR_RESIDUE_WORDS] = { 1 };
  gsize row;
  gsize i;

  for (i = 1; i < APR_RESIDUE_WORDS; i++)
    power[i] = (power[i - 1] << WORD_BITS) % modulus;

  for (row = 0; row < n_rows; row++)
    {
      gint64 sum = self->words[0][row] + self->words[1][row] * power[1] + self->words[2][row] * power[2] +
                   self->words[3][row] * power[3];
      gint64 residue = sum - (gint64) ((double) sum * reciprocal) * modulus;

      /* The quotient may be one too small or too large. */
      residue += residue < 0 ? modulus : 0;
      residue -= residue >= modulus ? modulus : 0;
      if (moduli->residue_size == 1)
        bytes[row] = (guint8) residue;
      else
        numbers[row] = (gint16) (residue >= (modulus + 1) / 2 ? residue - modulus : residue);
    }
}
