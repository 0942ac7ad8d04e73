/* Temporary files, which wasi-libc does not declare. */
#ifndef TIDEBOX_STDLIB_H
#define TIDEBOX_STDLIB_H

#include_next <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
int mkstemp(char *);
int mkstemps(char *, int);
char *mkdtemp(char *);
#ifdef __cplusplus
}
#endif

#endif
