/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which change of the sources that choices.py writes is made: the one whose number is in the variable MUTATION of the
 * environment. Without it, those that would have another value are marked in the file that MUTATION_NOTES names, a byte
 * each. The file is shared, so that what a process notes is kept, however it ends.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int mutation = 0;
static unsigned char *notes;
static int n_notes;

void mutation_note (int number, int differs);

void
mutation_note (int number, int differs)
{
  if (differs && number < n_notes)
    notes[number] = 1;
}

__attribute__ ((constructor)) static void
choose (void)
{
  const char *chosen = getenv ("MUTATION");
  const char *path = getenv ("MUTATION_NOTES");
  struct stat status;
  int file;

  if (chosen != NULL)
    mutation = atoi (chosen);
  else if (path != NULL && (file = open (path, O_RDWR)) >= 0 && fstat (file, &status) == 0)
    {
      notes = mmap (NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (notes != MAP_FAILED)
        {
          n_notes = (int) status.st_size;
          mutation = -1;
        }
      close (file);
    }
}
