/* Files by path: modes, owners, the working directory. */
#include "abi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tidebox.h>
#include <unistd.h>

static void convert_time(uint64_t ns, struct timespec *out)
{
	out->tv_sec = (time_t)(ns / 1000000000);
	out->tv_nsec = (long)(ns % 1000000000);
}

static int convert(int32_t code, const struct abi_stat *from, struct stat *to)
{
	if (code)
		return tidebox_result(code);
	memset(to, 0, sizeof(*to));
	to->st_dev = from->dev;
	to->st_ino = from->ino;
	to->st_nlink = from->nlink;
	to->st_mode = from->mode;
	to->st_uid = from->uid;
	to->st_gid = from->gid;
	to->st_size = (off_t)from->size;
	to->st_blksize = 4096;
	/* A file has whole blocks of 4 KiB, as on Linux. */
	to->st_blocks = (blkcnt_t)((from->size + 4095) / 4096 * 8);
	convert_time(from->atime, &to->st_atim);
	convert_time(from->mtime, &to->st_mtim);
	convert_time(from->ctime, &to->st_ctim);
	return 0;
}

int tidebox_stat(const char *path, struct stat *out)
{
	struct abi_stat raw;

	return convert(abi_stat(path, strlen(path), 1, &raw), &raw, out);
}

int tidebox_lstat(const char *path, struct stat *out)
{
	struct abi_stat raw;

	return convert(abi_stat(path, strlen(path), 0, &raw), &raw, out);
}

int tidebox_fstat(int fd, struct stat *out)
{
	struct abi_stat raw;

	return convert(abi_fstat((uint32_t)fd, &raw), &raw, out);
}

int tidebox_chmod(const char *path, mode_t mode)
{
	return tidebox_result(abi_chmod(path, strlen(path), mode & 07777));
}

/* The kernel has chmod by path only, and /dev/fd leads to the open file, also when it was renamed. */
int tidebox_fchmod(int fd, mode_t mode)
{
	char path[32];

	if (fd < 0)
		return tidebox_result(EBADF);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd > FD_SHIFT ? fd - FD_SHIFT : fd);
	return tidebox_chmod(path, mode);
}

int tidebox_access(const char *path, int mode)
{
	return tidebox_result(abi_access(path, strlen(path), (uint32_t)mode));
}

static uint32_t set_umask(uint32_t mask)
{
	uint32_t old = 022;

	abi_umask(mask, &old);
	return old;
}

unsigned tidebox_umask(void)
{
	return set_umask(0xffffffff);
}

mode_t umask(mode_t mask)
{
	return set_umask(mask & 0777);
}

int mkfifo(const char *path, mode_t mode)
{
	return tidebox_result(abi_mkfifo(path, strlen(path), mode & 0777));
}

int tidebox_mkdir(const char *path, mode_t mode)
{
	/* preview1 creates directories with mode 0777 and the mask. */
	if (mkdir(path, mode))
		return -1;
	return (mode & 0777) == 0777 ? 0 : tidebox_chmod(path, mode & ~tidebox_umask());
}

/* Opens a file that may be created with a mode other than 0666, which preview1 has no argument for. */
static int open_with_mode(const char *path, int flags, mode_t mode)
{
	for (int tries = 0; tries < 100; tries++) {
		int fd = open(path, flags | O_EXCL, 0666);

		if (fd >= 0) {
			if (tidebox_chmod(path, mode & ~tidebox_umask()))
				tidebox_fchmod(fd, mode & ~tidebox_umask());
			return fd;
		}
		if (errno != EEXIST || (flags & O_EXCL))
			return -1;
		fd = open(path, flags & ~O_CREAT);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		/* A link to nothing, or a file that was removed in between. */
		fd = open(path, flags, 0666);
		if (fd >= 0) {
			tidebox_fchmod(fd, mode & ~tidebox_umask());
			return fd;
		}
		if (errno != ENOENT)
			return -1;
	}
	return -1;
}

void tidebox_set_cloexec(int fd, int on);

int tidebox_open(const char *path, int flags, ...)
{
	int cloexec = flags & O_CLOEXEC, fd;
	mode_t mode = 0666;

	flags &= ~O_CLOEXEC;
	if (flags & O_CREAT) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	if (!*path)
		return tidebox_result(ENOENT);
	tidebox_run_signal_handlers();
	do {
		if ((flags & O_CREAT) && (mode & 0777) != 0666)
			fd = open_with_mode(path, flags, mode);
		else
			fd = open(path, flags, 0666);
	} while (fd < 0 && errno == EINTR && tidebox_restart());
	if (fd >= 0)
		tidebox_set_cloexec(fd, cloexec);
	return fd;
}

int tidebox_creat(const char *path, mode_t mode)
{
	return tidebox_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* Changes the directory of the kernel, which children inherit, and that of wasi-libc, to the path without symbolic links. */
int tidebox_chdir(const char *path)
{
	size_t len = 4096;
	char *physical;
	int32_t code = abi_chdir(path, strlen(path));

	if (code)
		return tidebox_result(code);
	for (;;) {
		physical = malloc(len + 1);
		if (!physical)
			return tidebox_result(ENOMEM);
		code = abi_getcwd(physical, len, &len);
		if (code != ERANGE)
			break;
		free(physical);
	}
	if (!code) {
		physical[len] = 0;
		code = chdir(physical) ? errno : 0;
	}
	free(physical);
	return tidebox_result(code);
}

static int temporary(char *template, int suffix, int directory)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t len = strlen(template);
	char *at;

	if (suffix < 0 || len < 6 + (size_t)suffix)
		return tidebox_result(EINVAL);
	at = template + len - suffix - 6;
	if (memcmp(at, "XXXXXX", 6))
		return tidebox_result(EINVAL);
	for (int tries = 0; tries < 100; tries++) {
		unsigned char random[6];
		int made;

		if (getentropy(random, sizeof(random)))
			return -1;
		for (int i = 0; i < 6; i++)
			at[i] = letters[random[i] % (sizeof(letters) - 1)];
		made = directory ? tidebox_mkdir(template, 0700) : tidebox_open(template, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (made >= 0 || errno != EEXIST)
			return made;
	}
	return tidebox_result(EEXIST);
}

int mkstemp(char *template)
{
	return temporary(template, 0, 0);
}

int mkstemps(char *template, int suffix)
{
	return temporary(template, suffix, 0);
}

char *mkdtemp(char *template)
{
	return temporary(template, 0, 1) ? NULL : template;
}
