/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-index-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <gio/gunixinputstream.h>

/* The nesting of a member of the index, and of a member of its maps */
#define MEMBER_DEPTH 1
#define MAP_DEPTH 2

typedef struct
{
  AprSafetensorsIndex *index;
  AprJsonCursor cursor;
  GHashTable *numbers; /* from names of shards, owned by the index, to numbers */
  gboolean has_weight_map;
  gboolean has_metadata;
  gboolean has_total_size;
} Parser;

void
apr_safetensors_index_free (AprSafetensorsIndex *self)
{
  g_ptr_array_unref (self->files);
  g_hash_table_unref (self->owners);
  g_free (self);
}

const char *
apr_safetensors_index_find_fault (const char *name, gsize length)
{
  gsize i;

  if (length == 0)
    return "it is empty";
  if (memchr (name, '\0', length) != NULL)
    return "it holds a NUL";
  if (length <= 2 && strspn (name, ".") == length)
    return "it is a folder";
  for (i = 0; i < length; i++)
    {
      if (name[i] == '/' || name[i] == '\\')
        return "it holds a slash";
      if (name[i] == ':')
        return "it holds a colon, as addresses and drives do";
      if (name[i] == '%')
        return "it holds a percent sign, which may hide other characters";
      if (g_ascii_iscntrl (name[i]))
        return "it holds a control character";
    }
  return NULL;
}

/* Refuses the value at the cursor, which has the wrong type. Always returns FALSE. */
static gboolean
refuse_type (Parser *parser, guint depth, const char *what, const char *wanted, GError **error)
{
  const char *kind = apr_json_cursor_describe (&parser->cursor);

  if (apr_json_cursor_skip_value (&parser->cursor, depth, error))
    apr_json_cursor_fail (&parser->cursor, APR_SAFETENSORS_ERROR_INDEX, error, "“%s” is %s, not %s", what,
                          kind, wanted);
  return FALSE;
}

/* Gets the number of a shard, and adds the shard if it is new. */
static gboolean
find_shard (Parser *parser, const AprJsonString *string, guint *number, GError **error)
{
  const char *fault = apr_safetensors_index_find_fault (string->text, string->length);
  g_autofree char *file = NULL;
  gpointer found;

  if (fault != NULL)
    {
      g_autofree char *display = apr_json_display (string->text, string->length);

      return apr_json_cursor_fail (&parser->cursor, APR_SAFETENSORS_ERROR_SHARD_NAME, error,
                                   "“%s” cannot be the name of a shard: %s", display, fault);
    }
  file = g_strndup (string->text, string->length);
  if (g_hash_table_lookup_extended (parser->numbers, file, NULL, &found))
    {
      *number = GPOINTER_TO_UINT (found);
      return TRUE;
    }
  if (parser->index->files->len == APR_SAFETENSORS_MAX_SHARDS)
    return apr_json_cursor_fail (&parser->cursor, APR_SAFETENSORS_ERROR_INDEX, error,
                                 "more than the %d shards that are allowed", APR_SAFETENSORS_MAX_SHARDS);
  *number = parser->index->files->len;
  g_hash_table_insert (parser->numbers, file, GUINT_TO_POINTER (*number));
  g_ptr_array_add (parser->index->files, g_steal_pointer (&file));
  return TRUE;
}

static gboolean
parse_owner (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;
  g_autofree char *display = NULL;
  g_autofree char *name = NULL;
  AprJsonString string;
  guint number = 0;

  if (!apr_json_cursor_scan_string (cursor, &string, error))
    return FALSE;
  display = apr_json_display (string.text, string.length);
  if (memchr (string.text, '\0', string.length) != NULL)
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_NAME, error,
                                 "a tensor's name with a NUL: “%s”", display);
  name = g_strndup (string.text, string.length);
  if (g_hash_table_contains (parser->index->owners, name))
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                                 "“weight_map” has the tensor “%s” twice", display);
  if (!apr_json_cursor_take (cursor, ':'))
    return apr_json_cursor_expected (cursor, "“:”", error);
  apr_json_cursor_skip_space (cursor);
  if (!g_str_equal (apr_json_cursor_describe (cursor), "a string"))
    return refuse_type (parser, MAP_DEPTH, display, "the name of a shard", error);
  if (!apr_json_cursor_scan_string (cursor, &string, error) || !find_shard (parser, &string, &number, error))
    return FALSE;
  g_hash_table_insert (parser->index->owners, g_steal_pointer (&name), GUINT_TO_POINTER (number));
  return TRUE;
}

/* Skips a whole number, whichever it is: some programs count the tensors' bytes, others those of the files. Some have
 * written it as a Python float, such as 36.0. */
static gboolean
skip_total_size (AprJsonCursor *cursor)
{
  AprJsonCursor whole;
  guint64 value;
  const char *p;

  /* This skips white space even if there is no such number. */
  if (apr_json_cursor_scan_u64 (cursor, &value))
    return TRUE;
  for (p = cursor->position; p < cursor->end && g_ascii_isdigit (*p); p++)
    ;
  if (p == cursor->position || cursor->end - p < 2 || p[0] != '.' || p[1] != '0')
    return FALSE;
  whole = *cursor;
  whole.end = p;
  if (!apr_json_cursor_scan_u64 (&whole, &value))
    return FALSE;
  for (p++; p < cursor->end && *p == '0'; p++)
    ;
  if (p < cursor->end && (g_ascii_isdigit (*p) || *p == 'e' || *p == 'E'))
    return FALSE;
  cursor->position = p;
  return TRUE;
}

static gboolean
parse_metadata_member (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;
  AprJsonString key;
  gboolean is_size;

  if (!apr_json_cursor_scan_string (cursor, &key, error))
    return FALSE;
  is_size = key.length == strlen ("total_size") && memcmp (key.text, "total_size", key.length) == 0;
  if (!apr_json_cursor_take (cursor, ':'))
    return apr_json_cursor_expected (cursor, "“:”", error);
  if (!is_size)
    return apr_json_cursor_skip_value (cursor, MAP_DEPTH, error);
  if (parser->has_total_size)
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                                 "“total_size” is there twice");
  parser->has_total_size = TRUE;
  if (!skip_total_size (cursor))
    return refuse_type (parser, MAP_DEPTH, "total_size", "a whole number of 64 bits", error);
  return TRUE;
}

/* Parses the members of an object with @parse. */
static gboolean
parse_object (Parser *parser, gboolean (*parse) (Parser *parser, GError **error), GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;

  if (apr_json_cursor_take (cursor, '}'))
    return TRUE;
  do
    if (!parse (parser, error))
      return FALSE;
  while (apr_json_cursor_take (cursor, ','));
  if (!apr_json_cursor_take (cursor, '}'))
    return apr_json_cursor_expected (cursor, "“,” or “}”", error);
  return TRUE;
}

static const struct
{
  const char *name;
  gboolean (*parse) (Parser *parser, GError **error);
  gsize seen;
} members[] = {
  { "weight_map", parse_owner, G_STRUCT_OFFSET (Parser, has_weight_map) },
  { "metadata", parse_metadata_member, G_STRUCT_OFFSET (Parser, has_metadata) },
};

static gboolean
parse_member (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;
  AprJsonString key;
  gboolean *seen;
  guint i;

  if (!apr_json_cursor_scan_string (cursor, &key, error))
    return FALSE;
  for (i = 0; i < G_N_ELEMENTS (members); i++)
    if (strlen (members[i].name) == key.length && memcmp (members[i].name, key.text, key.length) == 0)
      break;
  if (!apr_json_cursor_take (cursor, ':'))
    return apr_json_cursor_expected (cursor, "“:”", error);
  if (i == G_N_ELEMENTS (members))
    return apr_json_cursor_skip_value (cursor, MEMBER_DEPTH, error);

  seen = &G_STRUCT_MEMBER (gboolean, parser, members[i].seen);
  if (*seen)
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_DUPLICATE, error, "“%s” is there twice",
                                 members[i].name);
  *seen = TRUE;
  return apr_json_cursor_take (cursor, '{')
         ? parse_object (parser, members[i].parse, error)
         : refuse_type (parser, MEMBER_DEPTH, members[i].name, "an object", error);
}

static gboolean
parse_index (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;

  if (!apr_json_cursor_take (cursor, '{'))
    return apr_json_cursor_expected (cursor, "an object", error);
  if (!parse_object (parser, parse_member, error))
    return FALSE;
  apr_json_cursor_skip_space (cursor);
  if (cursor->position < cursor->end)
    return apr_json_cursor_expected (cursor, "only spaces after the index", error);
  if (!parser->has_weight_map)
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_INDEX, error, "there is no “weight_map”");
  return TRUE;
}

AprSafetensorsIndex *
apr_safetensors_index_parse (const char *text, gsize length, GError **error)
{
  g_autoptr (AprSafetensorsIndex) self = g_new0 (AprSafetensorsIndex, 1);
  Parser parser = { .index = self };
  gboolean is_good;
  gsize bad_byte;

  self->files = g_ptr_array_new_with_free_func (g_free);
  self->owners = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, NULL);
  /* A GBytes without bytes can have a NULL pointer. */
  apr_json_cursor_init (&parser.cursor, "index", text, length);
  parser.numbers = g_hash_table_new (apr_safetensors_name_hash, g_str_equal);
  if (!apr_json_is_utf8 (parser.cursor.start, length, &bad_byte))
    {
      parser.cursor.position += bad_byte;
      apr_json_cursor_fail (&parser.cursor, APR_SAFETENSORS_ERROR_ENCODING, error, "0x%02x is not UTF-8 here",
                            (guint) (guchar) *parser.cursor.position);
      is_good = FALSE;
    }
  else
    is_good = parse_index (&parser, error);
  if (!is_good)
    apr_safetensors_error_set_offset (error, (guint64) (parser.cursor.position - parser.cursor.start));
  g_hash_table_unref (parser.numbers);
  apr_json_cursor_clear (&parser.cursor);
  return is_good ? g_steal_pointer (&self) : NULL;
}

/* The folders in which a shard may be: that of the index and, if the index is a link, that of the file it leads to.
 * Download caches keep a checkpoint as a folder of links to files in another folder. Both paths are canonical and end
 * in a slash. */
typedef struct
{
  GFile *parent;
  char *path;
  char *folders[2];
} Place;

static void
place_clear (Place *self)
{
  g_clear_object (&self->parent);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->folders[0], g_free);
  g_clear_pointer (&self->folders[1], g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Place, place_clear)

/* The canonical path, without links and dots */
static char *
resolve (const char *path, GError **error)
{
  char *real = realpath (path, NULL);
  int saved_errno = errno;
  char *resolved = g_strdup (real);

  if (real == NULL)
    g_set_error_literal (error, G_IO_ERROR, (int) g_io_error_from_errno (saved_errno),
                         g_strerror (saved_errno));
  free (real);
  return resolved;
}

static gboolean
place_init (Place *self, GFile *file, const char *path, GError **error)
{
  g_autofree char *folder = NULL;
  g_autofree char *target = NULL;
  g_autofree char *target_folder = NULL;

  self->parent = g_file_get_parent (file);
  if (path == NULL)
    return TRUE;
  self->path = g_path_get_dirname (path);
  folder = resolve (self->path, error);
  if (folder == NULL)
    return FALSE;
  target = resolve (path, error);
  if (target == NULL)
    return FALSE;
  target_folder = g_path_get_dirname (target);
  self->folders[0] = g_build_filename (folder, "/", NULL);
  self->folders[1] = g_build_filename (target_folder, "/", NULL);
  return TRUE;
}

static void
refuse_link (const char *target, GError **error)
{
  g_autofree char *display = g_filename_display_name (target);

  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME,
               "it is a symbolic link to “%s”, outside the folder of the index", display);
}

/* Opens a shard. A link is followed only if it leads to one of the allowed folders. */
static int
open_local (const Place *place, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (place->path, name, NULL);
  g_autofree char *target = NULL;
  struct stat status;

  if (lstat (path, &status) < 0 || !S_ISLNK (status.st_mode))
    return apr_safetensors_open_regular (path, O_NOFOLLOW, error);
  target = resolve (path, error);
  if (target == NULL)
    return -1;
  if (g_str_has_prefix (target, place->folders[0]) || g_str_has_prefix (target, place->folders[1]))
    return apr_safetensors_open_regular (target, O_NOFOLLOW, error);
  refuse_link (target, error);
  return -1;
}

static AprSafetensorsSource *
open_remote (const Place *place,
             const char *name,
             AprSafetensorsLoadMode load_mode,
             guint64 max_header_size,
             GCancellable *cancellable,
             GError **error)
{
  g_autoptr (GFile) file = g_file_get_child (place->parent, name);
  g_autoptr (GFileInfo) info = g_file_query_info (
    file, G_FILE_ATTRIBUTE_STANDARD_IS_SYMLINK "," G_FILE_ATTRIBUTE_STANDARD_SYMLINK_TARGET,
    G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, cancellable, error);

  if (info == NULL)
    return NULL;
  if (g_file_info_get_is_symlink (info))
    {
      const char *target = g_file_info_get_symlink_target (info);

      refuse_link (target != NULL ? target : "", error);
      return NULL;
    }
  return apr_safetensors_source_new_from_file (file, name, load_mode, max_header_size, cancellable, error);
}

static AprSafetensorsSource *
open_shard (const Place *place,
            const char *name,
            AprSafetensorsLoadMode load_mode,
            guint64 max_header_size,
            GCancellable *cancellable,
            GError **error)
{
  AprSafetensorsSource *source = NULL;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (place->path == NULL)
    source = open_remote (place, name, load_mode, max_header_size, cancellable, error);
  else
    {
      int fd = open_local (place, name, error);

      if (fd >= 0)
        source =
          apr_safetensors_source_new_from_fd (fd, name, load_mode, max_header_size, cancellable, error);
    }
  if (source == NULL)
    {
      g_autofree char *display = apr_json_display (name, strlen (name));

      g_prefix_error (error, "shard “%s”: ", display);
      return NULL;
    }
  if (source->name == NULL)
    source->name = g_strdup (name);
  return source;
}

static gboolean fail_index (
  AprSafetensorsError code, const char *shard, const char *tensor, GError **error, const char *format, ...)
  G_GNUC_PRINTF (5, 6);

/* Sets an error that begins with the names of the shard and the tensor. Always returns FALSE. */
static gboolean
fail_index (
  AprSafetensorsError code, const char *shard, const char *tensor, GError **error, const char *format, ...)
{
  g_autofree char *shard_display = apr_json_display (shard, strlen (shard));
  g_autofree char *tensor_display = apr_json_display (tensor, strlen (tensor));
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_SAFETENSORS_ERROR, (int) code, "shard “%s”: tensor “%s” %s", shard_display,
               tensor_display, message);
  return FALSE;
}

/* Checks that the index assigns every tensor of a shard to that shard. */
static gboolean
check_shard (AprSafetensorsSource *source, GHashTable *owners, GError **error)
{
  gsize i;

  for (i = 0; i < source->header->n_entries; i++)
    {
      const AprSafetensorsEntry *entry = &source->header->entries[i];
      const char *name = apr_safetensors_header_get_name (source->header, entry);
      AprSafetensorsSource *owner = g_hash_table_lookup (owners, name);
      g_autofree char *display = NULL;

      if (owner == source)
        continue;
      if (owner == NULL)
        return fail_index (APR_SAFETENSORS_ERROR_INDEX, source->name, name, error,
                           "is in the shard, but not in the index");
      display = apr_json_display (owner->name, strlen (owner->name));
      if (apr_safetensors_header_find (owner->header, name) != NULL)
        return fail_index (APR_SAFETENSORS_ERROR_DUPLICATE, source->name, name, error,
                           "is in the shard “%s” too", display);
      return fail_index (APR_SAFETENSORS_ERROR_INDEX, source->name, name, error,
                         "is in the shard “%s” by the index", display);
    }
  return TRUE;
}

static gboolean
check_owners (GHashTable *owners, GError **error)
{
  GHashTableIter iter;
  gpointer name, owner;

  g_hash_table_iter_init (&iter, owners);
  while (g_hash_table_iter_next (&iter, &name, &owner))
    {
      AprSafetensorsSource *source = owner;

      if (apr_safetensors_header_find (source->header, name) == NULL)
        return fail_index (APR_SAFETENSORS_ERROR_INDEX, source->name, name, error,
                           "is in the index, but not in the shard");
    }
  return TRUE;
}

static gboolean
check_index (GPtrArray *sources, GHashTable *owners, GError **error)
{
  guint i;

  for (i = 0; i < sources->len; i++)
    if (!check_shard (sources->pdata[i], owners, error))
      return FALSE;
  return check_owners (owners, error);
}

static int
compare_files (gconstpointer a, gconstpointer b, gpointer files)
{
  const GPtrArray *array = files;

  return strcmp (array->pdata[*(const guint *) a], array->pdata[*(const guint *) b]);
}

/* Opens the shards in the order of their names, and replaces the numbers in @owners by sources. */
static gboolean
open_shards (const AprSafetensorsIndex *index,
             const Place *place,
             AprSafetensorsLoadMode load_mode,
             guint64 max_header_size,
             GCancellable *cancellable,
             GPtrArray *sources,
             GHashTable *owners,
             GError **error)
{
  guint n_shards = index->files->len;
  g_autofree guint *order = g_new (guint, n_shards);
  g_autofree AprSafetensorsSource **by_number = g_new0 (AprSafetensorsSource *, n_shards);
  GHashTableIter iter;
  gpointer number;
  guint i;

  for (i = 0; i < n_shards; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n_shards, sizeof *order, compare_files, index->files);
  for (i = 0; i < n_shards; i++)
    {
      AprSafetensorsSource *source =
        open_shard (place, index->files->pdata[order[i]], load_mode, max_header_size, cancellable, error);

      if (source == NULL)
        return FALSE;
      g_ptr_array_add (sources, source);
      by_number[order[i]] = source;
    }
  g_hash_table_iter_init (&iter, owners);
  while (g_hash_table_iter_next (&iter, NULL, &number))
    g_hash_table_iter_replace (&iter, by_number[GPOINTER_TO_UINT (number)]);
  return TRUE;
}

static GBytes *
load_text (GFile *file, const char *path, guint64 limit, GCancellable *cancellable, GError **error)
{
  g_autoptr (GInputStream) stream = NULL;

  if (path == NULL)
    stream = (GInputStream *) g_file_read (file, cancellable, error);
  else
    {
      int fd = apr_safetensors_open_regular (path, 0, error);

      if (fd >= 0)
        stream = g_unix_input_stream_new (fd, TRUE);
    }
  return stream != NULL ? apr_safetensors_load_stream (stream, limit, cancellable, error) : NULL;
}

gboolean
apr_safetensors_index_open (GFile *file,
                            const char *path,
                            AprSafetensorsLoadMode load_mode,
                            guint64 max_header_size,
                            GCancellable *cancellable,
                            GPtrArray *sources,
                            GHashTable **owners,
                            GError **error)
{
  g_autoptr (AprSafetensorsIndex) index = NULL;
  g_autoptr (GBytes) text = load_text (file, path, max_header_size, cancellable, error);
  g_auto (Place) place = { 0 };

  if (text == NULL)
    return FALSE;
  index = apr_safetensors_index_parse (g_bytes_get_data (text, NULL), g_bytes_get_size (text), error);
  if (index == NULL || !place_init (&place, file, path, error) ||
      !open_shards (index, &place, load_mode, max_header_size, cancellable, sources, index->owners, error) ||
      !check_index (sources, index->owners, error))
    return FALSE;
  *owners = g_hash_table_ref (index->owners);
  return TRUE;
}
