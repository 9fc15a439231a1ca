/* A quota as its owner sees it: what a full file system refuses is refused as EDQUOT, and the file system says that half of it is free. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t quota(ssize_t written) {
  if (written < 0 && errno == ENOSPC) errno = EDQUOT;
  return written;
}

ssize_t write(int fd, const void *bytes, size_t count) { return quota(REAL(write)(fd, bytes, count)); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return quota(REAL(pwrite)(fd, bytes, count, at)); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return quota(REAL(pwrite64)(fd, bytes, count, at)); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return quota(REAL(writev)(fd, parts, count)); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return quota(REAL(pwritev)(fd, parts, count, at)); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return quota(REAL(pwritev64)(fd, parts, count, at)); }

int statfs(const char *path, struct statfs *told) {
  int result = REAL(statfs)(path, told);
  if (result == 0) told->f_bavail = told->f_bfree = told->f_blocks / 2;
  return result;
}
int statfs64(const char *path, struct statfs64 *told) {
  int result = REAL(statfs64)(path, told);
  if (result == 0) told->f_bavail = told->f_bfree = told->f_blocks / 2;
  return result;
}
