/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-worker-parts-private.h"

#include <math.h>
#include <string.h>

/* The sums are kept modulo 2^64. Each part is, in the end, the sum of at most three products of slices in each row,
 * of at most 2^46 each; or, of columns that are cut in two, of two lower sums of at most 2^47 and a product of tails of
 * at most 2^46: 3 2^13 rows make 15 2^59, below 2^63. What the lower sums of columns of fixed point lack is below
 * 1.01 2^48 in each row, 1.01 3 2^61 in all. Sums in double are below 2^48 units in a block. */
#define MAX_BLOCKS (24576 / APR_SLICE_ROWS)

/* Terms that may wait. */
#define MAX_TERMS 65536

/* Parts of bytes are below 2^54 for each block of APR_BYTE_ROWS, and two may be added. */
G_STATIC_ASSERT (MAX_BLOCKS <= 256);

/* Tiles whose sums are kept lane by lane, which takes six times 1 kB for each: where there are few rows of them,
 * adding up the lanes after each block would be as much work as a third of the products. */
#define MAX_LANE_TILES 36

/* How many bytes are fetched ahead: what the second cache has room for beside the slices. */
#define MAX_NEXT (1 << 17)

/* A line that is in the cache all the time, for when there is nothing to fetch. */
static const guint8 nothing_line[APR_SLICE_LINE];
static const AprSliceFetch nothing = { nothing_line, nothing_line };

/* A weighted column is cut in three where its exponent is larger than it has to be by at most so much. */
#define MAX_SPARE_BITS 64

/* Blocks that are cut, at most, before one is tried whole again. */
#define MAX_CUT 64

/* Forgets what has not been fetched. */
static void
clear_next (AprExactSumsWorker *self)
{
  self->n_pieces = self->n_fetched = 0;
  self->next[0] = nothing;
  self->n_next = 0;
}

AprExactSumsWorker *
apr_exact_sums_worker_new (const AprSumsKernel *kernel,
                           gsize n_columns,
                           AprPrecision precision,
                           gboolean weighted,
                           gsize n_rows,
                           gsize n_blocks,
                           guint share,
                           guint n_shares,
                           AprExactSumsDrain drain,
                           gpointer user_data,
                           GError **error)
{
  const AprByteKernel *bytes = apr_sums_kernel_get_bytes (kernel, n_columns, weighted);
  AprPacking cut = precision == APR_PRECISION_DOUBLE ? APR_PACKING_WHOLE
                 : bytes != NULL                     ? APR_PACKING_BYTES
                                                     : APR_PACKING_SLICES;
  gsize n_layers = weighted && cut != APR_PACKING_WHOLE ? 2 : 1;
  gboolean ready;
  gsize size;
  AprExactSumsWorker *self = g_new0 (AprExactSumsWorker, 1);

  self->kernel = kernel->slices;
  self->bytes = bytes;
  self->precision = precision;
  self->drain = drain;
  self->user_data = user_data;
  self->n_columns = n_columns;
  self->n_parts = cut == APR_PACKING_WHOLE  ? APR_SLICE_DOUBLE_PARTS
                : cut == APR_PACKING_SLICES ? APR_SLICE_PARTS
                                            : APR_BYTE_PARTS;
  self->n_used = cut == APR_PACKING_BYTES ? 0 : self->n_parts;
  self->terms = g_array_new (FALSE, FALSE, sizeof (AprExactTerm));
  ready = apr_packed_operand_init (&self->right, kernel, cut, TRUE, n_columns, 1, n_rows);
  if (weighted)
    {
      ready = ready && apr_packed_operand_init (&self->left, kernel, cut, FALSE, n_columns, n_layers, n_rows);
      self->weights = g_aligned_alloc (self->right.stride, sizeof (double), 64);
    }
  self->n_sums = self->right.panel * self->right.panel;
  self->n_panels = self->right.n_padded / self->right.panel;
  self->n_tiles = self->n_panels * (self->n_panels + 1) / 2;
  self->share = share;
  self->n_shares = n_shares;
  self->next = g_new (AprSliceFetch, n_columns + 1);
  clear_next (self);
  self->first_panel = apr_triangle_part (self->n_panels, share, n_shares);
  self->end_panel = apr_triangle_part (self->n_panels, share + 1, n_shares);

  if (ready &&
      g_size_checked_mul (&size, n_layers * self->n_tiles, self->n_parts * self->n_sums * sizeof (gint64)))
    self->sums = apr_pages_new (size, TRUE);
  if (self->sums == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for the cross products of %" G_GSIZE_FORMAT " columns", n_columns);
      apr_exact_sums_worker_free (self);
      return NULL;
    }
  /* A single block's lanes would be added up at once. */
  if (cut == APR_PACKING_SLICES && n_blocks > 1 && n_layers * self->n_tiles <= MAX_LANE_TILES)
    {
      self->lanes = g_aligned_alloc (n_layers * self->n_tiles * N_PRODUCTS, sizeof (Lanes), 64);
      self->lane_products = g_new0 (const Product *, n_layers * self->n_tiles);
    }

  return self;
}

void
apr_exact_sums_worker_free (AprExactSumsWorker *self)
{
  if (self == NULL)
    return;

  apr_packed_operand_clear (&self->right);
  if (self->weights != NULL)
    {
      apr_packed_operand_clear (&self->left);
      g_aligned_free (self->weights);
    }
  apr_pages_free (self->sums);
  g_aligned_free (self->lanes);
  g_free (self->lane_products);
  g_free (self->next);
  g_array_unref (self->terms);
  g_free (self);
}

void
apr_exact_sums_worker_set_cancellable (AprExactSumsWorker *self, GCancellable *cancellable)
{
  self->cancellable = cancellable;
}

void
apr_exact_sums_worker_forget (AprExactSumsWorker *self)
{
  apr_packed_operand_forget (&self->right);
  if (self->weights != NULL)
    apr_packed_operand_forget (&self->left);
}

/* They are left as they are, and as they are cut, while blocks have as many rows. */
void
apr_exact_sums_worker_set_ones (AprExactSumsWorker *self, gsize n_rows)
{
  double *ones = apr_packed_operand_get (&self->right, 0);
  gsize row;

  self->right.ranges[0] = (AprColumnRange){ 1, 1, (double) n_rows };
  if (self->n_ones == n_rows)
    return;
  for (row = 0; row < n_rows; row++)
    ones[row] = 1.0;
  self->n_ones = n_rows;
  self->right.ones_cut = FALSE;
}

double *
apr_exact_sums_worker_get_column (AprExactSumsWorker *self, gsize column)
{
  return apr_packed_operand_get (&self->right, column);
}

AprColumnRange *
apr_exact_sums_worker_get_ranges (AprExactSumsWorker *self, gsize column)
{
  return self->right.ranges + column;
}

gboolean
apr_exact_sums_worker_set_places (
  AprExactSumsWorker *self, gsize first, const AprRows *rows, gsize first_row, gsize n_rows)
{
  gsize i;

  if (self->right.cut != APR_PACKING_SLICES || self->weights != NULL || n_rows % 8 != 0)
    return FALSE;
  for (i = 0; i < rows->n_columns; i++)
    {
      const double *place = apr_rows_find_doubles (rows, i, first_row);

      if (place == NULL)
        return FALSE;
      self->right.places[first + i] = place;
    }

  return TRUE;
}

double *
apr_exact_sums_worker_add_rest (AprExactSumsWorker *self, gsize column)
{
  return apr_packed_operand_get (&self->right, apr_packed_operand_add_remainder (&self->right, column, 0));
}

double *
apr_exact_sums_worker_get_weights (AprExactSumsWorker *self)
{
  return self->weights;
}

gsize
apr_exact_sums_worker_get_stride (AprExactSumsWorker *self)
{
  return self->right.stride;
}

static void
add_piece (AprExactSumsWorker *self, const guint8 *data, gsize size)
{
  size = MIN (size, MAX_NEXT - self->n_next);
  if (size == 0)
    return;

  g_assert (self->n_pieces < self->n_columns);
  self->next[self->n_pieces++] = (AprSliceFetch){ data, data + size };
  self->next[self->n_pieces] = nothing;
  self->n_next += size;
}

void
apr_exact_sums_worker_add_next (AprExactSumsWorker *self, const AprRows *rows, gsize first_row, gsize n_rows)
{
  gsize width = apr_dtype_get_bits (rows->dtype) / 8;
  gsize row_size = rows->n_columns * width;
  gsize i;

  if (rows->columns == NULL)
    add_piece (self, rows->data + first_row * row_size, n_rows * row_size);
  else
    for (i = 0; i < rows->n_columns; i++)
      add_piece (self, rows->columns[i] + first_row * width, n_rows * width);
}

gboolean
apr_exact_sums_worker_is_full (AprExactSumsWorker *self)
{
  return self->n_blocks >= MAX_BLOCKS;
}

void
apr_exact_sums_worker_append_term (AprExactSumsWorker *self, gsize entry, gint64 value, gint exponent)
{
  AprExactTerm term = { entry, value, exponent };

  if (value == 0)
    return;

  if (self->terms->len == MAX_TERMS)
    self->drain (self, self->user_data);
  g_array_append_val (self->terms, term);
}

/* Turns an entry's sums into terms. */
static void
release_entry (AprExactSumsWorker *self, gsize layer, gsize row, gsize column)
{
  const AprPackedOperand *left = worker_get_left (self);
  gint64 parts[APR_BYTE_PARTS];
  gsize part;

  if (!worker_is_own (self, row / left->panel))
    return;
  if (!worker_take_parts (self, worker_get_sums (self, layer, row, column),
                          worker_get_mirrored (self, row, column), parts))
    return;
  for (part = 0; part < self->n_used; part++)
    apr_exact_sums_worker_append_term (self, apr_triangle (row, column), parts[part],
                                       left->running[layer * self->right.n_padded + row] +
                                         self->right.running[column] + worker_get_unit (self, part));
}

/* A new scale makes other units: the sums in the old ones must go first. */
static void
release_column (gpointer user_data, AprPackedOperand *operand, gsize index)
{
  AprExactSumsWorker *self = user_data;
  const AprPackedOperand *left = worker_get_left (self);
  gsize column = index % operand->n_padded;
  gsize layer;
  gsize i;

  if (operand->running[index] == APR_PACKED_OPERAND_NO_EXPONENT)
    return;

  apr_exact_sums_worker_add_up_lanes (self);
  if (operand == left)
    for (i = 0; i <= column; i++)
      release_entry (self, index / operand->n_padded, column, i);
  if (operand == &self->right)
    for (layer = 0; layer * operand->n_padded < left->n_main; layer++)
      for (i = column; i < self->n_columns; i++)
        release_entry (self, layer, i, column);
}

/* Brings the weights below 1, times 2^@exponent. False where one is not finite: another program can have changed it
 * since all were found to be. */
static gboolean
scale_weights (AprExactSumsWorker *self, gsize n_rows, gint *exponent)
{
  double max;
  double min;

  if (!self->kernel->find_range (self->weights, n_rows, &max, &min) || isinf (max))
    return FALSE;

  (void) frexp (max, exponent);
  self->kernel->scale (self->weights, n_rows, ldexp (1.0, -*exponent / 2));
  self->kernel->scale (self->weights, n_rows, ldexp (1.0, *exponent / 2 - *exponent));

  return TRUE;
}

/* Fills the left operand with the products of the weights, times 2^@exponent, and the right one's values, each as two
 * doubles. */
static void
weigh (AprExactSumsWorker *self, gsize n_rows, gint exponent)
{
  AprPackedOperand *left = &self->left;
  gsize i;

  apr_packed_operand_reset (left);
  for (i = 0; i < self->right.n; i++)
    {
      gsize owner = self->right.owner[i];
      gint own = self->right.exponent[i] != APR_PACKED_OPERAND_NO_EXPONENT ? self->right.exponent[i] : 0;
      gint offset = exponent + own;
      gsize high = i;
      gsize low = i + left->n_padded;

      if (owner == APR_PACKED_OPERAND_NO_OWNER)
        continue;
      if (i >= self->right.n_main)
        {
          high = apr_packed_operand_add_remainder (left, owner, offset);
          low = apr_packed_operand_add_remainder (left, owner, offset);
        }
      else if (left->n_main == left->n_padded)
        {
          /* In double, what is rounded off is of no use. */
          low = left->n_main;
        }
      self->kernel->weigh (apr_packed_operand_get (&self->right, i), self->weights, n_rows,
                           ldexp (1.0, self->right.offset[i] - own), apr_packed_operand_get (left, high),
                           apr_packed_operand_get (left, low));
      left->offset[high] = left->offset[low] = offset;
    }
}

static void
clear_rows (AprPackedOperand *operand, gsize first, gsize end)
{
  gsize i;

  for (i = 0; i < operand->n && first < end; i++)
    memset (apr_packed_operand_get (operand, i) + first, 0, (end - first) * sizeof (double));
}

/* Gives the weighted columns exponents that are above all their values, and the second layer, of their tails, those
 * that follow from these. The weights are below 1, times 2^@exponent. FALSE where an exponent is much larger than this
 * block needs: three parts would seldom suffice. */
static gboolean
set_weighted_exponents (AprExactSumsWorker *self, gint exponent)
{
  AprPackedOperand *left = &self->left;
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    {
      gint *own = &left->running[i];
      gint *tails = &left->running[left->n_padded + i];
      gint least = self->right.running[i] + exponent + 1;

      if (*own > least + MAX_SPARE_BITS)
        return FALSE;
      if (*own >= least && *tails == *own - 2 * APR_SLICE_WEIGHTED_BITS)
        continue;
      release_column (self, left, i);
      release_column (self, left, left->n_padded + i);
      *own = MAX (*own, least);
      *tails = *own - 2 * APR_SLICE_WEIGHTED_BITS;
    }

  return TRUE;
}

/* Cuts the weighted columns in three; FALSE where this does not suffice, or the columns without weights are not whole
 * numbers that suit. */
static gboolean
cut_weighted (AprExactSumsWorker *self, gsize n_rows, gint exponent)
{
  AprPackedOperand *left = &self->left;
  gsize i;

  apr_packed_operand_reset (left);
  if (!apr_packed_operand_try_whole (&self->right, n_rows) || !set_weighted_exponents (self, exponent))
    return FALSE;

  for (i = 0; i < left->n_padded; i++)
    if (!apr_packed_operand_cut_weighted (left, i, apr_packed_operand_get (&self->right, i), self->weights,
                                          n_rows, exponent))
      return FALSE;

  return TRUE;
}

/* Multiplies the columns whole, where they are whole numbers that suit. Where they are not, some of the next blocks are
 * not tried: after each such block twice as many. */
static gboolean
try_whole (AprExactSumsWorker *self, gsize n_rows, gint exponent)
{
  if (self->kernel->multiply_whole == NULL || self->right.cut != APR_PACKING_SLICES)
    return FALSE;
  if (self->n_cut > 0)
    {
      self->n_cut--;
      return FALSE;
    }
  if (self->weights != NULL ? cut_weighted (self, n_rows, exponent)
                            : apr_packed_operand_try_whole (&self->right, n_rows))
    {
      if (self->weights != NULL)
        apr_exact_sums_worker_multiply_weighted (self, n_rows);
      else
        apr_exact_sums_worker_multiply_whole (self, n_rows);
      self->n_next_cut = 1;
      return TRUE;
    }
  self->n_cut = self->n_next_cut = CLAMP (2 * self->n_next_cut, 1, MAX_CUT);
  return FALSE;
}

/* Where the values of a column are far apart, the operands need more columns than they had room for. */
static gboolean
check_memory (const AprExactSumsWorker *self, GError **error)
{
  gsize missing = MAX (self->right.missing, self->left.missing);

  if (missing == 0)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
               "No memory for %" G_GSIZE_FORMAT " more columns of %" G_GSIZE_FORMAT " rows", missing,
               self->right.stride);
  return FALSE;
}

gboolean
apr_exact_sums_worker_add_block (AprExactSumsWorker *self, gsize n_rows, GError **error)
{
  gsize step = self->right.cut == APR_PACKING_BYTES ? APR_BYTE_STEP : 8;
  gsize n_padded = (n_rows + step - 1) / step * step;
  gint exponent = 0;
  gboolean finite;

  g_assert (n_padded <= self->right.stride && self->n_blocks < MAX_BLOCKS);

  clear_rows (&self->right, n_rows, n_padded);
  if (self->weights != NULL)
    {
      memset (self->weights + n_rows, 0, (n_padded - n_rows) * sizeof (double));
      if (!scale_weights (self, n_padded, &exponent))
        return FALSE;
    }
  if (self->precision == APR_PRECISION_EXACT)
    {
      gboolean done = try_whole (self, n_padded, exponent);

      if (!done && self->weights == NULL && apr_packed_operand_try_slice (&self->right, n_padded))
        {
          if (self->right.in_two)
            apr_exact_sums_worker_multiply_in_two (self, n_padded);
          else
            apr_exact_sums_worker_multiply (self, n_padded);
          done = TRUE;
        }
      if (done)
        {
          self->n_blocks++;
          clear_next (self);
          apr_packed_operand_reset (&self->right);
          return check_memory (self, error);
        }
    }

  self->n_ones = 0;
  apr_packed_operand_copy_places (&self->right, n_padded);
  finite = apr_packed_operand_measure (&self->right, n_padded, release_column, self);
  if (finite && self->weights != NULL)
    {
      weigh (self, n_padded, exponent);
      (void) apr_packed_operand_measure (&self->left, n_padded, release_column, self);
    }
  if (finite && self->precision == APR_PRECISION_EXACT)
    {
      apr_packed_operand_slice (&self->right, n_padded);
      if (self->weights != NULL)
        apr_packed_operand_slice (&self->left, n_padded);
      apr_exact_sums_worker_multiply (self, n_padded);
    }
  else if (finite)
    {
      apr_packed_operand_normalize (&self->right, n_padded);
      if (self->weights != NULL)
        apr_packed_operand_normalize (&self->left, n_padded);
      apr_exact_sums_worker_multiply_double (self, n_padded);
    }

  self->n_blocks++;
  clear_next (self);
  apr_packed_operand_reset (&self->right);
  return finite && check_memory (self, error);
}
