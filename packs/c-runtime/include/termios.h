/* Settings of terminals. No descriptor of a program is a terminal with settings, so every call fails with ENOTTY. */
#ifndef _TERMIOS_H
#define _TERMIOS_H

#define NCCS 32

typedef unsigned int tcflag_t;
typedef unsigned char cc_t;
typedef unsigned int speed_t;

struct termios {
	tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
	cc_t c_line;
	cc_t c_cc[NCCS];
	speed_t c_ispeed, c_ospeed;
};

#define VINTR 0
#define VTIME 5
#define VMIN 6
#define ICRNL 0000400
#define ISIG 0000001
#define ICANON 0000002
#define ECHO 0000010
#define TCSANOW 0
#define TCSADRAIN 1
#define TCSAFLUSH 2

#ifdef __cplusplus
extern "C" {
#endif
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
#ifdef __cplusplus
}
#endif

#endif
