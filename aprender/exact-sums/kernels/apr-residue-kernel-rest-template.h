/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A rest times its row, for all kernels: plain C, which compilers make vectors of. */

static void
multiply_rest (
  const AprResidueColumns *columns, gsize row, gsize n_panels, double rest, double *restrict sums)
{
  gsize n = n_panels * APR_RESIDUE_PANEL;
  gsize i;

  if (columns->is_float)
    {
      const float *values = (const float *) columns->values + row * columns->stride;

      for (i = 0; i < n; i++)
        sums[i] += rest * (double) values[i];
    }
  else
    {
      const double *values = (const double *) columns->values + row * columns->stride;

      for (i = 0; i < n; i++)
        sums[i] += rest * values[i];
    }
}
