/* Processes: spawn, fork at a safe point, exec, wait. */
#include "abi.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tidebox.h>
#include <unistd.h>

extern char **environ;
int tidebox_access(const char *, int);
int tidebox_stat(const char *, struct stat *);

static unsigned char *put_word(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		*at++ = (unsigned char)(value >> 8 * i);
	return at;
}

static unsigned char *put_text(unsigned char *at, const char *text)
{
	size_t len = strlen(text);

	at = put_word(at, (uint32_t)len);
	memcpy(at, text, len);
	return at + len;
}

static size_t size_of_list(char *const *list, uint32_t *count)
{
	size_t size = 4;

	for (*count = 0; list[*count]; ++*count)
		size += 4 + strlen(list[*count]);
	return size;
}

static unsigned char *put_list(unsigned char *at, char *const *list, uint32_t count)
{
	at = put_word(at, count);
	for (uint32_t i = 0; i < count; i++)
		at = put_text(at, list[i]);
	return at;
}

/* Writes pairs of (the child's descriptor, the caller's). Returns their number. */
static uint32_t descriptors(const struct tidebox_spawn *spawn, uint32_t pairs[][2])
{
	uint32_t count = 0;

	for (int n = 0; n < 64; n++) {
		int own = n < 3 ? n : n + FD_SHIFT;
		struct abi_stat raw;

		if (n < 3 && spawn->use_fds)
			own = spawn->fds[n];
		else if (n >= 3 && !(tidebox_inherited >> n & 1))
			continue;
		else if (tidebox_is_cloexec(own) || abi_fstat((uint32_t)own, &raw))
			continue;
		if (own < 0)
			continue;
		pairs[count][0] = n < 3 ? n : n + FD_SHIFT;
		pairs[count++][1] = (uint32_t)own;
	}
	return count;
}

pid_t tidebox_spawn(const struct tidebox_spawn *spawn)
{
	char *const *envp = spawn->envp ? spawn->envp : environ;
	const char *cwd = spawn->cwd ? spawn->cwd : "";
	uint32_t pairs[64][2], count = descriptors(spawn, pairs), args, vars, pid;
	size_t size = 4 + 4 + strlen(spawn->path) + size_of_list(spawn->argv, &args) + size_of_list(envp, &vars) + 4 +
		      strlen(cwd) + 4 + 8 * count + 4 + 8;
	uint64_t ignored = tidebox_ignored_signals();
	unsigned char *request = malloc(size), *at = request;
	int32_t code;

	if (!request)
		return tidebox_result(ENOMEM);
	at = put_word(at, 1);
	at = put_text(at, spawn->path);
	at = put_list(at, spawn->argv, args);
	at = put_list(at, envp, vars);
	at = put_text(at, cwd);
	at = put_word(at, count);
	for (uint32_t i = 0; i < count; i++)
		at = put_word(put_word(at, pairs[i][0]), pairs[i][1]);
	at = put_word(at, (uint32_t)spawn->group);
	at = put_word(put_word(at, (uint32_t)ignored), (uint32_t)(ignored >> 32));
	code = abi_spawn(request, (size_t)(at - request), &pid);
	free(request);
	return code ? tidebox_result(code) : (pid_t)pid;
}

struct child {
	int (*run)(void *);
	void *arg;
};

pid_t tidebox_fork(int (*run)(void *), void *arg)
{
	/* The child has a copy of this frame at the same address. */
	volatile struct child child = { run, arg };
	uint32_t pid;
	int32_t code = abi_fork((int32_t)(uintptr_t)&child, &pid);

	return code ? tidebox_result(code) : (pid_t)pid;
}

__attribute__((export_name("tidebox_fork_child"))) void tidebox_fork_child(int32_t arg)
{
	const struct child *child = (const struct child *)(uintptr_t)arg;

	exit(child->run(child->arg));
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
	uint32_t out[2];
	int32_t code;

	do {
		code = abi_wait(pid, flags & WNOHANG, out);
		errno = code;
	} while (code == EINTR && tidebox_restart());
	if (code)
		return tidebox_result(code);
	if (status && out[0])
		*status = out[1] < 256 ? (int)out[1] << 8 : (int)(out[1] - 256);
	return (pid_t)out[0];
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

/* A module cannot be replaced in its process: the program runs as a child, and the caller ends as it does. */
int execve(const char *path, char *const argv[], char *const envp[])
{
	struct tidebox_spawn spawn = { .path = path, .argv = argv, .envp = envp };
	pid_t pid = tidebox_spawn(&spawn);
	int status;

	if (pid < 0)
		return -1;
	for (int n = 0; n < 3; n++)
		close(n);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			_exit(127);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

static int exec_in(const char *dir, size_t len, const char *name, char *const argv[])
{
	size_t need = len + strlen(name) + 2;
	char *path = malloc(need);
	struct stat found;

	if (!path)
		return tidebox_result(ENOMEM);
	snprintf(path, need, "%.*s/%s", (int)len, dir, name);
	/* A directory may have execute bits. */
	if (!tidebox_stat(path, &found) && !S_ISDIR(found.st_mode))
		execv(path, argv);
	free(path);
	return -1;
}

int execvp(const char *name, char *const argv[])
{
	const char *dir = getenv("PATH");
	int denied = 0;

	if (!*name)
		return tidebox_result(ENOENT);
	if (strchr(name, '/'))
		return execv(name, argv);
	if (!dir)
		dir = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(dir, ":");

		errno = ENOENT;
		exec_in(len ? dir : ".", len ? len : 1, name, argv);
		if (errno == EACCES)
			denied = 1;
		else if (errno != ENOENT && errno != ENOTDIR)
			return -1;
		if (!dir[len])
			return tidebox_result(denied ? EACCES : ENOENT);
		dir += len + 1;
	}
}

/* Collects the arguments of execl and execlp, and calls with them. */
static int exec_list(int (*run)(const char *, char *const[]), const char *path, const char *first, va_list list)
{
	size_t count = 1;
	va_list copy;
	char **argv;
	int result;

	va_copy(copy, list);
	while (va_arg(copy, char *))
		count++;
	va_end(copy);
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv)
		return tidebox_result(ENOMEM);
	argv[0] = (char *)first;
	for (size_t i = 1; i < count; i++)
		argv[i] = va_arg(list, char *);
	result = run(path, argv);
	free(argv);
	return result;
}

int execl(const char *path, const char *first, ...)
{
	va_list list;
	int result;

	va_start(list, first);
	result = exec_list(execv, path, first, list);
	va_end(list);
	return result;
}

int execlp(const char *name, const char *first, ...)
{
	va_list list;
	int result;

	va_start(list, first);
	result = exec_list(execvp, name, first, list);
	va_end(list);
	return result;
}
