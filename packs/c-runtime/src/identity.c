/* Identities: process, user, host, system. Processor time. */
#include "abi.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum id { PID, PPID, PGID, UID, GID };

static uint32_t id(enum id which)
{
	uint32_t ids[5] = { 0 };

	abi_getids(ids);
	return ids[which];
}

pid_t getpid(void)
{
	return (pid_t)id(PID);
}

pid_t getppid(void)
{
	return (pid_t)id(PPID);
}

pid_t getpgrp(void)
{
	return (pid_t)id(PGID);
}

pid_t getpgid(pid_t pid)
{
	if (pid && pid != getpid())
		return tidebox_result(ESRCH);
	return getpgrp();
}

int setpgid(pid_t pid, pid_t group)
{
	return tidebox_result(abi_setpgid((uint32_t)pid, (uint32_t)group));
}

/* The kernel has no sessions: the caller gets a process group of its own and keeps its terminal. */
pid_t setsid(void)
{
	return setpgid(0, 0) ? -1 : getpid();
}

uid_t getuid(void)
{
	return id(UID);
}

uid_t geteuid(void)
{
	return id(UID);
}

gid_t getgid(void)
{
	return id(GID);
}

gid_t getegid(void)
{
	return id(GID);
}

/* The kernel changes no owners. Giving a file to its owner is permitted. */
static int own(uid_t user, gid_t group)
{
	if ((user == (uid_t)-1 || user == getuid()) && (group == (gid_t)-1 || group == getgid()))
		return 0;
	return tidebox_result(EPERM);
}

int chown(const char *path, uid_t user, gid_t group)
{
	struct abi_stat raw;
	int32_t code = abi_stat(path, strlen(path), 1, &raw);

	return code ? tidebox_result(code) : own(user, group);
}

int lchown(const char *path, uid_t user, gid_t group)
{
	struct abi_stat raw;
	int32_t code = abi_stat(path, strlen(path), 0, &raw);

	return code ? tidebox_result(code) : own(user, group);
}

int fchown(int fd, uid_t user, gid_t group)
{
	struct abi_stat raw;
	int32_t code = abi_fstat((uint32_t)fd, &raw);

	return code ? tidebox_result(code) : own(user, group);
}

/* Splits a line of /etc/passwd or /etc/group. Missing fields are empty. */
static void split(char *line, char *fields[], int count)
{
	line[strcspn(line, "\n")] = 0;
	for (int i = 0; i < count; i++) {
		size_t len = strcspn(line, ":");

		fields[i] = line;
		line += len;
		if (*line)
			*line++ = 0;
	}
}

/* Finds the line with a name, or a number in the third field. */
static int find(const char *file, const char *name, uint32_t number, char *line, int size, char *fields[], int count)
{
	FILE *in = fopen(file, "r");
	int found = 0;

	if (!in)
		return 0;
	while (!found && fgets(line, size, in)) {
		split(line, fields, count);
		found = name ? !strcmp(fields[0], name) : *fields[2] && strtoul(fields[2], NULL, 10) == number;
	}
	fclose(in);
	return found;
}

static struct passwd *user(const char *name, uid_t number)
{
	static char line[1024];
	static struct passwd result;
	char *fields[7];

	if (!find("/etc/passwd", name, number, line, sizeof(line), fields, 7))
		return NULL;
	result = (struct passwd){ fields[0], fields[1], (uid_t)strtoul(fields[2], NULL, 10),
				  (gid_t)strtoul(fields[3], NULL, 10), fields[4], fields[5], fields[6] };
	return &result;
}

struct passwd *getpwuid(uid_t number)
{
	return user(NULL, number);
}

struct passwd *getpwnam(const char *name)
{
	return user(name, 0);
}

static struct group *group(const char *name, gid_t number)
{
	static char line[1024];
	static char *nobody[1];
	static struct group result;
	char *fields[3];

	if (!find("/etc/group", name, number, line, sizeof(line), fields, 3))
		return NULL;
	result = (struct group){ fields[0], fields[1], (gid_t)strtoul(fields[2], NULL, 10), nobody };
	return &result;
}

struct group *getgrgid(gid_t number)
{
	return group(NULL, number);
}

struct group *getgrnam(const char *name)
{
	return group(name, 0);
}

int gethostname(char *into, size_t size)
{
	FILE *in = fopen("/etc/hostname", "r");
	char name[256] = "localhost";

	if (in) {
		if (!fgets(name, sizeof(name), in))
			strcpy(name, "localhost");
		fclose(in);
	}
	name[strcspn(name, "\n")] = 0;
	if (strlen(name) >= size)
		return tidebox_result(ENAMETOOLONG);
	strcpy(into, name);
	return 0;
}

int uname(struct utsname *out)
{
	memset(out, 0, sizeof(*out));
	strcpy(out->sysname, "Linux");
	strcpy(out->machine, "wasm32");
	return gethostname(out->nodename, sizeof(out->nodename));
}

int getrusage(int who, struct rusage *out)
{
	uint64_t times[2], ns;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN)
		return tidebox_result(EINVAL);
	memset(out, 0, sizeof(*out));
	if (tidebox_result(abi_cpu_times(times)))
		return -1;
	ns = times[who == RUSAGE_CHILDREN];
	out->ru_utime.tv_sec = (time_t)(ns / 1000000000);
	out->ru_utime.tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
	return 0;
}

int h_errno;

struct hostent *gethostbyname(const char *name)
{
	(void)name;
	h_errno = HOST_NOT_FOUND;
	return NULL;
}

const char *hstrerror(int error)
{
	return error == HOST_NOT_FOUND ? "Unknown host" : "Resolver internal error";
}
