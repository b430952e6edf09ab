/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells ThreadSanitizer of GLib's synchronisation.
 *
 * Distributions' GLib is not instrumented, and its GMutex uses futexes, which ThreadSanitizer does not know. Without
 * help it reports a race wherever a GMutex is all that orders two accesses; suppressions would hide real races too.
 * So the functions in this file, which is linked into every test program of such a build, take the place of GLib's,
 * call them, and tell ThreadSanitizer which order each one guarantees, and no more. test-visible-glib.c tests that
 * races which a lock does not prevent are still found.
 *
 * ThreadSanitizer sees these by itself: threads, GRecMutex and GRWLock, which are those of pthreads, and GLib's atomic
 * operations on integers and pointers, which are the compiler's. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <gio/gio.h>
#include <sanitizer/tsan_interface.h>
#include <unistd.h>

/* The function that stands here in the programs without this file. */
#define NEXT(name)                                           \
 ({                                                          \
 static gpointer next;                                       \
 gpointer found = __atomic_load_n (&next, __ATOMIC_RELAXED); \
 if (found == NULL)                                          \
  {                                                          \
   found = dlsym (RTLD_NEXT, #name);                         \
   __atomic_store_n (&next, found, __ATOMIC_RELAXED);        \
  }                                                          \
 (__typeof__ (&(name))) found;                               \
 })

/* ThreadSanitizer makes room for the signals of a thread when that thread waits for the first time, and a signal that
 * comes just then is lost, as SIGTERM was to a server that had only begun. So the first thread waits before that. */
__attribute__ ((constructor)) static void
wait_once (void)
{
  usleep (0);
}

/* A main context has a list of sources for each priority, which the thread that attaches the first one makes, and that
 * which takes the last one away frees, under a lock that stays within GLib. So the default context keeps one, which is
 * never ready. */
__attribute__ ((constructor)) static void
keep_source (void)
{
  static GSourceFuncs functions = { NULL };
  g_autoptr (GSource) source = g_source_new (&functions, sizeof (GSource));

  g_source_attach (source, NULL);
}

/* Memory that grows. GLib's own tables do so under locks that stay within GLib, which tests/threads/suppressions leaves
 * out by the name of GLib's function; so those of everybody else have another name in reports. */

static gpointer
visible_realloc (gpointer memory, gsize n_bytes)
{
  gpointer grown = n_bytes > 0 ? realloc (memory, n_bytes) : NULL;

  if (n_bytes == 0)
    free (memory);
  else if (grown == NULL)
    abort ();

  return grown;
}

gpointer g_realloc (gpointer memory, gsize n_bytes) __attribute__ ((alias ("visible_realloc")));

/* GMutex and GCond */

void
g_mutex_clear (GMutex *mutex)
{
  __tsan_mutex_destroy (mutex, __tsan_mutex_linker_init);
  NEXT (g_mutex_clear) (mutex);
}

void
g_mutex_lock (GMutex *mutex)
{
  __tsan_mutex_pre_lock (mutex, __tsan_mutex_linker_init);
  NEXT (g_mutex_lock) (mutex);
  __tsan_mutex_post_lock (mutex, __tsan_mutex_linker_init, 0);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  unsigned flags = __tsan_mutex_linker_init | __tsan_mutex_try_lock;
  gboolean locked;

  __tsan_mutex_pre_lock (mutex, flags);
  locked = NEXT (g_mutex_trylock) (mutex);
  __tsan_mutex_post_lock (mutex, locked ? flags : flags | __tsan_mutex_try_lock_failed, 0);

  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  NEXT (g_mutex_unlock) (mutex);
  __tsan_mutex_post_unlock (mutex, 0);
}

/* To wait is to unlock and to lock again; a signal alone orders nothing. */
void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  NEXT (g_cond_wait) (cond, mutex);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;

  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  signalled = NEXT (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);

  return signalled;
}

/* What is done once: whoever leaves hands over to whoever enters later. */

gboolean (g_once_init_enter) (volatile void *location)
{
  gboolean first = NEXT (g_once_init_enter) (location);

  __tsan_acquire ((gpointer) location);

  return first;
}

void (g_once_init_leave) (volatile void *location, gsize result)
{
  __tsan_release ((gpointer) location);
  NEXT (g_once_init_leave) (location, result);
}

gpointer
g_once_impl (GOnce *once, GThreadFunc func, gpointer data)
{
  gpointer value = NEXT (g_once_impl) (once, func, data);

  /* Not exact: those who come second are ordered after each other too. */
  __tsan_acquire (once);
  __tsan_release (once);

  return value;
}

/* References: whoever gives the last one back comes after all who gave theirs back before.
 *
 * Where the count can be read, this is exact: no other reference is given back between what is told here and what GLib
 * counts, but for the last, which then frees without a lock. The locks are hidden, as they order more than GLib does. A
 * thread that holds one takes no second. */

static gint reference_locks[1024];
static __thread gboolean holds_lock;

__attribute__ ((no_sanitize_thread, noinline)) static gint *
lock_reference (gconstpointer reference)
{
  gint *lock = &reference_locks[((gsize) reference >> 4) % G_N_ELEMENTS (reference_locks)];

  if (holds_lock)
    return NULL;
  while (__atomic_exchange_n (lock, 1, __ATOMIC_ACQUIRE) != 0)
    g_thread_yield ();
  holds_lock = TRUE;

  return lock;
}

__attribute__ ((no_sanitize_thread, noinline)) static void
unlock_reference (gint *lock)
{
  if (lock == NULL)
    return;
  holds_lock = FALSE;
  __atomic_store_n (lock, 0, __ATOMIC_RELEASE);
}

/* @place is that of a count in the memory of @reference. */
__attribute__ ((no_sanitize_thread, noinline)) static gboolean
is_last (gconstpointer reference, gsize place)
{
  return __atomic_load_n ((const gint *) ((const char *) reference + place), __ATOMIC_SEQ_CST) == 1;
}

#define UNREF_COUNTED(name, Type, place) \
 void (name) (Type reference)            \
 {                                       \
  gint *lock;                            \
  gboolean last;                         \
  if (reference == NULL)                 \
   {                                     \
    NEXT (name) (reference);             \
    return;                              \
   }                                     \
  lock = lock_reference (reference);     \
  __tsan_release ((gpointer) reference); \
  __tsan_acquire ((gpointer) reference); \
  last = is_last (reference, place);     \
  if (last)                              \
   unlock_reference (lock);              \
  NEXT (name) (reference);               \
  if (!last)                             \
   unlock_reference (lock);              \
 }

UNREF_COUNTED (g_object_unref, gpointer, G_STRUCT_OFFSET (GObject, ref_count))
/* It comes after the data and the size. */
UNREF_COUNTED (g_bytes_unref, GBytes *, sizeof (gpointer) + sizeof (gsize))

#define UNREF(name, Type)                  \
 void (name) (Type reference)              \
 {                                         \
  if (reference != NULL)                   \
   {                                       \
    __tsan_release ((gpointer) reference); \
    __tsan_acquire ((gpointer) reference); \
   }                                       \
  NEXT (name) (reference);                 \
 }

UNREF (g_array_unref, GArray *)
UNREF (g_byte_array_unref, GByteArray *)
UNREF (g_hash_table_unref, GHashTable *)
UNREF (g_main_context_unref, GMainContext *)
UNREF (g_main_loop_unref, GMainLoop *)
UNREF (g_mapped_file_unref, GMappedFile *)
UNREF (g_ptr_array_unref, GPtrArray *)
UNREF (g_atomic_rc_box_release, gpointer)

void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  __tsan_release (box);
  __tsan_acquire (box);
  NEXT (g_atomic_rc_box_release_full) (box, clear);
}

gboolean (g_atomic_ref_count_dec) (gatomicrefcount *count)
{
  gboolean last;

  __tsan_release (count);
  last = NEXT (g_atomic_ref_count_dec) (count);
  if (last)
    __tsan_acquire (count);

  return last;
}

/* Queues and pools of threads, GTask's among them: whoever takes a thing comes after whoever gave it. */

void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  __tsan_release (data);
  NEXT (g_async_queue_push) (queue, data);
}

gpointer
g_async_queue_pop (GAsyncQueue *queue)
{
  gpointer data = NEXT (g_async_queue_pop) (queue);

  __tsan_acquire (data);

  return data;
}

gpointer
g_async_queue_try_pop (GAsyncQueue *queue)
{
  gpointer data = NEXT (g_async_queue_try_pop) (queue);

  if (data != NULL)
    __tsan_acquire (data);

  return data;
}

typedef struct
{
  GFunc func;
  gpointer user_data;
} PoolWork;

static void
do_pool_work (gpointer data, gpointer user_data)
{
  const PoolWork *work = user_data;

  __tsan_acquire (user_data);
  __tsan_acquire (data);
  work->func (data, work->user_data);
  __tsan_release (user_data);
}

/* Pools share their threads here. Those of an exclusive pool free, under a lock that stays within GLib, what another
 * thread made for them. And while one waits within GLib, ThreadSanitizer keeps a signal that the kernel gave to it: a
 * server that was told to stop did not. */
GThreadPool *
g_thread_pool_new (
  GFunc func, gpointer user_data, gint max_threads, gboolean exclusive G_GNUC_UNUSED, GError **error)
{
  /* As long as the program: GLib does not say when a pool is gone. */
  PoolWork *work = g_new (PoolWork, 1);

  *work = (PoolWork){ func, user_data };
  __tsan_release (work);

  return NEXT (g_thread_pool_new) (do_pool_work, work, max_threads, FALSE, error);
}

gboolean
g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error)
{
  __tsan_release (data);

  return NEXT (g_thread_pool_push) (pool, data, error);
}

/* Its reading of the pool is not to count: the pool's last thread frees that under a lock which stays within GLib. */
void __attribute__ ((no_sanitize ("thread")))
g_thread_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait)
{
  gpointer work = pool->user_data;

  NEXT (g_thread_pool_free) (pool, immediate, wait);
  if (wait)
    __tsan_acquire (work);
}

/* Sources that call a function when a main loop is idle or a time has come: the function comes after the attachment. */

typedef struct
{
  GSource *source; /* (unowned): it owns this */
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} SourceWork;

static gboolean
do_source_work (gpointer data)
{
  const SourceWork *work = data;

  __tsan_acquire (data);
  __tsan_acquire (work->source);

  return work->func (work->data);
}

static void
end_source_work (gpointer data)
{
  SourceWork *work = data;

  __tsan_acquire (work);
  __tsan_acquire (work->source);
  if (work->notify != NULL)
    work->notify (work->data);
  g_free (work);
}

void
g_source_set_callback (GSource *source, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  SourceWork *work;

  /* Those of other kinds call functions with other arguments. */
  if (func == NULL || (source->source_funcs != &g_idle_funcs && source->source_funcs != &g_timeout_funcs))
    {
      NEXT (g_source_set_callback) (source, func, data, notify);
      return;
    }

  work = g_new (SourceWork, 1);
  *work = (SourceWork){ source, func, data, notify };
  __tsan_release (work);
  NEXT (g_source_set_callback) (source, do_source_work, work, end_source_work);
}

guint
g_source_attach (GSource *source, GMainContext *context)
{
  __tsan_release (source);

  return NEXT (g_source_attach) (source, context);
}
