/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-npy.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define PREFIX_SIZE 10 /* of version 1: magic, version, length of the header */
#define ALIGNMENT 64
#define MAX_HEADER (1 << 20)
#define MAX_DIMS 64 /* numpy's own limit */

static const struct
{
  AprDType dtype;
  const char *name; /* without the byte order */
  gsize word;       /* how many bytes the byte order turns round */
} dtypes[] = {
  { APR_DTYPE_BOOL, "b1", 1 }, { APR_DTYPE_U8, "u1", 1 },  { APR_DTYPE_I8, "i1", 1 },
  { APR_DTYPE_I16, "i2", 2 },  { APR_DTYPE_U16, "u2", 2 }, { APR_DTYPE_F16, "f2", 2 },
  { APR_DTYPE_I32, "i4", 4 },  { APR_DTYPE_U32, "u4", 4 }, { APR_DTYPE_F32, "f4", 4 },
  { APR_DTYPE_C64, "c8", 4 },  { APR_DTYPE_I64, "i8", 8 }, { APR_DTYPE_U64, "u8", 8 },
  { APR_DTYPE_F64, "f8", 8 },
};

/* What is read of an array at first, in bytes; each step then doubles what there is. */
#define FIRST_STEP ((gsize) 1 << 20)

typedef struct
{
  AprDType dtype;
  gsize word;
  gboolean big_endian;
  gboolean fortran_order;
  gsize shape[MAX_DIMS];
  gsize n_dims;
} Header;

static gboolean
refuse (GError **error, const char *message)
{
  g_autofree char *shown = g_utf8_make_valid (message, -1);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "not a file of numpy that can be read: %s", shown);
  return FALSE;
}

static gboolean
find_dtype (Header *self, const char *descr, GError **error)
{
  g_autofree char *message = NULL;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    if (*descr != '\0' && strchr ("<>|=", *descr) != NULL && strcmp (descr + 1, dtypes[i].name) == 0)
      {
        self->dtype = dtypes[i].dtype;
        self->word = dtypes[i].word;
        self->big_endian = *descr == '>';
        return TRUE;
      }

  message = g_strdup_printf ("the dtype “%s” is none that SafeTensors has", descr);
  return refuse (error, message);
}

/* The dictionary of a header is read with the scanner of GLib, which knows Python's strings, names and numbers. */
static gboolean
read_shape (Header *self, GScanner *scanner, GError **error)
{
  if (g_scanner_get_next_token (scanner) != G_TOKEN_LEFT_PAREN)
    return refuse (error, "the shape is no tuple");
  while (g_scanner_peek_next_token (scanner) == G_TOKEN_INT)
    {
      g_scanner_get_next_token (scanner);
      if (self->n_dims == MAX_DIMS)
        return refuse (error, "the shape has more than 64 sizes");
      if (scanner->value.v_int64 > G_MAXINT64)
        return refuse (error, "a size in the shape is too large");
      self->shape[self->n_dims++] = scanner->value.v_int64;
      if (g_scanner_peek_next_token (scanner) != G_TOKEN_COMMA)
        break;
      g_scanner_get_next_token (scanner);
    }

  return g_scanner_get_next_token (scanner) == G_TOKEN_RIGHT_PAREN ||
         refuse (error, "the shape is no tuple of whole numbers");
}

static gboolean
read_member (Header *self, GScanner *scanner, guint *seen, GError **error)
{
  static const char *const keys[] = { "descr", "fortran_order", "shape" };
  guint key;

  if (g_scanner_get_next_token (scanner) != G_TOKEN_STRING)
    return refuse (error, "the header is no dictionary");
  for (key = 0; key < G_N_ELEMENTS (keys); key++)
    if (strcmp (scanner->value.v_string, keys[key]) == 0)
      break;
  if (key == G_N_ELEMENTS (keys) || (*seen & (1u << key)) != 0 ||
      g_scanner_get_next_token (scanner) != (GTokenType) ':')
    return refuse (error, "the header has another member than descr, fortran_order and shape");
  *seen |= 1u << key;

  if (key == 2)
    return read_shape (self, scanner, error);
  if (g_scanner_get_next_token (scanner) != (key == 0 ? G_TOKEN_STRING : G_TOKEN_IDENTIFIER))
    return refuse (error,
                   key == 0 ? "arrays of structures are not supported" : "fortran_order is no truth value");
  if (key == 0)
    return find_dtype (self, scanner->value.v_string, error);
  self->fortran_order = strcmp (scanner->value.v_identifier, "True") == 0;

  return self->fortran_order || strcmp (scanner->value.v_identifier, "False") == 0 ||
         refuse (error, "fortran_order is no truth value");
}

static gboolean
parse_header (Header *self, const char *text, gsize length, GError **error)
{
  GScanner *scanner = g_scanner_new (NULL);
  gboolean ok = TRUE;
  guint seen = 0;

  scanner->config->scan_float = FALSE;
  scanner->config->scan_octal = FALSE;
  scanner->config->scan_hex = FALSE;
  scanner->config->store_int64 = TRUE;
  scanner->config->cpair_comment_single = (char *) "";
  scanner->config->skip_comment_multi = FALSE;
  scanner->config->scan_comment_multi = FALSE;
  g_scanner_input_text (scanner, text, (guint) length);

  if (g_scanner_get_next_token (scanner) != G_TOKEN_LEFT_CURLY)
    ok = refuse (error, "the header is no dictionary");
  while (ok && g_scanner_peek_next_token (scanner) != G_TOKEN_RIGHT_CURLY)
    {
      ok = read_member (self, scanner, &seen, error);
      if (ok && g_scanner_peek_next_token (scanner) != G_TOKEN_RIGHT_CURLY &&
          g_scanner_get_next_token (scanner) != G_TOKEN_COMMA)
        ok = refuse (error, "the header is no dictionary");
    }
  if (ok)
    {
      g_scanner_get_next_token (scanner);
      if (g_scanner_get_next_token (scanner) != G_TOKEN_EOF)
        ok = refuse (error, "text follows the header's dictionary");
    }
  if (ok && seen != 7)
    ok = refuse (error, "the header lacks one of descr, fortran_order and shape");
  g_scanner_destroy (scanner);

  return ok;
}

static gboolean
refuse_end (const char *what, gsize size, gsize n_read, GError **error)
{
  g_autofree char *message =
    g_strdup_printf ("%s has %" G_GSIZE_FORMAT " bytes, but the file ends after %" G_GSIZE_FORMAT " of them",
                     what, size, n_read);

  return refuse (error, message);
}

/* Reads just as many bytes. */
static gboolean
read_all (AprNpyRead read, gpointer source, gpointer buffer, gsize size, const char *what, GError **error)
{
  gsize n_read;

  return read (source, buffer, size, &n_read, error) &&
         (n_read == size || refuse_end (what, size, n_read, error));
}

static char *
read_header (AprNpyRead read, gpointer source, gsize *length, GError **error)
{
  guint8 prefix[PREFIX_SIZE + 2];
  g_autofree char *text = NULL;

  if (!read_all (read, source, prefix, PREFIX_SIZE, "the beginning", error))
    return NULL;
  if (memcmp (prefix, MAGIC, MAGIC_SIZE) != 0 || prefix[6] < 1 || prefix[6] > 3)
    {
      refuse (error, "it does not begin as one");
      return NULL;
    }
  *length = prefix[8] | (gsize) prefix[9] << 8;
  if (prefix[6] > 1)
    {
      if (!read_all (read, source, prefix + PREFIX_SIZE, 2, "the beginning", error))
        return NULL;
      *length |= (gsize) prefix[10] << 16 | (gsize) prefix[11] << 24;
    }
  if (*length > MAX_HEADER)
    {
      refuse (error, "the header has more than 1 MiB");
      return NULL;
    }
  text = g_malloc0 (*length + 1);

  return read_all (read, source, text, *length, "the header", error) ? g_steal_pointer (&text) : NULL;
}

static gboolean
count_bytes (const Header *self, gsize *size)
{
  gsize i;

  *size = apr_dtype_get_bits (self->dtype) / 8;
  for (i = 0; i < self->n_dims; i++)
    if (self->shape[i] == 0)
      {
        *size = 0;
        return TRUE;
      }
  for (i = 0; i < self->n_dims; i++)
    if (!g_size_checked_mul (size, *size, self->shape[i]))
      return FALSE;

  return TRUE;
}

static void
swap_bytes (guint8 *bytes, gsize size, gsize word)
{
  gsize i;
  gsize j;

  for (i = 0; i < size; i += word)
    for (j = 0; j < word / 2; j++)
      {
        guint8 byte = bytes[i + j];

        bytes[i + j] = bytes[i + word - 1 - j];
        bytes[i + word - 1 - j] = byte;
      }
}

/* From the order where the first index runs fastest to the one where the last does. */
static guint8 *
turn_round (const Header *self, const guint8 *bytes, gsize size)
{
  gsize width = apr_dtype_get_bits (self->dtype) / 8;
  gsize strides[MAX_DIMS];
  gsize index[MAX_DIMS] = { 0 };
  guint8 *out = g_try_malloc (MAX (size, 1));
  gsize stride = width;
  gsize place = 0;
  gsize i;
  gsize j;

  for (j = 0; j < self->n_dims; j++)
    {
      strides[j] = stride;
      stride *= self->shape[j];
    }
  for (i = 0; out != NULL && i < size; i += width)
    {
      memcpy (out + i, bytes + place, width);
      for (j = self->n_dims; j-- > 0;)
        {
          place += strides[j];
          if (++index[j] < self->shape[j])
            break;
          place -= strides[j] * self->shape[j];
          index[j] = 0;
        }
    }

  return out;
}

/* Reads an array of so many bytes into memory that grows with what is there, not with what the header says. */
static guint8 *
read_array (AprNpyRead read, gpointer source, gsize size, GError **error)
{
  g_autofree guint8 *bytes = NULL;
  gsize n = 0;
  gsize n_read;

  do
    {
      gsize step = MIN (MAX (n, FIRST_STEP), size - n);
      guint8 *larger = g_try_realloc (bytes, MAX (n + step, 1));

      if (larger == NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                       "no memory for an array of %" G_GSIZE_FORMAT " bytes", size);
          return NULL;
        }
      bytes = larger;
      if (!read (source, bytes + n, step, &n_read, error))
        return NULL;
      n += n_read;
      if (n_read < step)
        {
          refuse_end ("the array", size, n, error);
          return NULL;
        }
    }
  while (n < size);

  return g_steal_pointer (&bytes);
}

AprTensor *
apr_npy_read (AprNpyRead read, gpointer source, GError **error)
{
  Header header = { 0 };
  gsize length;
  g_autofree char *text = read_header (read, source, &length, error);
  g_autofree guint8 *bytes = NULL;
  g_autoptr (GBytes) data = NULL;
  guint8 more;
  gsize n_more;
  gsize size;

  if (text == NULL || !parse_header (&header, text, length, error))
    return NULL;
  if (!count_bytes (&header, &size))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "no memory for an array as large as its header says");
      return NULL;
    }
  bytes = read_array (read, source, size, error);
  if (bytes == NULL || !read (source, &more, 1, &n_more, error))
    return NULL;
  if (n_more > 0)
    {
      refuse (error, "bytes follow the array");
      return NULL;
    }

  if (header.big_endian && header.word > 1)
    swap_bytes (bytes, size, header.word);
  if (header.fortran_order && header.n_dims > 1 && size > 0)
    {
      guint8 *turned = turn_round (&header, bytes, size);

      g_free (bytes);
      bytes = turned;
      if (bytes == NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "no memory to turn the array round");
          return NULL;
        }
    }
  data = g_bytes_new_take (g_steal_pointer (&bytes), size);

  return apr_tensor_new_from_bytes (header.dtype, header.shape, header.n_dims, data, error);
}

GBytes *
apr_npy_make_header (AprTensor *tensor, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (tensor);
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  GString *text = g_string_new_len (MAGIC "\x01\x00..", PREFIX_SIZE);
  gsize length;
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (dtypes) && dtypes[i].dtype != dtype; i++)
    ;
  if (i == G_N_ELEMENTS (dtypes))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "numpy has no dtype %s: of BF16, --dtype f32 makes one that it has",
                   apr_dtype_to_string (dtype));
      g_string_free (text, TRUE);
      return NULL;
    }

  g_string_append_printf (text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                          apr_dtype_get_bits (dtype) == 8 ? '|' : '<', dtypes[i].name);
  for (j = 0; j < n_dims; j++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT "%s", j > 0 ? " " : "", shape[j],
                            n_dims == 1 || j + 1 < n_dims ? "," : "");
  g_string_append (text, "), }");
  while ((text->len + 1) % ALIGNMENT != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  /* A tensor of SafeTensors has at most as many dimensions as its header of 100 MB holds, and 65,535 bytes are some
   * 3,000 of them. */
  length = text->len - PREFIX_SIZE;
  if (length > G_MAXUINT16)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "numpy has no arrays of %" G_GSIZE_FORMAT " dimensions",
                   n_dims);
      g_string_free (text, TRUE);
      return NULL;
    }
  text->str[8] = (char) (length & 0xff);
  text->str[9] = (char) (length >> 8);

  return g_string_free_to_bytes (text);
}
