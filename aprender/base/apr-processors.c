/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "aprender/base/apr-processors-private.h"

#include <math.h>
#include <sched.h>
#include <string.h>

static char *
read_file (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : NULL;
}

/* Microseconds of processors in microseconds of time; "max" and -1 are no limit. */
static double
divide (const char *quota, const char *period)
{
  gint64 above;
  gint64 below;

  if (quota == NULL || period == NULL || !g_ascii_string_to_signed (quota, 10, 1, G_MAXINT64, &above, NULL) ||
      !g_ascii_string_to_signed (period, 10, 1, G_MAXINT64, &below, NULL))
    return INFINITY;

  return (double) above / (double) below;
}

/* The limit of one group: a file of version 2, or two of version 1. */
static double
read_group (const char *folder)
{
  g_autofree char *both = read_file (folder, "cpu.max");
  g_autofree char *quota = read_file (folder, "cpu.cfs_quota_us");
  g_autofree char *period = read_file (folder, "cpu.cfs_period_us");

  if (both != NULL)
    {
      g_auto (GStrv) words = g_strsplit (g_strstrip (both), " ", 2);

      return g_strv_length (words) == 2 ? divide (words[0], words[1]) : INFINITY;
    }

  return quota != NULL && period != NULL ? divide (g_strstrip (quota), g_strstrip (period)) : INFINITY;
}

/* A limit of a group holds for those below it too. In a container, where @path may be the host's, only the files at
 * the mount point are there. */
static double
read_groups (const char *mount_point, const char *controller, const char *path)
{
  g_autofree char *group = g_strdup (path);
  double limit = INFINITY;

  for (;;)
    {
      g_autofree char *folder = g_build_filename (mount_point, controller, group, NULL);
      char *slash = strrchr (group, '/');

      limit = fmin (limit, read_group (folder));
      if (slash == NULL)
        return limit;
      *slash = '\0';
    }
}

double
apr_processors_read_limit (const char *membership, const char *mount_point)
{
  g_auto (GStrv) lines = g_strsplit (membership, "\n", -1);
  double limit = INFINITY;
  guint i;

  /* Such as "0::/user.slice" in version 2, "4:cpu,cpuacct:/user.slice" in version 1. */
  for (i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], ":", 3);
      g_auto (GStrv) controllers = g_strv_length (fields) == 3 ? g_strsplit (fields[1], ",", -1) : NULL;

      if (controllers == NULL)
        continue;
      if (*fields[1] == '\0' || g_strv_contains ((const char *const *) controllers, "cpu"))
        limit = fmin (limit, read_groups (mount_point, fields[1], fields[2]));
    }

  return limit;
}

static guint
read_own_limit (void)
{
  g_autofree char *membership = NULL;
  double limit;

  if (!g_file_get_contents ("/proc/self/cgroup", &membership, NULL, NULL))
    return G_MAXUINT;

  limit = ceil (apr_processors_read_limit (membership, "/sys/fs/cgroup"));

  return limit < G_MAXUINT ? (guint) limit : G_MAXUINT;
}

/* g_get_num_processors() counts those that are there, whether this process may use them or not. */
static guint
count_allowed (void)
{
#ifdef CPU_COUNT
  cpu_set_t mask;

  /* It fails where a mask is larger. */
  if (sched_getaffinity (0, sizeof mask, &mask) == 0)
    return (guint) CPU_COUNT (&mask);
#endif

  return g_get_num_processors ();
}

guint
apr_processors_count (void)
{
  static gsize limit = 0;

  if (g_once_init_enter (&limit))
    g_once_init_leave (&limit, read_own_limit ());

  return MIN (count_allowed (), (guint) limit);
}
