/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-task-private.h"

#include "aprender/base/apr-error.h"

GTask *
apr_task_check (
  GAsyncResult *result, gpointer source, gpointer source_tag, const char *function, GError **error)
{
  static const char taken[] = "apr-taken";

  if (g_task_is_valid (result, source) && g_task_get_source_tag (G_TASK (result)) == source_tag)
    {
      if (g_object_get_data (G_OBJECT (result), taken) == NULL)
        {
          g_object_set_data (G_OBJECT (result), taken, result);
          return G_TASK (result);
        }

      g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result has been taken before");
      return NULL;
    }

  if (source == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result is not that of %s ()", function);
  else if (function == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                 "The result is not that of the method of this %s that is being finished",
                 G_OBJECT_TYPE_NAME (source));
  else
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result is not that of %s () of this %s", function,
                 G_OBJECT_TYPE_NAME (source));
  return NULL;
}
