/* Files: modes, owners, times, links, the working directory. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#define CHECK(condition) check(condition, #condition, __LINE__)

static int failures;

static void check(int holds, const char *what, int line)
{
	if (!holds) {
		printf("line %d: %s: errno %d\n", line, what, errno);
		failures++;
	}
}

static void test_modes(void)
{
	struct stat found;
	int fd;

	umask(022);
	CHECK(umask(022) == 022);
	fd = open("plain", O_CREAT | O_WRONLY, 0666);
	CHECK(fd >= 0 && !fstat(fd, &found) && found.st_mode == (S_IFREG | 0644));
	CHECK(found.st_uid == getuid() && found.st_gid == getgid() && found.st_nlink == 1 && found.st_ino);
	CHECK(!fchmod(fd, 0750) && !stat("plain", &found) && (found.st_mode & 07777) == 0750);
	close(fd);
	fd = open("secret", O_CREAT | O_WRONLY | O_EXCL, 0600);
	CHECK(fd >= 0 && !stat("secret", &found) && (found.st_mode & 07777) == 0600);
	close(fd);
	fd = open("readonly", O_CREAT | O_WRONLY | O_EXCL, 0444);
	CHECK(write(fd, "x", 1) == 1 && !stat("readonly", &found) && (found.st_mode & 07777) == 0444 && found.st_size == 1);
	CHECK(!rename("readonly", "renamed") && !fchmod(fd, 0400));
	close(fd);
	CHECK(!stat("renamed", &found) && (found.st_mode & 07777) == 0400);
	fd = open("renamed", O_CREAT | O_RDONLY, 0600);
	CHECK(fd >= 0 && !fstat(fd, &found) && (found.st_mode & 07777) == 0400);
	close(fd);
	CHECK(open("renamed", O_CREAT | O_EXCL | O_WRONLY, 0600) < 0 && errno == EEXIST);
	CHECK(!access("plain", X_OK) && access("secret", X_OK) < 0 && errno == EACCES);
	CHECK(access("none", F_OK) < 0 && errno == ENOENT);
	CHECK(open("", O_RDONLY) < 0 && errno == ENOENT);
	CHECK(!mkdir("private", 0700) && !stat("private", &found) && found.st_mode == (S_IFDIR | 0700));
	umask(0);
	CHECK(!mkdir("public", 0777) && !stat("public", &found) && (found.st_mode & 0777) == 0777);
	umask(022);
}

static void test_links(void)
{
	struct stat found, other;
	char text[64] = "";

	CHECK(!symlink("target", "link") && !lstat("link", &found) && S_ISLNK(found.st_mode) && found.st_size == 6);
	CHECK(stat("link", &found) < 0 && errno == ENOENT);
	CHECK(readlink("link", text, sizeof(text)) == 6 && !strcmp(text, "target"));
	CHECK(!link("plain", "second") && !stat("plain", &found) && !stat("second", &other));
	CHECK(found.st_nlink == 2 && found.st_ino == other.st_ino);
	CHECK(!unlink("second") && !stat("plain", &found) && found.st_nlink == 1);
	CHECK(!symlink("a\xff\x01z", "bytes\xff") && readlink("bytes\xff", text, sizeof(text)) == 4);
}

static void test_times(void)
{
	struct utimbuf times = { 1000000000, 1234567890 };
	struct stat found;

	CHECK(!utime("plain", &times) && !stat("plain", &found));
	CHECK(found.st_mtime == 1234567890 && found.st_atime == 1000000000 && found.st_ctime != found.st_mtime);
}

static void test_directories(void)
{
	char cwd[256];
	struct stat found, below;
	int fd;

	CHECK(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/tmp/files"));
	CHECK(!symlink("public", "alias") && !chdir("alias"));
	CHECK(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/tmp/files/public"));
	fd = open("inside", O_CREAT | O_WRONLY, 0666);
	CHECK(fd >= 0 && !close(fd) && !stat("/tmp/files/public/inside", &found) && !stat("inside", &below));
	CHECK(found.st_ino == below.st_ino);
	CHECK(!stat("../plain", &found) && !chdir("..") && getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/tmp/files"));
	CHECK(chdir("plain") < 0 && errno == ENOTDIR);
}

static void test_names(void)
{
	struct passwd *user = getpwuid(getuid());
	struct group *group = getgrgid(getgid());
	char first[] = "fileXXXXXX", second[] = "dirXXXXXX", host[64];
	struct stat found;
	int fd;

	CHECK(user && *user->pw_name && *user->pw_dir == '/' && getpwnam(user->pw_name));
	CHECK(group && *group->gr_name);
	CHECK(!getpwnam("nobody-here") && !getgrnam("nobody-here"));
	CHECK(!gethostname(host, sizeof(host)) && *host);
	CHECK((fd = mkstemp(first)) >= 0 && !fstat(fd, &found) && (found.st_mode & 0777) == 0600);
	CHECK(mkdtemp(second) && !stat(second, &found) && (found.st_mode & 0777) == 0700);
	CHECK(mkstemp(second) < 0 && errno == EINVAL);
}

int main(void)
{
	mkdir("/tmp/files", 0777);
	CHECK(!chdir("/tmp/files"));
	test_modes();
	test_links();
	test_times();
	test_directories();
	test_names();
	printf("%d failed\n", failures);
	return failures != 0;
}
