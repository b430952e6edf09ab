/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-weight-logs-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Additions and multiplications of doubles alone, each rounded, so that every processor and library has the same
 * bits: a weight is 2^e m with m between the roots of 1/2 and of 2, and the logarithm of m a series in (m - 1) / (m +
 * 1). */

/* So many weights at a time, a number that the compiler knows, so that it makes vectors of them. The size of the
 * logarithm of a mantissa is at most 2^51 units: 2^12 of them fit into 64 bits. */
#define BLOCK 64

#define LIMIT ((AprWeightLogs) 1 << 126)

/* Roughly, for a weight. */
#define OPERATIONS 20

#define EXPONENT_BIAS 1023
#define ROOT_OF_HALF 0x3fe6a09e667f3bcdu /* the bits of the double */
#define ONE_AND_A_HALF 0x3ff8000000000000u

/* The coefficients of the series for the logarithm to base two. What is excluded is below 2^-60. */
#define TERM(i) (2 / (G_LN2 * (2 * (i) + 1)))

static inline guint64
get_bits (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline double
from_bits (guint64 bits)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static void
add_block (const double weights[BLOCK], AprWeightLogs *sum, guint64 *n_samples)
{
  guint64 exponents = 0; /* modulo 2^64, as is the next one */
  guint64 fractions = 0;
  guint64 n = 0;
  gsize i;

  for (i = 0; i < BLOCK; i++)
    {
      double weight = weights[i] > 0 ? weights[i] : 1;
      guint64 tiny = weight < DBL_MIN ? 54 : 0;
      double normal = weight < DBL_MIN ? weight * 0x1p54 : weight;
      guint64 bits = get_bits (normal);
      guint64 exponent = ((bits - ROOT_OF_HALF + ((guint64) EXPONENT_BIAS << 52)) >> 52) - EXPONENT_BIAS;
      double mantissa = from_bits (bits - (exponent << 52));
      double s = (mantissa - 1) / (mantissa + 1);
      double z = s * s;
      double series =
        TERM (0) +
        z *
          (TERM (1) +
           z *
             (TERM (2) +
              z * (TERM (3) +
                   z * (TERM (4) +
                        z * (TERM (5) + z * (TERM (6) + z * (TERM (7) + z * (TERM (8) + z * TERM (9)))))))));

      n += weights[i] > 0 ? 1 : 0;
      exponents += exponent - tiny;
      /* Between 1 and 2 a double is a multiple of the unit. */
      fractions += get_bits (1.5 + s * series) - ONE_AND_A_HALF;
    }

  *sum += (AprWeightLogs) (gint64) exponents * ((gint64) 1 << 52) + (gint64) fractions;
  *n_samples += n;
}

typedef struct
{
  AprDType dtype;
  const guint8 *data;
  gsize n_rows;

  GMutex lock;
  AprWeightLogs sum; /* under the lock */
  guint64 n_samples; /* under the lock */
} Job;

static void
add_share (gpointer data, gsize part, gsize n_parts)
{
  Job *job = data;
  gsize n_blocks = (job->n_rows + BLOCK - 1) / BLOCK;
  AprWeightLogs sum = 0;
  guint64 n_samples = 0;
  double weights[BLOCK];
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize block;
  gsize i;

  for (block = part; block < n_blocks; block += n_parts)
    {
      gsize first = block * BLOCK;
      gsize n = MIN (BLOCK, job->n_rows - first);

      if (job->dtype == APR_DTYPE_F64 && G_BYTE_ORDER == G_LITTLE_ENDIAN)
        memcpy (weights, job->data + first * sizeof (double), n * sizeof (double));
      else
        for (i = 0; i < n; i++)
          weights[i] = apr_dtype_read_double (job->dtype, job->data, first + i);
      for (i = n; i < BLOCK; i++)
        weights[i] = 0;
      add_block (weights, &sum, &n_samples);
    }

  g_mutex_lock (&job->lock);
  job->sum += sum;
  job->n_samples += n_samples;
  g_mutex_unlock (&job->lock);
}

AprWeightLogs
apr_weight_logs_of (AprTensor *weights, guint n_threads, guint64 *n_samples)
{
  Job job = { .dtype = apr_tensor_get_dtype (weights),
              .data = g_bytes_get_data (apr_tensor_get_bytes (weights), NULL),
              .n_rows = apr_tensor_get_n_elements (weights) };

  g_mutex_init (&job.lock);
  apr_parallel_run (add_share, &job, n_threads, (double) job.n_rows * OPERATIONS);
  g_mutex_clear (&job.lock);
  *n_samples = job.n_samples;

  return job.sum;
}

gboolean
apr_weight_logs_add (AprWeightLogs *self, AprWeightLogs other, gint sign, GError **error)
{
  AprWeightLogs sum = sign > 0 ? *self + other : *self - other;

  if (sum >= LIMIT || sum <= -LIMIT)
    {
      g_set_error_literal (error, APR_ERROR, APR_ERROR_RANGE,
                           "The sum of the logarithms of the weights is not that of any samples");
      return FALSE;
    }

  *self = sum;
  return TRUE;
}

char *
apr_weight_logs_to_text (AprWeightLogs self)
{
  char digits[64];
  char *first = digits + sizeof digits - 1;
  AprWeightLogs rest = self < 0 ? -self : self;

  *first = '\0';
  do
    {
      *--first = (char) ('0' + (int) (rest % 10));
      rest /= 10;
    }
  while (rest > 0);
  if (self < 0)
    *--first = '-';

  return g_strdup (first);
}

gboolean
apr_weight_logs_from_text (const char *text, AprWeightLogs *self)
{
  g_autofree char *again = NULL;
  AprWeightLogs sum = 0;
  const char *digit;

  for (digit = text[0] == '-' ? text + 1 : text; *digit != '\0'; digit++)
    {
      if (!g_ascii_isdigit (*digit))
        return FALSE;
      if (sum > (LIMIT - 1) / 10)
        return FALSE;
      sum = 10 * sum + (*digit - '0');
      if (sum >= LIMIT)
        return FALSE;
    }

  *self = text[0] == '-' ? -sum : sum;
  again = apr_weight_logs_to_text (*self);
  return g_str_equal (again, text);
}

double
apr_weight_logs_to_natural (AprWeightLogs self)
{
  return (double) self * APR_WEIGHT_LOGS_UNIT * G_LN2;
}
