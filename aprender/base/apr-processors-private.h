/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The processors that this process may use: those of its affinity mask, but no more than its control groups give it
 * time of, rounded up. The mask is asked each time, the control groups once. */
guint apr_processors_count (void);

/* The smallest limit of the control groups that @membership, the contents of /proc/self/cgroup, names, and of those
 * above them, with files below @mount_point; an infinity where there is none. */
double apr_processors_read_limit (const char *membership, const char *mount_point);

G_END_DECLS
