/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-parallel-private.h"
#include "aprender/exact-sums/apr-residue-short-rests-private.h"
#include "aprender/exact-sums/apr-residue-sums-private.h"
#include "aprender/exact-sums/apr-residue-weights-private.h"

G_BEGIN_DECLS

/* One thread or several that go through blocks of rows together. The columns are those of X, those of Y, and the one of
 * ones, filled up with zeros to whole panels: what is called a column here. Those of the matrix begin with the ones. */

/* What is done with a block, by all threads. */
typedef enum
{
  APR_RESIDUE_TASK_SQUARE,
  APR_RESIDUE_TASK_FLUSH,
  APR_RESIDUE_TASK_CUT,
  APR_RESIDUE_TASK_CUT_WEIGHTS,
  APR_RESIDUE_TASK_MULTIPLY,
  APR_RESIDUE_N_TASKS,
} AprResidueTask;

/* The moduli are divided into shares, at most so many: a thread cuts and multiplies those of its own share first, and
 * then helps with the others. So one processor writes and reads most residues of a modulus, and they need not pass from
 * the cache of one to that of another, which takes long where these are far apart. In return, values are rounded to
 * whole numbers again for each share. */
#define APR_RESIDUE_MAX_SHARES 4

typedef struct
{
  AprResidueModuli moduli; /* for cutting only */
  gsize first;             /* which of all moduli is the first of them */
} AprResidueShare;

/* What each thread has for itself. */
typedef struct
{
  GArray *rests;           /* (owned) of AprResidueRest, those of the block that are not short */
  GArray *short_rests;     /* (owned) the others */
  AprResidueRest *written; /* (owned) by cutting a panel */
  guint8 *weighed;         /* (owned) (nullable) panels on the left, times the weights */
  guint8 *turned;          /* (owned) (nullable) panels on the left, turned */
  GArray *terms;           /* (owned) of the products of rests */
  gint min_exponent;       /* of the terms */
  gint max_exponent;
} AprResidueThread;

typedef struct
{
  AprExactSums *state; /* (unowned) */
  const AprResidueKernel *kernel;
  const AprResidueModuli *moduli;
  AprResidueShare shares[APR_RESIDUE_MAX_SHARES];
  guint n_shares;
  const AprRows *x;
  const AprRows *y;
  AprResidueWeights weights;
  AprResidueShortRests short_rests;
  gsize n_columns;           /* of the matrix */
  gsize n_panels;            /* of columns */
  gsize n_in_place;          /* panels whose values are read where they are */
  gsize block_rows;          /* at most */
  gsize panel_size;          /* of residues for one modulus */
  gsize left_size;           /* the same of a panel that is multiplied on the left */
  gsize n_left;              /* panels on the left that a task multiplies */
  double weight;             /* as whole numbers, all weights are at most that; 1 without weights */
  guint n_threads;           /* at most */
  AprResidueThread *threads; /* (owned) */
  GError *error;             /* (owned) (nullable) written by the first thread, between barriers */
  GCancellable *cancellable; /* (unowned) (nullable) */
  gint stopped;              /* atomic: whether that was cancelled, and the sums mean nothing */

  /* The block, and which task of each share comes next. */
  gint next_task[APR_RESIDUE_N_TASKS][APR_RESIDUE_MAX_SHARES]; /* atomic */

  gsize first_row;
  gsize n_rows;
  gsize n_expected;    /* rows that come, with these */
  AprRange next;       /* the rows of the block that comes then */
  const guint8 *ahead; /* (unowned) what is fetched of them next, */
  gsize n_ahead;       /* how many bytes are left of that, */
  gsize n_ahead_step;  /* and how many are fetched at a time */
  gint unsuited;       /* atomic: whether the block is for others */
  gboolean renewed;    /* new scales begin with it */
  gboolean weightless; /* all its weights are 0 */
  double *staged;      /* (owned) panels that are not read in place */
  double *squares;     /* (owned) of each column */
  double *largest;     /* (owned) magnitude of each column */
  double *bounds;      /* (owned) of the squares of each column's whole numbers, as values */
  guint8 *residues;    /* (owned) for each modulus, all panels */

  /* The sums, since they were last moved to the state. */
  gsize n_summed;                                        /* rows */
  double *totals;                                        /* (owned) weighted squares of each column */
  double *limits;                                        /* (owned) of the totals */
  double *max;                                           /* (owned) limits of magnitudes */
  gint *scale;                                           /* (owned) s of each column */
  double *units;                                         /* (owned) 2^-s */
  double (*magic)[APR_RESIDUE_WORDS][APR_RESIDUE_PANEL]; /* (owned) of each panel */
  guint8 *sums; /* (owned) of the lower triangle of tiles, one tile for each modulus */
} AprResidueTeam;

/* For blocks of at most @block_rows rows, of which rests may be short where @any_short is set, without weights; false
 * where there is no memory. */
gboolean apr_residue_team_init (AprResidueTeam *self,
                                AprExactSums *state,
                                const AprResidueKernel *kernel,
                                const AprResidueModuli *moduli,
                                const AprRows *x,
                                const AprRows *y,
                                const AprWholeWeights *weights,
                                gboolean any_short,
                                gsize block_rows,
                                guint n_threads);

void apr_residue_team_clear (AprResidueTeam *self);

/* Each of these is called by all threads of a team, each of which has a number, @part, of its own; @self->error is set
 * where there is no memory. */

/* Adds the rows that @self->first_row and n_rows say. Where @self->unsuited is set then, nothing was added. */
void apr_residue_team_add_block (AprResidueTeam *self, AprTeam *team, gsize part);

/* Moves the sums to the state. */
void apr_residue_team_flush (AprResidueTeam *self, AprTeam *team, gsize part);

/* Adds the products of rests with their rows, of a block that was multiplied without them. */
void apr_residue_team_add_rests (AprResidueTeam *self, AprTeam *team, gsize part);

/* Adds the products of short rests with the whole numbers of their rows. */
void apr_residue_team_add_short_rests (AprResidueTeam *self, gsize part, gsize n_parts);

/* Where the values of a panel are. */
AprResidueColumns apr_residue_team_get_columns (const AprResidueTeam *self, gsize panel);

/* Makes room in the state for all sums, and for terms from @min to @max of which an entry gets at most @n_terms, or
 * none where @min is above @max: at once, since it takes long to make more room later. For the first thread only,
 * between barriers; where the work was cancelled, nothing may be added then. */
void apr_residue_team_cover (AprResidueTeam *self, gint min, gint max, guint n_terms);

/* The next of the @n_tasks tasks of a share; false where all are taken, or the work was cancelled. Where tasks are not
 * those of shares, @share is 0. */
static inline gboolean
apr_residue_team_take (AprResidueTeam *self, AprResidueTask task, gsize share, gsize n_tasks, gsize *index)
{
  if (g_cancellable_is_cancelled (self->cancellable))
    g_atomic_int_set (&self->stopped, 1);
  if (g_atomic_int_get (&self->stopped))
    return FALSE;

  *index = (gsize) g_atomic_int_add (&self->next_task[task][share], 1);

  return *index < n_tasks;
}

/* The column of the matrix. */
static inline gsize
apr_residue_team_get_column (const AprResidueTeam *self, gsize column)
{
  return column + 1 < self->n_columns ? column + 1 : 0;
}

static inline gsize
apr_residue_team_get_entry (const AprResidueTeam *self, gsize one, gsize other)
{
  gsize row = apr_residue_team_get_column (self, one);
  gsize column = apr_residue_team_get_column (self, other);
  gsize max = MAX (row, column);

  return max * (max + 1) / 2 + MIN (row, column);
}

G_END_DECLS
