//! The calls of `tidebox_v1` by way of one function: what prepared programs import beside preview1 (`docs/abi.md`).
//!
//! A request names a call and its arguments, and brings along the bytes that pointers among them point into. The answer is
//! the error number and those bytes as the call left them.

use super::{Fault, GuestMem, Sys, ext};
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;

/// Bytes of a request. What is asked for with the most bytes, a spawn, has a limit of its own below this.
pub const REQUEST_BYTES: u32 = 16 << 20;

/// Arguments of a call at most.
const ARGUMENTS: usize = 4;

/// A call that a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    name: Vec<u8>,
    arguments: [u32; ARGUMENTS],
    memory: Vec<u8>,
}

impl Request {
    /// Reads a request from the caller's memory: `u32` length and name, `u32` count and arguments, and the rest. `None` when the
    /// range or what is in it is no good.
    pub fn read(memory: &dyn GuestMem, at: u32, len: u32) -> Option<Self> {
        if len > REQUEST_BYTES {
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
        let (name, rest) = counted(bytes, 1)?;
        let (numbers, rest) = counted(rest, 4)?;
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

    /// Makes the call. One that has to wait is made again as it is.
    pub fn answer(&mut self, k: &mut Kernel, pid: Pid) -> Sys {
        let m: &mut dyn GuestMem = &mut Brought(&mut self.memory);
        let [a, b, c, d] = self.arguments;
        match self.name.as_slice() {
            b"spawn" => ext::spawn(k, pid, m, a, b, c),
            b"wait" => ext::wait(k, pid, m, a.cast_signed(), b, c),
            b"pipe" => ext::pipe(k, pid, m, a),
            b"dup" => ext::dup(k, pid, m, a, b, c),
            b"dup_to" => ext::dup_to(k, pid, m, a, b),
            b"chdir" => ext::chdir(k, pid, m, a, b),
            b"getcwd" => ext::getcwd(k, pid, m, a, b, c),
            b"getids" => ext::getids(k, pid, m, a),
            b"setpgid" => ext::setpgid(k, pid, m, a.cast_signed(), b.cast_signed()),
            b"kill" => ext::kill(k, pid, m, a.cast_signed(), b),
            b"sig_set" => ext::sig_set(k, pid, m, a, b),
            b"sig_take" => ext::sig_take(k, pid, m, a),
            b"umask" => ext::umask(k, pid, m, a, b),
            b"chmod" => ext::chmod(k, pid, m, a, b, c),
            b"stat" => ext::stat(k, pid, m, a, b, c, d),
            b"fstat" => ext::fstat(k, pid, m, a, b),
            b"access" => ext::access(k, pid, m, a, b, c),
            b"listen" => ext::listen(k, pid, m, a, b, c),
            b"reply" => ext::reply(k, pid, m, a, b),
            b"started" => ext::started(k, pid, m, a, b, c),
            b"limits" => ext::limits(k, pid, m, a),
            _ => Sys::Done(Errno::Nosys),
        }
    }

    /// The bytes that answer a call which ended with this number.
    #[must_use]
    pub fn answered(mut self, errno: u32) -> Vec<u8> {
        let mut bytes = errno.to_le_bytes().to_vec();
        bytes.append(&mut self.memory);
        bytes
    }

    /// Does what is asked for when that is to write a number to places of the caller's own memory, and answers the bytes for it:
    /// how the maker of an image reaches what its language hides.
    pub fn set_words(&self, memory: &mut dyn GuestMem) -> Option<Vec<u8>> {
        if self.name != b"set_words" {
            return None;
        }
        let [value, ..] = self.arguments;
        let places = self.memory.as_chunks::<4>().0;
        let written = places.iter().all(|at| memory.write(u32::from_le_bytes(*at), &value.to_le_bytes()).is_ok());
        let errno = if written { Errno::Success } else { Errno::Fault };
        Some((errno as u32).to_le_bytes().to_vec())
    }
}

/// As many things of `size` bytes as the number at the beginning says, and what follows them.
fn counted(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(size)?)
}

/// The bytes that a request brought along, as the memory that the call's pointers point into.
struct Brought<'a>(&'a mut [u8]);

impl Brought<'_> {
    fn range(at: u32, len: usize) -> Result<std::ops::Range<usize>, Fault> {
        let start = at as usize;
        start.checked_add(len).map(|end| start..end).ok_or(Fault)
    }
}

impl GuestMem for Brought<'_> {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        dst.copy_from_slice(self.0.get(Self::range(at, dst.len())?).ok_or(Fault)?);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        self.0.get_mut(Self::range(at, src.len())?).ok_or(Fault)?.copy_from_slice(src);
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
    fn a_request_is_a_name_arguments_and_the_bytes_that_they_point_into() {
        let found = Request::parse(&request(b"chmod", &[0, 1, 0o644], b"f")).expect("it is whole");
        assert_eq!((found.name.as_slice(), found.arguments), (b"chmod".as_slice(), [0, 1, 0o644, 0]));
        assert_eq!(found.answered(28), [28, 0, 0, 0, b'f']);
    }

    #[test]
    fn what_is_cut_or_claims_more_than_there_is_is_no_request() {
        let whole = request(b"getcwd", &[0, 1, 2, 3], b"");
        assert!(Request::parse(&whole).is_some());
        for cut in 0..whole.len() {
            assert!(Request::parse(&whole[..cut]).is_none(), "{cut}");
        }
        assert!(Request::parse(&request(b"stat", &[0; 5], b"")).is_none(), "no call has five arguments");
        assert!(Request::parse(&[0xff; 16]).is_none());
    }

    #[test]
    fn words_are_written_to_the_callers_own_memory_and_nowhere_else() {
        let mut memory = [0; 12];
        let places = [4_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat();
        let asked = Request::parse(&request(b"set_words", &[7], &places)).expect("it is whole");
        assert_eq!(asked.set_words(&mut Brought(&mut memory)), Some(vec![0; 4]));
        assert_eq!(memory, [0, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
        let outside = Request::parse(&request(b"set_words", &[7], &12_u32.to_le_bytes())).expect("it is whole");
        let fault = (Errno::Fault as u32).to_le_bytes().to_vec();
        assert_eq!(outside.set_words(&mut Brought(&mut memory)), Some(fault));
        let other = Request::parse(&request(b"getids", &[0], b"")).expect("it is whole");
        assert_eq!(other.set_words(&mut Brought(&mut memory)), None);
    }
}
