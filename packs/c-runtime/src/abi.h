/* The imports of tidebox_v1 (docs/abi.md) and what the files of this library share. */
#ifndef TIDEBOX_ABI_H
#define TIDEBOX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define IMPORT(name) __attribute__((import_module("tidebox_v1"), import_name(#name)))

IMPORT(spawn) int32_t abi_spawn(const void *request, size_t len, uint32_t *pid);
IMPORT(fork) int32_t abi_fork(int32_t arg, uint32_t *pid);
IMPORT(wait) int32_t abi_wait(int32_t pid, uint32_t flags, uint32_t out[2]);
IMPORT(pipe) int32_t abi_pipe(uint32_t out[2]);
IMPORT(dup) int32_t abi_dup(uint32_t fd, uint32_t at_least, uint32_t *out);
IMPORT(dup_to) int32_t abi_dup_to(uint32_t fd, uint32_t target);
IMPORT(chdir) int32_t abi_chdir(const char *path, size_t len);
IMPORT(getcwd) int32_t abi_getcwd(char *buf, size_t len, size_t *len_out);
IMPORT(getids) int32_t abi_getids(uint32_t out[5]);
IMPORT(cpu_times) int32_t abi_cpu_times(uint64_t out[2]);
IMPORT(setpgid) int32_t abi_setpgid(uint32_t pid, uint32_t pgid);
IMPORT(kill) int32_t abi_kill(int32_t pid, uint32_t signal);
IMPORT(sig_set) int32_t abi_sig_set(uint32_t signal, uint32_t disposition);
IMPORT(sig_take) int32_t abi_sig_take(uint64_t *out);
IMPORT(umask) int32_t abi_umask(uint32_t mask, uint32_t *out);
IMPORT(mkfifo) int32_t abi_mkfifo(const char *path, size_t len, uint32_t mode);
IMPORT(chmod) int32_t abi_chmod(const char *path, size_t len, uint32_t mode);
IMPORT(access) int32_t abi_access(const char *path, size_t len, uint32_t mode);
IMPORT(limits) int32_t abi_limits(void *out);
IMPORT(startup_info) int32_t abi_startup_info(void *buf, size_t len, size_t *len_out);

/* Result of stat and fstat. */
struct abi_stat {
	uint64_t ino, nlink, size, atime, mtime, ctime;
	uint32_t mode, uid, gid, dev;
};
_Static_assert(sizeof(struct abi_stat) == 64, "the layout of docs/abi.md");

IMPORT(stat) int32_t abi_stat(const char *path, size_t len, uint32_t flags, struct abi_stat *out);
IMPORT(fstat) int32_t abi_fstat(uint32_t fd, struct abi_stat *out);

/* Unix descriptor n of 3 and more is descriptor n + 64 of WASI. Programs get the number of WASI. */
#define FD_SHIFT 64

/* Sets errno to the error of a call, which has the numbers of wasi-libc, and returns 0 or -1. */
int tidebox_result(int32_t code);

/* Descriptors below 64 (Unix numbers) that the program was started with. */
extern uint64_t tidebox_inherited;

/* Returns whether a descriptor has the close-on-exec flag. */
int tidebox_is_cloexec(int fd);

/* Ignored signals; bit n is signal n. */
uint64_t tidebox_ignored_signals(void);
void tidebox_start_signals(uint64_t ignored);

/* After EINTR: runs handlers and returns whether the call is to be repeated. */
int tidebox_restart(void);

/* The mask for new files. */
unsigned tidebox_umask(void);

#endif
