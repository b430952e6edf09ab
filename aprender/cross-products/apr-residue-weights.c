/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-residue-weights-private.h"

#include <string.h>

#include "aprender/cross-products/kernels/apr-residue-kernel-private.h"

#define WORD_BITS 24

/* Blocks that tell how many bits the weights have. */
#define SAMPLE_BLOCKS 64

/* A weight as an odd number times a power of two; 0 for 0. */
static guint64
split (double value, gint *exponent)
{
  guint64 bits;
  guint64 whole;
  gint n_zeros;

  memcpy (&bits, &value, sizeof bits);
  whole = bits & (((guint64) 1 << 52) - 1);
  *exponent = (gint) (bits >> 52 & 0x7ff);
  if (*exponent > 0)
    whole |= (guint64) 1 << 52;
  else
    *exponent = 1;
  if (whole == 0)
    return 0;
  n_zeros = __builtin_ctzll (whole);
  *exponent += n_zeros - 1075;

  return whole >> n_zeros;
}

static void
find_exponents (const double *values, gsize n_rows, gint *min, gint *max)
{
  gsize i;

  *min = G_MAXINT;
  *max = G_MININT;
  for (i = 0; i < n_rows; i++)
    {
      gint exponent;
      guint64 whole = split (values[i], &exponent);

      if (whole == 0)
        continue;
      *min = MIN (*min, exponent);
      *max = MAX (*max, exponent + 64 - __builtin_clzll (whole));
    }
}

guint
apr_residue_weights_count_bits (const AprRows *rows, gsize block_rows)
{
  double values[APR_RESIDUE_ROWS];
  gsize n_blocks;
  gsize n_samples;
  guint n_bits = 1;
  gsize i;

  if (rows == NULL)
    return 0;

  n_blocks = (rows->n_rows + block_rows - 1) / block_rows;
  n_samples = MIN (n_blocks, SAMPLE_BLOCKS);
  for (i = 0; i < n_samples; i++)
    {
      gsize first = n_blocks * i / n_samples * block_rows;
      gsize n_rows = MIN (block_rows, rows->n_rows - first);
      gint min;
      gint max;

      apr_rows_read (rows, first, n_rows, 0, 1, 1, values);
      find_exponents (values, n_rows, &min, &max);
      if (min < max && max - min <= APR_RESIDUE_WEIGHT_BITS)
        n_bits = MAX (n_bits, (guint) (max - min));
    }

  return n_bits;
}

void
apr_residue_weights_init (AprResidueWeights *self,
                          const AprRows *rows,
                          gsize block_rows,
                          guint n_moduli,
                          const AprResidueKernel *kernel)
{
  gsize i;

  memset (self, 0, sizeof *self);
  self->rows = rows;
  if (rows == NULL)
    return;

  self->n_bits = apr_residue_weights_count_bits (rows, block_rows);
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

void
apr_residue_weights_read (AprResidueWeights *self, gsize first_row, gsize n_rows)
{
  if (self->rows == NULL)
    return;

  apr_rows_read (self->rows, first_row, n_rows, 0, 1, 1, self->values);
  find_exponents (self->values, n_rows, &self->min_exponent, &self->max_exponent);
}

void
apr_residue_weights_set_unit (AprResidueWeights *self)
{
  if (self->rows != NULL)
    self->unit = MIN (self->min_exponent, self->max_exponent - (gint) self->n_bits);
}

void
apr_residue_weights_split (AprResidueWeights *self, gsize n_rows)
{
  gsize row;
  gsize i;

  if (self->rows == NULL)
    return;

  for (row = 0; row < n_rows; row++)
    {
      gint exponent;
      unsigned __int128 whole = split (self->values[row], &exponent);

      if (whole != 0)
        whole <<= exponent - self->unit;
      for (i = 0; i < APR_RESIDUE_WORDS; i++)
        self->words[i][row] = (guint32) (whole >> WORD_BITS * i) & ((1u << WORD_BITS) - 1);
    }
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
