//! The calls of `tidebox_v1` through one function, which pre-initialized programs import in addition to preview1 (`docs/abi.md`).
//!
//! A request contains the name of a call, its arguments, and the memory that its pointers refer to. The response is the error
//! number and that memory after the call.

use super::{preview1, tidebox};
use crate::errno::Errno;
use crate::guest_memory::{GuestMemory, MemoryFault};
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::syscall::SyscallOutcome;

/// Maximum bytes of a request. The largest one, a spawn, has a separate limit below this.
pub const MAX_REQUEST_BYTES: u32 = 16 << 20;

/// Maximum arguments of a call.
const ARGUMENTS: usize = 6;

/// A decoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCallRequest {
    name: Vec<u8>,
    arguments: [u32; ARGUMENTS],
    memory: Vec<u8>,
}

impl HostCallRequest {
    /// Reads a request from the caller's memory: `u32` length and name, `u32` count and arguments, and the rest. `None` if the
    /// range or its content is invalid.
    pub fn read(memory: &dyn GuestMemory, at: u32, len: u32) -> Option<Self> {
        if len > MAX_REQUEST_BYTES {
            return None;
        }
        if let Some(bytes) = memory.slice(at, len) {
            return Self::parse(bytes);
        }
        let mut bytes = vec![0; len as usize];
        memory.read(at, &mut bytes).ok()?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (name, rest) = read_counted(bytes, 1)?;
        let (numbers, rest) = read_counted(rest, 4)?;
        let mut arguments = [0; ARGUMENTS];
        let numbers = numbers.as_chunks::<4>().0;
        if numbers.len() > ARGUMENTS {
            return None;
        }
        for (argument, number) in arguments.iter_mut().zip(numbers) {
            *argument = u32::from_le_bytes(*number);
        }
        Some(Self { name: name.to_vec(), arguments, memory: rest.to_vec() })
    }

    /// Executes the call. One that has to wait is repeated unchanged.
    pub fn execute(&mut self, k: &mut Kernel, pid: Pid) -> SyscallOutcome {
        let m: &mut dyn GuestMemory = &mut RequestMemory(&mut self.memory);
        let [a, b, c, d, e, f] = self.arguments;
        match self.name.as_slice() {
            b"spawn" => tidebox::spawn(k, pid, m, a, b, c),
            b"wait" => tidebox::wait(k, pid, m, a.cast_signed(), b, c),
            b"pipe" => tidebox::pipe(k, pid, m, a),
            b"dup" => tidebox::dup(k, pid, m, a, b, c),
            b"dup_to" => tidebox::dup_to(k, pid, m, a, b),
            b"chdir" => tidebox::chdir(k, pid, m, a, b),
            b"getcwd" => tidebox::getcwd(k, pid, m, a, b, c),
            b"cpu_times" => tidebox::cpu_times(k, pid, m, a),
            b"nesting_reached" => tidebox::nesting_reached(k, pid, m),
            b"nice" => tidebox::nice(k, pid, m, a.cast_signed(), b),
            b"getids" => tidebox::getids(k, pid, m, a),
            b"setpgid" => tidebox::setpgid(k, pid, m, a.cast_signed(), b.cast_signed()),
            b"kill" => tidebox::kill(k, pid, m, a.cast_signed(), b),
            b"sig_set" => tidebox::sig_set(k, pid, m, a, b),
            b"sig_take" => tidebox::sig_take(k, pid, m, a),
            b"tty_get" => tidebox::tty_get(k, pid, m, a, b),
            b"tty_set" => tidebox::tty_set(k, pid, m, a, b, c),
            b"tty_group" => tidebox::tty_group(k, pid, m, a, b, c),
            b"umask" => tidebox::umask(k, pid, m, a, b),
            b"chmod" => tidebox::chmod(k, pid, m, a, b, c),
            b"stat" => tidebox::stat(k, pid, m, a, b, c, d),
            b"fstat" => tidebox::fstat(k, pid, m, a, b),
            b"access" => tidebox::access(k, pid, m, a, b, c),
            b"listen" => tidebox::listen(k, pid, m, a, b, c),
            b"reply" => tidebox::reply(k, pid, m, a, b),
            b"rest" => tidebox::rest(k, pid, m),
            b"restored" => tidebox::restored(k, pid, m, a),
            b"startup_info" => tidebox::startup_info(k, pid, m, a, b, c),
            b"limits" => tidebox::limits(k, pid, m, a),
            b"sock_open" => tidebox::sock_open(k, pid, m, a, b),
            b"sock_pair" => tidebox::sock_pair(k, pid, m, a),
            b"sock_bind" => tidebox::sock_bind(k, pid, m, a, b),
            b"sock_listen" => tidebox::sock_listen(k, pid, m, a, b),
            b"sock_connect" => tidebox::sock_connect(k, pid, m, a, b),
            b"sock_name" => tidebox::sock_name(k, pid, m, a, b, c),
            b"sock_accept" => preview1::sock_accept(k, pid, m, a, b, c),
            b"sock_recv" => preview1::sock_recv(k, pid, m, a, b, c, d, e, f),
            b"sock_shutdown" => preview1::sock_shutdown(k, pid, m, a, b),
            _ => SyscallOutcome::Done(Errno::Nosys),
        }
    }

    /// Returns the response to a call that completed with this number.
    #[must_use]
    pub fn into_response(mut self, errno: u32) -> Vec<u8> {
        let mut bytes = errno.to_le_bytes().to_vec();
        bytes.append(&mut self.memory);
        bytes
    }

    /// Executes a request that writes numbers into the caller's own memory, and returns the response. Used to pre-initialize
    /// programs whose language hides these addresses.
    pub fn write_words(&self, memory: &mut dyn GuestMemory) -> Option<Vec<u8>> {
        if self.name != b"set_words" {
            return None;
        }
        let [value, ..] = self.arguments;
        let addresses = self.memory.as_chunks::<4>().0;
        let written = addresses.iter().all(|at| memory.write(u32::from_le_bytes(*at), &value.to_le_bytes()).is_ok());
        let errno = if written { Errno::Success } else { Errno::Fault };
        Some((errno as u32).to_le_bytes().to_vec())
    }
}

/// Splits off a list: a count, that many entries of `size` bytes, and the rest.
fn read_counted(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(size)?)
}

/// The memory in a request, which the pointers of the call refer to.
struct RequestMemory<'a>(&'a mut [u8]);

impl RequestMemory<'_> {
    fn range(at: u32, len: usize) -> Result<std::ops::Range<usize>, MemoryFault> {
        let start = at as usize;
        start.checked_add(len).map(|end| start..end).ok_or(MemoryFault)
    }
}

impl GuestMemory for RequestMemory<'_> {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        dst.copy_from_slice(self.0.get(Self::range(at, dst.len())?).ok_or(MemoryFault)?);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
        self.0.get_mut(Self::range(at, src.len())?).ok_or(MemoryFault)?.copy_from_slice(src);
        Ok(())
    }

    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        self.0.get(Self::range(at, len as usize).ok()?)
    }

    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        self.0.get_mut(Self::range(at, len as usize).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &[u8], arguments: &[u32], memory: &[u8]) -> Vec<u8> {
        let mut bytes = (name.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&(arguments.len() as u32).to_le_bytes());
        bytes.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        bytes.extend_from_slice(memory);
        bytes
    }

    #[test]
    fn a_request_has_a_name_arguments_and_memory() {
        let found = HostCallRequest::parse(&request(b"chmod", &[0, 1, 0o644], b"f")).expect("the request is complete");
        assert_eq!((found.name.as_slice(), found.arguments), (b"chmod".as_slice(), [0, 1, 0o644, 0, 0, 0]));
        assert_eq!(found.into_response(28), [28, 0, 0, 0, b'f']);
    }

    #[test]
    fn truncated_requests_are_rejected() {
        let complete = request(b"getcwd", &[0, 1, 2, 3], b"");
        assert!(HostCallRequest::parse(&complete).is_some());
        for cut in 0..complete.len() {
            assert!(HostCallRequest::parse(&complete[..cut]).is_none(), "{cut}");
        }
        assert!(HostCallRequest::parse(&request(b"stat", &[0; 7], b"")).is_none(), "no call has seven arguments");
        assert!(HostCallRequest::parse(&[0xff; 16]).is_none());
    }

    #[test]
    fn words_are_written_only_to_the_callers_memory() {
        let mut memory = [0; 12];
        let addresses = [4_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat();
        let parsed = HostCallRequest::parse(&request(b"set_words", &[7], &addresses)).expect("the request is complete");
        assert_eq!(parsed.write_words(&mut RequestMemory(&mut memory)), Some(vec![0; 4]));
        assert_eq!(memory, [0, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
        let outside = HostCallRequest::parse(&request(b"set_words", &[7], &12_u32.to_le_bytes()))
            .expect("the request is complete");
        let fault = (Errno::Fault as u32).to_le_bytes().to_vec();
        assert_eq!(outside.write_words(&mut RequestMemory(&mut memory)), Some(fault));
        let other = HostCallRequest::parse(&request(b"getids", &[0], b"")).expect("the request is complete");
        assert_eq!(other.write_words(&mut RequestMemory(&mut memory)), None);
    }
}
