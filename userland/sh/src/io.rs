//! Descriptors of the script and buffered output.
//!
//! The numbers that a script uses are a table in the shell: `echo x >f` changes an entry, and a program gets the table as
//! its descriptors when it is spawned. Nothing has to be moved within the process and back.

use tidebox_rt::{self as rt, Errno, Fd};

use crate::ir::Bytes;

/// Stands in the table for output that is collected in memory.
const CAPTURE: Fd = Fd::MAX;
/// Bytes of output kept back before they are written.
const BUFFER: usize = 32 * 1024;

/// The script's descriptors: pairs of a number and a kernel descriptor.
pub(crate) type Table = Vec<(u32, Fd)>;

#[derive(Debug)]
pub(crate) struct Io {
    /// The descriptor in `BASH_XTRACEFD`, for the output of `set -x`.
    pub(crate) trace_fd: Option<u32>,
    table: Table,
    /// Open kernel descriptors of this process.
    owned: Vec<Fd>,
    out: Bytes,
    out_fd: Fd,
    /// Collected output, the innermost last.
    captures: Vec<Bytes>,
    /// Kernel descriptors that a redirection restores or closes when its command ends.
    held: Vec<Fd>,
    /// Numbers that belong to the shell alone, as the ends of a coprocess do.
    private: Vec<u32>,
    /// The first error of a buffered write that was not reported yet.
    failed: Option<Errno>,
    /// Below which the numbers of descriptors stay, as `ulimit -n` has set it.
    max_fd: u32,
}

impl Io {
    pub(crate) fn new() -> Self {
        Self {
            trace_fd: None,
            table: vec![(0, 0), (1, 1), (2, 2)],
            owned: vec![0, 1, 2],
            out: Bytes::new(),
            out_fd: 1,
            captures: Vec::new(),
            held: Vec::new(),
            private: Vec::new(),
            failed: None,
            max_fd: u32::MAX,
        }
    }

    /// Registers the descriptors starting at 3 that the shell inherited; bit *n* is descriptor *n*.
    pub(crate) fn inherit(&mut self, descriptors: u64) {
        for number in (3..u64::BITS).filter(|n| descriptors >> n & 1 == 1) {
            let fd = rt::fd_of_unix(number);
            self.table.push((number, fd));
            self.owned.push(fd);
        }
    }

    /// Returns whether output is captured in memory.
    pub(crate) fn is_capturing(&self) -> bool {
        !self.captures.is_empty()
    }

    /// The kernel's descriptor for the script's descriptor `number`.
    pub(crate) fn fd(&self, number: u32) -> Option<Fd> {
        self.table.iter().find(|(n, _)| *n == number).map(|&(_, fd)| fd)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn set_table(&mut self, table: Table) {
        self.table = table;
    }

    /// Points `number` at `fd`, or at nothing.
    pub(crate) fn set(&mut self, number: u32, fd: Option<Fd>) {
        self.table.retain(|(n, _)| *n != number);
        self.private.retain(|n| *n != number);
        if let Some(fd) = fd {
            self.table.push((number, fd));
        }
    }

    /// The lowest unused number starting at `at_least`.
    pub(crate) fn free_number(&self, at_least: u32) -> u32 {
        (at_least..).find(|n| self.fd(*n).is_none()).unwrap_or(at_least)
    }

    /// Sets below which number descriptors stay.
    pub(crate) fn set_max_fd(&mut self, limit: u32) {
        self.max_fd = limit;
    }

    /// Returns whether a descriptor may have this number.
    pub(crate) fn is_valid_fd(&self, number: u32) -> bool {
        number < self.max_fd
    }

    /// Returns an error if no more files may be opened.
    pub(crate) fn has_room(&self) -> Result<(), Errno> {
        if self.max_fd < u32::MAX && !self.is_valid_fd(self.free_number(0)) { Err(Errno::MFILE) } else { Ok(()) }
    }

    /// Registers a descriptor that this process opened.
    pub(crate) fn track_fd(&mut self, fd: Fd) -> Fd {
        self.owned.push(fd);
        fd
    }

    /// Closes a descriptor that this process opened.
    pub(crate) fn close(&mut self, fd: Fd) {
        if fd == CAPTURE {
            return;
        }
        if fd == self.out_fd {
            self.flush();
        }
        self.owned.retain(|&f| f != fd);
        // An error means that the descriptor is not open.
        let _ = rt::close(fd);
    }

    /// Closes `fd` unless a descriptor of the script still means it.
    pub(crate) fn close_unused(&mut self, fd: Fd) {
        if !self.table.iter().any(|&(_, used)| used == fd) && !self.held.contains(&fd) {
            self.close(fd);
        }
    }

    /// Keeps a descriptor of the kernel open until it is released as often.
    pub(crate) fn hold(&mut self, fd: Fd) {
        self.held.push(fd);
    }

    pub(crate) fn release(&mut self, fd: Fd) {
        if let Some(at) = self.held.iter().rposition(|&held| held == fd) {
            self.held.remove(at);
        }
    }

    /// Excludes `number` from the descriptors of programs and subshells.
    pub(crate) fn keep_private(&mut self, number: u32) {
        self.private.push(number);
    }

    /// Closes the private numbers in a subshell.
    pub(crate) fn leave_private(&mut self) {
        for number in std::mem::take(&mut self.private) {
            self.set(number, None);
        }
        self.held.clear();
    }

    /// Closes everything that no descriptor of the script means, as a forked child must, so that others see ends of files.
    pub(crate) fn close_all_unused(&mut self) {
        for fd in self.owned.clone() {
            self.close_unused(fd);
        }
    }

    /// Starts to capture the output of descriptor 1. [`Self::end_capture`] takes the returned table.
    pub(crate) fn begin_capture(&mut self) -> Table {
        self.flush();
        let table = self.table.clone();
        self.set(1, Some(CAPTURE));
        self.captures.push(Bytes::new());
        table
    }

    pub(crate) fn end_capture(&mut self, table: Table) -> Bytes {
        self.table = table;
        self.captures.pop().unwrap_or_default()
    }

    /// Writes to the script's descriptor `number`, usually into the buffer.
    pub(crate) fn write(&mut self, number: u32, bytes: &[u8]) -> Result<(), Errno> {
        let fd = self.fd(number).ok_or(Errno::BADF)?;
        if fd == CAPTURE {
            if let Some(capture) = self.captures.last_mut() {
                capture.try_reserve(bytes.len()).map_err(|_| Errno::NOMEM)?;
                capture.extend_from_slice(bytes);
            }
            return Ok(());
        }
        if fd != self.out_fd {
            self.flush();
            self.out_fd = fd;
        }
        self.out.extend_from_slice(bytes);
        if self.out.len() >= BUFFER || number == 2 {
            self.flush();
        }
        match self.failed.take() {
            Some(errno) => Err(errno),
            None => Ok(()),
        }
    }

    /// Writes the buffer. An error is kept for [`Self::take_error`].
    pub(crate) fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Err(errno) = rt::write_all(self.out_fd, &self.out) {
            self.failed = Some(errno);
        }
        self.out.clear();
    }

    /// The error of a buffered write, once.
    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        self.failed.take()
    }

    /// Opens a pipe: (read end, write end).
    pub(crate) fn pipe(&mut self) -> Result<(Fd, Fd), Errno> {
        self.has_room()?;
        let (read, write) = rt::pipe()?;
        self.track_fd(read);
        self.track_fd(write);
        Ok((read, write))
    }

    /// The descriptors of a child, and the kernel descriptors that they refer to.
    pub(crate) fn for_child(&self) -> Vec<(Fd, Fd)> {
        self.table
            .iter()
            .filter(|(n, fd)| *fd != CAPTURE && !self.private.contains(n))
            .map(|&(n, fd)| (rt::fd_of_unix(n), fd))
            .collect()
    }
}
