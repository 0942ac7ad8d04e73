/* Descriptors: pipes, copies, the close-on-exec flag, and calls that signals interrupt. */
#include "abi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/uio.h>
#include <tidebox.h>
#include <unistd.h>

/* Descriptors that are not passed to children. Larger ones are never passed. */
#define TRACKED 1024
static unsigned char cloexec[TRACKED / 8];

int tidebox_is_cloexec(int fd)
{
	return fd < 0 || fd >= TRACKED || cloexec[fd / 8] >> fd % 8 & 1;
}

void tidebox_set_cloexec(int fd, int on)
{
	if (fd < 0 || fd >= TRACKED)
		return;
	if (on)
		cloexec[fd / 8] |= 1 << fd % 8;
	else
		cloexec[fd / 8] &= ~(1 << fd % 8);
}

int pipe2(int ends[2], int flags)
{
	uint32_t raw[2];
	int32_t code = abi_pipe(raw);

	if (code)
		return tidebox_result(code);
	for (int i = 0; i < 2; i++) {
		ends[i] = (int)raw[i];
		tidebox_set_cloexec(ends[i], flags & O_CLOEXEC);
	}
	return 0;
}

int pipe(int ends[2])
{
	return pipe2(ends, 0);
}

/* Copies to the lowest free descriptor of at least this number. Above 2 the numbers of open files begin at 67. */
static int copy(int fd, int at_least, int flag)
{
	uint32_t made;
	int32_t code = abi_dup((uint32_t)fd, (uint32_t)(at_least > 2 && at_least < FD_SHIFT + 3 ? FD_SHIFT + 3 : at_least), &made);

	if (code)
		return tidebox_result(code);
	tidebox_set_cloexec((int)made, flag);
	return (int)made;
}

int dup(int fd)
{
	return copy(fd, 0, 0);
}

int dup2(int fd, int target)
{
	struct abi_stat raw;

	if (fd == target)
		return abi_fstat((uint32_t)fd, &raw) ? tidebox_result(EBADF) : fd;
	if (tidebox_result(abi_dup_to((uint32_t)fd, (uint32_t)target)))
		return -1;
	tidebox_set_cloexec(target, 0);
	return target;
}

int tidebox_fcntl(int fd, int command, ...)
{
	struct abi_stat raw;
	va_list list;
	int value;

	va_start(list, command);
	value = command == F_GETFD || command == F_GETFL ? 0 : va_arg(list, int);
	va_end(list);
	switch (command) {
	case F_DUPFD:
		return copy(fd, value, 0);
	case F_DUPFD_CLOEXEC:
		return copy(fd, value, 1);
	case F_GETFD:
	case F_SETFD:
		if (abi_fstat((uint32_t)fd, &raw))
			return tidebox_result(EBADF);
		if (command == F_GETFD)
			return tidebox_is_cloexec(fd) ? FD_CLOEXEC : 0;
		tidebox_set_cloexec(fd, value & FD_CLOEXEC);
		return 0;
	default:
		return fcntl(fd, command, value);
	}
}

int tidebox_close(int fd)
{
	if (close(fd))
		return -1;
	tidebox_set_cloexec(fd, 0);
	return 0;
}

ssize_t tidebox_read(int fd, void *into, size_t len)
{
	ssize_t got;

	do
		got = read(fd, into, len);
	while (got < 0 && errno == EINTR && tidebox_restart());
	return got;
}

ssize_t tidebox_write(int fd, const void *from, size_t len)
{
	ssize_t put;

	tidebox_run_signal_handlers();
	do
		put = write(fd, from, len);
	while (put < 0 && errno == EINTR && tidebox_restart());
	return put;
}

int tidebox_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int ready = poll(fds, count, timeout);

	/* poll is never restarted, as in POSIX. */
	if (ready < 0 && errno == EINTR) {
		tidebox_restart();
		errno = EINTR;
	}
	return ready;
}

int getdtablesize(void)
{
	struct {
		uint64_t memory, files;
		uint32_t descriptors, processes, nesting, reserved;
	} limits;

	return abi_limits(&limits) ? TRACKED : (int)limits.descriptors;
}
