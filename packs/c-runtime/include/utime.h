/* wasi-libc defines utime and does not install its header. */
#ifndef _UTIME_H
#define _UTIME_H

#define __NEED_time_t
#include <bits/alltypes.h>

struct utimbuf {
	time_t actime;
	time_t modtime;
};

#ifdef __cplusplus
extern "C" {
#endif
int utime(const char *, const struct utimbuf *);
#ifdef __cplusplus
}
#endif

#endif
