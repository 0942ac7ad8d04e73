/* Locks of streams. Guests have one thread, so they do nothing. */
#ifndef TIDEBOX_STDIO_H
#define TIDEBOX_STDIO_H

#include_next <stdio.h>

#define flockfile(stream) ((void)(stream))
#define funlockfile(stream) ((void)(stream))

#endif
