/* Mounts on argv[1] a file system whose server never answers, as a server that is gone; until its stdin ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

int main(int count, char **words) {
  char options[100], byte;
  int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (count < 2 || device < 0) return 2;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (mount("silent", words[1], "fuse.silent", 0, options) != 0) return 3;
  puts("mounted");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) continue;
  umount2(words[1], MNT_FORCE | MNT_DETACH);
  return 0;
}
