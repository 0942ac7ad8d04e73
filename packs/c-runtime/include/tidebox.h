/* Process creation in a Tidebox sandbox, for what POSIX does by fork. */
#ifndef TIDEBOX_H
#define TIDEBOX_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A new process. Zero means the default of every field but path and argv. */
struct tidebox_spawn {
	/* Path of the program; PATH is not searched. */
	const char *path;
	char *const *argv;
	/* NULL: the caller's environment. */
	char *const *envp;
	/* NULL: the caller's working directory. */
	const char *cwd;
	/* The caller's descriptors that become 0, 1 and 2 of the child if use_fds is set; -1 leaves one closed. Without use_fds the
	   child gets the caller's. Descriptors that the caller was started with, and that are not close-on-exec, are always passed on. */
	int use_fds;
	int fds[3];
	/* 0: the caller's process group; 1: a new one; else the group to join. */
	pid_t group;
};

/* Starts a program. Returns the process id, or -1 with errno; ENOEXEC for a file that is neither WebAssembly nor a script with
   an interpreter line. Signals that the caller ignores are ignored by the child. */
pid_t tidebox_spawn(const struct tidebox_spawn *);

/* Starts a copy of the caller, with its memory and descriptors, which calls child(arg) and exits with the result. Nothing that the
   child does is seen by the caller. Buffered output is in the copy too: call fflush(NULL) first. Link with
   --export=__stack_pointer. Returns the process id, or -1 with errno. */
pid_t tidebox_fork(int (*child)(void *), void *arg);

/* Runs the handlers of caught signals that have arrived. Handlers run only here and within the calls of this library that may
   block, open, write or wait; a long computation may call it. Returns 1 if a handler without SA_RESTART ran, 0 if only others
   did, and -1 if none did. */
int tidebox_run_signal_handlers(void);

#ifdef __cplusplus
}
#endif

#endif
