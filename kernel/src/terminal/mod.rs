//! Terminals: the side of the programs, a line discipline, and the side of the embedder, which is the output of the execution and
//! [`HostTerminal`](crate::HostTerminal).
//!
//! Output never blocks: it is output of the execution, so a screen that is not read cannot stop a program.

mod line;
mod settings;
#[cfg(test)]
mod tests;

use tidebox_core::{OutputStream, StopReason, TerminalSize};

use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::process::{Pid, Process};
use crate::readiness::Readiness;
use crate::signal::{Effect, Signal};
use crate::syscall::SyscallError;
use crate::transfer::{Source, Target};
use crate::waiters::Waiters;

use line::{InputState, LineDiscipline, ReadTimes};
pub(crate) use settings::{CHARACTERS, Settings, character};

/// Output is converted in parts of this many bytes.
const CHUNK_BYTES: usize = 16 << 10;
/// Maximum echo of one write of the embedder, in bytes. Bounded because one key can repeat a whole line.
const MAX_ECHO_BYTES: usize = 64 << 10;

/// A terminal. It exists while its execution runs or a descriptor refers to it.
#[derive(Debug)]
pub(crate) struct Terminal {
    execution: ExecutionId,
    line: LineDiscipline,
    size: TerminalSize,
    /// The process group that gets the signals of keys and reads the input.
    foreground: u32,
    /// The embedder has closed it: reads return the end of the input, writes fail with `IO`.
    is_hung_up: bool,
    /// Number of open files.
    open_files: u32,
    last_input: u64,
    waiters: Waiters,
}

/// Data that `tty_get` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TerminalState {
    pub(crate) settings: Settings,
    pub(crate) size: TerminalSize,
}

impl Kernel {
    /// Creates the terminal of an execution. Its first process group is set by [`set_foreground`](Self::set_foreground).
    pub(crate) fn new_terminal(&mut self, execution: ExecutionId, size: TerminalSize) -> u32 {
        self.terminals.insert(Terminal {
            execution,
            line: LineDiscipline::default(),
            size,
            foreground: 0,
            is_hung_up: false,
            open_files: 0,
            last_input: 0,
            waiters: Waiters::default(),
        })
    }

    /// Returns the terminal of an execution.
    pub(crate) fn terminal_of_execution(&self, execution: ExecutionId) -> Option<u32> {
        self.executions.get(&execution)?.terminal
    }

    /// Returns the terminal of the caller's execution, which `/dev/tty` opens. `NXIO` if it has none.
    pub(crate) fn controlling_terminal(&self, pid: Pid) -> Result<u32, Errno> {
        self.terminal_of_execution(self.process(pid)?.execution).ok_or(Errno::Nxio)
    }

    fn terminal_of_fd(&mut self, pid: Pid, fd: u32) -> Result<(u32, &mut Terminal), Errno> {
        let FileObject::Terminal(number) = self.open_file(pid, fd)?.what else { return Err(Errno::Notty) };
        let terminal = self.terminals.get_mut(number).filter(|terminal| !terminal.is_hung_up).ok_or(Errno::Io)?;
        Ok((number, terminal))
    }

    /// Returns settings and size. `NOTTY` if the descriptor is not a terminal, `IO` after a hang-up.
    pub(crate) fn terminal_state(&mut self, pid: Pid, fd: u32) -> Result<TerminalState, Errno> {
        let (_, terminal) = self.terminal_of_fd(pid, fd)?;
        Ok(TerminalState { settings: *terminal.line.settings(), size: terminal.size })
    }

    /// Changes settings and size. `flush` discards unread input first.
    pub(crate) fn set_terminal_state(
        &mut self,
        pid: Pid,
        fd: u32,
        state: TerminalState,
        flush: bool,
    ) -> Result<(), SyscallError> {
        let (number, _) = self.terminal_of_fd(pid, fd)?;
        self.stop_background(pid, number, Signal::Ttou)?;
        let (_, terminal) = self.terminal_of_fd(pid, fd)?;
        if flush {
            terminal.line.flush();
        }
        terminal.line.set_settings(state.settings);
        // The result of a read, and the space for keys, depend on the settings.
        self.wake_terminal(number);
        self.set_terminal_size(number, state.size);
        Ok(())
    }

    /// Returns the foreground group, after setting it unless `group` is 0. `PERM` for a group of another execution.
    pub(crate) fn terminal_group(&mut self, pid: Pid, fd: u32, group: u32) -> Result<u32, SyscallError> {
        let (number, terminal) = self.terminal_of_fd(pid, fd)?;
        let (execution, foreground) = (terminal.execution, terminal.foreground);
        if group == 0 {
            return Ok(foreground);
        }
        if self.process(pid)?.execution != execution {
            return Err(Errno::Perm.into());
        }
        let group = self.check_group(execution, group)?;
        self.stop_background(pid, number, Signal::Ttou)?;
        self.set_foreground(number, group);
        Ok(group)
    }

    /// Sets the foreground group.
    pub(crate) fn set_foreground(&mut self, number: u32, group: u32) {
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.foreground = group;
        }
        self.wake_terminal(number);
    }

    /// Sets the size; a change sends SIGWINCH to the foreground group.
    pub(crate) fn set_terminal_size(&mut self, number: u32, size: TerminalSize) {
        let Some(terminal) = self.terminals.get_mut(number) else { return };
        if std::mem::replace(&mut terminal.size, size) != size {
            self.signal_foreground(number, Signal::Winch);
        }
    }

    /// Stops the group of a caller in the background by SIGTTIN or SIGTTOU, as POSIX specifies for job control. A caller that
    /// ignores SIGTTOU may continue; `IO` for one that ignores SIGTTIN, or whose group no shell could continue.
    fn stop_background(&mut self, pid: Pid, number: u32, signal: Signal) -> Result<(), SyscallError> {
        let process = self.process(pid)?;
        let (execution, group, ignores) =
            (process.execution, process.group, process.signals.effect(signal) == Effect::Nothing);
        let terminal = self.terminals.get(number).ok_or(Errno::Io)?;
        if execution != terminal.execution || group == terminal.foreground {
            return Ok(());
        }
        if ignores && signal == Signal::Ttou {
            return Ok(());
        }
        if ignores || self.is_orphaned(execution, group) {
            return Err(Errno::Io.into());
        }
        // The group has a member, the caller.
        let _ = self.signal_all(Some(signal), |process| process.execution == execution && process.group == group);
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.waiters.add_process(pid);
        }
        // Tried again when the process continues or its group comes to the foreground.
        Err(SyscallError::Block(None))
    }

    fn signal_foreground(&mut self, number: u32, signal: Signal) {
        let Some(Terminal { execution, foreground, .. }) = self.terminals.get(number) else { return };
        let (execution, foreground) = (*execution, *foreground);
        if signal == Signal::Tstp && self.is_orphaned(execution, foreground) {
            // No shell could continue it. Programs that catch the signal still get it.
            let catches = |process: &Process| process.signals.effect(signal) == Effect::Catch;
            let selects =
                |process: &Process| process.execution == execution && process.group == foreground && catches(process);
            let _ = self.signal_all(Some(signal), selects);
            return;
        }
        // An empty group gets nothing, as on Linux.
        let _ = self.signal_all(Some(signal), |process| process.execution == execution && process.group == foreground);
    }

    fn wake_terminal(&mut self, number: u32) {
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.waiters.wake(&mut self.processes);
        }
    }

    /// Hangs up: SIGHUP to the foreground group, and no more input and output. A second hang-up has no effect.
    pub(crate) fn hang_up_terminal(&mut self, number: u32) {
        let Some(terminal) = self.terminals.get_mut(number).filter(|terminal| !terminal.is_hung_up) else { return };
        terminal.is_hung_up = true;
        terminal.line.flush();
        self.signal_foreground(number, Signal::Hup);
        // A stopped process must continue to see the signal.
        self.signal_foreground(number, Signal::Cont);
        self.wake_terminal(number);
    }

    /// Ends the terminal of an execution that has ended.
    pub(crate) fn release_terminal(&mut self, number: u32) {
        self.hang_up_terminal(number);
        self.free_terminal_if_unused(number);
    }

    /// Counts an open file of a terminal.
    pub(crate) fn open_terminal(&mut self, number: u32) {
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.open_files = terminal.open_files.saturating_add(1);
        }
    }

    /// Counts down the open files of a terminal.
    pub(crate) fn close_terminal(&mut self, number: u32) {
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.open_files = terminal.open_files.saturating_sub(1);
            self.free_terminal_if_unused(number);
        }
    }

    fn free_terminal_if_unused(&mut self, number: u32) {
        let is_unused = |terminal: &Terminal| {
            terminal.open_files == 0
                && self.executions.get(&terminal.execution).is_none_or(|found| found.terminal != Some(number))
        };
        if self.terminals.get(number).is_some_and(is_unused) {
            self.terminals.remove(number);
        }
    }

    /// Processes keys from the embedder and returns their number, which is smaller if more do not fit. `None` after a
    /// hang-up.
    pub(crate) fn type_keys(&mut self, number: u32, keys: &[u8]) -> Option<usize> {
        let now = self.monotonic();
        let terminal = self.terminals.get_mut(number).filter(|terminal| !terminal.is_hung_up)?;
        let (mut echo, mut signals, mut count) = (Vec::new(), Vec::new(), 0);
        for key in keys {
            if echo.len() >= MAX_ECHO_BYTES || !terminal.line.accepts(*key) {
                break;
            }
            count += 1;
            if let Some(signal) = terminal.line.input(*key, &mut echo)
                && !signals.contains(&signal)
            {
                signals.push(signal);
            }
        }
        terminal.last_input = now;
        let execution = terminal.execution;
        if !echo.is_empty() {
            self.push_output(execution, OutputStream::Stdout, &echo);
        }
        for signal in signals {
            self.signal_foreground(number, signal);
        }
        if count > 0 {
            self.wake_terminal(number);
        }
        Some(count)
    }

    /// Returns the key that ends the input.
    pub(crate) fn end_key(&self, number: u32) -> u8 {
        let key = self.terminals.get(number).map_or(0, |found| found.line.settings().character(character::EOF));
        if key == 0 { 4 } else { key }
    }

    /// Registers a caller that waits for space.
    pub(crate) fn wait_for_terminal(&mut self, number: u32, waker: &std::task::Waker) {
        if let Some(terminal) = self.terminals.get_mut(number) {
            terminal.waiters.add_host(waker);
        }
    }
}

/// Reads from a terminal. A process of a background group is stopped by SIGTTIN.
pub(crate) fn read_terminal(
    k: &mut Kernel,
    pid: Pid,
    target: &mut impl Target,
    number: u32,
    nonblock: bool,
) -> Result<u32, SyscallError> {
    let now = k.monotonic();
    if k.terminals.get(number).ok_or(Errno::Io)?.is_hung_up || target.total() == 0 {
        return Ok(0);
    }
    k.stop_background(pid, number, Signal::Ttin)?;
    let process = k.processes.get_mut(pid).ok_or(Errno::Srch)?;
    let terminal = k.terminals.get_mut(number).ok_or(Errno::Io)?;
    let started = *process.blocked.since.get_or_insert(now);
    let times = ReadTimes { now, started, last_input: terminal.last_input };
    let count = match terminal.line.state(target.total() as usize, times) {
        InputState::Ready(count) => count,
        InputState::Waits(_) if nonblock => return Err(Errno::Again.into()),
        InputState::Waits(until) => {
            terminal.waiters.add_process(pid);
            return Err(SyscallError::Block(until));
        }
    };
    // Consumed only after the copy to the guest, so that a bad address loses no data.
    let copied = target.fill(&mut k.scratch, |done, dst| {
        let left = count.saturating_sub(usize::try_from(done).unwrap_or(count)).min(dst.len());
        Ok(terminal.line.peek(done, dst.get_mut(..left).unwrap_or_default()))
    })?;
    terminal.line.consume(copied as usize);
    k.wake_terminal(number);
    Ok(copied)
}

/// Writes to a terminal. If `TOSTOP` is set, a process of a background group is stopped by SIGTTOU.
pub(crate) fn write_terminal(
    k: &mut Kernel,
    pid: Pid,
    source: &mut impl Source,
    number: u32,
) -> Result<u32, SyscallError> {
    let stops =
        |terminal: &Terminal| !terminal.is_hung_up && terminal.line.settings().has_local(settings::local::TOSTOP);
    if k.terminals.get(number).is_some_and(stops) {
        k.stop_background(pid, number, Signal::Ttou)?;
    }
    let Kernel { terminals, executions, scratch, .. } = k;
    let terminal = terminals.get_mut(number).filter(|terminal| !terminal.is_hung_up).ok_or(Errno::Io)?;
    let execution = terminal.execution;
    let found = executions.get_mut(&execution).ok_or(Errno::Io)?;
    let (mut screen, mut continues) = (Vec::new(), true);
    let written = source.drain(scratch, 0, |_, src| {
        for part in src.chunks(CHUNK_BYTES) {
            screen.clear();
            terminal.line.output(part, &mut screen);
            continues &= found.push_output(OutputStream::Stdout, &screen);
        }
        Ok(src.len())
    });
    if !continues {
        k.stop_execution(execution, StopReason::Output);
    }
    written
}

/// Returns whether a read would not wait.
pub(crate) fn readable_terminal(k: &mut Kernel, pid: Pid, number: u32) -> Readiness {
    let Some(terminal) = k.terminals.get_mut(number) else { return Readiness::Failed(Errno::Io) };
    if terminal.is_hung_up {
        return Readiness::Ready { bytes: 0, hangup: true };
    }
    match terminal.line.readable() {
        Some(bytes) => Readiness::Ready { bytes: bytes as u64, hangup: false },
        None => {
            terminal.waiters.add_process(pid);
            Readiness::Pending(None)
        }
    }
}

/// Shows a message of the host on a terminal.
pub(crate) fn print_on_terminal(k: &mut Kernel, number: u32, text: &[u8]) {
    let Some(terminal) = k.terminals.get_mut(number) else { return };
    let (execution, mut screen) = (terminal.execution, Vec::new());
    terminal.line.output(text, &mut screen);
    k.push_output(execution, OutputStream::Stdout, &screen);
}
