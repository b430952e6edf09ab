/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-exact-sums-worker-private.h"

#include <math.h>
#include <string.h>

#include "aprender/cross-products/apr-packed-operand-private.h"
#include "aprender/base/apr-pages-private.h"

/* The sums are kept modulo 2^64. Each part is, in the end, the sum of at most three products of slices in each row, of at most
 * 2^46 each: 2^15 rows make 3 2^61, below 2^63. Sums in double are below 2^48 units in a block. */
#define MAX_BLOCKS (32768 / APR_SLICE_ROWS)

/* Terms that may wait. */
#define MAX_TERMS 65536

/* Parts of digits are below 2^54 for each block of APR_BYTE_ROWS, and two may be added. */
G_STATIC_ASSERT (MAX_BLOCKS <= 256);

/* Panels that stay in the first cache while those of a tile of the second pass by: 12 columns of 2 kB, and 64. */
#define NEAR_PANELS 3
#define FAR_PANELS 16

/* In the second cache, where tiles of digits are read from: 8 panels of at most 96 kB. */
#define NEAR_DIGIT_PANELS 8

/* Tiles whose sums are kept lane by lane, which takes six times 1 kB for each: where there are few rows of them, adding up the
 * lanes after each block would be as much work as a third of the products. */
#define MAX_LANE_TILES 36

/* What cannot be added to the sums of the columns' scales: a multiple of a power of two. */
typedef struct
{
  gsize entry;
  gint64 value;
  gint exponent;
} Term;

/* The products of two panels: which slices, and what to add to the parts. */
typedef struct
{
  guint8 left;
  guint8 right;
  gint8 signs[APR_SLICE_PARTS];
} Product;

#define S(i) APR_SLICE_S##i
#define N_PRODUCTS 6

typedef gint64 Lanes[APR_SLICE_TILE][APR_SLICE_LANES];

struct _AprExactSumsWorker
{
  const AprSliceKernel *kernel; /* (unowned) */
  AprPrecision precision;
  gsize n_columns;
  gsize n_panels; /* of a layer */
  gsize n_tiles;  /* of a layer: the lower triangle */
  guint share;    /* of all shares of the products, by the rows of the matrix */
  guint n_shares;
  gsize first_panel; /* of the rows of the matrix whose products are taken */
  gsize end_panel;
  gsize n_parts;
  gsize n_used; /* parts that are not all 0 */
  gsize n_sums; /* of a part of a tile */
  AprPackedOperand right;
  AprPackedOperand
    left; /* the weighted columns, and the layer of what a double cannot hold of them; not used without weights */
  double *weights; /* (owned) (nullable) */
  gint64 *sums;    /* (owned) for each tile of each layer, n_parts of APR_SLICE_TILE each */
  Lanes *lanes;    /* (owned) (nullable) for each tile of each layer, N_PRODUCTS */
  const Product *
    *lane_products; /* (owned) (nullable) what the lanes of each tile are; NULL where they are nothing */
  guint n_blocks;   /* in the sums */
  GArray *terms;    /* (owned) (element-type Term) */
  AprExactSumsDrain drain;
  gpointer user_data;
};

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

/* The panel before which @share of all shares of the lower triangle are. */
static gsize
find_panel (gsize n_panels, guint share, guint n_shares)
{
  return share == n_shares ? n_panels : (gsize) (sqrt ((double) share / n_shares) * (double) n_panels);
}

AprExactSumsWorker *
apr_exact_sums_worker_new (const AprSliceKernel *kernel,
                           gsize n_columns,
                           AprPrecision precision,
                           gboolean weighted,
                           gsize n_rows,
                           guint share,
                           guint n_shares,
                           AprExactSumsDrain drain,
                           gpointer user_data,
                           GError **error)
{
  AprPacking cut = precision == APR_PRECISION_DOUBLE ? APR_PACKING_WHOLE
                 : kernel->digits != NULL            ? APR_PACKING_BYTES
                                                     : APR_PACKING_SLICES;
  gsize n_layers = weighted && cut != APR_PACKING_WHOLE ? 2 : 1;
  gsize size;
  AprExactSumsWorker *self = g_new0 (AprExactSumsWorker, 1);

  self->kernel = kernel;
  self->precision = precision;
  self->drain = drain;
  self->user_data = user_data;
  self->n_columns = n_columns;
  self->n_parts = cut == APR_PACKING_WHOLE  ? APR_SLICE_DOUBLE_PARTS
                : cut == APR_PACKING_SLICES ? APR_SLICE_PARTS
                                            : APR_BYTE_PARTS;
  self->n_used = cut == APR_PACKING_BYTES ? 0 : self->n_parts;
  self->terms = g_array_new (FALSE, FALSE, sizeof (Term));
  apr_packed_operand_init (&self->right, kernel, cut, TRUE, n_columns, 1, n_rows);
  if (weighted)
    {
      apr_packed_operand_init (&self->left, kernel, cut, FALSE, n_columns, n_layers, n_rows);
      self->weights = g_aligned_alloc (self->right.stride, sizeof (double), 64);
    }
  self->n_sums = self->right.panel * self->right.panel;
  self->n_panels = self->right.n_padded / self->right.panel;
  self->n_tiles = self->n_panels * (self->n_panels + 1) / 2;
  self->share = share;
  self->n_shares = n_shares;
  self->first_panel = find_panel (self->n_panels, share, n_shares);
  self->end_panel = find_panel (self->n_panels, share + 1, n_shares);

  if (g_size_checked_mul (&size, n_layers * self->n_tiles, self->n_parts * self->n_sums * sizeof (gint64)))
    self->sums = apr_pages_new (size, TRUE);
  if (self->sums == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "No memory for the cross products of %" G_GSIZE_FORMAT " columns", n_columns);
      apr_exact_sums_worker_free (self);
      return NULL;
    }
  if (cut == APR_PACKING_SLICES && n_layers * self->n_tiles <= MAX_LANE_TILES)
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
  g_array_unref (self->terms);
  g_free (self);
}

static const AprPackedOperand *
get_left (const AprExactSumsWorker *self)
{
  return self->weights != NULL ? &self->left : &self->right;
}

double *
apr_exact_sums_worker_get_column (AprExactSumsWorker *self, gsize column)
{
  return apr_packed_operand_get (&self->right, column);
}

double *
apr_exact_sums_worker_add_rest (AprExactSumsWorker *self, gsize column)
{
  return apr_packed_operand_get (&self->right, apr_packed_operand_add_strip (&self->right, column, 0));
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

gboolean
apr_exact_sums_worker_is_full (AprExactSumsWorker *self)
{
  return self->n_blocks >= MAX_BLOCKS;
}

static gsize
packed_index (gsize row, gsize column)
{
  return row * (row + 1) / 2 + column;
}

static gsize
tile_index (const AprExactSumsWorker *self, gsize layer, gsize row, gsize column)
{
  return layer * self->n_tiles + packed_index (row / self->right.panel, column / self->right.panel);
}

/* The first part of an entry of the matrix in a layer; the others are self->n_sums apart. */
static gint64 *
get_sums (const AprExactSumsWorker *self, gsize layer, gsize row, gsize column)
{
  gsize panel = self->right.panel;

  return self->sums + tile_index (self, layer, row, column) * self->n_parts * self->n_sums +
         row % panel * panel + column % panel;
}

/* Where what is to be added to an entry is, by which a panel of digits is multiplied by itself; %NULL where nothing is. */
static gint64 *
get_mirrored (const AprExactSumsWorker *self, gsize row, gsize column)
{
  gboolean mirrored = self->right.cut == APR_PACKING_BYTES && self->weights == NULL && row != column &&
                      row / self->right.panel == column / self->right.panel;

  return mirrored ? get_sums (self, 0, column, row) : NULL;
}

/* The parts of an entry, and of what is to be added to it, which become 0; false where all were. */
static inline gboolean
take_parts (const AprExactSumsWorker *self, gint64 *sums, gint64 *mirrored, gint64 parts[APR_BYTE_PARTS])
{
  guint64 any = 0;
  gsize i;

  for (i = 0; i < self->n_used; i++)
    {
      parts[i] = sums[i * self->n_sums];
      sums[i * self->n_sums] = 0;
      if (mirrored != NULL)
        {
          parts[i] += mirrored[i * self->n_sums];
          mirrored[i * self->n_sums] = 0;
        }
      any |= (guint64) parts[i];
    }

  return any != 0;
}

/* Whether the products of a panel of the left factor are taken; strips go round. */
static gboolean
is_own (const AprExactSumsWorker *self, gsize panel)
{
  gsize n_main = get_left (self)->n_main / self->right.panel;

  if (panel >= n_main)
    return (panel - n_main) % self->n_shares == self->share;
  return panel % self->n_panels >= self->first_panel && panel % self->n_panels < self->end_panel;
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

static void
count_all_lanes (AprExactSumsWorker *self)
{
  gsize i;

  for (i = 0; self->lanes != NULL && i < get_left (self)->n_main / self->right.n_padded * self->n_tiles; i++)
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

static gint
unit_of_part (const AprExactSumsWorker *self, gsize part)
{
  switch (self->right.cut)
    {
    case APR_PACKING_WHOLE:
      return APR_SLICE_DOUBLE_FIRST_UNIT - (gint) part * APR_SLICE_DOUBLE_BITS;
    case APR_PACKING_SLICES:
      return APR_SLICE_FIRST_UNIT - (gint) part * APR_SLICE_BITS;
    case APR_PACKING_BYTES:
    default:
      return APR_BYTE_FIRST_UNIT - (gint) part * APR_BYTE_PART;
    }
}

static void
append_term (AprExactSumsWorker *self, gsize entry, gint64 value, gint exponent)
{
  Term term = { entry, value, exponent };

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
  const AprPackedOperand *left = get_left (self);
  gint64 parts[APR_BYTE_PARTS];
  gsize part;

  if (!is_own (self, row / left->panel))
    return;
  if (!take_parts (self, get_sums (self, layer, row, column), get_mirrored (self, row, column), parts))
    return;
  for (part = 0; part < self->n_used; part++)
    append_term (self, packed_index (row, column), parts[part],
                 left->running[layer * self->right.n_padded + row] + self->right.running[column] +
                   unit_of_part (self, part));
}

/* A new scale makes other units: the sums in the old ones must go first. */
static void
release_column (gpointer user_data, AprPackedOperand *factor, gsize index)
{
  AprExactSumsWorker *self = user_data;
  const AprPackedOperand *left = get_left (self);
  gsize column = index % factor->n_padded;
  gsize layer;
  gsize i;

  if (factor->running[index] == APR_PACKED_OPERAND_NO_EXPONENT)
    return;

  count_all_lanes (self);
  if (factor == left)
    for (i = 0; i <= column; i++)
      release_entry (self, index / factor->n_padded, column, i);
  if (factor == &self->right)
    for (layer = 0; layer * factor->n_padded < left->n_main; layer++)
      for (i = column; i < self->n_columns; i++)
        release_entry (self, layer, i, column);
}

/* Fills the left factor with the products of the weights and the right one's values, each as two doubles. */
static void
weigh (AprExactSumsWorker *self, gsize n_rows)
{
  AprPackedOperand *left = &self->left;
  double greatest;
  double least;
  gint exponent;
  gsize i;

  (void) self->kernel->find_range (self->weights, n_rows, &greatest, &least);
  (void) frexp (greatest, &exponent);
  self->kernel->scale (self->weights, n_rows, ldexp (1.0, -exponent / 2));
  self->kernel->scale (self->weights, n_rows, ldexp (1.0, exponent / 2 - exponent));

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
          high = apr_packed_operand_add_strip (left, owner, offset);
          low = apr_packed_operand_add_strip (left, owner, offset);
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
multiply_panels (
  AprExactSumsWorker *self, gsize l, gsize r, const Product *product, gsize n_rows, gint64 *sums)
{
  self->kernel->multiply (apr_packed_operand_get_slice (get_left (self), product->left, l * APR_SLICE_PANEL),
                          apr_packed_operand_get_slice (&self->right, product->right, r * APR_SLICE_PANEL),
                          n_rows, product->signs, sums);
}

static void
multiply_digits (AprExactSumsWorker *self, gsize l, gsize r, gsize n_rows, gint64 *sums)
{
  const AprPackedOperand *left = get_left (self);

  self->kernel->digits->multiply (apr_packed_operand_get_tiles (left, l), left->n_slices[l],
                                  apr_packed_operand_get_turned (&self->right, r), self->right.n_slices[r],
                                  n_rows / APR_BYTE_STEP, sums);
}

/* The entries of the matrix that a product of two columns counts for: where both factors are the same, products come once
 * for two. */
static guint
count_uses (const AprExactSumsWorker *self, gsize x, gsize y, gsize *entry)
{
  gsize row = get_left (self)->owner[x];
  gsize column = self->right.owner[y];

  if (row == APR_PACKED_OPERAND_NO_OWNER || column == APR_PACKED_OPERAND_NO_OWNER)
    return 0;
  *entry = packed_index (MAX (row, column), MIN (row, column));
  if (self->weights != NULL)
    return row >= column ? 1 : 0;

  return x < y ? 0 : x != y && row == column ? 2 : 1;
}

/* Panels of which one is of strips. */
static void
multiply_strips (AprExactSumsWorker *self, gsize l, gsize r, gsize n_rows)
{
  const AprPackedOperand *left = get_left (self);
  gint64 sums[APR_BYTE_PARTS * APR_BYTE_SUMS] __attribute__ ((aligned (64))) = { 0 };
  gsize panel = left->panel;
  const Product *product;
  gsize i;
  gsize part;

  if (left->n_slices[l] == 0 || self->right.n_slices[r] == 0)
    return;
  if (left->cut == APR_PACKING_BYTES)
    multiply_digits (self, l, r, n_rows, sums);
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
        append_term (self, entry, sums[part * self->n_sums + i] * n_uses,
                     left->exponent[x] + self->right.exponent[y] + unit_of_part (self, part));
    }
}

/* Panels of a layer. */
static void
multiply_layers (AprExactSumsWorker *self, gsize far, gsize near, gsize n_rows)
{
  const AprPackedOperand *left = get_left (self);
  gsize far_end = MIN (far + FAR_PANELS, left->n_main / APR_SLICE_PANEL);
  gsize near_end = MIN (near + NEAR_PANELS, self->n_panels);
  gsize i;
  gsize l;
  gsize r;

  for (i = 0; i < N_PRODUCTS; i++)
    for (l = far; l < far_end; l++)
      for (r = near; r < near_end && r <= l % self->n_panels && is_own (self, l); r++)
        {
          const Product *row = products[left->n_slices[l]][self->right.n_slices[r]];
          const Product *product = &row[i];

          if (!is_product (product))
            continue;
          if (self->lanes != NULL)
            self->kernel->multiply_lanes (
              apr_packed_operand_get_slice (left, product->left, l * APR_SLICE_PANEL),
              apr_packed_operand_get_slice (&self->right, product->right, r * APR_SLICE_PANEL), n_rows,
              get_lanes (self, l / self->n_panels * self->n_tiles + packed_index (l % self->n_panels, r),
                         row)[i]);
          else
            multiply_panels (
              self, l, r, product, n_rows,
              get_sums (self, l / self->n_panels, l % self->n_panels * APR_SLICE_PANEL, r * APR_SLICE_PANEL));
        }
}

/* The same of digits. */
static void
multiply_digit_layers (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = get_left (self);
  gsize n_main = left->n_main / left->panel;
  gsize near;
  gsize l;
  gsize r;

  for (near = 0; near < self->n_panels; near += NEAR_DIGIT_PANELS)
    for (l = 0; l < n_main; l++)
      for (r = near;
           r < MIN (near + NEAR_DIGIT_PANELS, self->n_panels) && r <= l % self->n_panels && is_own (self, l);
           r++)
        {
          gint64 *sums =
            self->sums + (l / self->n_panels * self->n_tiles + packed_index (l % self->n_panels, r)) *
                           self->n_parts * self->n_sums;

          if (left->n_slices[l] == 0 || self->right.n_slices[r] == 0)
            continue;
          /* Four groups are a part. */
          self->n_used = MAX (self->n_used, (left->n_slices[l] + self->right.n_slices[r] + 2) / 4);
          if (l == r && self->weights == NULL)
            self->kernel->digits->multiply_self (apr_packed_operand_get_tiles (left, l),
                                                 apr_packed_operand_get_turned (&self->right, r),
                                                 left->n_slices[l], n_rows / APR_BYTE_STEP, sums);
          else
            multiply_digits (self, l, r, n_rows, sums);
        }
}

static void
multiply (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = get_left (self);
  gsize n_main = left->n_main / left->panel;
  gsize l;
  gsize r;

  if (left->cut == APR_PACKING_BYTES)
    {
      self->kernel->digits->start ();
      multiply_digit_layers (self, n_rows);
    }
  else
    for (l = 0; l < n_main; l += FAR_PANELS)
      for (r = 0; r < self->n_panels; r += NEAR_PANELS)
        multiply_layers (self, l, r, n_rows);

  for (l = 0; l < apr_packed_operand_get_n_panels (left); l++)
    for (r = l < n_main ? self->n_panels : 0;
         is_own (self, l) && r < apr_packed_operand_get_n_panels (&self->right) &&
         (self->weights != NULL || r <= l);
         r++)
      multiply_strips (self, l, r, n_rows);

  if (left->cut == APR_PACKING_BYTES)
    self->kernel->digits->stop ();
}

/* How much smaller this block's scales are than those of the sums. */
static double *
get_factors (const AprPackedOperand *factor)
{
  double *factors = g_new (double, factor->n_padded);
  gsize i;

  for (i = 0; i < factor->n_padded; i++)
    factors[i] = factor->exponent[i] == APR_PACKED_OPERAND_NO_EXPONENT
                 ? 1
                 : ldexp (1.0, factor->exponent[i] - factor->running[i]);

  return factors;
}

static void
append_double (AprExactSumsWorker *self, gsize entry, double value, gint exponent)
{
  gint own;
  double fraction = frexp (value, &own);

  append_term (self, entry, (gint64) ldexp (fraction, 53), exponent + own - 53);
}

static void
multiply_double (AprExactSumsWorker *self, gsize n_rows)
{
  const AprPackedOperand *left = get_left (self);
  g_autofree double *left_factors = get_factors (left);
  g_autofree double *right_factors = get_factors (&self->right);
  gsize far;
  gsize near;
  gsize l;
  gsize r;
  gsize i;

  for (far = 0; far < self->n_panels; far += FAR_PANELS)
    for (near = 0; near < self->n_panels; near += NEAR_PANELS)
      for (l = MAX (far, self->first_panel); l < MIN (far + FAR_PANELS, self->end_panel); l++)
        for (r = near; r < near + NEAR_PANELS && r <= l; r++)
          {
            double sums[APR_SLICE_TILE] __attribute__ ((aligned (64)));

            self->kernel->multiply_double (apr_packed_operand_get (left, l * APR_SLICE_PANEL),
                                           apr_packed_operand_get (&self->right, r * APR_SLICE_PANEL), n_rows,
                                           sums);
            if (self->kernel->collect (sums, left_factors + l * APR_SLICE_PANEL,
                                       right_factors + r * APR_SLICE_PANEL,
                                       get_sums (self, 0, l * APR_SLICE_PANEL, r * APR_SLICE_PANEL)))
              continue;

            for (i = 0; i < APR_SLICE_TILE; i++)
              {
                gsize x = l * APR_SLICE_PANEL + i / APR_SLICE_PANEL;
                gsize y = r * APR_SLICE_PANEL + i % APR_SLICE_PANEL;

                if (x >= y && x < self->n_columns)
                  append_double (self, packed_index (x, y), sums[i],
                                 left->exponent[x] + self->right.exponent[y]);
              }
          }
}

static void
clear_rows (AprPackedOperand *factor, gsize first, gsize end)
{
  gsize i;

  for (i = 0; i < factor->n; i++)
    memset (apr_packed_operand_get (factor, i) + first, 0, (end - first) * sizeof (double));
}

gboolean
apr_exact_sums_worker_add_block (AprExactSumsWorker *self, gsize n_rows)
{
  gsize step = self->right.cut == APR_PACKING_BYTES ? APR_BYTE_STEP : 8;
  gsize n_padded = (n_rows + step - 1) / step * step;
  gboolean finite;

  g_assert (n_padded <= self->right.stride && self->n_blocks < MAX_BLOCKS);

  clear_rows (&self->right, n_rows, n_padded);
  if (self->precision == APR_PRECISION_EXACT && self->weights == NULL &&
      apr_packed_operand_try_slice (&self->right, n_padded))
    {
      multiply (self, n_padded);
      self->n_blocks++;
      apr_packed_operand_reset (&self->right);
      return TRUE;
    }

  finite = apr_packed_operand_measure (&self->right, n_padded, release_column, self);
  if (finite && self->weights != NULL)
    {
      memset (self->weights + n_rows, 0, (n_padded - n_rows) * sizeof (double));
      weigh (self, n_padded);
      (void) apr_packed_operand_measure (&self->left, n_padded, release_column, self);
    }
  if (finite && self->precision == APR_PRECISION_EXACT)
    {
      apr_packed_operand_slice (&self->right, n_padded);
      if (self->weights != NULL)
        apr_packed_operand_slice (&self->left, n_padded);
      multiply (self, n_padded);
    }
  else if (finite)
    {
      apr_packed_operand_normalize (&self->right, n_padded);
      if (self->weights != NULL)
        apr_packed_operand_normalize (&self->left, n_padded);
      multiply_double (self, n_padded);
    }

  self->n_blocks++;
  apr_packed_operand_reset (&self->right);
  return finite;
}

/* The exponents that columns have. */
static void
find_exponents (const AprPackedOperand *factor, gint *least, gint *greatest)
{
  gsize i;

  *least = G_MAXINT / 4;
  *greatest = -G_MAXINT / 4;
  for (i = 0; i < factor->n_main; i++)
    if (factor->running[i] != APR_PACKED_OPERAND_NO_EXPONENT)
      {
        *least = MIN (*least, factor->running[i]);
        *greatest = MAX (*greatest, factor->running[i]);
      }
}

gboolean
apr_exact_sums_worker_cover (AprExactSumsWorker *self, AprExactSums *sums, GError **error)
{
  gint left_least;
  gint left_greatest;
  gint right_least;
  gint right_greatest;
  gsize left_n_layers = get_left (self)->n_main / self->right.n_padded;

  self->n_blocks = 0;
  count_all_lanes (self);
  find_exponents (get_left (self), &left_least, &left_greatest);
  find_exponents (&self->right, &right_least, &right_greatest);
  return left_least > left_greatest || right_least > right_greatest || self->n_used == 0 ||
         apr_exact_sums_cover (sums, left_least + right_least + unit_of_part (self, self->n_used - 1),
                               left_greatest + right_greatest + unit_of_part (self, 0),
                               (guint) (left_n_layers * self->n_used), error);
}

/* Moves the entries of a row in the columns of a panel. */
static void
move_panel (
  AprExactSumsWorker *self, AprExactSums *sums, gsize layer, gsize row, gsize first_column, gsize end_column)
{
  gboolean diagonal = row - first_column < self->right.panel;
  gint row_exponent = get_left (self)->running[layer * self->right.n_padded + row];
  gint64 *from = get_sums (self, layer, row, first_column);
  gint64 parts[APR_BYTE_PARTS];
  gsize entry = packed_index (row, first_column);
  gsize column;
  gsize part;

  for (column = first_column; column < end_column; column++, entry++, from++)
    {
      gint exponent = row_exponent + self->right.running[column];

      if (!take_parts (self, from, diagonal ? get_mirrored (self, row, column) : NULL, parts))
        continue;
      if (self->right.cut == APR_PACKING_BYTES)
        apr_exact_sums_add_parts (sums, entry, parts, self->n_used, exponent + unit_of_part (self, 0));
      else
        for (part = 0; part < self->n_used; part++)
          apr_exact_sums_add_term (sums, entry, parts[part], exponent + unit_of_part (self, part));
    }
}

void
apr_exact_sums_worker_move_rows (AprExactSumsWorker *self, AprExactSums *sums, gsize first_row, gsize end_row)
{
  gsize panel = self->right.panel;
  gsize layer;
  gsize row;
  gsize column;

  first_row = MAX (first_row, self->first_panel * panel);
  end_row = MIN (end_row, self->end_panel * panel);
  for (layer = 0; layer * self->right.n_padded < get_left (self)->n_main; layer++)
    for (row = first_row; row < end_row; row++)
      for (column = 0; column <= row; column += panel)
        move_panel (self, sums, layer, row, column, MIN (column + panel, row + 1));
}

gboolean
apr_exact_sums_worker_move_terms (AprExactSumsWorker *self, AprExactSums *sums, GError **error)
{
  gboolean moved = TRUE;
  guint i;

  for (i = 0; i < self->terms->len && moved; i++)
    {
      Term *term = &g_array_index (self->terms, Term, i);

      moved = apr_exact_sums_cover (sums, term->exponent, term->exponent, 1, error);
      if (moved)
        apr_exact_sums_add_term (sums, term->entry, term->value, term->exponent);
    }
  g_array_set_size (self->terms, 0);

  return moved;
}
