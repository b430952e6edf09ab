/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-team-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/exact-sums/apr-residue-plan-private.h"

/* Panels that are read side by side. */
#define SQUARED_PANELS 8

/* Panels on the left that stay in the second cache, for one modulus, while all others pass by. */
#define LEFT_PANELS 24

#define CACHE_LINE 64

/* Powers of two between which the squares of a column are far from the ends of what a double can hold. */
#define RANGE 600

/* What rounding can take from a sum of squares. */
#define SQUARES_MARGIN (1 + 0x1p-20)

/* By how many bits the largest magnitudes of a group may grow. */
#define MAX_GROWTH 1

static gsize
get_n_tiles (const AprResidueTeam *self)
{
  return self->n_panels * (self->n_panels + 1) / 2;
}

static gsize
get_tile_size (const AprResidueTeam *self)
{
  return APR_RESIDUE_TILE * self->kernel->residue_size;
}

/* The tile of two panels for the first modulus; that of @left and the next panel on the right follows behind all
 * moduli. */
static guint8 *
get_tile (const AprResidueTeam *self, gsize left, gsize right)
{
  return self->sums + (left * (left + 1) / 2 + right) * self->moduli->n_moduli * get_tile_size (self);
}

static guint8 *
get_residues (const AprResidueTeam *self, gsize modulus, gsize panel)
{
  return self->residues + (modulus * self->n_panels + panel) * self->panel_size;
}

static void
divide_moduli (AprResidueTeam *self)
{
  gsize n = self->moduli->n_moduli;
  gsize i;

  self->n_shares = (guint) MIN (MIN (self->n_threads, n), APR_RESIDUE_MAX_SHARES);
  for (i = 0; i < self->n_shares; i++)
    {
      gsize first = n * i / self->n_shares;
      gsize end = n * (i + 1) / self->n_shares;

      self->shares[i].first = first;
      apr_residue_moduli_share (&self->shares[i].moduli, self->moduli, (guint) first, (guint) (end - first));
    }
}

gboolean
apr_residue_team_init (AprResidueTeam *self,
                       AprExactSums *state,
                       const AprResidueKernel *kernel,
                       const AprResidueModuli *moduli,
                       const AprRows *x,
                       const AprRows *y,
                       const AprWholeWeights *weights,
                       gboolean any_short,
                       gsize block_rows,
                       guint n_threads)
{
  gsize n_padded;
  gsize size;
  guint i;

  memset (self, 0, sizeof *self);
  self->state = state;
  self->kernel = kernel;
  self->moduli = moduli;
  self->x = x;
  self->y = y;
  self->n_columns = x->n_columns + y->n_columns + 1;
  self->n_panels = (self->n_columns + APR_RESIDUE_PANEL - 1) / APR_RESIDUE_PANEL;
  self->n_in_place = apr_rows_are_floats (x) ? x->n_columns / APR_RESIDUE_PANEL : 0;
  self->block_rows = block_rows;
  self->panel_size = apr_residue_kernel_get_panel_size (kernel, block_rows);
  self->left_size = apr_residue_kernel_get_left_size (kernel, block_rows);
  self->n_left = CLAMP (self->n_panels * moduli->n_moduli / (4 * (gsize) n_threads), 1, (gsize) LEFT_PANELS);
  /* Even, for kernels that multiply pairs. */
  self->n_left += self->n_left % 2;
  self->n_threads = n_threads;
  divide_moduli (self);
  self->weight = ldexp (1, (gint) weights->n_bits);
  apr_residue_weights_init (&self->weights, weights, block_rows, moduli->n_moduli, kernel);

  n_padded = self->n_panels * APR_RESIDUE_PANEL;
  self->squares = g_new0 (double, n_padded);
  self->totals = g_new0 (double, n_padded);
  self->limits = g_new0 (double, n_padded);
  self->largest = g_new0 (double, n_padded);
  self->bounds = g_new0 (double, n_padded);
  self->max = g_new0 (double, n_padded);
  self->scale = g_new0 (gint, n_padded);
  self->units = g_new0 (double, n_padded);
  self->magic = g_aligned_alloc (self->n_panels, sizeof *self->magic, 64);
  self->threads = g_new0 (AprResidueThread, n_threads);
  for (i = 0; i < n_threads; i++)
    {
      self->threads[i].rests = g_array_new (FALSE, FALSE, sizeof (AprResidueRest));
      self->threads[i].short_rests = g_array_new (FALSE, FALSE, sizeof (AprResidueRest));
      self->threads[i].written = g_new (AprResidueRest, block_rows * APR_RESIDUE_PANEL);
      if (weights->rows != NULL)
        self->threads[i].weighed = g_aligned_alloc (self->n_left, self->panel_size, 64);
      if (kernel->turn != NULL)
        self->threads[i].turned = g_aligned_alloc (self->n_left, self->left_size, 64);
    }

  if (g_size_checked_mul (&size, (self->n_panels - self->n_in_place) * APR_RESIDUE_PANEL * sizeof (double),
                          block_rows))
    self->staged = apr_pages_new (size, FALSE);
  if (g_size_checked_mul (&size, self->n_panels * moduli->n_moduli, self->panel_size))
    self->residues = apr_pages_new (size, FALSE);
  if (g_size_checked_mul (&size, get_n_tiles (self), moduli->n_moduli * get_tile_size (self)))
    self->sums = apr_pages_new (size, TRUE);

  apr_residue_short_rests_init (&self->short_rests, moduli, n_padded, any_short && weights->rows == NULL);

  return self->staged != NULL && self->residues != NULL && self->sums != NULL;
}

void
apr_residue_team_clear (AprResidueTeam *self)
{
  guint i;

  for (i = 0; i < self->n_threads; i++)
    {
      g_array_unref (self->threads[i].rests);
      g_array_unref (self->threads[i].short_rests);
      g_free (self->threads[i].written);
      g_aligned_free (self->threads[i].weighed);
      g_aligned_free (self->threads[i].turned);
      g_clear_pointer (&self->threads[i].terms, g_array_unref);
    }
  g_free (self->threads);
  apr_residue_weights_clear (&self->weights);
  apr_residue_short_rests_clear (&self->short_rests);
  g_clear_error (&self->error);
  g_free (self->squares);
  g_free (self->totals);
  g_free (self->limits);
  g_free (self->largest);
  g_free (self->bounds);
  g_free (self->max);
  g_free (self->scale);
  g_free (self->units);
  g_aligned_free (self->magic);
  apr_pages_free (self->staged);
  apr_pages_free (self->residues);
  apr_pages_free (self->sums);
}

AprResidueColumns
apr_residue_team_get_columns (const AprResidueTeam *self, gsize panel)
{
  const AprRows *x = self->x;
  gsize place = self->first_row * x->n_columns + panel * APR_RESIDUE_PANEL;

  if (panel >= self->n_in_place)
    return (AprResidueColumns){ self->staged +
                                  (panel - self->n_in_place) * self->block_rows * APR_RESIDUE_PANEL,
                                FALSE, APR_RESIDUE_PANEL, self->n_rows };

  return (AprResidueColumns){ x->data +
                                place * (x->dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double)),
                              x->dtype == APR_DTYPE_F32, x->n_columns, self->n_rows };
}

/* Copies those of some rows' columns that are in a panel; the first is @first of all. */
static void
stage_rows (AprResidueTeam *self, const AprRows *rows, gsize first, gsize panel, double *to)
{
  gsize begin = MAX (panel * APR_RESIDUE_PANEL, first);
  gsize end = MIN ((panel + 1) * APR_RESIDUE_PANEL, first + rows->n_columns);
  gsize i;

  if (begin >= end)
    return;

  apr_rows_read (rows, self->first_row, self->n_rows, begin - first, end - begin, APR_RESIDUE_PANEL,
                 to + begin % APR_RESIDUE_PANEL);
  for (i = begin; i < end && apr_rows_may_exceed_double (rows); i++)
    {
      double rests[APR_RESIDUE_ROWS];

      if (apr_rows_get_rests (rows, i - first, self->first_row, self->n_rows, rests))
        g_atomic_int_set (&self->unsuited, 1);
    }
}

static void
stage_panel (AprResidueTeam *self, gsize panel)
{
  double *to = (double *) apr_residue_team_get_columns (self, panel).values;
  gsize ones = self->n_columns - 1;
  gsize row;

  memset (to, 0, self->n_rows * APR_RESIDUE_PANEL * sizeof *to);
  stage_rows (self, self->x, 0, panel, to);
  stage_rows (self, self->y, self->x->n_columns, panel, to);
  for (row = 0; row < self->n_rows && ones / APR_RESIDUE_PANEL == panel; row++)
    to[row * APR_RESIDUE_PANEL + ones % APR_RESIDUE_PANEL] = 1;
}

/* Several panels that are read where they are, or one that is not. */
static void
square_panels (AprResidueTeam *self)
{
  gsize n_tasks = (self->n_in_place + SQUARED_PANELS - 1) / SQUARED_PANELS;
  gsize index;

  while (apr_residue_team_take (self, APR_RESIDUE_TASK_SQUARE, 0, n_tasks + self->n_panels - self->n_in_place,
                                &index))
    {
      gsize panel = index < n_tasks ? index * SQUARED_PANELS : index - n_tasks + self->n_in_place;
      gsize n = index < n_tasks ? MIN (SQUARED_PANELS, self->n_in_place - panel) : 1;
      AprResidueColumns columns = apr_residue_team_get_columns (self, panel);
      double *squares = self->squares + panel * APR_RESIDUE_PANEL;
      double *largest = self->largest + panel * APR_RESIDUE_PANEL;

      if (index >= n_tasks)
        stage_panel (self, panel);
      memset (squares, 0, n * APR_RESIDUE_PANEL * sizeof *squares);
      memset (largest, 0, n * APR_RESIDUE_PANEL * sizeof *largest);
      self->kernel->square (&columns, n, squares, largest);
    }
}

/* What the weighted squares of a block's whole numbers sum to, at most, as squares of values: rounding adds up to a
 * half to each of them. */
static void
bound_squares (AprResidueTeam *self, gsize column)
{
  double added = 0.5 * sqrt ((double) self->n_rows) * self->units[column];
  double root = sqrt (self->squares[column]) + (self->squares[column] > 0 ? added : 0);

  self->bounds[column] = root * root * self->weight;
}

/* Whether the block has to begin with new scales; one with columns beyond the range is for others. */
static void
judge_block (AprResidueTeam *self)
{
  gsize i;

  self->weightless = self->weights.all.rows != NULL &&
                     !apr_residue_weights_read (&self->weights, self->first_row, self->n_rows);
  self->renewed = self->n_summed == 0 || self->n_summed + self->n_rows > APR_RESIDUE_GROUP;
  for (i = 0; i < self->n_panels * APR_RESIDUE_PANEL; i++)
    {
      double squares = self->squares[i] *= SQUARES_MARGIN;

      bound_squares (self, i);
      if (squares == 0)
        continue;
      /* A NaN is not within them either. */
      if (!(squares > ldexp (1, -RANGE) && squares < ldexp (1, RANGE)))
        g_atomic_int_set (&self->unsuited, 1);
      if (self->totals[i] + self->bounds[i] > self->limits[i] || self->largest[i] > self->max[i])
        self->renewed = TRUE;
    }
}

/* A column that has nothing but zeros has no scale: the first number makes a new one. */
static void
set_scale (AprResidueTeam *self, gsize column)
{
  double max_sum = apr_residue_plan_get_max_sum (self->moduli);
  double max_value = apr_residue_plan_get_max_value (self->moduli);
  double squares = log2 (self->squares[column]);
  double n_blocks = ceil ((double) MIN (self->n_expected, APR_RESIDUE_GROUP) / (double) self->n_rows);
  gint scale = 0;
  guint word;

  self->limits[column] = self->max[column] = 0;
  if (self->squares[column] > 0)
    {
      scale = (gint) floor (
        MIN ((max_sum - squares - log2 (self->weight * MAX (n_blocks, 1) * APR_RESIDUE_GROWTH)) / 2,
             max_value - log2 (self->largest[column]) - MAX_GROWTH));
      self->limits[column] = exp2 (max_sum - 2 * scale);
      self->max[column] = exp2 (max_value - scale);
    }

  self->totals[column] = 0;
  self->scale[column] = scale;
  self->units[column] = ldexp (1, -scale);
  apr_residue_short_rests_set_scale (&self->short_rests, column, scale);
  for (word = 0; word < self->moduli->n_words; word++)
    self->magic[column / APR_RESIDUE_PANEL][word][column % APR_RESIDUE_PANEL] =
      ldexp (0x1.8p52 + apr_residue_moduli_get_bias (self->moduli, word), 24 * (gint) word - scale);
}

static void
set_scales (AprResidueTeam *self)
{
  gsize i;

  for (i = 0; i < self->n_panels * APR_RESIDUE_PANEL; i++)
    {
      set_scale (self, i);
      bound_squares (self, i);
      if (self->bounds[i] > self->limits[i])
        g_atomic_int_set (&self->unsuited, 1);
    }
}

/* Every share finds the same rests: the first keeps them. */
static void
keep_rests (AprResidueTeam *self, AprResidueThread *thread, gsize panel, gsize n_rests)
{
  gsize i;

  for (i = 0; i < n_rests; i++)
    {
      AprResidueRest *rest = &thread->written[i];

      rest->column += (guint) (panel * APR_RESIDUE_PANEL);
      g_array_append_vals (apr_residue_short_rests_count (&self->short_rests, rest->column, rest->value)
                             ? thread->short_rests
                             : thread->rests,
                           rest, 1);
    }
}

static void
cut_share (AprResidueTeam *self, AprResidueThread *thread, gsize share)
{
  const AprResidueModuli *moduli = &self->shares[share].moduli;
  gsize first = self->shares[share].first;
  gsize panel;
  gsize i;

  while (apr_residue_team_take (self, APR_RESIDUE_TASK_CUT, share, self->n_panels, &panel))
    {
      AprResidueColumns columns = apr_residue_team_get_columns (self, panel);
      gsize n_rests =
        self->kernel->cut (moduli, &columns, self->magic[panel], get_residues (self, first, panel),
                           self->n_panels * self->panel_size, thread->written);

      if (share == 0)
        keep_rests (self, thread, panel, n_rests);
    }
  while (self->weights.all.rows != NULL &&
         apr_residue_team_take (self, APR_RESIDUE_TASK_CUT_WEIGHTS, share, moduli->n_moduli, &i))
    apr_residue_weights_cut (&self->weights, self->moduli, (guint) (first + i), self->n_rows);
}

/* The share of a thread and, after it, the others. */
static gsize
get_share (const AprResidueTeam *self, gsize part, gsize i)
{
  return (part + i) % self->n_shares;
}

static void
cut_all (AprResidueTeam *self, AprResidueThread *thread, gsize part)
{
  gsize i;

  for (i = 0; i < self->n_shares; i++)
    cut_share (self, thread, get_share (self, part, i));
}

/* For one modulus, some panels as they are multiplied on the left: times the weights, and turned. */
static const guint8 *
prepare_left (AprResidueTeam *self, AprResidueThread *thread, gsize modulus, gsize first, gsize end)
{
  const guint8 *weights =
    self->weights.all.rows != NULL ? apr_residue_weights_get (&self->weights, modulus) : NULL;
  gsize left;

  if (weights == NULL && self->kernel->turn == NULL)
    return get_residues (self, modulus, first);

  for (left = first; left < end; left++)
    {
      const guint8 *panel = get_residues (self, modulus, left);

      if (weights != NULL)
        {
          guint8 *weighed = thread->weighed + (left - first) * self->panel_size;

          self->kernel->weigh (panel, weights, self->n_rows, self->moduli->modulus[modulus], weighed);
          panel = weighed;
        }
      if (self->kernel->turn != NULL)
        self->kernel->turn (panel, self->n_rows, thread->turned + (left - first) * self->left_size);
    }

  return self->kernel->turn != NULL ? thread->turned : thread->weighed;
}

/* What there is room for in the second cache, beside the residues. */
#define FETCHED_AT_MOST ((gsize) 1 << 19)

/* Where a thread works alone, the next block is fetched while this one is multiplied: squaring it would otherwise wait
 * for memory. */
static void
start_fetching (AprResidueTeam *self)
{
  gsize row_size = self->x->n_columns * apr_dtype_get_bits (self->x->dtype) / 8;
  gsize size = (self->next.end - self->next.first) * row_size;
  gsize n_steps = (get_n_tiles (self) + APR_RESIDUE_RIGHT - 1) / APR_RESIDUE_RIGHT * self->moduli->n_moduli;

  if (self->n_threads > 1 || self->x->columns != NULL || size > FETCHED_AT_MOST)
    return;

  self->ahead = self->x->data + self->next.first * row_size;
  self->n_ahead = size;
  self->n_ahead_step = (size / n_steps / CACHE_LINE + 1) * CACHE_LINE;
}

/* A part at a time: fetching all at once would stall, too. */
static void
fetch_ahead (AprResidueTeam *self)
{
  gsize n = MIN (self->n_ahead, self->n_ahead_step);
  gsize i;

  for (i = 0; i < n; i += CACHE_LINE)
    __builtin_prefetch (self->ahead + i, 0, 2);
  self->ahead += n;
  self->n_ahead -= n;
}

/* For one modulus, a panel on the left with up to @n_right that are not right of it. */
static void
multiply_panel (
  AprResidueTeam *self, const guint8 *panel, gsize modulus, gsize left, gsize right, gsize n_right)
{
  gsize tile_size = get_tile_size (self);

  if (self->n_ahead > 0)
    fetch_ahead (self);
  self->kernel->multiply (panel, MIN (self->n_columns - left * APR_RESIDUE_PANEL, APR_RESIDUE_PANEL),
                          get_residues (self, modulus, right), self->panel_size,
                          MIN (n_right, left + 1 - right), left < right + n_right, self->n_rows,
                          self->moduli->modulus[modulus], get_tile (self, left, right) + modulus * tile_size,
                          self->moduli->n_moduli * tile_size);
}

/* For one modulus, pairs of panels on the left with one pair on the right, which may be the first of them. */
static void
multiply_pairs (
  AprResidueTeam *self, const guint8 *panels, gsize modulus, gsize left, gsize n_pairs, gsize right)
{
  gsize tile_size = get_tile_size (self);
  guint8 beyond[2 * APR_RESIDUE_TILE] __attribute__ ((aligned (64))) = { 0 };
  guint8 *tiles[LEFT_PANELS / 2][4];
  gsize i;

  for (i = 0; i < 4 * n_pairs; i++)
    tiles[i / 4][i % 4] = get_tile (self, left + i / 2, right + i % 2) + modulus * tile_size;
  /* Tiles above the diagonal are not kept. */
  if (left == right)
    tiles[0][1] = beyond;
  self->kernel->multiply_pairs (panels, self->left_size, n_pairs, get_residues (self, modulus, right),
                                self->panel_size, self->n_rows, self->moduli->modulus[modulus], tiles);
}

/* For one modulus, some panels on the left, of which the first has an even number, with all that are not right of
 * them. */
static void
multiply_panels (AprResidueTeam *self, AprResidueThread *thread, gsize modulus, gsize first, gsize end)
{
  const guint8 *panels = prepare_left (self, thread, modulus, first, end);
  gboolean pairs = self->kernel->multiply_pairs != NULL;
  gsize n_right = pairs ? 2 : APR_RESIDUE_RIGHT;
  gsize left;
  gsize right;

  for (right = 0; right < end; right += n_right)
    {
      gsize n_pairs;

      left = MAX (first, right);
      n_pairs = pairs ? (end - left) / 2 : 0;
      if (n_pairs > 0)
        multiply_pairs (self, panels + (left - first) * self->left_size, modulus, left, n_pairs, right);
      for (left += 2 * n_pairs; left < end; left++)
        multiply_panel (self, panels + (left - first) * self->left_size, modulus, left, right, n_right);
    }
}

static void
multiply_share (AprResidueTeam *self, AprResidueThread *thread, gsize share)
{
  gsize n_moduli = self->shares[share].moduli.n_moduli;
  gsize n_groups = (self->n_panels + self->n_left - 1) / self->n_left;
  gsize index;

  /* Those with the most to multiply first. */
  while (apr_residue_team_take (self, APR_RESIDUE_TASK_MULTIPLY, share, n_groups * n_moduli, &index))
    {
      gsize first = (n_groups - 1 - index / n_moduli) * self->n_left;

      multiply_panels (self, thread, self->shares[share].first + index % n_moduli, first,
                       MIN (first + self->n_left, self->n_panels));
    }
}

static void
multiply_all (AprResidueTeam *self, AprResidueThread *thread, gsize part)
{
  gsize i;

  if (self->kernel->start != NULL)
    self->kernel->start ();
  for (i = 0; i < self->n_shares; i++)
    multiply_share (self, thread, get_share (self, part, i));
  if (self->kernel->stop != NULL)
    self->kernel->stop ();
}

static void
count_rests (const AprResidueTeam *self, gsize *n_short, gsize *n_long)
{
  guint i;

  *n_short = *n_long = 0;
  for (i = 0; i < self->n_threads; i++)
    {
      *n_short += self->threads[i].short_rests->len;
      *n_long += self->threads[i].rests->len;
    }
}

void
apr_residue_team_add_block (AprResidueTeam *self, AprTeam *team, gsize part)
{
  AprResidueThread *thread = &self->threads[part];
  gsize n_short;
  gsize n_long;
  gsize i;

  g_array_set_size (thread->rests, 0);
  g_array_set_size (thread->short_rests, 0);
  square_panels (self);
  apr_team_barrier (team);
  if (part == 0)
    judge_block (self);
  apr_team_barrier (team);
  if (self->unsuited || self->weightless)
    return;

  if (self->renewed)
    {
      apr_residue_team_flush (self, team, part);
      if (self->error != NULL)
        return;
      if (part == 0)
        set_scales (self);
      apr_team_barrier (team);
      if (self->unsuited)
        return;
    }
  cut_all (self, thread, part);
  apr_team_barrier (team);
  count_rests (self, &n_short, &n_long);
  if (n_long * APR_RESIDUE_VALUES_PER_REST + n_short * APR_RESIDUE_VALUES_PER_SHORT_REST >
      self->n_rows * self->n_columns)
    {
      g_atomic_int_set (&self->unsuited, 1);
      return;
    }

  if (part == 0)
    {
      for (i = 0; i < self->n_panels * APR_RESIDUE_PANEL; i++)
        self->totals[i] += self->bounds[i];
      self->n_summed += self->n_rows;
      self->short_rests.any |= n_short > 0;
      start_fetching (self);
    }
  multiply_all (self, thread, part);
  if (n_short > 0)
    apr_residue_team_add_short_rests (self, part, (gsize) team->n_parts);
  if (n_long > 0)
    apr_residue_team_add_rests (self, team, part);
}

void
apr_residue_team_cover (AprResidueTeam *self, gint min, gint max, guint n_terms)
{
  gint n_parts = (gint) (self->moduli->n_limbs + 1) / 2;
  /* A sum is below half of the moduli's product: it ends where a term of 63 bits does that begins so much higher. */
  gint distance = MAX ((gint) ceil (self->moduli->bits) - 63, 0);
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    if (self->totals[i] > 0)
      {
        gint exponent = self->weights.all.unit - 2 * self->scale[i];

        min = MIN (min, exponent - (self->short_rests.any ? 32 : 0));
        max = MAX (max, exponent + distance);
      }
  if (g_cancellable_is_cancelled (self->cancellable))
    g_atomic_int_set (&self->stopped, 1);
  if (min <= max && !g_atomic_int_get (&self->stopped))
    (void) apr_exact_sums_cover (self->state, min, max, n_terms + (guint) n_parts + 3, self->cancellable,
                                 &self->error);
}

/* Moves a tile to the state. */
static void
flush_tile (AprResidueTeam *self, gsize left, gsize right)
{
  gint64 found[APR_RESIDUE_PARTS][APR_RESIDUE_TILE] __attribute__ ((aligned (64)));
  gint64 parts[APR_RESIDUE_PARTS + 1] = { 0 };
  gsize n_parts = (self->moduli->n_limbs + 1) / 2;
  guint8 *tile = get_tile (self, left, right);
  gsize i;
  gsize k;

  if (self->short_rests.any)
    apr_residue_short_rests_fetch (&self->short_rests, left, right);
  self->kernel->reconstruct (self->moduli, tile, found);
  memset (tile, 0, self->moduli->n_moduli * get_tile_size (self));
  for (i = 0; i < APR_RESIDUE_TILE; i++)
    {
      gsize one = left * APR_RESIDUE_PANEL + i / APR_RESIDUE_PANEL;
      gsize other = right * APR_RESIDUE_PANEL + i % APR_RESIDUE_PANEL;
      guint64 any = 0;

      /* Looked at here, and not in a loop over parts: GCC would load two at a time, which have just been stored one by
       * one, and the processor would wait until they are in the cache. */
      for (k = 1; k < n_parts; k++)
        {
          parts[n_parts - 1 - k] = found[k][i];
          any |= (guint64) found[k][i];
        }
      parts[n_parts - 1] = found[0][i];
      if (self->short_rests.any && other <= one)
        apr_residue_short_rests_move (&self->short_rests, one, other, parts + n_parts - 1);
      any |= (guint64) (parts[n_parts - 1] | parts[n_parts]);
      if (any != 0 && other <= one && one < self->n_columns)
        apr_exact_sums_add_parts (
          self->state, apr_residue_team_get_entry (self, one, other), parts, n_parts + 1,
          32 * (gint) (n_parts - 1) - self->scale[one] - self->scale[other] + self->weights.all.unit);
    }
}

void
apr_residue_team_flush (AprResidueTeam *self, AprTeam *team, gsize part)
{
  gsize left;
  gsize right;

  /* The others look for an error only when the first one can find no more. */
  if (part == 0 && self->error == NULL)
    apr_residue_team_cover (self, G_MAXINT, G_MININT, 0);
  apr_team_barrier (team);
  if (self->n_summed == 0 || self->error != NULL)
    return;

  while (apr_residue_team_take (self, APR_RESIDUE_TASK_FLUSH, 0, self->n_panels, &left))
    for (right = 0; right < self->n_panels - left && !g_atomic_int_get (&self->stopped); right++)
      {
        flush_tile (self, self->n_panels - 1 - left, right);
        if (g_cancellable_is_cancelled (self->cancellable))
          g_atomic_int_set (&self->stopped, 1);
      }
  apr_team_barrier (team);
  if (part == 0)
    {
      self->n_summed = 0;
      self->short_rests.any = FALSE;
    }
}
