/* Waiting for child processes. wasi-libc has no <sys/wait.h>. */
#ifndef _SYS_WAIT_H
#define _SYS_WAIT_H

#define __NEED_pid_t
#include <bits/alltypes.h>

#define WNOHANG 1
/* Stopped processes are not reported, so this has no effect. */
#define WUNTRACED 2

#define WEXITSTATUS(s) (((s) >> 8) & 0xff)
#define WTERMSIG(s) ((s) & 0x7f)
#define WIFEXITED(s) (WTERMSIG(s) == 0)
#define WIFSIGNALED(s) (WTERMSIG(s) != 0)
#define WIFSTOPPED(s) ((void)(s), 0)
#define WSTOPSIG(s) WEXITSTATUS(s)
#define WCOREDUMP(s) ((s) & 0x80)

#ifdef __cplusplus
extern "C" {
#endif
pid_t wait(int *);
pid_t waitpid(pid_t, int *, int);
#ifdef __cplusplus
}
#endif

#endif
