/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-triangle-private.h"
#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/least-squares/apr-limbs-private.h"

G_BEGIN_DECLS

/* The matrix of the normal equations in whole numbers: the cross products of the features and the targets. With an
 * intercept they are centred and multiplied by the sum of the weights, which takes neither a division nor a rounding.
 *
 * Columns are the features, then the targets. */
typedef struct
{
  gsize n_features;
  gsize n_targets;
  gboolean centred;
  gboolean doubtful;  /* may be those of no samples: they come from a file, or are what others left */
  gboolean penalised; /* by at least 1, so that no eigenvalue of the products of the features is below that */

  gsize n_limbs;    /* of an entry */
  mp_limb_t *limbs; /* (owned) packed lower triangle, in two's complement, the least significant limb first */

  /* The unit of the products is 2^(-2 finer) times that of the squared sums, so that alpha is a whole number too. */
  gint finer;
  /* (owned) the sum of the weights, and the sums of the columns in the same unit; zeros where not centred. They are
   * views of @sum_limbs where that is there, and read-only then. */
  mpz_t *sums;
  mp_limb_t *sum_limbs; /* (owned) (nullable) */
} AprProducts;

/* Prefetches what is some entries after @from, since the processor does not look ahead beyond a page. */
static inline void
apr_products_prefetch (gconstpointer from)
{
  __builtin_prefetch ((gconstpointer) ((guintptr) from + 2048));
}

mpz_t *apr_integers_new (gsize n);

void apr_integers_free (mpz_t *integers, gsize n);

/* Whole numbers with their limbs in one piece of memory, which only apr_integer_table_set() may change. */
typedef struct
{
  mpz_t *numbers; /* (owned) (nullable) to be freed with apr_pages_free() */
  mp_limb_t *limbs;
  gsize n_limbs; /* of each */
} AprIntegerTable;

/* They are 0. Returns FALSE where there is no memory, and @run is cancelled. */
gboolean apr_integer_table_init (AprIntegerTable *self, gsize n, gsize max_bits, const AprRun *run);

void apr_integer_table_set (const AprIntegerTable *self, gsize i, const mpz_t value);

/* Numbers that are 0, with their limbs in one piece of memory, to be freed with apr_pages_free(). Their precision
 * cannot be changed, and they cannot be swapped with others. Returns: (nullable): %NULL where there is no memory, and
 * @run is cancelled */
mpf_t *apr_numbers_new (gsize n, gint64 precision, const AprRun *run);

/* Adds @alpha to the sum of squares of every feature. Where @run is cancelled, the entries mean nothing. */
void apr_products_init (
  AprProducts *self, const AprExactSums *sums, gboolean centred, double alpha, const AprRun *run);

/* Makes products that are all 0, for the caller to fill in: those of a fit without an intercept, so without sums.
 * Returns FALSE where there is no memory, and @run is cancelled. */
gboolean apr_products_init_zeros (
  AprProducts *self, gsize n_features, gsize n_targets, gsize n_limbs, const AprRun *run);

void apr_products_clear (AprProducts *self);

static inline const mp_limb_t *
apr_products_get (const AprProducts *self, gsize row, gsize column)
{
  return self->limbs + apr_triangle (row, column) * self->n_limbs;
}

/* Sets an entry that is 0. */
void apr_products_set_integer (AprProducts *self, gsize row, gsize column, const mpz_t value);

void apr_products_get_integer (const AprProducts *self, gsize row, gsize column, mpz_t value);

/* Copies the products of the features, to be read only: their packed lower triangle, with its limbs in one piece, as to
 * free millions of numbers one by one, or tens of thousands of small pages, takes 0.1 s, which nobody could cancel.
 * Returns: to be freed as @limbs is, with apr_pages_free() */
mpz_t *apr_products_copy (const AprProducts *self, mp_limb_t **limbs, const AprRun *run);

/* Returns a b such that an entry's magnitude is at most 2^b: the least one, or one more; 0 only where the entry is 0.
 * Of a positive entry it is the number of its bits, so that is below 2^b. */
gint64 apr_products_get_bits (const AprProducts *self, gsize row, gsize column);

/* Returns how many zero bits an entry ends with; for 0, more than any other entry has. */
gint64 apr_products_count_zeros (const AprProducts *self, gsize row, gsize column);

/* Returns whether an entry is negative. */
gboolean apr_products_is_negative (const AprProducts *self, gsize row, gsize column);

/* Returns whether the centred sum of squares of @feature is 0 or less than @rank_tolerance of its raw sum of squares:
 * a constant whose values were rounded. */
gboolean apr_products_is_constant (const AprProducts *self, gsize feature, double rank_tolerance);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprProducts, apr_products_clear)

G_END_DECLS
