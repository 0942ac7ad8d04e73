/* Processes, pipes and signals. Prints one line per check. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tidebox.h>
#include <unistd.h>

#define CHECK(condition) check(condition, #condition, __LINE__)

static int failures;

static void check(int holds, const char *what, int line)
{
	if (!holds) {
		printf("line %d: %s: errno %d\n", line, what, errno);
		failures++;
	}
}

static int written_by_child(void *arg)
{
	int *ends = arg;

	close(ends[0]);
	return write(ends[1], "from the child", 14) == 14 ? 7 : 1;
}

static void test_fork(void)
{
	int ends[2], status;
	char text[32] = "";
	pid_t pid;

	CHECK(!pipe(ends));
	fflush(NULL);
	pid = tidebox_fork(written_by_child, ends);
	CHECK(pid > 0);
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof(text) - 1) == 14);
	CHECK(!strcmp(text, "from the child"));
	CHECK(read(ends[0], text, 1) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(waitpid(-1, &status, 0) < 0 && errno == ECHILD);
	close(ends[0]);
}

static void test_spawn(void)
{
	char *argv[] = { "sh", "-c", "read x; echo \"$x $NAME $PWD\"; exit 3", NULL };
	char *envp[] = { "NAME=value", NULL };
	struct tidebox_spawn spawn = { .path = "/bin/sh", .argv = argv, .envp = envp, .cwd = "/tmp", .use_fds = 1 };
	int in[2], out[2], status;
	char text[64] = "";
	pid_t pid;

	CHECK(!pipe(in) && !pipe(out));
	spawn.fds[0] = in[0];
	spawn.fds[1] = out[1];
	spawn.fds[2] = 2;
	pid = tidebox_spawn(&spawn);
	CHECK(pid > 0);
	close(in[0]);
	close(out[1]);
	CHECK(write(in[1], "line\n", 5) == 5);
	close(in[1]);
	CHECK(read(out[0], text, sizeof(text) - 1) > 0);
	CHECK(!strcmp(text, "line value /tmp\n"));
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
	close(out[0]);
}

static void test_errors(void)
{
	char *argv[] = { "x", NULL };
	struct tidebox_spawn spawn = { .path = "/nowhere", .argv = argv };
	int fd;

	CHECK(tidebox_spawn(&spawn) < 0 && errno == ENOENT);
	spawn.path = "/tmp";
	CHECK(tidebox_spawn(&spawn) < 0 && errno == EACCES);
	fd = open("/tmp/text", O_CREAT | O_WRONLY, 0755);
	CHECK(write(fd, "text\n", 5) == 5);
	close(fd);
	spawn.path = "/tmp/text";
	CHECK(tidebox_spawn(&spawn) < 0 && errno == ENOEXEC);
	CHECK(execvp("nowhere", argv) < 0 && errno == ENOENT);
	CHECK(dup2(50, 1) < 0 && errno == EBADF);
}

static volatile int caught;

static void on_signal(int n)
{
	caught = n;
}

static int sleep_forever(void *arg)
{
	(void)arg;
	for (;;)
		sleep(100);
}

static int exec_child(void *arg)
{
	(void)arg;
	execlp("sh", "sh", "-c", "exit 5", NULL);
	return 1;
}

static void test_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set;
	int status, ends[2];
	pid_t pid;
	char byte;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!raise(SIGUSR1) && caught == SIGUSR1);

	caught = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!raise(SIGUSR1) && !raise(SIGUSR2) && !caught);
	signal(SIGUSR2, SIG_IGN);
	CHECK(!sigprocmask(SIG_UNBLOCK, &set, NULL) && caught == SIGUSR1);

	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe(ends));
	close(ends[0]);
	CHECK(write(ends[1], "x", 1) < 0 && errno == EPIPE);
	close(ends[1]);

	pid = tidebox_fork(sleep_forever, NULL);
	CHECK(!kill(pid, SIGTERM));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);

	/* A signal interrupts a read, unless it restarts. */
	CHECK(!pipe(ends));
	caught = 0;
	char *argv[] = { "sh", "-c", "sleep 0.1; kill -USR1 $PPID; sleep 0.1; echo", NULL };
	struct tidebox_spawn spawn = { .path = "/bin/sh", .argv = argv, .use_fds = 1, .fds = { 0, ends[1], 2 } };
	pid = tidebox_spawn(&spawn);
	close(ends[1]);
	CHECK(read(ends[0], &byte, 1) < 0 && errno == EINTR && caught == SIGUSR1);
	CHECK(read(ends[0], &byte, 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	close(ends[0]);

	pid = tidebox_fork(exec_child, NULL);
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
}

static void test_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), copy;

	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	copy = dup(fd);
	CHECK(copy > fd && fcntl(copy, F_GETFD) == 0);
	CHECK(!fcntl(copy, F_SETFD, FD_CLOEXEC) && fcntl(copy, F_GETFD) == FD_CLOEXEC);
	CHECK(!close(copy) && fcntl(copy, F_GETFD) < 0 && errno == EBADF);
	CHECK(fcntl(fd, F_DUPFD, 80) == 80 && !close(80));
	CHECK(!isatty(fd));
	CHECK(getpid() > 1 && getppid() > 0 && getpgrp() > 0);
	close(fd);
}

int main(void)
{
	test_fork();
	test_spawn();
	test_errors();
	test_descriptors();
	test_signals();
	printf("%d failed\n", failures);
	return failures != 0;
}
