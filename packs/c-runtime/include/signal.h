/* Signals over tidebox_v1. Replaces <signal.h> of wasi-libc, which only emulates raise. The numbers are those of Linux. */
#ifndef _SIGNAL_H
#define _SIGNAL_H

#define __NEED_pid_t
#define __NEED_uid_t
#define __NEED_size_t
#include <bits/alltypes.h>
#include <__typedef_sigset_t.h>

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGIOT SIGABRT
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTKFLT 16
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGIO 29
#define SIGPOLL SIGIO
#define SIGPWR 30
#define SIGSYS 31
#define NSIG 65
#define _NSIG NSIG

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000

typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);

#define SIG_ERR ((sighandler_t)-1)
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)

/* Only si_signo is set. */
typedef struct {
	int si_signo, si_code, si_errno, si_status;
	pid_t si_pid;
	uid_t si_uid;
} siginfo_t;

struct sigaction {
	union {
		sighandler_t sa_handler;
		void (*sa_sigaction)(int, siginfo_t *, void *);
	};
	sigset_t sa_mask;
	int sa_flags;
};

#ifdef __cplusplus
extern "C" {
#endif
/* The names differ from those of the emulation in wasi-libc, which can be linked too. */
sighandler_t signal(int, sighandler_t) __asm__("tidebox_signal");
int sigaction(int, const struct sigaction *, struct sigaction *);
int sigprocmask(int, const sigset_t *, sigset_t *);
int sigpending(sigset_t *);
int sigemptyset(sigset_t *);
int sigfillset(sigset_t *);
int sigaddset(sigset_t *, int);
int sigdelset(sigset_t *, int);
int sigismember(const sigset_t *, int);
int kill(pid_t, int);
int raise(int) __asm__("tidebox_raise");
#ifdef __cplusplus
}
#endif

#endif
