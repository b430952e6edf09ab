/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <glib-object.h>

/**
 * APR_VERSION_MAJOR:
 *
 * The major version of the headers that a program is compiled with, such as 1 of 1.2.3.
 *
 * Since: 0.1
 */
#define APR_VERSION_MAJOR 0

/**
 * APR_VERSION_MINOR:
 *
 * The minor version of the headers that a program is compiled with, such as 2 of 1.2.3.
 *
 * Since: 0.1
 */
#define APR_VERSION_MINOR 1

/**
 * APR_VERSION_MICRO:
 *
 * The micro version of the headers that a program is compiled with, such as 3 of 1.2.3.
 *
 * Since: 0.1
 */
#define APR_VERSION_MICRO 0

/**
 * APR_CHECK_VERSION:
 * @major: the major version to compare with
 * @minor: the minor version to compare with
 * @micro: the micro version to compare with
 *
 * Is true if the headers that a program is compiled with have this version or a later one. The preprocessor
 * understands it.
 *
 * Since: 0.1
 */
#define APR_CHECK_VERSION(major, minor, micro)                                                    \
 (APR_VERSION_MAJOR > (major) || (APR_VERSION_MAJOR == (major) && APR_VERSION_MINOR > (minor)) || \
  (APR_VERSION_MAJOR == (major) && APR_VERSION_MINOR == (minor) && APR_VERSION_MICRO >= (micro)))

/* Everything is hidden but what carries one of these. A new cycle that adds symbols adds its own macro here. The
 * names of all macros differ from those of Apache's apr: APR_MAJOR_VERSION, for one, is Apache's.
 */
#define APR_AVAILABLE_IN_ALL __attribute__ ((visibility ("default"))) extern
