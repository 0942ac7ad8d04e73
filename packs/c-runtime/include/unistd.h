/* Processes, descriptors and identities over tidebox_v1. wasi-libc declares none of them. */
#ifndef TIDEBOX_UNISTD_H
#define TIDEBOX_UNISTD_H

/* Ours is not the emulation, whose getpid is in wasi-libc too. */
#ifndef _WASI_EMULATED_GETPID
#define _WASI_EMULATED_GETPID
#endif
#include_next <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
int pipe(int[2]);
int pipe2(int[2], int);
int dup(int);
int dup2(int, int);

/* fork cannot return twice in WebAssembly: tidebox_fork in <tidebox.h> enters a function instead. */
int execv(const char *, char *const[]);
int execve(const char *, char *const[], char *const[]);
int execvp(const char *, char *const[]);
int execl(const char *, const char *, ...);
int execlp(const char *, const char *, ...);

pid_t getpid(void) __asm__("tidebox_getpid");
pid_t getppid(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t);
int setpgid(pid_t, pid_t);
pid_t setsid(void);
pid_t tcgetpgrp(int);
int tcsetpgrp(int, pid_t);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int chown(const char *, uid_t, gid_t);
int lchown(const char *, uid_t, gid_t);
int fchown(int, uid_t, gid_t);
int gethostname(char *, size_t);
int getdtablesize(void);

#ifndef TIDEBOX_RUNTIME
int close(int) __asm__("tidebox_close");
int access(const char *, int) __asm__("tidebox_access");
int chdir(const char *) __asm__("tidebox_chdir");
ssize_t read(int, void *, size_t) __asm__("tidebox_read");
ssize_t write(int, const void *, size_t) __asm__("tidebox_write");
#endif
#ifdef __cplusplus
}
#endif

#endif
