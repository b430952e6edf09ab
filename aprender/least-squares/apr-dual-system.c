/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The dual form, from the products of the samples with each other, K = XX'.
 *
 * Without a penalty, the coefficients of minimum norm are those in the range of X'A X_I that solve X_I'A (X b - y) = 0,
 * where X_I are the independent features, A = diag (w), or with an intercept A = (sum w) diag (w) - w w'. So b = X'u
 * with u in the range of B = A X_I. Where as many features are independent as can be, that is all vectors, or with an
 * intercept all whose sum is 0, and any other basis of these serves as well: the differences from one sample.
 *
 * With a penalty, alpha b = X'W (y - a - X b), so b = X'u with u = W (y - a - X b) / alpha, or
 *
 *   (K + alpha W^-1) u + a = y,
 *
 * where the sum of u is 0 if there is an intercept. Unknowns in units of the weights make W^-1 whole.
 */

/* @value as a whole number times 2^@exponent: at most that of its lowest bit. */
static void
set_number (mpz_t number, double value, gint64 exponent)
{
  int own;
  double fraction = frexp (value, &own);

  mpz_set_d (number, ldexp (fraction, DBL_MANT_DIG));
  own -= DBL_MANT_DIG;
  if (value == 0)
    return;
  if (own >= exponent)
    mpz_mul_2exp (number, number, (mp_bitcnt_t) (own - exponent));
  else
    mpz_tdiv_q_2exp (number, number, (mp_bitcnt_t) (exponent - own));
}

/* The exponent of the lowest bit of all values. */
static gint64
find_exponent (const double *values, gsize n)
{
  gint64 exponent = G_MAXINT32;
  gsize i;

  for (i = 0; i < n; i++)
    if (values[i] != 0)
      {
        int own;
        gint64 significand = (gint64) ldexp (frexp (values[i], &own), DBL_MANT_DIG);

        exponent = MIN (exponent, own - DBL_MANT_DIG + __builtin_ctzll ((guint64) significand));
      }

  return exponent == G_MAXINT32 ? 0 : exponent;
}

static mpz_t *
get_numbers (const double *values, gsize n, gint64 *exponent)
{
  mpz_t *numbers = apr_integers_new (n);
  gsize i;

  *exponent = find_exponent (values, n);
  for (i = 0; i < n; i++)
    set_number (numbers[i], values[i], *exponent);

  return numbers;
}

/* How it is made. */
typedef struct
{
  AprDualSystem *system;
  const AprRun *run;
  AprExactSums *sums; /* (owned) of K, after a first column */
  mpz_t *weights;     /* (owned) 1 where there are none */
  gint64 w_exponent;
  mpz_t *y; /* (owned) */
  gboolean penalised;
  mpz_t alpha;
  gint64 alpha_exponent;
  gint64 exponent; /* of M */
} Making;

static void
making_clear (Making *self)
{
  g_clear_pointer (&self->sums, apr_exact_sums_unref);
  apr_integers_free (self->weights, self->system->rows->n);
  apr_integers_free (self->y, self->system->rows->n * self->system->rows->n_targets);
  mpz_clear (self->alpha);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Making, making_clear)

static void
get_k (const Making *self, gsize i, gsize j, mpz_t value)
{
  apr_exact_sums_get_entry (self->sums, 1 + i, 1 + j, value);
}

/* The features that take part: [their number, n]. Returns: (transfer full) (nullable): NULL where there is no memory */
static AprTensor *
select_features (const AprSampleRows *rows, const gboolean *excluded, GError **error)
{
  gboolean floats = rows->floats != NULL;
  gsize row_size = rows->n * (floats ? sizeof (float) : sizeof (double));
  gsize shape[2] = { 0, rows->n };
  guint8 *data;
  gsize i;

  for (i = 0; i < rows->n_features; i++)
    shape[0] += excluded[i] ? 0 : 1;
  if (shape[0] == rows->n_features)
    return apr_tensor_ref (rows->x);

  data = apr_memory_new (shape[0], row_size, "samples", error);
  if (data == NULL) /* GCOVR_EXCL_BR_LINE: there is no memory, as linear-regression-no-memory tests */
    return NULL;    /* GCOVR_EXCL_LINE: see above */
  for (i = 0, shape[0] = 0; i < rows->n_features; i++)
    if (!excluded[i])
      memcpy (data + shape[0]++ * row_size,
              floats ? (const guint8 *) (rows->floats + i * rows->n)
                     : (const guint8 *) (rows->doubles + i * rows->n),
              row_size);

  return apr_tensor_new_take (floats ? APR_DTYPE_F32 : APR_DTYPE_F64, shape, 2, data, shape[0] * row_size);
}

static gboolean
multiply_samples (Making *self, const gboolean *excluded, const AprRun *run, GError **error)
{
  g_autoptr (AprTensor) x = select_features (self->system->rows, excluded, error);
  gsize no_targets[2] = { 0, 0 };
  g_autoptr (AprTensor) y = NULL;

  if (x == NULL)  /* GCOVR_EXCL_BR_LINE: there is no memory, as linear-regression-no-memory tests */
    return FALSE; /* GCOVR_EXCL_LINE: see above */
  no_targets[0] = apr_tensor_get_shape (x, NULL)[0];
  y = apr_tensor_new_from_doubles (NULL, 0, no_targets, 2, NULL);
  self->sums = apr_exact_sums_new (self->system->rows->n, 0, error);
  if (self->sums == NULL) /* GCOVR_EXCL_BR_LINE: there is no memory for so many samples */
    return FALSE;         /* GCOVR_EXCL_LINE: see above */
  if (!apr_exact_sums_update (self->sums, x, y, NULL, APR_PRECISION_EXACT,
                              &(AprRun){ .n_threads = run->n_threads, .cancellable = run->cancellable },
                              error))
    return FALSE;

  self->system->k_exponent = apr_exact_sums_get_exponent (self->sums);
  return TRUE;
}

/* The sample that is next to the mean of all, as near as doubles can tell: differences from it lose least. */
static gsize
find_reference (const Making *self)
{
  const AprDualSystem *system = self->system;
  double weight = mpz_get_d (system->weight);
  double least = INFINITY;
  gsize found = 0;
  mpz_t square;
  mpz_t max;
  mp_bitcnt_t shift;
  gsize i;

  mpz_init (square);
  mpz_init (max);
  for (i = 0; i < system->rows->n; i++)
    {
      get_k (self, i, i, square);
      if (mpz_cmp (square, max) > 0)
        mpz_set (max, square);
    }
  shift = mpz_sizeinbase (max, 2);
  for (i = 0; i < system->rows->n; i++)
    {
      signed long square_exponent;
      signed long sum_exponent;
      double fraction;
      double sum;
      double distance;

      get_k (self, i, i, square);
      fraction = mpz_get_d_2exp (&square_exponent, square);
      sum = mpz_get_d_2exp (&sum_exponent, system->products_w[i]);
      distance = ldexp (fraction, (int) (square_exponent - (signed long) shift)) -
                 2 * ldexp (sum / weight, (int) (sum_exponent - (signed long) shift));
      if (distance < least)
        {
          least = distance;
          found = i;
        }
    }
  mpz_clear (square);
  mpz_clear (max);

  return found;
}

static void
sum_up (Making *self)
{
  AprDualSystem *system = self->system;
  gsize n = system->rows->n;
  mpz_t value;
  gsize i;
  gsize j;

  mpz_init (value);
  mpz_set_ui (system->weight, 0);
  for (i = 0; i < n; i++)
    mpz_add (system->weight, system->weight, self->weights[i]);
  system->targets = apr_integers_new (system->rows->n_targets);
  for (i = 0; i < system->rows->n_targets; i++)
    for (j = 0; j < n; j++)
      mpz_addmul (system->targets[i], self->weights[j], self->y[i * n + j]);
  system->products_w = apr_integers_new (n);
  for (i = 0; i < n && !apr_run_is_cancelled (self->run); i++)
    for (j = 0; j <= i; j++)
      {
        get_k (self, i, j, value);
        mpz_addmul (system->products_w[i], self->weights[j], value);
        if (i != j)
          mpz_addmul (system->products_w[j], self->weights[i], value);
      }
  mpz_clear (value);
}

/* Room for entries of M up to 2^@m_bits in size, and those of c. */
static void
allocate (AprDualSystem *self, gsize m_bits, gsize c_bits, const AprRun *run)
{
  (void) apr_products_init_zeros (&self->products, self->n, self->rows->n_targets,
                                  (MAX (m_bits, c_bits) + 1) / GMP_NUMB_BITS + 1, run);
}

/* Entry (i, j) of B'(K + alpha W^-1) B, times the weight of the reference where there are weights. */
static void
find_entry (const Making *self, const mpz_t *beside, gsize i, gsize j, mpz_t value, mpz_t penalty)
{
  const AprDualSystem *system = self->system;
  gsize row = system->samples[i];
  gsize column = system->samples[j];
  gboolean weighted = system->factors != NULL;
  gint64 k_exponent = system->k_exponent + (weighted ? 2 * self->w_exponent : 0);
  gint64 alpha_exponent = self->alpha_exponent + (weighted ? self->w_exponent : 0);

  get_k (self, row, column, value);
  if (system->reference >= 0)
    {
      mpz_sub (value, value, beside[row]);
      mpz_sub (value, value, beside[column]);
      mpz_add (value, value, beside[system->reference]);
    }
  if (!self->penalised)
    return;

  if (weighted)
    {
      mpz_mul (value, value, self->weights[row]);
      mpz_mul (value, value, self->weights[column]);
    }
  if (weighted && system->reference >= 0)
    {
      mpz_mul (value, value, self->weights[system->reference]);
      k_exponent += self->w_exponent;
      alpha_exponent += self->w_exponent;
    }
  mpz_mul_2exp (value, value, (mp_bitcnt_t) (k_exponent - self->exponent));
  if (i != j && system->reference < 0)
    return;

  mpz_set_ui (penalty, 0);
  if (weighted && system->reference >= 0)
    {
      mpz_mul (penalty, self->weights[row], self->weights[column]);
      if (i == j)
        mpz_addmul (penalty, self->weights[row], self->weights[system->reference]);
    }
  else if (weighted)
    mpz_set (penalty, self->weights[row]);
  else
    mpz_set_ui (penalty, i == j && system->reference >= 0 ? 2 : 1);
  mpz_mul (penalty, penalty, self->alpha);
  mpz_mul_2exp (penalty, penalty, (mp_bitcnt_t) (alpha_exponent - self->exponent));
  mpz_add (value, value, penalty);
}

static void
find_right_side (const Making *self, gsize target, gsize i, mpz_t value)
{
  const AprDualSystem *system = self->system;
  mpz_t *y = self->y + target * system->rows->n;

  mpz_set (value, y[system->samples[i]]);
  if (system->reference >= 0)
    mpz_sub (value, value, y[system->reference]);
  if (system->factors == NULL)
    return;

  mpz_mul (value, value, system->factors[i]);
  if (system->reference >= 0)
    mpz_mul (value, value, self->weights[system->reference]);
}

static void
make_sparse (Making *self)
{
  AprDualSystem *system = self->system;
  const AprSampleRows *rows = system->rows;
  gboolean weighted = self->penalised && rows->weights != NULL;
  gint64 e = self->w_exponent;
  mpz_t *beside = apr_integers_new (rows->n);
  gsize m_bits = 0;
  gsize c_bits = 0;
  mpz_t value;
  mpz_t penalty;
  gsize i;
  gsize j;

  mpz_init (value);
  mpz_init (penalty);
  system->reference = system->centred ? (gssize) find_reference (self) : -1;
  system->n = system->centred ? rows->n - 1 : rows->n;
  system->samples = g_new (gsize, system->n + 1);
  for (i = 0; i < system->n; i++)
    system->samples[i] = i >= (gsize) system->reference ? i + 1 : i; /* -1 is larger than all */
  if (weighted)
    {
      system->factors = apr_integers_new (system->n);
      for (i = 0; i < system->n; i++)
        mpz_set (system->factors[i], self->weights[system->samples[i]]);
    }
  for (i = 0; i < rows->n && system->reference >= 0; i++)
    get_k (self, i, (gsize) system->reference, beside[i]);

  self->exponent = system->k_exponent;
  system->exponent = system->y_exponent;
  if (weighted)
    {
      /* Those of the weights that M and c, and B, are multiplied with. */
      self->exponent = MIN (self->exponent + e, self->alpha_exponent) + (system->reference >= 0 ? 2 * e : e);
      system->exponent += (system->reference >= 0 ? 2 * e : e) + e;
    }
  else if (self->penalised)
    self->exponent = MIN (self->exponent, self->alpha_exponent);
  system->exponent -= self->exponent;

  for (i = 0; i < system->n; i++)
    {
      find_entry (self, (const mpz_t *) beside, i, i, value, penalty);
      m_bits = MAX (m_bits, mpz_sizeinbase (value, 2));
      for (j = 0; j < rows->n_targets; j++)
        {
          find_right_side (self, j, i, value);
          c_bits = MAX (c_bits, mpz_sizeinbase (value, 2));
        }
    }
  /* No entry is larger than the largest square. */
  allocate (system, m_bits, c_bits, self->run);
  for (i = 0; i < system->n && !apr_run_is_cancelled (self->run); i++)
    {
      for (j = 0; j <= i; j++)
        {
          find_entry (self, (const mpz_t *) beside, i, j, value, penalty);
          apr_products_set_integer (&system->products, i, j, value);
        }
      for (j = 0; j < rows->n_targets; j++)
        {
          find_right_side (self, j, i, value);
          apr_products_set_integer (&system->products, system->n + j, i, value);
        }
    }
  mpz_clear (value);
  mpz_clear (penalty);
  apr_integers_free (beside, rows->n);
}

static gsize
count_max_bits (mpz_t *numbers, gsize n)
{
  gsize bits = 0;
  gsize i;

  for (i = 0; i < n; i++)
    bits = MAX (bits, mpz_sizeinbase (numbers[i], 2));

  return bits;
}

/* B = A X_I; false where there is no memory. */
static gboolean
find_basis (Making *self, const gsize *independent)
{
  AprDualSystem *system = self->system;
  gsize n = system->rows->n;
  g_autofree double *values = g_new (double, n);
  gint64 exponent = G_MAXINT32;
  gint64 top = G_MININT32;
  AprIntegerTable basis;
  gboolean has_memory;
  mpz_t entry;
  mpz_t x;
  mpz_t sum;
  gsize i;
  gsize k;

  for (k = 0; k < system->n; k++)
    {
      apr_sample_rows_read_feature (system->rows, independent[k], values);
      exponent = MIN (exponent, find_exponent (values, n));
      for (i = 0; i < n; i++)
        if (values[i] != 0)
          top = MAX (top, ilogb (values[i]) + 1);
    }
  /* An entry is at most twice the product of the sum of the weights, a value and a weight. */
  has_memory = apr_integer_table_init (&basis, n * system->n,
                                       mpz_sizeinbase (system->weight, 2) + (gsize) MAX (top - exponent, 0) +
                                         count_max_bits (self->weights, n) + 1,
                                       self->run);
  system->dense = basis.numbers;
  mpz_inits (entry, x, sum, NULL);
  for (k = 0; k < system->n && has_memory; k++)
    {
      apr_sample_rows_read_feature (system->rows, independent[k], values);
      mpz_set_ui (sum, 0);
      for (i = 0; i < n; i++)
        {
          set_number (x, values[i], exponent);
          mpz_addmul (sum, self->weights[i], x);
        }
      for (i = 0; i < n; i++)
        {
          set_number (x, values[i], exponent);
          if (system->centred)
            {
              mpz_mul (entry, system->weight, x);
              mpz_sub (entry, entry, sum);
              mpz_mul (entry, entry, self->weights[i]);
            }
          else
            mpz_mul (entry, self->weights[i], x);
          apr_integer_table_set (&basis, i * system->n + k, entry);
        }
    }
  mpz_clears (entry, x, sum, NULL);

  return has_memory;
}

typedef struct
{
  const Making *making;
  AprIntegerTable to; /* n x system->n */
} Product;

/* K B */
static void
multiply_basis (gpointer data, gsize part, gsize n_parts)
{
  const Product *product = data;
  const AprDualSystem *system = product->making->system;
  mpz_t *sums = apr_integers_new (system->n);
  mpz_t value;
  gsize i;
  gsize j;
  gsize k;

  mpz_init (value);
  for (i = part; i < system->rows->n; i += n_parts)
    {
      for (k = 0; k < system->n; k++)
        mpz_set_ui (sums[k], 0);
      for (j = 0; j < system->rows->n && !apr_run_is_cancelled (product->making->run); j++)
        {
          get_k (product->making, i, j, value);
          for (k = 0; k < system->n; k++)
            mpz_addmul (sums[k], value, system->dense[j * system->n + k]);
        }
      for (k = 0; k < system->n; k++)
        apr_integer_table_set (&product->to, i * system->n + k, sums[k]);
    }
  mpz_clear (value);
  apr_integers_free (sums, system->n);
}

static void
make_dense (Making *self, const gsize *independent, gsize n_independent)
{
  AprDualSystem *system = self->system;
  gsize n = system->rows->n;
  gsize n_targets = system->rows->n_targets;
  Product product = { self };
  gsize k_bits = 0;
  gsize b_bits;
  mpz_t sum;
  gsize i;
  gsize j;
  gsize k;

  system->n = n_independent;
  system->reference = -1;
  if (!find_basis (self, independent))
    return;

  mpz_init (sum);
  for (i = 0; i < n; i++)
    {
      get_k (self, i, i, sum);
      k_bits = MAX (k_bits, mpz_sizeinbase (sum, 2));
    }
  b_bits = count_max_bits (system->dense, n * system->n) + g_bit_storage (n);
  /* No entry of K is larger than the largest square. */
  if (apr_integer_table_init (&product.to, n * system->n, k_bits + b_bits, self->run))
    {
      apr_parallel_run (multiply_basis, &product, self->run->n_threads, 50 * (double) (n * n * system->n));
      allocate (system, b_bits + count_max_bits (product.to.numbers, n * system->n),
                b_bits + count_max_bits (self->y, n * n_targets), self->run);
    }
  for (i = 0; i < system->n && !apr_run_is_cancelled (self->run); i++)
    {
      for (j = 0; j <= i; j++)
        {
          mpz_set_ui (sum, 0);
          for (k = 0; k < n; k++)
            mpz_addmul (sum, system->dense[k * system->n + i], product.to.numbers[k * system->n + j]);
          apr_products_set_integer (&system->products, i, j, sum);
        }
      for (j = 0; j < n_targets; j++)
        {
          mpz_set_ui (sum, 0);
          for (k = 0; k < n; k++)
            mpz_addmul (sum, system->dense[k * system->n + i], self->y[j * n + k]);
          apr_products_set_integer (&system->products, system->n + j, i, sum);
        }
    }
  mpz_clear (sum);
  apr_pages_free (product.to.numbers);

  /* Where B is in units of 2^b, M is in those of 2^(2 b + k), and c in those of 2^(b + y). */
  system->exponent = system->y_exponent - system->k_exponent;
}

gboolean
apr_dual_system_init (AprDualSystem *self,
                      const AprSampleRows *rows,
                      const AprLeastSquaresOptions *options,
                      const gboolean *excluded,
                      const gsize *independent,
                      gsize n_independent,
                      const AprRun *run,
                      GError **error)
{
  g_auto (Making) making = { .system = self, .run = run, .penalised = options->alpha > 0 };
  AprRun of_equations = apr_run_get_part (run, 0.4, 1);
  g_autofree gboolean *none = NULL;
  gsize i;

  *self = (AprDualSystem){ .rows = rows, .centred = options->fit_intercept };
  mpz_init (self->weight);
  mpz_init (making.alpha);
  if (making.penalised)
    {
      making.alpha_exponent = find_exponent (&options->alpha, 1);
      set_number (making.alpha, options->alpha, making.alpha_exponent);
    }
  making.y = get_numbers (rows->y, rows->n * rows->n_targets, &self->y_exponent);
  if (rows->weights != NULL)
    making.weights = get_numbers (rows->weights, rows->n, &making.w_exponent);
  else
    {
      making.weights = apr_integers_new (rows->n);
      for (i = 0; i < rows->n; i++)
        mpz_set_ui (making.weights[i], 1);
    }
  if (!multiply_samples (&making, excluded, run, error))
    return FALSE;

  apr_run_report (run, 0.2);
  sum_up (&making);
  if (making.penalised || n_independent == (self->centred ? rows->n - 1 : rows->n))
    make_sparse (&making);
  else
    make_dense (&making, independent, n_independent);

  apr_run_report (run, 0.4);
  none = g_new0 (gboolean, self->n + 1);
  if (self->n > 0 && !apr_run_is_cancelled (run))
    apr_normal_equations_init (&self->equations, &self->products, none, 0, &of_equations);

  return !apr_run_set_error_if_cancelled (run, error);
}

void
apr_dual_system_clear (AprDualSystem *self)
{
  if (self->rows == NULL)
    return;

  apr_normal_equations_clear (&self->equations);
  apr_products_clear (&self->products);
  g_clear_pointer (&self->samples, g_free);
  apr_integers_free (self->factors, self->n);
  apr_pages_free (self->dense);
  apr_integers_free (self->products_w, self->rows->n);
  apr_integers_free (self->targets, self->rows->n_targets);
  mpz_clear (self->weight);
  self->rows = NULL;
}
