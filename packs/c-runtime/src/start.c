/* Start of a program: working directory, ignored signals and inherited descriptors. */
#include "abi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t tidebox_inherited;

int tidebox_result(int32_t code)
{
	if (!code)
		return 0;
	errno = code;
	return -1;
}

static uint32_t word(const unsigned char *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t long_word(const unsigned char *at)
{
	return word(at) | (uint64_t)word(at + 4) << 32;
}

static void fail(const char *message)
{
	write(2, message, strlen(message));
	_exit(126);
}

/* Enters the working directory in wasi-libc, which has one of its own. If it was removed, wasi-libc stays in /. */
static void enter(const unsigned char *path, size_t len)
{
	char *copy;

	if (!len || !(copy = malloc(len + 1)))
		return;
	memcpy(copy, path, len);
	copy[len] = 0;
	chdir(copy);
	free(copy);
}

/* Skips a list of bytes. Returns NULL if it does not end within the data. */
static const unsigned char *skip(const unsigned char *at, const unsigned char *end)
{
	if (end - at < 4 || word(at) > (size_t)(end - at) - 4)
		return NULL;
	return at + 4 + word(at);
}

__attribute__((constructor(200))) static void start(void)
{
	unsigned char first[2048], *data = first;
	const unsigned char *at, *end;
	size_t len = 0;
	int32_t code = abi_startup_info(first, sizeof(first), &len);

	if (code == ERANGE && (data = malloc(len)))
		code = abi_startup_info(data, len, &len);
	if (code || !data || len < 32 || word(data) != 1)
		fail("this program needs another version of tidebox\n");
	end = data + len;
	tidebox_start_signals(long_word(data + 16));
	tidebox_inherited = long_word(data + 24);
	at = skip(data + 32, end);
	if (at)
		at = skip(at, end);
	if (at && skip(at, end))
		enter(at + 4, word(at));
	if (data != first)
		free(data);
}
