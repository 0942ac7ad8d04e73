/* The size of a terminal, which wasi-libc does not define. Other requests are those of wasi-libc. */
#ifndef TIDEBOX_SYS_IOCTL_H
#define TIDEBOX_SYS_IOCTL_H

#include_next <sys/ioctl.h>

#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414

struct winsize {
	unsigned short ws_row, ws_col;
	/* Always 0. */
	unsigned short ws_xpixel, ws_ypixel;
};

#ifndef TIDEBOX_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif
int ioctl(int, int, ...) __asm__("tidebox_ioctl");
#ifdef __cplusplus
}
#endif
#endif

#endif
