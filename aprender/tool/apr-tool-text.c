/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-text.h"

#include <stdlib.h>
#include <string.h>

/* What moves the cursor, changes colours, or shows text in another order than it stands in. */
static gboolean
is_control (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR ||
         type == G_UNICODE_PARAGRAPH_SEPARATOR;
}

static char *
escape (const char *text, gboolean keep_newlines)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *escaped = g_string_new (NULL);
  const char *p;

  for (p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (!is_control (c) || (keep_newlines && c == '\n'))
        g_string_append_unichar (escaped, c);
      else if (c <= 0xffff)
        g_string_append_printf (escaped, "\\u%04x", c);
      else
        g_string_append_printf (escaped, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                0xdc00 + (c & 0x3ff));
    }

  return g_string_free (escaped, FALSE);
}

/* Makes text from a file safe for a terminal, on one line: control characters are written as JSON writes them. */
char *
apr_tool_escape (const char *text)
{
  return escape (text, FALSE);
}

/* The same for text that has lines, such as JSON, where what is inside of strings stays the same string. */
char *
apr_tool_escape_lines (const char *text)
{
  return escape (text, TRUE);
}

char *
apr_tool_get_display_name (const char *path)
{
  return strcmp (path, "-") == 0 ? g_strdup ("standard input") : g_filename_display_name (path);
}

/* How many cells of a terminal a text fills. */
gsize
apr_tool_get_width (const char *text)
{
  gsize width = 0;
  const char *p;

  for (p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (!g_unichar_iszerowidth (c))
        width += g_unichar_iswide (c) ? 2 : 1;
    }

  return width;
}

void
apr_tool_append_padded (GString *string, const char *text, gsize width)
{
  gsize i;

  g_string_append (string, text);
  for (i = apr_tool_get_width (text); i < width; i++)
    g_string_append_c (string, ' ');
}

void
apr_tool_append_aligned (GString *string, const char *text, gsize width)
{
  gsize i;

  g_string_append_c (string, ' ');
  for (i = apr_tool_get_width (text); i < width; i++)
    g_string_append_c (string, ' ');
  g_string_append (string, text);
}

int
apr_tool_compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* By sorting: there may be many thousands of either, and they come from files, which can choose names that all hash
 * alike. */
const char *
apr_tool_find_other (char **names, char **others)
{
  gsize n = g_strv_length (others);
  g_autofree char **known = g_memdup2 (others, (n + 1) * sizeof *others);

  qsort (known, n, sizeof *known, apr_tool_compare_texts);
  while (*names != NULL && bsearch (names, known, n, sizeof *known, apr_tool_compare_texts) != NULL)
    names++;

  return *names;
}

char *
apr_tool_quote_names (char **names)
{
  const guint max = 20;
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = g_strv_length (names);
  guint i;

  for (i = 0; i < MIN (n, max); i++)
    g_string_append_printf (text, "%s“%s”", i > 0 ? ", " : "", names[i]);
  if (n > max)
    g_string_append_printf (text, " and %u more", n - max);

  return g_string_free (g_steal_pointer (&text), FALSE);
}
