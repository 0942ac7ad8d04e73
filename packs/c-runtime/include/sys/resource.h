/* Processor time. wasi-libc emulates it with the wall clock. */
#ifndef TIDEBOX_SYS_RESOURCE_H
#define TIDEBOX_SYS_RESOURCE_H

#ifndef _WASI_EMULATED_PROCESS_CLOCKS
#define _WASI_EMULATED_PROCESS_CLOCKS
#endif
#include_next <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif
/* All time is user time. */
int getrusage(int, struct rusage *) __asm__("tidebox_getrusage");
#ifdef __cplusplus
}
#endif

#endif
