/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "aprender/serve/apr-serve-listen.h"
#include "tests/apr-test.h"

/* The linker sends the server's calls of this function here: its name has the addresses that the test says. */
int __real_getaddrinfo (const char *host,
                        const char *port,
                        const struct addrinfo *hints,
                        struct addrinfo **found);
int __wrap_getaddrinfo (const char *host,
                        const char *port,
                        const struct addrinfo *hints,
                        struct addrinfo **found);

static const int *families; /* ended by 0 */

int
__wrap_getaddrinfo (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
  gsize i;

  for (i = 0; families[i] != 0; i++)
    {
      int code = __real_getaddrinfo ("127.0.0.1", port, hints, found);

      g_assert_cmpint (code, ==, 0);
      (*found)->ai_family = families[i];
      found = &(*found)->ai_next;
    }

  return 0;
}

static void
test_addresses (void)
{
  /* A system without IPv6 fails in the same way as for a family that nobody has. */
  const int second[] = { AF_MAX, AF_INET, 0 };
  const int none[] = { AF_MAX, AF_MAX, 0 };
  const int taken[] = { AF_INET, AF_MAX, 0 };
  g_autofree char *again = NULL;
  AprServeListener listener;
  AprServeListener other;
  GError *error = NULL;

  g_test_summary ("Of the addresses of a name, the server takes the first that it can listen at.");

  families = second;
  g_assert_true (apr_serve_listen (&listener, "localhost:0", &error));
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (listener.address, "http://127.0.0.1:"));

  /* Another program there may serve what clients ask at the first address. */
  families = taken;
  again = g_strconcat ("localhost", strrchr (listener.address, ':'), NULL);
  g_assert_false (apr_serve_listen (&other, again, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, g_strerror (EADDRINUSE)));
  g_clear_error (&error);
  apr_serve_listener_clear (&listener);

  families = none;
  g_assert_false (apr_serve_listen (&listener, "localhost:0", &error));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, "localhost:0: "));
  g_assert_nonnull (strstr (error->message, g_strerror (EAFNOSUPPORT)));
  g_assert_cmpint (listener.fd, ==, -1);
  g_clear_error (&error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve-listen/addresses", test_addresses);

  return g_test_run ();
}
