/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-hyper-parameters-private.h"

#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/tensor/apr-tensor-private.h"

G_STATIC_ASSERT (APR_PARAM_TRANSIENT == 1 << G_PARAM_USER_SHIFT);
G_STATIC_ASSERT (APR_PARAM_UNSAID == 1 << (G_PARAM_USER_SHIFT + 1));

static GParamSpec **
list_properties (GObjectClass *klass, gboolean (*is_listed) (const GParamSpec *pspec), guint *n)
{
  GParamSpec **pspecs = g_object_class_list_properties (klass, n);
  guint kept = 0;
  guint i;

  for (i = 0; i < *n; i++)
    if (is_listed (pspecs[i]))
      pspecs[kept++] = pspecs[i];
  *n = kept;

  return pspecs;
}

GParamSpec **
apr_hyper_parameters_list (GObjectClass *klass, guint *n)
{
  return list_properties (klass, apr_is_hyper_parameter, n);
}

GParamSpec **
apr_cloned_properties_list (GObjectClass *klass, guint *n)
{
  return list_properties (klass, apr_is_cloned_property, n);
}

/* What the library writes into a file beside hyper-parameters are the model and the format, and results and names,
 * which are properties of the classes that write them. */
static gboolean
has_name_of_library (GParamSpec *pspec)
{
  static const char *const names[] = { "model", "format", NULL };
  static const char *const classes[] = { "AprEstimator", "AprLinearRegression", NULL };
  GObjectClass *parent = g_type_class_peek (g_type_parent (pspec->owner_type));
  GParamSpec *inherited = parent != NULL ? g_object_class_find_property (parent, pspec->name) : NULL;

  return g_strv_contains (names, pspec->name) ||
         (inherited != NULL && g_strv_contains (classes, g_type_name (inherited->owner_type)) &&
          ((inherited->flags & G_PARAM_WRITABLE) == 0 || inherited->owner_type == APR_TYPE_ESTIMATOR));
}

char *
apr_hyper_parameter_get_key (GParamSpec *pspec, GError **error)
{
  if (!has_name_of_library (pspec))
    return g_strdelimit (g_strdup (pspec->name), "-", '_');

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The hyper-parameter “%s” of %s cannot be stored: the library uses this name", pspec->name,
               g_type_name (pspec->owner_type));
  return NULL;
}

/* For GLib, a number within 1e-90 of the default is the default. */
static gboolean
is_default (GParamSpec *pspec, const GValue *value)
{
  if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    return g_value_get_double (value) == G_PARAM_SPEC_DOUBLE (pspec)->default_value;
  if (G_IS_PARAM_SPEC_FLOAT (pspec))
    return g_value_get_float (value) == G_PARAM_SPEC_FLOAT (pspec)->default_value;

  return g_param_value_defaults (pspec, value);
}

/* Numbers with commas between them; NULL for none. */
static char *
vector_to_string (AprTensor *vector)
{
  GString *text;
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  gsize i;

  if (vector == NULL)
    return NULL;

  text = g_string_new (NULL);
  for (i = 0; i < apr_tensor_get_n_elements (vector); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "",
                            g_ascii_dtostr (buffer, sizeof buffer, apr_tensor_get_double (vector, i, NULL)));

  return g_string_free (text, FALSE);
}

static gboolean
check_vector (GObject *object, GParamSpec *pspec, AprTensor *vector, GError **error)
{
  gsize n_dims;
  const gsize *shape;
  AprDType dtype;
  g_autofree char *text = NULL;

  if (vector == NULL)
    return TRUE;
  shape = apr_tensor_get_shape (vector, &n_dims);
  dtype = apr_tensor_get_dtype (vector);
  if (n_dims == 1 && apr_dtype_is_numeric (dtype))
    return TRUE;

  text = apr_shape_to_string (shape, n_dims);
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The hyper-parameter “%s” of %s is %s %s, which cannot be stored: only vectors of F16, BF16, "
               "F32, F64, BOOL and integers can",
               pspec->name, G_OBJECT_TYPE_NAME (object), apr_dtype_to_string (dtype), text);
  return FALSE;
}

static gboolean
parse_vector (const char *text, GValue *value)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (double));
  const char *at = text;
  gsize n;

  while (*text != '\0')
    {
      char *end = NULL;
      double number = g_ascii_strtod (at, &end);

      if (end == at || (*end != ',' && *end != '\0'))
        return FALSE;
      g_array_append_val (numbers, number);
      if (*end == '\0')
        break;
      at = end + 1;
    }
  n = numbers->len;
  g_value_take_boxed (
    value, apr_tensor_new_from_doubles ((const double *) (gconstpointer) numbers->data, n, &n, 1, NULL));
  return TRUE;
}

gboolean
apr_hyper_parameter_is_unset (GObject *object, GParamSpec *pspec)
{
  g_auto (GValue) value = G_VALUE_INIT;

  if (!G_IS_PARAM_SPEC_STRING (pspec))
    return FALSE;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (object, pspec->name, &value);

  return g_value_get_string (&value) == NULL;
}

/* A value that GObject would change, as one that is out of range or NaN, could not be loaded again. */
static gboolean
is_valid (GParamSpec *pspec, const GValue *value)
{
  g_auto (GValue) copy = G_VALUE_INIT;

  g_value_init (&copy, pspec->value_type);
  g_value_copy (value, &copy);

  return !g_param_value_validate (pspec, &copy);
}

gboolean
apr_hyper_parameter_to_string (GObject *object, GParamSpec *pspec, char **text, GError **error)
{
  /* The C library rounds numbers in text as the program around rounds. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) number = G_VALUE_INIT;
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  GEnumValue *entry;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (object, pspec->name, &value);

  if (((guint) pspec->flags & APR_PARAM_UNSAID) != 0 && is_default (pspec, &value))
    {
      *text = NULL;
      return TRUE;
    }
  if (!is_valid (pspec, &value))
    {
      g_autofree char *contents = g_strdup_value_contents (&value);

      g_set_error (
        error, APR_ERROR, APR_ERROR_MODEL,
        "The hyper-parameter “%s” of %s is %s, which its property does not allow, so that it could not be "
        "loaded again",
        pspec->name, G_OBJECT_TYPE_NAME (object), contents);
      return FALSE;
    }

  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_BOOLEAN:
      *text = g_strdup (g_value_get_boolean (&value) ? "true" : "false");
      return TRUE;
    case G_TYPE_CHAR:
    case G_TYPE_INT:
    case G_TYPE_LONG:
    case G_TYPE_INT64:
      g_value_init (&number, G_TYPE_INT64);
      g_value_transform (&value, &number);
      *text = g_strdup_printf ("%" G_GINT64_FORMAT, g_value_get_int64 (&number));
      return TRUE;
    case G_TYPE_UCHAR:
    case G_TYPE_UINT:
    case G_TYPE_ULONG:
    case G_TYPE_UINT64:
      g_value_init (&number, G_TYPE_UINT64);
      g_value_transform (&value, &number);
      *text = g_strdup_printf ("%" G_GUINT64_FORMAT, g_value_get_uint64 (&number));
      return TRUE;
    case G_TYPE_FLOAT:
      *text = g_strdup (g_ascii_dtostr (buffer, sizeof buffer, (double) g_value_get_float (&value)));
      return TRUE;
    case G_TYPE_DOUBLE:
      *text = g_strdup (g_ascii_dtostr (buffer, sizeof buffer, g_value_get_double (&value)));
      return TRUE;
    case G_TYPE_STRING:
      *text = g_value_dup_string (&value);
      return TRUE;
    case G_TYPE_ENUM:
      entry = g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class, g_value_get_enum (&value));
      *text = entry != NULL ? g_strdup (entry->value_nick) : NULL;
      return TRUE;
    case G_TYPE_BOXED:
      if (pspec->value_type == APR_TYPE_TENSOR)
        {
          if (!check_vector (object, pspec, g_value_get_boxed (&value), error))
            return FALSE;
          *text = vector_to_string (g_value_get_boxed (&value));
          return TRUE;
        }
      G_GNUC_FALLTHROUGH;
    default:
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The hyper-parameter “%s” of %s is a %s, which cannot be stored", pspec->name,
                   G_OBJECT_TYPE_NAME (object), g_type_name (pspec->value_type));
      return FALSE;
    }
}

static gboolean
parse_signed (const char *text, gint64 min, gint64 max, GValue *value)
{
  g_auto (GValue) number = G_VALUE_INIT;
  gint64 i;

  if (!g_ascii_string_to_signed (text, 10, min, max, &i, NULL))
    return FALSE;

  g_value_init (&number, G_TYPE_INT64);
  g_value_set_int64 (&number, i);
  return g_value_transform (&number, value);
}

static gboolean
parse_unsigned (const char *text, guint64 max, GValue *value)
{
  g_auto (GValue) number = G_VALUE_INIT;
  guint64 u;

  if (!g_ascii_string_to_unsigned (text, 10, 0, max, &u, NULL))
    return FALSE;

  g_value_init (&number, G_TYPE_UINT64);
  g_value_set_uint64 (&number, u);
  return g_value_transform (&number, value);
}

/* Whole numbers and doubles, and nothing behind them. */
static gboolean
parse_number (GParamSpec *pspec, const char *text, GValue *value)
{
  double d;
  char *end = NULL;

  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_CHAR:
      return parse_signed (text, G_MININT8, G_MAXINT8, value);
    case G_TYPE_UCHAR:
      return parse_unsigned (text, G_MAXUINT8, value);
    case G_TYPE_INT:
      return parse_signed (text, G_MININT, G_MAXINT, value);
    case G_TYPE_UINT:
      return parse_unsigned (text, G_MAXUINT, value);
    case G_TYPE_LONG:
      return parse_signed (text, G_MINLONG, G_MAXLONG, value);
    case G_TYPE_ULONG:
      return parse_unsigned (text, G_MAXULONG, value);
    case G_TYPE_INT64:
      return parse_signed (text, G_MININT64, G_MAXINT64, value);
    case G_TYPE_UINT64:
      return parse_unsigned (text, G_MAXUINT64, value);
    default:
      d = g_ascii_strtod (text, &end);
      if (end == text || *end != '\0')
        return FALSE;
      if (G_TYPE_FUNDAMENTAL (pspec->value_type) == G_TYPE_FLOAT)
        g_value_set_float (value, (float) d);
      else
        g_value_set_double (value, d);
      return TRUE;
    }
}

static gboolean
parse_value (GParamSpec *pspec, const char *text, GValue *value)
{
  GEnumValue *entry;

  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, strcmp (text, "true") == 0);
      return strcmp (text, "true") == 0 || strcmp (text, "false") == 0;
    case G_TYPE_STRING:
      g_value_set_string (value, text);
      return TRUE;
    case G_TYPE_ENUM:
      entry = g_enum_get_value_by_nick (G_PARAM_SPEC_ENUM (pspec)->enum_class, text);
      if (entry != NULL)
        g_value_set_enum (value, entry->value);
      return entry != NULL;
    case G_TYPE_CHAR:
    case G_TYPE_UCHAR:
    case G_TYPE_INT:
    case G_TYPE_UINT:
    case G_TYPE_LONG:
    case G_TYPE_ULONG:
    case G_TYPE_INT64:
    case G_TYPE_UINT64:
    case G_TYPE_FLOAT:
    case G_TYPE_DOUBLE:
      return parse_number (pspec, text, value);
    case G_TYPE_BOXED:
      return pspec->value_type == APR_TYPE_TENSOR && parse_vector (text, value);
    default:
      return FALSE;
    }
}

gboolean
apr_hyper_parameter_from_string (GParamSpec *pspec, const char *text, GValue *value, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();

  g_value_init (value, pspec->value_type);

  /* Validation changes a value that is out of range: then it was not a good one. */
  if (parse_value (pspec, text, value) && !g_param_value_validate (pspec, value))
    return TRUE;

  g_value_unset (value);
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The hyper-parameter “%s” cannot be “%s”", pspec->name,
               text);
  return FALSE;
}
