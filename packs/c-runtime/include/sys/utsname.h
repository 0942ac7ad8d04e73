/* Name of the system. wasi-libc has no <sys/utsname.h>. */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

struct utsname {
	char sysname[65];
	char nodename[65];
	char release[65];
	char version[65];
	char machine[65];
};

#ifdef __cplusplus
extern "C" {
#endif
int uname(struct utsname *);
#ifdef __cplusplus
}
#endif

#endif
