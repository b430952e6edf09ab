/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-worker-parts-private.h"

#include <math.h>
#include <string.h>

/* The products of columns: which are taken, and in what order, so that the nearest caches serve the kernels. */

/* Panels that stay in the first cache while those of a tile of the second pass by: 12 columns of 2 kB, and 64. */
#define NEAR_PANELS 3
#define FAR_PANELS 16

/* In the second cache, where tiles of bytes are read from: 8 panels of at most 96 kB. */
#define NEAR_BYTE_PANELS 8

#define S(i) APR_SLICE_S##i

/* By the numbers of slices that the panels have. */
static const Product products[4][4][N_PRODUCTS + 1] = {
  [1][1] = { { S (0), S (0), { 1 } } },
  [1][2] = { { S (0), S (0), { 1 } }, { S (0), S (1), { 0, 1 } } },
  [2][1] = { { S (0), S (0), { 1 } }, { S (1), S (0), { 0, 1 } } },
  [1][3] = { { S (0), S (0), { 1 } }, { S (0), S (1), { 0, 1 } }, { S (0), S (2), { 0, 0, 1 } } },
  [3][1] = { { S (0), S (0), { 1 } }, { S (1), S (0), { 0, 1 } }, { S (2), S (0), { 0, 0, 1 } } },
  [2][2] = { { S (0), S (0), { 1, -1 } }, { S (1), S (1), { 0, -1, 1 } }, { S (01), S (01), { 0, 1 } } },
  [2][3] = { { S (0), S (0), { 1, -1 } },
             { S (1), S (1), { 0, -1, 1 } },
             { S (01), S (01), { 0, 1 } },
             { S (0), S (2), { 0, 0, 1 } },
             { S (1), S (2), { 0, 0, 0, 1 } } },
  [3][2] = { { S (0), S (0), { 1, -1 } },
             { S (1), S (1), { 0, -1, 1 } },
             { S (01), S (01), { 0, 1 } },
             { S (2), S (0), { 0, 0, 1 } },
             { S (2), S (1), { 0, 0, 0, 1 } } },
  [3][3] = { { S (0), S (0), { 1, -1, -1 } },
             { S (1), S (1), { 0, -1, 1, -1 } },
             { S (01), S (01), { 0, 1 } },
             { S (02), S (02), { 0, 0, 1 } },
             { S (12), S (12), { 0, 0, 0, 1 } },
             { S (2), S (2), { 0, 0, -1, -1, 1 } } },
};

static gboolean
is_product (const Product *product)
{
  static const gint8 none[APR_SLICE_PARTS] = { 0 };

  return memcmp (product->signs, none, sizeof none) != 0;
}

/* Adds up the lanes of a tile. */
static void
count_lanes (AprExactSumsWorker *self, gsize tile)
{
  gint64 *sums = self->sums + tile * self->n_parts * self->n_sums;
  const Product *product = self->lane_products[tile];
  Lanes *lanes = self->lanes + tile * N_PRODUCTS;

  if (product == NULL)
    return;
  for (; is_product (product); product++, lanes++)
    self->kernel->add_up (*lanes, product->signs, sums);
  self->lane_products[tile] = NULL;
}

void
apr_exact_sums_worker_add_up_lanes (AprExactSumsWorker *self)
{
  gsize i;

  for (i = 0;
       self->lanes != NULL && i < worker_get_left (self)->n_main / self->right.n_padded * self->n_tiles; i++)
    count_lanes (self, i);
}

/* The lanes of the products in a tile, which must all be of one row of the table until they are added up. */
static Lanes *
get_lanes (AprExactSumsWorker *self, gsize tile, const Product *product)
{
  Lanes *lanes = self->lanes + tile * N_PRODUCTS;
  gsize n = 0;

  if (self->lane_products[tile] == product)
    return lanes;

  count_lanes (self, tile);
  self->lane_products[tile] = product;
  while (is_product (&product[n]))
    n++;
  memset (lanes, 0, n * sizeof (Lanes));
  return lanes;
}

/* Either both of its factors are sums of slices, or none is. */
static gsize
count_steps (const Product *product)
{
  return product->left < S (01) ? APR_SLICE_PLAIN_STEPS : APR_SLICE_STEPS;
}

static void
multiply_panels (
  AprExactSumsWorker *self, gsize l, gsize r, const Product *product, gsize n_rows, gint64 *sums)
{
  self->kernel->multiply (
    apr_packed_operand_get_slice (worker_get_left (self), product->left, l * APR_SLICE_PANEL),
    apr_packed_operand_get_slice (&self->right, product->right, r * APR_SLICE_PANEL), n_rows,
    count_steps (product), product->signs, sums);
}

static void
multiply_bytes (AprExactSumsWorker *self, gsize l, gsize r, gsize n_rows, gint64 *sums)
{
  const AprPackedOperand *left = worker_get_left (self);

  self->bytes->multiply (apr_packed_operand_get_tiles (left, l), left->n_slices[l],
                         apr_packed_operand_get_turned (&self->right, r), self->right.n_slices[r],
                         n_rows / APR_BYTE_STEP, sums);
}

/* The upper and the lower sums of columns that are not cut. */
static const Product whole[] = {
  { APR_SLICE_WHOLE, APR_SLICE_WHOLE, { 1 } },
  { APR_SLICE_WHOLE, APR_SLICE_WHOLE, { 0, 0, 1 } },
  { 0 },
};

/* The same of columns that are cut in two: h t' + t h' = (h + t) (h' + t') - h h' - t t'. */
static const Product in_two[] = {
  { APR_SLICE_HEAD, APR_SLICE_HEAD, { 1, -1 } },          { APR_SLICE_HEAD, APR_SLICE_HEAD, { 0, 0, 1, -1 } },
  { APR_SLICE_TAIL, APR_SLICE_TAIL, { 0, 0, 0, -1, 1 } }, { APR_SLICE_BOTH, APR_SLICE_BOTH, { 0, 1 } },
  { APR_SLICE_BOTH, APR_SLICE_BOTH, { 0, 0, 0, 1 } },     { 0 },
};

/* The same of columns of fixed point. */
static const Product fixed[] = {
  { APR_SLICE_FIXED, APR_SLICE_FIXED, { 1 } },
  { APR_SLICE_FIXED, APR_SLICE_FIXED, { 0, 0, 1 } },
  { APR_SLICE_FIXED, APR_SLICE_FIXED, { 0, 0, 0, 0, 1 } },
  { 0 },
};

/* Weighted columns with whole ones: heads and middles. */
static const Product weighted[] = {
  { APR_SLICE_WEIGHTED_HEAD, APR_SLICE_WHOLE, { 1 } },
  { APR_SLICE_WEIGHTED_HEAD, APR_SLICE_WHOLE, { 0, 0, 1 } },
  { APR_SLICE_WEIGHTED_MIDDLE, APR_SLICE_WHOLE, { 0, 0, 1 } },
  { APR_SLICE_WEIGHTED_MIDDLE, APR_SLICE_WHOLE, { 0, 0, 0, 0, 1 } },
  { 0 },
};

/* Their tails, which are too small for the same parts: these have the second layer. */
static const Product weighted_tails[] = {
  { APR_SLICE_WEIGHTED_TAIL, APR_SLICE_WHOLE, { 1 } },
  { APR_SLICE_WEIGHTED_TAIL, APR_SLICE_WHOLE, { 0, 0, 1 } },
  { 0 },
};
G_STATIC_ASSERT (APR_SLICE_WEIGHTED_BITS == 2 * APR_SLICE_BITS);

static const Product *
choose_products (const AprExactSumsWorker *self)
{
  return self->kernel->multiply_fixed != NULL ? fixed : in_two;
}

/* Tails have one sum, columns of fixed point three, others an upper and a lower one. */
static gsize
count_sums (const Product *product)
{
  return product->right == APR_SLICE_TAIL ? 1 : product->right == APR_SLICE_FIXED ? 3 : 2;
}

/* A panel of a factor, and the units that its numbers have: those of a column that is not cut are its own. */
static const double *
get_factor (const AprPackedOperand *operand, guint slice, gsize panel, const double **units)
{
  static const double ones[APR_SLICE_PANEL] = { 1, 1, 1, 1 };
  gsize first = panel * APR_SLICE_PANEL;

  *units = slice == APR_SLICE_WHOLE ? operand->units + first : ones;
  if (slice == APR_SLICE_WHOLE)
    return apr_packed_operand_get (operand, first);

  return apr_packed_operand_get_slice (operand, slice == APR_SLICE_FIXED ? APR_SLICE_HEAD : slice, first);
}

/* What the right factor is says how they are multiplied. */
static void
multiply_parts (
  AprExactSumsWorker *self, gsize l, gsize r, const Product *product, gsize n_rows, gsize first, Lanes *lanes)
{
  const double *left_units;
  const double *right_units;
  const double *left = get_factor (worker_get_left (self), product->left, l, &left_units);
  const double *right = get_factor (&self->right, product->right, r, &right_units);
  AprSliceFetch *fetch = worker_get_fetch (self);

  if (product->right == APR_SLICE_FIXED)
    self->kernel->multiply_fixed (left, right, apr_packed_operand_get_distance (&self->right), n_rows, first,
                                  fetch, lanes[0], lanes[1], lanes[2]);
  else if (product->right == APR_SLICE_TAIL)
    self->kernel->multiply_tails (left, right, n_rows, first, lanes[0]);
  else
    self->kernel->multiply_whole (left, right, left_units, right_units, n_rows, l == r, first, fetch,
                                  lanes[0], lanes[1]);
}

/* The same, added up. */
static void
sum_parts (
  AprExactSumsWorker *self, gsize l, gsize r, const Product *product, gsize n_rows, gsize first, gint64 *sums)
{
  Lanes lanes[3] __attribute__ ((aligned (64)));
  gsize n = count_sums (product);
  gsize i;

  memset (lanes, 0, n * sizeof *lanes);
  multiply_parts (self, l, r, product, n_rows, first, lanes);
  for (i = 0; i < n; i++)
    self->kernel->add_up (lanes[i], product[i].signs, sums);
}

/* The entries of the matrix that a product of two columns counts for: where both operands are the same, products come
 * once for two. */
static guint
count_uses (const AprExactSumsWorker *self, gsize x, gsize y, gsize *entry)
{
  gsize row = worker_get_left (self)->owner[x];
  gsize column = self->right.owner[y];

  if (row == APR_PACKED_OPERAND_NO_OWNER || column == APR_PACKED_OPERAND_NO_OWNER)
    return 0;
  *entry = apr_triangle (row, column);
  if (self->weights != NULL)
    return row >= column ? 1 : 0;

  return x < y ? 0 : x != y && row == column ? 2 : 1;
}

/* Panels of which one is of remainder columns. */
static void
multiply_remainders (AprExactSumsWorker *self, gsize l, gsize r, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  gint64 sums[APR_BYTE_PARTS * APR_BYTE_SUMS] __attribute__ ((aligned (64))) = { 0 };
  gsize panel = left->panel;
  const Product *product;
  gsize i;
  gsize part;

  if (left->n_slices[l] == 0 || self->right.n_slices[r] == 0)
    return;
  if (left->cut == APR_PACKING_BYTES)
    multiply_bytes (self, l, r, n_rows, sums);
  else if (left->in_two)
    for (product = choose_products (self); is_product (product); product += count_sums (product))
      sum_parts (self, l, r, product, n_rows, 0, sums);
  else
    for (product = products[left->n_slices[l]][self->right.n_slices[r]]; is_product (product); product++)
      multiply_panels (self, l, r, product, n_rows, sums);

  for (i = 0; i < self->n_sums; i++)
    {
      gsize x = l * panel + i / panel;
      gsize y = r * panel + i % panel;
      gsize entry;
      guint n_uses = count_uses (self, x, y, &entry);

      for (part = 0; part < self->n_parts && n_uses > 0; part++)
        apr_exact_sums_worker_append_term (self, entry, sums[part * self->n_sums + i] * n_uses,
                                           left->exponent[x] + self->right.exponent[y] +
                                             worker_get_unit (self, part));
    }
}

/* The products of remainder columns, with each other and with all columns. */
static void
multiply_remainder_columns (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  gsize n_main = left->n_main / left->panel;
  gsize l;
  gsize r;

  for (l = 0; l < apr_packed_operand_get_n_panels (left); l++)
    for (r = l < n_main ? self->n_panels : 0;
         worker_is_own (self, l) && r < apr_packed_operand_get_n_panels (&self->right) &&
         (self->weights != NULL || r <= l);
         r++)
      multiply_remainders (self, l, r, n_rows);
}

/* Panels of a layer. */
static void
multiply_layers (AprExactSumsWorker *self, gsize far, gsize near, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  gsize far_end = MIN (far + FAR_PANELS, left->n_main / APR_SLICE_PANEL);
  gsize near_end = MIN (near + NEAR_PANELS, self->n_panels);
  gsize i;
  gsize l;
  gsize r;

  for (i = 0; i < N_PRODUCTS; i++)
    for (l = far; l < far_end; l++)
      for (r = near; r < near_end && r <= l % self->n_panels && worker_is_own (self, l); r++)
        {
          const Product *row = products[left->n_slices[l]][self->right.n_slices[r]];
          const Product *product = &row[i];

          if (!is_product (product))
            continue;
          worker_fetch (self);
          if (self->lanes != NULL)
            self->kernel->multiply_lanes (
              apr_packed_operand_get_slice (left, product->left, l * APR_SLICE_PANEL),
              apr_packed_operand_get_slice (&self->right, product->right, r * APR_SLICE_PANEL), n_rows,
              count_steps (product),
              get_lanes (self, l / self->n_panels * self->n_tiles + apr_triangle (l % self->n_panels, r),
                         row)[i]);
          else
            multiply_panels (self, l, r, product, n_rows,
                             worker_get_sums (self, l / self->n_panels, l % self->n_panels * APR_SLICE_PANEL,
                                              r * APR_SLICE_PANEL));
        }
}

/* The same of bytes. */
static void
multiply_byte_layers (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  gsize n_main = left->n_main / left->panel;
  gsize near;
  gsize l;
  gsize r;

  for (near = 0; near < self->n_panels; near += NEAR_BYTE_PANELS)
    for (l = 0; l < n_main; l++)
      for (r = near; r < MIN (near + NEAR_BYTE_PANELS, self->n_panels) && r <= l % self->n_panels &&
                     worker_is_own (self, l);
           r++)
        {
          gint64 *sums =
            self->sums + (l / self->n_panels * self->n_tiles + apr_triangle (l % self->n_panels, r)) *
                           self->n_parts * self->n_sums;

          if (left->n_slices[l] == 0 || self->right.n_slices[r] == 0)
            continue;
          worker_fetch (self);
          /* Four groups are a part. */
          self->n_used = MAX (self->n_used, (left->n_slices[l] + self->right.n_slices[r] + 2) / 4);
          if (l == r && self->weights == NULL)
            self->bytes->multiply_self (apr_packed_operand_get_tiles (left, l),
                                        apr_packed_operand_get_turned (&self->right, r), left->n_slices[l],
                                        n_rows / APR_BYTE_STEP, sums);
          else
            multiply_bytes (self, l, r, n_rows, sums);
        }
}

void
apr_exact_sums_worker_multiply (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  gsize n_main = left->n_main / left->panel;
  gsize l;
  gsize r;

  /* Most slices make three products at least. */
  worker_start_fetching (self, left->cut == APR_PACKING_BYTES ? self->n_tiles : 3 * self->n_tiles);
  if (left->cut == APR_PACKING_BYTES)
    {
      self->bytes->start ();
      multiply_byte_layers (self, n_rows);
    }
  else
    for (l = 0; l < n_main; l += FAR_PANELS)
      for (r = 0; r < self->n_panels; r += NEAR_PANELS)
        multiply_layers (self, l, r, n_rows);

  multiply_remainder_columns (self, n_rows);
  if (left->cut == APR_PACKING_BYTES)
    self->bytes->stop ();
}

/* The products of all columns with the first one, which is of ones: the sums that were found when columns were looked
 * at, or cut. A one is a whole number 2^@shift times smaller than the units of parts 0 and 1, and what is below these
 * goes to parts 2 and 3. */
static void
multiply_ones (AprExactSumsWorker *self)
{
  const gint bits = 2 * APR_SLICE_BITS;
  gint shift = bits - APR_SLICE_WHOLE_BITS + self->right.exponent[0];
  gsize end = MIN (self->end_panel * APR_SLICE_PANEL, self->n_columns);
  gsize column;
  gsize i;

  for (column = self->first_panel * APR_SLICE_PANEL; column < end; column++)
    {
      /* As worker_get_sums () says, which divides by what it does not know. */
      gint64 *sums = self->sums +
                     apr_triangle (column / APR_SLICE_PANEL, 0) * self->n_parts * APR_SLICE_TILE +
                     column % APR_SLICE_PANEL * APR_SLICE_PANEL;

      for (i = 0; i < 2; i++)
        {
          gint64 sum = self->right.sums[column][i];
          gint64 low = sum & (((gint64) 1 << shift) - 1);

          sums[i * APR_SLICE_TILE] += sum >> shift;
          sums[(i + 2) * APR_SLICE_TILE] += low << (bits - shift);
        }
    }
}

/* The products of all columns of a layer with each other, but for those of remainder columns. The sums of columns
 * without weights are known: these are not multiplied by the first one, of ones. */
static void
multiply_columns (AprExactSumsWorker *self, const Product *kind, gsize layer, gsize n_rows)
{
  gsize far;
  gsize near;
  gsize i;
  gsize l;
  gsize r;

  for (far = self->first_panel; far < self->end_panel; far += FAR_PANELS)
    for (near = 0; near < self->n_panels; near += NEAR_PANELS)
      for (i = 0; is_product (&kind[i]); i += count_sums (&kind[i]))
        for (l = far; l < MIN (far + FAR_PANELS, self->end_panel); l++)
          for (r = near; r < near + NEAR_PANELS && r <= l; r++)
            {
              gsize first = self->weights == NULL && r == 0 ? 1 : 0;

              /* The last parts of weighted columns are seldom needed. */
              if (self->weights != NULL && kind[i].left >= self->left.n_slices[l])
                continue;
              if (self->lanes != NULL)
                multiply_parts (self, l, r, &kind[i], n_rows, first,
                                get_lanes (self, layer * self->n_tiles + apr_triangle (l, r), kind) + i);
              else
                sum_parts (self, l, r, &kind[i], n_rows, first,
                           worker_get_sums (self, layer, l * APR_SLICE_PANEL, r * APR_SLICE_PANEL));
            }
}

void
apr_exact_sums_worker_multiply_whole (AprExactSumsWorker *self, gsize n_rows)
{
  multiply_columns (self, whole, 0, n_rows);
  multiply_ones (self);
}

void
apr_exact_sums_worker_multiply_in_two (AprExactSumsWorker *self, gsize n_rows)
{
  multiply_columns (self, choose_products (self), 0, n_rows);
  multiply_ones (self);
  multiply_remainder_columns (self, n_rows);
}

void
apr_exact_sums_worker_multiply_weighted (AprExactSumsWorker *self, gsize n_rows)
{
  multiply_columns (self, weighted, 0, n_rows);
  multiply_columns (self, weighted_tails, 1, n_rows);
}

/* How much smaller this block's scales are than those of the sums. */
static double *
get_factors (const AprPackedOperand *operand)
{
  double *factors = g_new (double, operand->n_padded);
  gsize i;

  for (i = 0; i < operand->n_padded; i++)
    factors[i] = operand->exponent[i] == APR_PACKED_OPERAND_NO_EXPONENT
                 ? 1
                 : ldexp (1.0, operand->exponent[i] - operand->running[i]);

  return factors;
}

static void
append_double (AprExactSumsWorker *self, gsize entry, double value, gint exponent)
{
  gint own;
  double fraction = frexp (value, &own);

  apr_exact_sums_worker_append_term (self, entry, (gint64) ldexp (fraction, 53), exponent + own - 53);
}

/* Adds the products of two panels to the sums. */
static void
collect (AprExactSumsWorker *self,
         const double *tile,
         gsize l,
         gsize r,
         const double *left_factors,
         const double *right_factors)
{
  const AprPackedOperand *left = worker_get_left (self);
  gsize i;

  if (self->kernel->collect (tile, left_factors + l * APR_SLICE_PANEL, right_factors + r * APR_SLICE_PANEL,
                             worker_get_sums (self, 0, l * APR_SLICE_PANEL, r * APR_SLICE_PANEL)))
    return;

  for (i = 0; i < APR_SLICE_TILE; i++)
    {
      gsize x = l * APR_SLICE_PANEL + i / APR_SLICE_PANEL;
      gsize y = r * APR_SLICE_PANEL + i % APR_SLICE_PANEL;

      if (x >= y && x < self->n_columns)
        append_double (self, apr_triangle (x, y), tile[i], left->exponent[x] + self->right.exponent[y]);
    }
}

/* Fetches the sums of two panels, which come from a far cache, and some of what is read next. */
static inline void
fetch (AprExactSumsWorker *self, gsize l, gsize r)
{
  const gint64 *sums = worker_get_sums (self, 0, l * APR_SLICE_PANEL, r * APR_SLICE_PANEL);
  gsize i;

  for (i = 0; i < APR_SLICE_DOUBLE_PARTS * APR_SLICE_TILE; i += APR_SLICE_LINE / sizeof *sums)
    __builtin_prefetch (sums + i, 1);
  worker_fetch (self);
}

void
apr_exact_sums_worker_multiply_double (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = worker_get_left (self);
  g_autofree double *left_factors = get_factors (left);
  g_autofree double *right_factors = get_factors (&self->right);
  double tiles[NEAR_PANELS * APR_SLICE_TILE] __attribute__ ((aligned (64)));
  gsize far;
  gsize near;
  gsize l;
  gsize r;

  worker_start_fetching (self, self->n_tiles);
  for (far = 0; far < self->end_panel; far += FAR_PANELS)
    for (near = self->first_panel; near < self->end_panel && !g_cancellable_is_cancelled (self->cancellable);
         near += NEAR_PANELS)
      {
        gsize end = MIN (near + NEAR_PANELS, self->end_panel);

        for (r = far; r < MIN (far + FAR_PANELS, end); r++)
          {
            gsize first = MAX (near, r);

            for (l = first; l < end; l++)
              fetch (self, l, r);
            self->kernel->multiply_double (
              apr_packed_operand_get (left, first * APR_SLICE_PANEL), (end - first) * APR_SLICE_PANEL,
              apr_packed_operand_get (&self->right, r * APR_SLICE_PANEL), n_rows, tiles);
            for (l = first; l < end; l++)
              collect (self, tiles + (l - first) * APR_SLICE_TILE, l, r, left_factors, right_factors);
          }
      }
}
