/* A terminal: its settings, size and foreground group. The argument "none" tests the calls without one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
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

static void test_none(void)
{
	struct termios settings;
	struct winsize size;
	int available;

	CHECK(!isatty(1));
	CHECK(tcgetattr(1, &settings) < 0 && errno == ENOTTY);
	CHECK(tcsetattr(1, TCSANOW, &settings) < 0 && errno == ENOTTY);
	CHECK(ioctl(1, TIOCGWINSZ, &size) < 0 && errno == ENOTTY);
	CHECK(tcgetpgrp(1) < 0 && errno == ENOTTY);
	CHECK(ioctl(99, TIOCGWINSZ, &size) < 0 && errno == EBADF);
	CHECK(ioctl(99, FIONREAD, &available) < 0 && errno == EBADF);
	CHECK(open("/dev/tty", O_RDWR) < 0 && errno == ENXIO);
}

static void test_terminal(void)
{
	struct termios before, settings;
	struct winsize size, changed = { .ws_row = 31, .ws_col = 99 };
	int fd = open("/dev/tty", O_RDWR);

	CHECK(isatty(0) && isatty(1) && fd >= 0 && isatty(fd));
	CHECK(!tcgetattr(fd, &before) && before.c_lflag & ECHO && before.c_lflag & ICANON && before.c_cc[VINTR] == 3);
	settings = before;
	settings.c_lflag &= ~(ECHO | ICANON);
	settings.c_cc[VMIN] = 1;
	CHECK(!tcsetattr(fd, TCSAFLUSH, &settings));
	CHECK(!tcgetattr(0, &settings) && !(settings.c_lflag & ECHO) && settings.c_cc[VMIN] == 1);
	CHECK(tcsetattr(fd, 3, &settings) < 0 && errno == EINVAL);
	CHECK(!ioctl(1, TIOCGWINSZ, &size) && size.ws_row == 30 && size.ws_col == 100);
	CHECK(!ioctl(1, TIOCSWINSZ, &changed) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_row == 31 && size.ws_col == 99);
	CHECK(!tcgetattr(fd, &settings) && !(settings.c_lflag & ECHO));
	CHECK(!tcsetattr(fd, TCSANOW, &before) && !tcgetattr(fd, &settings) && settings.c_lflag == before.c_lflag);
	CHECK(tcgetpgrp(fd) > 0 && !tcsetpgrp(fd, tcgetpgrp(fd)));
	CHECK(tcsetpgrp(fd, 0) < 0 && errno == EINVAL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "none"))
		test_none();
	else
		test_terminal();
	printf("%d failed\n", failures);
	return failures != 0;
}
