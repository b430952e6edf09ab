/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((gsize) 1 << 21)

/* Before the memory that is handed out: what to give back. */
typedef struct
{
  gpointer start;
  gsize size; /* 0 where it is not mapped */
} Header;

#define HEADER_SIZE 64

G_STATIC_ASSERT (sizeof (Header) <= HEADER_SIZE);

/* Asks for large pages, of which fewer have to be mapped and looked up. Where the system has none, small ones stay. */
static void
ask_for_large_pages (gpointer memory G_GNUC_UNUSED, gsize size G_GNUC_UNUSED)
{
#ifdef MADV_HUGEPAGE
  guintptr start = ((guintptr) memory + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  guintptr end = ((guintptr) memory + size) & ~(LARGE_PAGE - 1);

  if (start < end)
    (void) madvise ((gpointer) start, end - start, MADV_HUGEPAGE);
#endif
}

gpointer
apr_pages_new (gsize size, gboolean cleared)
{
  Header header = { NULL, 0 };
  guint8 *memory;

  if (!g_size_checked_add (&size, size, HEADER_SIZE) || size > G_MAXSSIZE - 2 * LARGE_PAGE)
    return NULL;

  if (size < 2 * LARGE_PAGE)
    {
      /* Aligned by hand: posix_memalign() leaves crumbs behind, which the allocator gathers again and again. */
      header.start = malloc (size + HEADER_SIZE);
      if (header.start == NULL)
        return NULL;
      memory = (guint8 *) (((guintptr) header.start + HEADER_SIZE - 1) & ~((guintptr) HEADER_SIZE - 1));
      if (cleared)
        memset (memory, 0, size);
    }
  else
    {
      /* Whole large pages. A small page at the end would take two faults where it is read before it is written: the
       * first maps a page of zeros, and the second replaces that, for which all processors are interrupted. */
      size = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
      header.size = size + LARGE_PAGE;
      header.start = mmap (NULL, header.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (header.start == MAP_FAILED)
        return NULL;
      memory = (guint8 *) (((guintptr) header.start + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1));
      ask_for_large_pages (memory, size);
    }
  memcpy (memory, &header, sizeof header);

  return memory + HEADER_SIZE;
}

void
apr_pages_free (gpointer pages)
{
  Header header;

  if (pages == NULL)
    return;

  memcpy (&header, (guint8 *) pages - HEADER_SIZE, sizeof header);
  if (header.size > 0)
    munmap (header.start, header.size);
  else
    free (header.start);
}

gpointer
apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gpointer memory = NULL;
  gsize n_bytes;

  if (g_size_checked_mul (&n_bytes, n, size))
    memory = g_try_malloc (MAX (n_bytes, 1));
  else
    n_bytes = G_MAXSIZE;

  if (memory == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                 "There is no memory for %s of %" G_GSIZE_FORMAT " bytes", what, n_bytes);
  else if (n_bytes >= 2 * LARGE_PAGE)
    ask_for_large_pages (memory, n_bytes);

  return memory;
}
