/* Signals. The kernel collects caught ones, and the handlers run at calls of this library. */
#include "abi.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <tidebox.h>
#include <unistd.h>

#define BIT(n) ((uint64_t)1 << (n))
/* The kernel's sets have 64 bits and no signal 0. */
#define HIGHEST 63

enum disposition { DEFAULT, IGNORE, CATCH };

static struct sigaction actions[HIGHEST + 1];
static uint64_t blocked, pending;
/* Signals that the kernel collects for this program: those with a handler, and blocked ones with the default. */
static uint64_t collected;

void tidebox_start_signals(uint64_t ignored)
{
	for (int n = 1; n <= HIGHEST; n++)
		if (ignored & BIT(n))
			actions[n].sa_handler = SIG_IGN;
}

uint64_t tidebox_ignored_signals(void)
{
	uint64_t set = 0;

	for (int n = 1; n <= HIGHEST; n++)
		if (actions[n].sa_handler == SIG_IGN)
			set |= BIT(n);
	return set;
}

static int has_handler(int n)
{
	return actions[n].sa_handler != SIG_DFL && actions[n].sa_handler != SIG_IGN;
}

/* Tells the kernel how a signal is handled now. */
static int apply(int n)
{
	enum disposition how = DEFAULT;

	if (actions[n].sa_handler == SIG_IGN)
		how = IGNORE;
	else if (has_handler(n) || blocked & BIT(n))
		how = CATCH;
	if (how == CATCH)
		collected |= BIT(n);
	else
		collected &= ~BIT(n);
	return tidebox_result(abi_sig_set((uint32_t)n, how));
}

static void run(int n)
{
	struct sigaction action = actions[n];
	uint64_t before = blocked;
	siginfo_t info;

	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_handler == SIG_DFL) {
		/* It was blocked until now. */
		apply(n);
		abi_kill(getpid(), (uint32_t)n);
		return;
	}
	if (action.sa_flags & SA_RESETHAND) {
		actions[n].sa_handler = SIG_DFL;
		apply(n);
	}
	blocked |= action.sa_mask;
	if (!(action.sa_flags & SA_NODEFER))
		blocked |= BIT(n);
	if (action.sa_flags & SA_SIGINFO) {
		memset(&info, 0, sizeof(info));
		info.si_signo = n;
		action.sa_sigaction(n, &info, NULL);
	} else
		action.sa_handler(n);
	blocked = before;
}

int tidebox_run_signal_handlers(void)
{
	uint64_t set = 0, ready;
	int result = -1, saved = errno;

	if (!collected && !pending)
		return -1;
	abi_sig_take(&set);
	pending |= set;
	while ((ready = pending & ~blocked)) {
		int n = __builtin_ctzll(ready), restart = actions[n].sa_flags & SA_RESTART || !has_handler(n);

		pending &= ~BIT(n);
		run(n);
		if (result < 1)
			result = !restart;
	}
	errno = saved;
	return result;
}

int tidebox_restart(void)
{
	int ran = tidebox_run_signal_handlers();

	if (ran > 0)
		errno = EINTR;
	/* Without a handler the signal is blocked, which interrupts nothing. */
	return ran <= 0;
}

int sigaction(int n, const struct sigaction *action, struct sigaction *old)
{
	if (n < 1 || n > HIGHEST)
		return tidebox_result(EINVAL);
	if (old)
		*old = actions[n];
	if (!action)
		return 0;
	if (n == SIGKILL || n == SIGSTOP)
		return tidebox_result(EINVAL);
	/* What arrived before is for the handler that was in force then. */
	tidebox_run_signal_handlers();
	actions[n] = *action;
	if (action->sa_handler == SIG_IGN)
		pending &= ~BIT(n);
	return apply(n);
}

sighandler_t signal(int n, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	return sigaction(n, &action, &old) ? SIG_ERR : old.sa_handler;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t before = blocked;

	if (old)
		*old = blocked;
	if (!set)
		return 0;
	switch (how) {
	case SIG_BLOCK:
		blocked |= *set;
		break;
	case SIG_UNBLOCK:
		blocked &= ~*set;
		break;
	case SIG_SETMASK:
		blocked = *set;
		break;
	default:
		return tidebox_result(EINVAL);
	}
	blocked &= ~(BIT(SIGKILL) | BIT(SIGSTOP) | BIT(0));
	for (int n = 1; n <= HIGHEST; n++)
		if ((before & ~blocked & BIT(n)) && actions[n].sa_handler == SIG_DFL)
			tidebox_run_signal_handlers();
	for (int n = 1; n <= HIGHEST; n++)
		if ((before ^ blocked) & BIT(n) && actions[n].sa_handler == SIG_DFL)
			apply(n);
	tidebox_run_signal_handlers();
	return 0;
}

int sigpending(sigset_t *set)
{
	uint64_t taken = 0;

	if (collected)
		abi_sig_take(&taken);
	pending |= taken;
	*set = pending & blocked;
	return 0;
}

int sigemptyset(sigset_t *set)
{
	*set = 0;
	return 0;
}

int sigfillset(sigset_t *set)
{
	*set = ~BIT(0);
	return 0;
}

static int change(sigset_t *set, int n, int add)
{
	if (n < 1 || n > HIGHEST)
		return tidebox_result(EINVAL);
	*set = add ? *set | BIT(n) : *set & ~BIT(n);
	return 0;
}

int sigaddset(sigset_t *set, int n)
{
	return change(set, n, 1);
}

int sigdelset(sigset_t *set, int n)
{
	return change(set, n, 0);
}

int sigismember(const sigset_t *set, int n)
{
	return n < 1 || n > HIGHEST ? tidebox_result(EINVAL) : (int)(*set >> n & 1);
}

int kill(pid_t pid, int n)
{
	int failed = tidebox_result(abi_kill(pid, (uint32_t)n));

	tidebox_run_signal_handlers();
	return failed;
}

int raise(int n)
{
	return kill(getpid(), n);
}
