/* Terminals: settings, size, and the foreground process group. */
#include "abi.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define CHARACTERS 19

/* The state of docs/abi.md. */
struct abi_tty {
	uint32_t version, input, output, control, local;
	uint16_t rows, columns;
	unsigned char characters[CHARACTERS];
	unsigned char zeros[21];
};
_Static_assert(sizeof(struct abi_tty) == 64, "the layout of docs/abi.md");

IMPORT(tty_get) int32_t abi_tty_get(uint32_t fd, struct abi_tty *out);
IMPORT(tty_set) int32_t abi_tty_set(uint32_t fd, uint32_t when, const struct abi_tty *from);
IMPORT(tty_group) int32_t abi_tty_group(uint32_t fd, uint32_t group, uint32_t *out);

int tcgetattr(int fd, struct termios *out)
{
	struct abi_tty state;
	int32_t code = abi_tty_get((uint32_t)fd, &state);

	if (code)
		return tidebox_result(code);
	memset(out, 0, sizeof(*out));
	out->c_iflag = state.input;
	out->c_oflag = state.output;
	out->c_cflag = state.control;
	out->c_lflag = state.local;
	memcpy(out->c_cc, state.characters, CHARACTERS);
	return 0;
}

int tcsetattr(int fd, int when, const struct termios *settings)
{
	struct abi_tty state;
	int32_t code;

	if (when < TCSANOW || when > TCSAFLUSH)
		return tidebox_result(EINVAL);
	/* The size is kept. */
	code = abi_tty_get((uint32_t)fd, &state);
	if (code)
		return tidebox_result(code);
	state.input = settings->c_iflag;
	state.output = settings->c_oflag;
	state.control = settings->c_cflag;
	state.local = settings->c_lflag;
	memcpy(state.characters, settings->c_cc, CHARACTERS);
	return tidebox_result(abi_tty_set((uint32_t)fd, (uint32_t)when, &state));
}

static int get_size(int fd, struct winsize *out)
{
	struct abi_tty state;
	int32_t code = abi_tty_get((uint32_t)fd, &state);

	if (code)
		return tidebox_result(code);
	*out = (struct winsize){ .ws_row = state.rows, .ws_col = state.columns };
	return 0;
}

static int set_size(int fd, const struct winsize *size)
{
	struct abi_tty state;
	int32_t code = abi_tty_get((uint32_t)fd, &state);

	if (code)
		return tidebox_result(code);
	state.rows = size->ws_row;
	state.columns = size->ws_col;
	return tidebox_result(abi_tty_set((uint32_t)fd, TCSANOW, &state));
}

int tidebox_ioctl(int fd, int request, ...)
{
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	switch (request) {
	case TIOCGWINSZ:
		return get_size(fd, argument);
	case TIOCSWINSZ:
		return set_size(fd, argument);
	default:
		return ioctl(fd, request, argument);
	}
}

pid_t tcgetpgrp(int fd)
{
	uint32_t group;
	int32_t code = abi_tty_group((uint32_t)fd, 0, &group);

	return code ? tidebox_result(code) : (pid_t)group;
}

int tcsetpgrp(int fd, pid_t group)
{
	uint32_t set;

	/* 0 would only read the group. */
	return group <= 0 ? tidebox_result(EINVAL) : tidebox_result(abi_tty_group((uint32_t)fd, (uint32_t)group, &set));
}
