/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-sample-rows-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Features that are transposed at once, so that what is read and what is written stay in the cache. */
#define BLOCK 64

AprSampleRows *
apr_sample_rows_ref (AprSampleRows *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
apr_sample_rows_unref (AprSampleRows *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_clear_pointer (&self->x, apr_tensor_unref);
  g_free (self->y);
  g_free (self->weights);
  g_free (self);
}

static AprSampleRows *
rows_new (gsize n, gsize n_features, gsize n_targets)
{
  AprSampleRows *self = g_new0 (AprSampleRows, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->n = n;
  self->n_features = n_features;
  self->n_targets = n_targets;

  return self;
}

static gboolean
take_x (AprSampleRows *self, AprTensor *x, GError **error)
{
  self->x = x;
  if (apr_tensor_get_dtype (x) == APR_DTYPE_F32)
    self->floats = apr_tensor_get_floats (x, NULL, error);
  else
    self->doubles = apr_tensor_get_doubles (x, NULL, error);

  return self->floats != NULL || self->doubles != NULL;
}

static inline double
read_x (const AprSampleRows *self, gsize feature, gsize row)
{
  gsize index = feature * self->n + row;

  return self->floats != NULL ? (double) self->floats[index] : self->doubles[index];
}

static gint
compare_numbers (double one, double other)
{
  return (one > other) - (one < other);
}

/* A row of one of two sets. */
typedef struct
{
  const AprSampleRows *rows;
  gsize row;
} Place;

/* By features, then targets, then weights. */
static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *one = a;
  const Place *other = b;
  gint order = 0;
  gsize i;

  for (i = 0; i < one->rows->n_features && order == 0; i++)
    order = compare_numbers (read_x (one->rows, i, one->row), read_x (other->rows, i, other->row));
  for (i = 0; i < one->rows->n_targets && order == 0; i++)
    order = compare_numbers (one->rows->y[i * one->rows->n + one->row],
                             other->rows->y[i * other->rows->n + other->row]);
  if (order == 0)
    order = compare_numbers (one->rows->weights != NULL ? one->rows->weights[one->row] : 1,
                             other->rows->weights != NULL ? other->rows->weights[other->row] : 1);

  return order;
}

/* x in floats where all are. */
static AprTensor *
take_values (gpointer data, AprDType dtype, const gsize *shape)
{
  gsize n = shape[0] * shape[1];
  const double *doubles = data;
  float *floats = data;
  gpointer smaller;
  gsize i;

  for (i = 0; i < n && dtype == APR_DTYPE_F64; i++)
    if (fabs (doubles[i]) > (double) G_MAXFLOAT || (double) (float) doubles[i] != doubles[i])
      return apr_tensor_new_take (APR_DTYPE_F64, shape, 2, data, n * sizeof (double));

  /* In place: a float is written where no double is to be read. */
  for (i = 0; i < n && dtype == APR_DTYPE_F64; i++)
    {
      float value = (float) doubles[i];

      memcpy (&floats[i], &value, sizeof value);
    }
  smaller = dtype == APR_DTYPE_F64 ? g_try_realloc_n (data, n, sizeof (float)) : NULL;

  return apr_tensor_new_take (APR_DTYPE_F32, shape, 2, smaller != NULL ? smaller : data, n * sizeof (float));
}

/* The rows at some places; NULL where there is no memory. */
static AprSampleRows *
gather (const Place *places, gsize n, GError **error)
{
  const AprSampleRows *first = places[0].rows;
  g_autoptr (AprSampleRows) self = rows_new (n, first->n_features, first->n_targets);
  gsize shape[2] = { first->n_features, n };
  AprDType dtype = APR_DTYPE_F32;
  gboolean weighted = FALSE;
  gpointer data;
  gsize i;
  gsize j;

  for (j = 0; j < n; j++)
    {
      dtype = MAX (dtype, apr_tensor_get_dtype (places[j].rows->x));
      weighted = weighted || (places[j].rows->weights != NULL && places[j].rows->weights[places[j].row] != 1);
    }
  data = apr_memory_new (n, self->n_features * (dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double)),
                         "samples", error);
  if (data == NULL)
    return NULL;
  for (i = 0; i < self->n_features; i++)
    for (j = 0; j < n; j++)
      if (dtype == APR_DTYPE_F32)
        ((float *) data)[i * n + j] = (float) read_x (places[j].rows, i, places[j].row);
      else
        ((double *) data)[i * n + j] = read_x (places[j].rows, i, places[j].row);
  if (!take_x (self, take_values (data, dtype, shape), error))
    return NULL;

  self->y = apr_memory_new (n, self->n_targets * sizeof *self->y, "targets", error);
  if (self->y == NULL)
    return NULL;
  for (i = 0; i < self->n_targets; i++)
    for (j = 0; j < n; j++)
      self->y[i * n + j] = places[j].rows->y[i * places[j].rows->n + places[j].row];
  if (weighted)
    {
      self->weights = apr_memory_new (n, sizeof *self->weights, "weights", error);
      if (self->weights == NULL)
        return NULL;
    }
  for (j = 0; j < n && weighted; j++)
    self->weights[j] = places[j].rows->weights != NULL ? places[j].rows->weights[places[j].row] : 1;

  return g_steal_pointer (&self);
}

AprSampleRows *
apr_sample_rows_merge (AprSampleRows *one, AprSampleRows *other, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize n = one->n + other->n;
  g_autofree Place *places = NULL;
  gsize j;

  if (one->n == 0 || other->n == 0)
    return apr_sample_rows_ref (one->n == 0 ? other : one);

  places = apr_memory_new (n, sizeof *places, "samples to sort", error);
  if (places == NULL)
    return NULL;
  for (j = 0; j < n; j++)
    places[j] = j < one->n ? (Place){ one, j } : (Place){ other, j - one->n };
  qsort (places, n, sizeof *places, compare_places);

  return gather (places, n, error);
}

gboolean
apr_sample_rows_subtract (AprSampleRows *self, AprSampleRows *other, AprSampleRows **rest, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autofree Place *places = apr_memory_new (self->n + 1, sizeof *places, "samples to keep", error);
  gsize n_taken = 0;
  gsize n = 0;
  gsize j;

  *rest = NULL;
  if (places == NULL)
    return FALSE;
  /* Both are sorted. */
  for (j = 0; j < self->n; j++)
    {
      places[n] = (Place){ self, j };
      if (n_taken < other->n && compare_places (&places[n], &(Place){ other, n_taken }) == 0)
        n_taken++;
      else
        n++;
    }
  if (n_taken < other->n)
    return TRUE;

  *rest = n > 0 ? gather (places, n, error) : rows_new (0, self->n_features, self->n_targets);
  return *rest != NULL;
}

gboolean
apr_sample_rows_equal (const AprSampleRows *self, const AprSampleRows *other)
{
  gsize j;

  if (self->n != other->n)
    return FALSE;

  for (j = 0; j < self->n; j++)
    if (compare_places (&(Place){ self, j }, &(Place){ other, j }) != 0)
      return FALSE;

  return TRUE;
}

/* Samples in tensors. */
typedef struct
{
  AprRows x;
  AprRows y;
  AprRows weights; /* without data where all are 1 */
  gsize *kept;     /* (owned) the samples that count, sorted */
  gsize n;
} Samples;

static void
samples_clear (Samples *self)
{
  g_clear_pointer (&self->kept, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Samples, samples_clear)

static gint
compare_elements (const AprRows *rows, gsize one, gsize other)
{
  gint order = 0;
  gsize i;

  for (i = 0; i < rows->n_columns && order == 0; i++)
    order = compare_numbers (apr_dtype_read_double (rows->dtype, rows->data, one * rows->n_columns + i),
                             apr_dtype_read_double (rows->dtype, rows->data, other * rows->n_columns + i));

  return order;
}

/* As compare_places(). */
static gint
compare_samples (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Samples *samples = user_data;
  gsize one = *(const gsize *) a;
  gsize other = *(const gsize *) b;
  gint order = compare_elements (&samples->x, one, other);

  if (order == 0)
    order = compare_elements (&samples->y, one, other);
  if (order == 0 && samples->weights.data != NULL)
    order = compare_elements (&samples->weights, one, other);

  return order;
}

/* How many rows, and columns, are transposed at a time, so that what is written fills lines of the cache. */
#define ROWS 8
#define COLUMNS 1024

/* Vectors that every processor has. */
typedef float Floats __attribute__ ((vector_size (16)));
typedef double Doubles __attribute__ ((vector_size (16)));

static inline void
turn_floats (Floats v[4])
{
  Floats low = __builtin_shufflevector (v[0], v[1], 0, 4, 1, 5);
  Floats high = __builtin_shufflevector (v[0], v[1], 2, 6, 3, 7);
  Floats other_low = __builtin_shufflevector (v[2], v[3], 0, 4, 1, 5);
  Floats other_high = __builtin_shufflevector (v[2], v[3], 2, 6, 3, 7);

  v[0] = __builtin_shufflevector (low, other_low, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector (low, other_low, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector (high, other_high, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector (high, other_high, 2, 3, 6, 7);
}

static inline void
turn_doubles (Doubles v[2])
{
  Doubles first = __builtin_shufflevector (v[0], v[1], 0, 2);

  v[1] = __builtin_shufflevector (v[0], v[1], 1, 3);
  v[0] = first;
}

/* Transposes columns from @first to @end, in squares of @lanes; returns whether all values are finite, as only then 0
 * times each is 0. Zeros lose their sign. */
#define DEFINE_TRANSPOSE(name, type, vector_type, lanes, turn)                   \
 static gboolean name (const Samples *samples, gsize first, gsize end, type *to) \
 {                                                                               \
  const type *data = (gconstpointer) samples->x.data;                            \
  gsize n_columns = samples->x.n_columns;                                        \
  gsize n = samples->n;                                                          \
  vector_type zeros[lanes] = { { 0 } };                                          \
  gboolean finite = TRUE;                                                        \
  gsize i;                                                                       \
  gsize j;                                                                       \
  gsize k;                                                                       \
  gsize l;                                                                       \
                                                                                 \
  for (j = 0; j < n; j += ROWS)                                                  \
   {                                                                             \
    gsize n_rows = MIN (ROWS, n - j);                                            \
    const type *from[ROWS];                                                      \
                                                                                 \
    for (k = 0; k < n_rows; k++)                                                 \
     from[k] = data + samples->kept[j + k] * n_columns;                          \
    for (i = first; n_rows == ROWS && i + lanes <= end; i += lanes)              \
     for (k = 0; k < ROWS; k += lanes)                                           \
      {                                                                          \
       vector_type square[lanes];                                                \
                                                                                 \
       for (l = 0; l < lanes; l++)                                               \
        {                                                                        \
         memcpy (&square[l], from[k + l] + i, sizeof square[l]);                 \
         zeros[l] += 0 * square[l];                                              \
         square[l] += 0;                                                         \
        }                                                                        \
       turn (square);                                                            \
       for (l = 0; l < lanes; l++)                                               \
        memcpy (&to[(i + l) * n + j + k], &square[l], sizeof square[l]);         \
      }                                                                          \
    for (; i < end; i++)                                                         \
     for (k = 0; k < n_rows; k++)                                                \
      {                                                                          \
       finite = finite && isfinite (from[k][i]);                                 \
       to[i * n + j + k] = from[k][i] + 0;                                       \
      }                                                                          \
   }                                                                             \
  for (k = 0; k < lanes; k++)                                                    \
   for (l = 0; l < lanes; l++)                                                   \
    finite = finite && zeros[k][l] == 0;                                         \
                                                                                 \
  return finite;                                                                 \
 }

DEFINE_TRANSPOSE (transpose_floats, float, Floats, 4, turn_floats)
DEFINE_TRANSPOSE (transpose_doubles, double, Doubles, 2, turn_doubles)

static gboolean
transpose_others (const Samples *samples, gsize first, gsize end, double *to)
{
  const AprRows *rows = &samples->x;
  gboolean finite = TRUE;
  gsize i;
  gsize j;

  for (j = 0; j < samples->n; j++)
    for (i = first; i < end; i++)
      {
        double value =
          apr_dtype_read_double (rows->dtype, rows->data, samples->kept[j] * rows->n_columns + i);

        to[i * samples->n + j] = value + 0;
        finite = finite && isfinite (value);
      }

  return finite;
}

typedef struct
{
  const Samples *samples;
  gboolean in_place; /* of a dtype that can be computed with where it is */
  gpointer to;
  gint not_finite; /* atomic */
} Transposition;

static void
transpose_some (gpointer data, gsize part, gsize n_parts)
{
  Transposition *self = data;
  const AprRows *rows = &self->samples->x;
  gsize end = rows->n_columns * (part + 1) / n_parts;
  gsize first;
  gsize last;

  for (first = rows->n_columns * part / n_parts; first < end; first = last)
    {
      gboolean finite;

      last = MIN (first + COLUMNS, end);
      if (!self->in_place)
        finite = transpose_others (self->samples, first, last, self->to);
      else if (rows->dtype == APR_DTYPE_F32)
        finite = transpose_floats (self->samples, first, last, self->to);
      else
        finite = transpose_doubles (self->samples, first, last, self->to);
      if (!finite)
        g_atomic_int_set (&self->not_finite, TRUE);
    }
}

/* Whether doubles hold all values exactly. */
static gboolean
fit_doubles (const AprRows *rows)
{
  double rest;
  gsize i;
  gsize j;

  for (i = 0; i < rows->n_rows && apr_rows_may_exceed_double (rows); i++)
    for (j = 0; j < rows->n_columns; j++)
      if (apr_rows_get_rests (rows, j, i, 1, &rest))
        return FALSE;

  return TRUE;
}

static AprTensor *
transpose_x (const Samples *samples, guint n_threads, GError **error)
{
  const AprRows *rows = &samples->x;
  gsize shape[2] = { rows->n_columns, samples->n };
  gsize element = rows->dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double);
  gboolean in_place = (rows->dtype == APR_DTYPE_F32 || rows->dtype == APR_DTYPE_F64) &&
                      G_BYTE_ORDER == G_LITTLE_ENDIAN && (guintptr) rows->data % element == 0;
  gboolean floats = in_place && rows->dtype == APR_DTYPE_F32;
  Transposition transposition = { samples, in_place, NULL, FALSE };

  transposition.to = g_try_malloc_n (samples->n * rows->n_columns, floats ? sizeof (float) : sizeof (double));
  if (transposition.to == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for %" G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT " features", samples->n,
                   rows->n_columns);
      return NULL;
    }
  apr_parallel_run (transpose_some, &transposition, n_threads,
                    4 * (double) samples->n * (double) rows->n_columns);
  if (!transposition.not_finite)
    return take_values (transposition.to, floats ? APR_DTYPE_F32 : APR_DTYPE_F64, shape);

  g_free (transposition.to);
  (void) apr_rows_check_finite (rows, error);
  return NULL;
}

/* The samples that count. */
static gboolean
keep (Samples *self, GError **error)
{
  gsize j;

  self->kept = apr_memory_new (self->x.n_rows, sizeof *self->kept, "samples to sort", error);
  if (self->kept == NULL)
    return FALSE;
  for (j = 0; j < self->x.n_rows; j++)
    if (self->weights.data == NULL || apr_dtype_read_double (self->weights.dtype, self->weights.data, j) != 0)
      self->kept[self->n++] = j;
  g_qsort_with_data (self->kept, (gint) self->n, sizeof *self->kept, compare_samples, self);

  return TRUE;
}

gboolean
apr_sample_rows_new (
  AprTensor *x, AprTensor *y, AprTensor *sample_weight, guint n_threads, AprSampleRows **self, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_auto (Samples) samples = { 0 };
  g_autoptr (AprSampleRows) rows = NULL;
  AprTensor *transposed;
  gboolean weighted = FALSE;
  gsize i;
  gsize j;

  *self = NULL;
  apr_rows_init (&samples.x, "X", x);
  apr_rows_init (&samples.y, "y", y);
  if (sample_weight != NULL)
    {
      apr_rows_init (&samples.weights, "sample_weight", sample_weight);
      if (!apr_rows_check_weights (&samples.weights, error))
        return FALSE;
    }
  if (!keep (&samples, error))
    return FALSE;
  if (samples.n < samples.x.n_rows && !apr_rows_check_finite (&samples.x, error))
    return FALSE;
  if (!apr_rows_check_finite (&samples.y, error))
    return FALSE;
  if (samples.n == 0)
    {
      *self = rows_new (0, samples.x.n_columns, samples.y.n_columns);
      return TRUE;
    }
  if (!fit_doubles (&samples.x) || !fit_doubles (&samples.y))
    return TRUE;

  rows = rows_new (samples.n, samples.x.n_columns, samples.y.n_columns);
  transposed = transpose_x (&samples, n_threads, error);
  if (transposed == NULL || !take_x (rows, transposed, error))
    return FALSE;

  rows->y = apr_memory_new (rows->n, rows->n_targets * sizeof (double), "targets", error);
  if (rows->y == NULL)
    return FALSE;
  for (i = 0; i < rows->n_targets; i++)
    for (j = 0; j < rows->n; j++)
      rows->y[i * rows->n + j] =
        apr_dtype_read_double (samples.y.dtype, samples.y.data, samples.kept[j] * rows->n_targets + i) + 0;
  for (j = 0; j < rows->n && sample_weight != NULL; j++)
    weighted =
      weighted || apr_dtype_read_double (samples.weights.dtype, samples.weights.data, samples.kept[j]) != 1;
  if (weighted)
    {
      rows->weights = apr_memory_new (rows->n, sizeof *rows->weights, "weights", error);
      if (rows->weights == NULL)
        return FALSE;
    }
  for (j = 0; j < rows->n && weighted; j++)
    rows->weights[j] = apr_dtype_read_double (samples.weights.dtype, samples.weights.data, samples.kept[j]);
  *self = g_steal_pointer (&rows);

  return TRUE;
}

AprTensor *
apr_sample_rows_get_features (const AprSampleRows *self,
                              const gsize *features,
                              gsize n_features,
                              GError **error)
{
  gsize shape[2] = { self->n, n_features };
  AprDType dtype = apr_tensor_get_dtype (self->x);
  gsize row_size = n_features * (dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double));
  gpointer to = apr_memory_new (self->n, row_size, "samples", error);
  gsize first;
  gsize i;
  gsize j;

  if (to == NULL)
    return NULL;
  for (first = 0; first < n_features; first += BLOCK)
    for (j = 0; j < self->n; j++)
      for (i = first; i < MIN (first + BLOCK, n_features); i++)
        if (dtype == APR_DTYPE_F32)
          ((float *) to)[j * n_features + i] = self->floats[features[i] * self->n + j];
        else
          ((double *) to)[j * n_features + i] = self->doubles[features[i] * self->n + j];

  return apr_tensor_new_take (dtype, shape, 2, to, self->n * row_size);
}

/* All features, [n, n_features]. Returns: (transfer full) */
static AprTensor *
get_x (const AprSampleRows *self, GError **error)
{
  g_autofree gsize *all = apr_memory_new (self->n_features, sizeof *all, "features", error);
  gsize i;

  if (all == NULL)
    return NULL;
  for (i = 0; i < self->n_features; i++)
    all[i] = i;

  return apr_sample_rows_get_features (self, all, self->n_features, error);
}

/* [n, n_targets]. Returns: (transfer full) */
static AprTensor *
get_targets (const AprSampleRows *self, GError **error)
{
  gsize shape[2] = { self->n, self->n_targets };
  gsize row_size = self->n_targets * sizeof (double);
  double *to = apr_memory_new (self->n, row_size, "targets", error);
  gsize i;
  gsize j;

  if (to == NULL)
    return NULL;
  for (i = 0; i < self->n_targets; i++)
    for (j = 0; j < self->n; j++)
      to[j * self->n_targets + i] = self->y[i * self->n + j];

  return apr_tensor_new_take (APR_DTYPE_F64, shape, 2, to, self->n * row_size);
}

gboolean
apr_sample_rows_get_weights (const AprSampleRows *self, AprTensor **weights, GError **error)
{
  *weights =
    self->weights != NULL ? apr_tensor_new_from_doubles (self->weights, self->n, &self->n, 1, error) : NULL;

  return *weights != NULL || self->weights == NULL;
}

gboolean
apr_sample_rows_get_all (
  const AprSampleRows *self, AprTensor **x, AprTensor **y, AprTensor **weights, GError **error)
{
  return (*x = get_x (self, error)) != NULL && (*y = get_targets (self, error)) != NULL &&
         apr_sample_rows_get_weights (self, weights, error);
}

AprExactSums *
apr_sample_rows_sum (const AprSampleRows *self, guint n_threads, GError **error)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (self->n_features, self->n_targets, error);

  if (sums == NULL || self->n == 0)
    return g_steal_pointer (&sums);

  return apr_sample_rows_get_all (self, &x, &y, &weights, error) &&
             apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT,
                                    &(AprRun){ .n_threads = n_threads }, error)
         ? g_steal_pointer (&sums)
         : NULL;
}

void
apr_sample_rows_read_feature (const AprSampleRows *self, gsize feature, double *values)
{
  gsize first = feature * self->n;
  gsize j;

  if (self->doubles != NULL)
    memcpy (values, self->doubles + first, self->n * sizeof *values);
  else
    for (j = 0; j < self->n; j++)
      values[j] = (double) self->floats[first + j];
}

gboolean
apr_sample_rows_is_constant (const AprSampleRows *self, gsize feature, double *value)
{
  gsize j;

  *value = read_x (self, feature, 0);
  for (j = 1; j < self->n; j++)
    if (read_x (self, feature, j) != *value)
      return FALSE;

  return TRUE;
}
