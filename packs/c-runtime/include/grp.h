/* Groups, from /etc/group. wasi-libc has no <grp.h>. */
#ifndef _GRP_H
#define _GRP_H

#define __NEED_gid_t
#include <bits/alltypes.h>

struct group {
	char *gr_name;
	char *gr_passwd;
	gid_t gr_gid;
	/* Always empty: a sandbox has one user. */
	char **gr_mem;
};

#ifdef __cplusplus
extern "C" {
#endif
/* The result is valid until the next call. */
struct group *getgrgid(gid_t);
struct group *getgrnam(const char *);
#ifdef __cplusplus
}
#endif

#endif
