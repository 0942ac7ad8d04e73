/* Files with modes, owners and times. wasi-libc's stat has the file type only, and its chmod fails. */
#ifndef TIDEBOX_SYS_STAT_H
#define TIDEBOX_SYS_STAT_H

#include_next <sys/stat.h>

#ifndef TIDEBOX_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif
int stat(const char *__restrict, struct stat *__restrict) __asm__("tidebox_stat");
int lstat(const char *__restrict, struct stat *__restrict) __asm__("tidebox_lstat");
int fstat(int, struct stat *) __asm__("tidebox_fstat");
int chmod(const char *, mode_t) __asm__("tidebox_chmod");
int fchmod(int, mode_t) __asm__("tidebox_fchmod");
int mkdir(const char *, mode_t) __asm__("tidebox_mkdir");
mode_t umask(mode_t);
int mkfifo(const char *, mode_t);
#ifdef __cplusplus
}
#endif
#endif

#endif
