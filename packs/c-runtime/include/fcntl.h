/* Opening files with a mode, and the close-on-exec flag, which wasi-libc defines as 0. */
#ifndef TIDEBOX_FCNTL_H
#define TIDEBOX_FCNTL_H

#include_next <fcntl.h>

/* A bit that wasi-libc does not use. */
#undef O_CLOEXEC
#define O_CLOEXEC 0x00100000
#ifndef F_DUPFD
#define F_DUPFD 100
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 101
#endif

#ifndef TIDEBOX_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif
int open(const char *, int, ...) __asm__("tidebox_open");
int fcntl(int, int, ...) __asm__("tidebox_fcntl");
int creat(const char *, mode_t) __asm__("tidebox_creat");
#ifdef __cplusplus
}
#endif
#endif

#endif
