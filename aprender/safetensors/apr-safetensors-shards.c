/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-shards-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-index-private.h"

#include <string.h>

/* One of the files. All files are complete, next to those that they replace, before the first is renamed. */
typedef struct
{
  AprSafetensorsLayout *layout; /* (owned) (nullable): none for the index */
  char *name;                   /* (owned) */
  GFile *file;                  /* (owned) */
  AprSafetensorsOutput output;
  gboolean is_new; /* whether there was no such file before */
} Part;

struct _AprSafetensorsShards
{
  GFile *folder;      /* (owned) */
  char *prefix;       /* (owned) */
  GPtrArray *parts;   /* (owned) (element-type Part) */
  guint64 total_size; /* of all tensors, without the headers */
};

static void
part_free (gpointer data)
{
  Part *self = data;

  apr_safetensors_output_clear (&self->output);
  g_clear_pointer (&self->layout, apr_safetensors_layout_free);
  g_clear_object (&self->file);
  g_free (self->name);
  g_free (self);
}

static GPtrArray *
item_list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) apr_safetensors_item_unref);
}

/*
 * Splits the tensors as huggingface_hub does: each goes into the current shard if it fits there. A tensor that is
 * larger than a shard gets a shard of its own, ahead of the current one.
 */
static GPtrArray *
split (GPtrArray *items, guint64 max_shard_size, guint64 *total_size)
{
  GPtrArray *shards = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GPtrArray) current = item_list_new ();
  guint64 current_size = 0;
  guint i;

  *total_size = 0;
  for (i = 0; i < items->len; i++)
    {
      AprSafetensorsItem *item = g_ptr_array_index (items, i);

      *total_size += item->size;
      if (item->size > max_shard_size)
        {
          GPtrArray *own = item_list_new ();

          g_ptr_array_add (own, g_atomic_rc_box_acquire (item));
          g_ptr_array_add (shards, own);
          continue;
        }
      if (item->size > max_shard_size - current_size)
        {
          g_ptr_array_add (shards, g_steal_pointer (&current));
          current = item_list_new ();
          current_size = 0;
        }
      g_ptr_array_add (current, g_atomic_rc_box_acquire (item));
      current_size += item->size;
    }
  /* Without tensors there is still one file. */
  if (current->len > 0 || shards->len == 0)
    g_ptr_array_add (shards, g_steal_pointer (&current));
  return shards;
}

/* Writes a string as Python's json.dumps() does, so that the index has the same bytes as theirs. */
static void
append_ascii (GString *text, const char *string)
{
  static const char escaped[] = "\"\\\b\f\n\r\t";
  static const char letters[] = "\"\\bfnrt";
  const char *p;

  g_string_append_c (text, '"');
  for (p = string; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      const char *found = strchr (escaped, *p);

      if (found != NULL)
        g_string_append_printf (text, "\\%c", letters[found - escaped]);
      else if (c >= 0x20 && c < 0x7f)
        g_string_append_c (text, (char) c);
      else if (c < 0x10000)
        g_string_append_printf (text, "\\u%04x", c);
      else
        g_string_append_printf (text, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    }
  g_string_append_c (text, '"');
}

typedef struct
{
  const char *name;
  const char *file;
} Place;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Place *) a)->name, ((const Place *) b)->name);
}

static GString *
make_index (GPtrArray *parts, guint64 total_size)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
  GString *text = g_string_new (NULL);
  guint i, j;

  for (i = 0; i < parts->len; i++)
    {
      const Part *part = g_ptr_array_index (parts, i);

      for (j = 0; j < part->layout->items->len; j++)
        {
          const AprSafetensorsItem *item = g_ptr_array_index (part->layout->items, j);
          Place place = { item->name, part->name };

          g_array_append_val (places, place);
        }
    }
  g_array_sort (places, compare_places);
  g_string_printf (
    text, "{\n  \"metadata\": {\n    \"total_size\": %" G_GUINT64_FORMAT "\n  },\n  \"weight_map\": {",
    total_size);
  for (i = 0; i < places->len; i++)
    {
      const Place *place = &g_array_index (places, Place, i);

      g_string_append (text, i > 0 ? ",\n    " : "\n    ");
      append_ascii (text, place->name);
      g_string_append (text, ": ");
      append_ascii (text, place->file);
    }
  g_string_append (text, "\n  }\n}\n");
  return text;
}

static Part *
part_new (GFile *folder, char *name)
{
  Part *self = g_new0 (Part, 1);

  self->name = name;
  self->file = g_file_get_child (folder, name);
  return self;
}

static gboolean
part_open (Part *self, GCancellable *cancellable, GError **error)
{
  self->is_new = !g_file_query_exists (self->file, NULL);
  return apr_safetensors_output_open_file (&self->output, self->file, cancellable, error);
}

static gboolean
write_index (Part *index,
             const GString *text,
             const Part *first,
             gboolean durable,
             GCancellable *cancellable,
             GError **error)
{
  GOutputVector piece = { text->str, text->len };

  return part_open (index, cancellable, error) &&
         apr_safetensors_output_write (&index->output, &piece, 1, cancellable, error) &&
         apr_safetensors_output_finish (&index->output, &first->output, durable, error);
}

/* Renames all files, the index last. If one of them fails, removes those that replaced nothing. */
static gboolean
commit (GPtrArray *parts, gboolean durable, GCancellable *cancellable, GError **error)
{
  guint i, j;

  for (i = 0; i < parts->len; i++)
    {
      Part *part = g_ptr_array_index (parts, i);

      if (apr_safetensors_output_commit (&part->output, durable, cancellable, error))
        continue;
      for (j = 0; j < i; j++)
        {
          Part *other = g_ptr_array_index (parts, j);

          if (other->is_new)
            g_file_delete (other->file, NULL, NULL);
        }
      return FALSE;
    }
  return TRUE;
}

/* Refuses the prefixes that would give a shard a name which readers refuse. */
static gboolean
check_prefix (const char *prefix, GError **error)
{
  g_autofree char *name = g_strconcat (prefix, ".safetensors", NULL);
  const char *fault = apr_safetensors_index_find_fault (name, strlen (name));
  g_autofree char *valid = NULL;
  g_autofree char *display = NULL;

  if (*prefix == '\0')
    fault = "it is empty";
  else if (!g_utf8_validate (prefix, -1, NULL))
    fault = "it is not UTF-8";
  if (fault == NULL)
    return TRUE;
  valid = g_utf8_make_valid (prefix, -1);
  display = apr_json_display (valid, strlen (valid));
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME,
               "“%s” cannot be what the names of the shards begin with: %s", display, fault);
  return FALSE;
}

static gboolean
check_count (guint n_shards, GError **error)
{
  if (n_shards <= APR_SAFETENSORS_MAX_SHARDS)
    return TRUE;
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_INDEX,
               "the tensors take %u shards, more than the %d that are allowed", n_shards,
               APR_SAFETENSORS_MAX_SHARDS);
  return FALSE;
}

static gboolean
add_size (AprSafetensorsJob *job, guint64 size, GError **error)
{
  if (size > G_MAXINT64 - job->total)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW,
                   "its %" G_GUINT64_FORMAT " bytes are too many beside the %" G_GUINT64_FORMAT
                   " of the shards before it",
                   size, job->total);
      return FALSE;
    }
  job->total += size;
  return TRUE;
}

static gboolean
lay_out (AprSafetensorsShards *self,
         AprSafetensorsWriter *writer,
         AprSafetensorsJob *job,
         GPtrArray *shards,
         GError **error)
{
  guint i;

  for (i = 0; i < shards->len; i++)
    {
      char *name = shards->len == 1
                   ? g_strdup_printf ("%s.safetensors", self->prefix)
                   : g_strdup_printf ("%s-%05u-of-%05u.safetensors", self->prefix, i + 1, shards->len);
      Part *part = part_new (self->folder, name);

      g_ptr_array_add (self->parts, part);
      part->layout =
        apr_safetensors_writer_lay_out (writer, g_ptr_array_ref (g_ptr_array_index (shards, i)), error);
      if (part->layout == NULL || !apr_safetensors_job_check (job, part->layout, error) ||
          !add_size (job, part->layout->size, error))
        {
          apr_safetensors_prefix_file (part->file, error);
          return FALSE;
        }
    }
  return TRUE;
}

AprSafetensorsShards *
apr_safetensors_shards_new (AprSafetensorsWriter *writer,
                            AprSafetensorsJob *job,
                            GFile *folder,
                            const char *prefix,
                            guint64 max_shard_size,
                            GError **error)
{
  g_autoptr (AprSafetensorsShards) self = g_new0 (AprSafetensorsShards, 1);
  g_autoptr (GPtrArray) items = apr_safetensors_writer_list_items (writer);
  g_autoptr (GPtrArray) shards = NULL;

  self->folder = g_object_ref (folder);
  self->prefix = g_strdup (prefix);
  self->parts = g_ptr_array_new_with_free_func (part_free);
  if (!check_prefix (prefix, error))
    return NULL;
  shards = split (items, max_shard_size, &self->total_size);
  if (!check_count (shards->len, error))
    {
      apr_safetensors_prefix_file (folder, error);
      return NULL;
    }
  return lay_out (self, writer, job, shards, error) ? g_steal_pointer (&self) : NULL;
}

void
apr_safetensors_shards_free (AprSafetensorsShards *self)
{
  g_object_unref (self->folder);
  g_free (self->prefix);
  g_ptr_array_unref (self->parts);
  g_free (self);
}

gboolean
apr_safetensors_shards_write (AprSafetensorsShards *self,
                              AprSafetensorsJob *job,
                              GCancellable *cancellable,
                              GError **error)
{
  guint i;

  for (i = 0; i < self->parts->len; i++)
    {
      const Part *first = g_ptr_array_index (self->parts, 0);
      Part *part = g_ptr_array_index (self->parts, i);

      if (!part_open (part, cancellable, error) ||
          !apr_safetensors_job_write (job, part->layout, &part->output, cancellable, error) ||
          !apr_safetensors_output_finish (&part->output, &first->output, job->durable, error))
        return FALSE;
    }
  if (self->parts->len > 1)
    {
      GString *text = make_index (self->parts, self->total_size);
      Part *index = part_new (self->folder, g_strdup_printf ("%s.safetensors.index.json", self->prefix));
      gboolean succeeded;

      g_ptr_array_add (self->parts, index);
      succeeded =
        write_index (index, text, g_ptr_array_index (self->parts, 0), job->durable, cancellable, error);
      g_string_free (text, TRUE);
      if (!succeeded)
        return FALSE;
    }
  return commit (self->parts, job->durable, cancellable, error);
}
