/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-cholesky-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-scratch-private.h"

#define BLOCK 32
#define PANEL APR_DENSE_PAD
#define TILE 8

/* Rows that are solved for at once. */
#define SOLVED 32

gboolean
apr_cholesky_init (AprCholesky *self, gsize n, const AprRun *run)
{
  self->kernel = apr_dense_kernel_choose ();
  self->n = n;
  self->stride = apr_dense_pad (n);
  self->rows = apr_run_new_pages (run, n, self->stride * sizeof (double), TRUE);

  return self->rows != NULL;
}

void
apr_cholesky_clear (AprCholesky *self)
{
  g_clear_pointer (&self->rows, apr_pages_free);
}

/* Right-looking blocked factorisation: BLOCK rows are finished, then all rows below them are updated. A panel holds
 * the finished rows, in panels of PANEL columns. */
typedef struct
{
  AprCholesky *matrix;
  const AprRun *run;
  GThread *caller; /* which reports */
  const double *limits;
  gsize *independent;
  gsize n_independent;
  double *panel;     /* (owned) panels of BLOCK rows and PANEL columns */
  gint *next_panels; /* two counters for each block: the next panel to finish, and the next one to update */
} Factorisation;

/* The diagonal block. Each thread computes it, which takes less time than waiting for it. */
typedef struct
{
  double rows[BLOCK][BLOCK];    /* of the independent rows */
  double factors[BLOCK][BLOCK]; /* the same, restricted to their own columns */
  gsize positions[BLOCK];
  gsize n;
} Corner;

static void
factorise_corner (const Factorisation *self, gsize begin, gsize size, Corner *corner)
{
  const AprCholesky *matrix = self->matrix;
  gsize i;
  gsize k;

  corner->n = 0;
  for (i = 0; i < size; i++)
    {
      double *row = corner->rows[corner->n];
      double root;

      memcpy (row + i, matrix->rows + (begin + i) * matrix->stride + begin + i, (size - i) * sizeof *row);
      for (k = 0; k < corner->n; k++)
        matrix->kernel->subtract_scaled (row + i, corner->rows[k] + i, corner->rows[k][i], size - i);
      if (!(row[i] > self->limits[begin + i]))
        continue;

      root = sqrt (row[i]);
      row[i] = root;
      for (k = i + 1; k < size; k++)
        row[k] /= root;
      corner->positions[corner->n++] = i;
    }

  for (i = 0; i < corner->n; i++)
    for (k = i; k < corner->n; k++)
      corner->factors[i][k] = corner->rows[i][corner->positions[k]];
}

/* Solves for the independent rows of a block in the columns of one panel. */
static void
finish_panel (const Factorisation *self, gsize begin, const Corner *corner, gsize index)
{
  const AprCholesky *matrix = self->matrix;
  double *panel = self->panel + index * BLOCK * PANEL;
  double *to = matrix->rows + begin * matrix->stride + index * PANEL;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < corner->n; i++)
    memcpy (panel + i * PANEL, to + corner->positions[i] * matrix->stride, PANEL * sizeof *panel);
  for (i = 0; i < corner->n; i++)
    {
      double *row = panel + i * PANEL;

      if (i % TILE == 0)
        matrix->kernel->subtract_products (row, PANEL, &corner->factors[0][i], BLOCK, panel, PANEL,
                                           MIN (TILE, corner->n - i), PANEL, i);
      for (k = i - i % TILE; k < i; k++)
        matrix->kernel->subtract_scaled (row, panel + k * PANEL, corner->factors[k][i], PANEL);
      for (j = 0; j < PANEL; j++)
        row[j] /= corner->factors[i][i];
      memcpy (to + corner->positions[i] * matrix->stride, row, PANEL * sizeof *row);
    }
}

/* The work on a row is in proportion to the square of the number of those from there on. */
static double
find_share_done (gsize n, gsize row)
{
  double left = (double) (n - row) / (double) n;

  return 1 - left * left * left;
}

static void
factorise_together (AprTeam *team, gpointer data, gsize part)
{
  Factorisation *self = data;
  const AprCholesky *matrix = self->matrix;
  gsize n_panels = matrix->stride / PANEL;
  Corner corner;
  gsize begin;
  gsize i;

  for (begin = 0; begin < matrix->n; begin += BLOCK)
    {
      gsize size = MIN (BLOCK, matrix->n - begin);
      gint *next_panels = self->next_panels + 2 * (begin / BLOCK);
      gsize first = (begin + BLOCK) / PANEL;
      gsize row;
      gsize column;

      if (self->caller == g_thread_self ())
        apr_run_report (self->run, find_share_done (matrix->n, begin));
      factorise_corner (self, begin, size, &corner);
      /* Where cancelled, all go on to the end, where nothing waits for anyone. */
      while ((column = first + (gsize) g_atomic_int_add (&next_panels[0], 1)) < n_panels &&
             !apr_run_is_cancelled (self->run))
        finish_panel (self, begin, &corner, column);
      apr_team_barrier (team);

      if (part == 0)
        for (i = 0; i < corner.n; i++)
          {
            gsize position = corner.positions[i];

            memcpy (matrix->rows + (begin + position) * matrix->stride + begin + position,
                    corner.rows[i] + position, (size - position) * sizeof (double));
            self->independent[self->n_independent++] = begin + position;
          }
      while ((row = first + (gsize) g_atomic_int_add (&next_panels[1], 1)) < n_panels &&
             !apr_run_is_cancelled (self->run))
        for (column = row; column < n_panels; column++)
          /* What is written below the diagonal is never read. */
          matrix->kernel->subtract_products (matrix->rows + row * PANEL * matrix->stride + column * PANEL,
                                             matrix->stride, self->panel + row * BLOCK * PANEL, PANEL,
                                             self->panel + column * BLOCK * PANEL, PANEL,
                                             MIN (PANEL, matrix->n - row * PANEL), PANEL, corner.n);
      apr_team_barrier (team);
    }
}

gsize
apr_cholesky_factorise (AprCholesky *self, const double *limits, gsize *independent, const AprRun *run)
{
  Factorisation factorisation = { self, run, g_thread_self (), limits, independent };
  gint few[2] = { 0 };
  double n = (double) self->n;

  /* A small matrix is a single block without panels. */
  factorisation.next_panels = few;
  if (self->stride > BLOCK)
    {
      factorisation.panel = g_aligned_alloc (BLOCK * self->stride, sizeof (double), 64);
      factorisation.next_panels = g_new0 (gint, 2 * (self->n / BLOCK + 1));
    }
  apr_team_run (factorise_together, &factorisation, run->n_threads, n * n * n / 48);
  if (self->stride > BLOCK)
    {
      g_aligned_free (factorisation.panel);
      g_free (factorisation.next_panels);
    }

  return factorisation.n_independent;
}

void
apr_cholesky_keep (AprCholesky *self, const gsize *positions, gsize n)
{
  gsize stride = apr_dense_pad (n);
  gsize i;
  gsize j;

  /* Nothing is moved behind where it was. */
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      self->rows[i * stride + j] = self->rows[positions[i] * self->stride + positions[j]];
  self->n = n;
  self->stride = stride;
}

/* The computed U is the exact factor of a matrix that differs, entry by entry, by at most c |U'||U| with c = (n + 1) u
 * / (1 - (n + 1) u), in whatever order sums are taken (N. J. Higham, "Accuracy and stability of numerical algorithms",
 * 2002, theorem 10.3). */
double
apr_cholesky_bound_error (const AprCholesky *self)
{
  g_autofree gpointer heap = NULL;
  double *sums = apr_scratch_new (double, self->n, &heap);
  double max = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    sums[i] = 0;
  for (i = 0; i < self->n; i++)
    {
      const double *row = self->rows + i * self->stride;
      double row_sum = 0;

      for (j = i; j < self->n; j++)
        row_sum += fabs (row[j]);
      for (j = i; j < self->n; j++)
        sums[j] += fabs (row[j]) * row_sum;
    }
  for (i = 0; i < self->n; i++)
    max = MAX (max, sums[i]);

  /* Doubled, to cover the rounding of the bound itself. */
  return 2 * (double) (self->n + 2) * DBL_EPSILON / 2 * max;
}

/* The inverse V of U, which is found row by row, is such that U V = I + E with |E| <= g |U||V|, where g = (n + 2) u /
 * (1 - (n + 2) u) (N. J. Higham, the same, chapter 14). So no singular value of U is below (1 - |E|) / |V|, in
 * Frobenius norms. */
double
apr_cholesky_bound_min_eigenvalue (const AprCholesky *self)
{
  double inverse[APR_CHOLESKY_FEW][APR_CHOLESKY_FEW];
  double size = 0;
  double inverse_size = 0;
  double error;
  gsize i;
  gsize j;
  gsize k;

  for (i = self->n; i-- > 0;)
    {
      const double *row = self->rows + i * self->stride;
      double factor = 1 / row[i];

      inverse[i][i] = 1;
      for (j = i + 1; j < self->n; j++)
        inverse[i][j] = 0;
      for (k = i + 1; k < self->n; k++)
        for (j = k; j < self->n; j++)
          inverse[i][j] -= row[k] * inverse[k][j];
      for (j = i; j < self->n; j++)
        {
          inverse[i][j] *= factor;
          size += row[j] * row[j];
          inverse_size += inverse[i][j] * inverse[i][j];
        }
    }
  error = (double) (self->n + 4) * DBL_EPSILON * sqrt (size * inverse_size);

  return 0.99 * (1 - 2 * error) / inverse_size - apr_cholesky_bound_error (self);
}

static void
solve_transposed (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      const double *row = self->rows + i * self->stride;

      x[i] /= row[i];
      self->kernel->subtract_scaled (x + i + 1, row + i + 1, x[i], self->n - i - 1);
    }
}

static void
solve_upper (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = self->n; i-- > 0;)
    {
      const double *row = self->rows + i * self->stride;

      x[i] = (x[i] - self->kernel->dot (row + i + 1, x + i + 1, self->n - i - 1)) / row[i];
    }
}

void
apr_cholesky_solve (const AprCholesky *self, double *x)
{
  solve_transposed (self, x);
  solve_upper (self, x);
}

void
apr_cholesky_solve_many (
  const AprCholesky *self, gboolean transposed, double *x, gsize stride, gsize n_columns, const AprRun *run)
{
  gsize n_blocks = (self->n + SOLVED - 1) / SOLVED;
  double block[SOLVED][SOLVED];
  gsize index;
  gsize begin;
  gsize i;
  gsize j;
  gsize k;

  for (index = 0; index < n_blocks && !apr_run_is_cancelled (run); index++)
    {
      /* U' is solved for from the first row on, U from the last. */
      gsize first = (transposed ? index : n_blocks - 1 - index) * SOLVED;
      gsize last = MIN (first + SOLVED, self->n);
      gsize size = last - first;

      if (transposed)
        self->kernel->subtract_products (x + first * stride, stride, self->rows + first, self->stride, x,
                                         stride, size, n_columns, first);
      for (begin = last; begin < self->n && !transposed; begin += SOLVED)
        {
          gsize n_inner = MIN (SOLVED, self->n - begin);

          for (i = 0; i < size; i++)
            for (k = 0; k < n_inner; k++)
              block[k][i] = self->rows[(first + i) * self->stride + begin + k];
          self->kernel->subtract_products (x + first * stride, stride, block[0], SOLVED, x + begin * stride,
                                           stride, size, n_columns, n_inner);
        }
      for (i = 0; i < size; i++)
        {
          gsize at = first + (transposed ? i : size - 1 - i);
          double *row = x + at * stride;

          for (k = 0; k < i; k++)
            {
              gsize before = first + (transposed ? k : size - 1 - k);

              self->kernel->subtract_scaled (row, x + before * stride,
                                             self->rows[MIN (at, before) * self->stride + MAX (at, before)],
                                             n_columns);
            }
          for (j = 0; j < n_columns; j++)
            row[j] /= self->rows[at * self->stride + at];
        }
    }
}

/* Columns of the inverse that are solved for at a time; a multiple of APR_DENSE_STEP. */
#define INVERTED 64

typedef struct
{
  const AprCholesky *factor;
  double *inverse;
  gsize stride;
  const AprRun *run;
} Inversion;

/* Some columns, which are 0 above the first of the rows that are solved for. */
static void
invert_columns (gpointer data, gsize part, gsize n_parts G_GNUC_UNUSED)
{
  const Inversion *self = data;
  gsize first = part * INVERTED;
  double *corner = self->inverse + first * self->stride + first;
  AprCholesky below = *self->factor;
  gsize i;

  below.rows += first * below.stride + first;
  below.n -= first;
  for (i = 0; i < MIN (INVERTED, below.n); i++)
    corner[i * self->stride + i] = 1;
  apr_cholesky_solve_many (&below, TRUE, corner, self->stride, MIN (INVERTED, self->stride - first),
                           self->run);
}

void
apr_cholesky_invert (const AprCholesky *self, double *inverse, gsize stride, const AprRun *run)
{
  Inversion inversion = { self, inverse, stride, run };
  double n = (double) self->n;

  apr_parallel_run_parts (invert_columns, &inversion,
                          apr_parallel_count (run->n_threads, n * n * n / 48 / APR_PARALLEL_OPERATIONS),
                          (self->n + INVERTED - 1) / INVERTED);
}

void
apr_cholesky_multiply (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    x[i] = self->kernel->dot (self->rows + i * self->stride + i, x + i, self->n - i);
  for (i = self->n; i-- > 0;)
    {
      const double *row = self->rows + i * self->stride;

      self->kernel->subtract_scaled (x + i + 1, row + i + 1, -x[i], self->n - i - 1);
      x[i] *= row[i];
    }
}

double
apr_cholesky_estimate_min_eigenvalue (const AprCholesky *self)
{
  g_autofree gpointer heap = NULL;
  double *x = apr_scratch_new (double, self->n, &heap);
  double estimate = INFINITY;
  int step;
  gsize i;

  for (i = 0; i < self->n; i++)
    x[i] = apr_dense_start (i);

  for (step = 0; step < 8; step++)
    {
      double norm = sqrt (self->kernel->dot (x, x, self->n));
      double middle;
      double before = estimate;

      for (i = 0; i < self->n; i++)
        x[i] /= norm;
      solve_transposed (self, x);
      middle = self->kernel->dot (x, x, self->n);
      solve_upper (self, x);
      estimate = 1 / middle;
      if (estimate > 0.7 * before)
        break;
    }

  return estimate;
}
