//! The parts of a call by themselves; what they are connected to is tested where that is.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::*;
use crate::FileErrorCode;

struct Slow(Vec<u8>);

impl ByteSource for Slow {
    fn poll_read(&mut self, _: &mut Context<'_>, most: usize) -> Poll<Vec<u8>> {
        let n = most.min(3).min(self.0.len());
        Poll::Ready(self.0.drain(..n).collect())
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

#[test]
fn reading_to_the_end_stops_at_the_bound() {
    let input = || HostInput::new(Slow(b"12345678".to_vec()));
    assert_eq!(now(input().read_to_end(8)), Some(b"12345678".to_vec()));
    assert_eq!(now(input().read_to_end(7)), None);
}

#[test]
fn writing_goes_on_until_all_is_taken_or_nobody_reads() {
    struct Narrow(Arc<Mutex<Vec<u8>>>);
    impl ByteSink for Narrow {
        fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>> {
            let mut seen = self.0.lock().expect("one thread");
            if seen.len() >= 6 {
                return Poll::Ready(Err(Disconnected));
            }
            let n = bytes.len().min(2);
            seen.extend_from_slice(&bytes[..n]);
            Poll::Ready(Ok(n))
        }
    }
    let seen = Arc::default();
    let mut output = HostOutput::new(Narrow(Arc::clone(&seen)));
    assert_eq!(now(output.write("abcde")), Ok(()));
    assert_eq!(now(output.write("fgh")), Err(Disconnected));
    assert_eq!(*seen.lock().expect("one thread"), b"abcdefg"[..].to_vec());
}

fn call() -> HostCall {
    let output = || HostOutput::new(Nowhere);
    let id = SandboxId::parse("sb-1").expect("an id");
    HostCall::new(id, SandboxPath::root(), HostInput::new(Slow(Vec::new())), output(), output())
}

struct Nowhere;

impl ByteSink for Nowhere {
    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<Result<usize, Disconnected>> {
        Poll::Ready(Err(Disconnected))
    }
}

#[test]
fn arguments_and_variables_are_found_whatever_bytes_they_are() {
    let mut call = call();
    call.arguments = vec![b"ask".to_vec(), b"\xffa".to_vec()];
    call.environment = vec![b"HOMES=x".to_vec(), b"HOME=/a=b".to_vec(), b"odd".to_vec()];
    assert_eq!(call.argument(1).as_deref(), Some("\u{fffd}a"));
    assert_eq!(call.argument(2), None);
    assert_eq!(call.variable("HOME"), Some(b"/a=b".as_slice()));
    assert_eq!(call.variable("odd"), None);
}

#[test]
fn a_call_without_files_finds_and_makes_none() {
    let call = call();
    assert_eq!(now(call.files.read("a", 1)).map_err(|e| e.code), Err(FileErrorCode::FileNotFound));
    assert_eq!(now(call.files.write("/a", "x")).map_err(|e| e.code), Err(FileErrorCode::PermissionDenied));
    assert_eq!(now(call.files.read("a\0b", 1)).map_err(|e| e.code), Err(FileErrorCode::InvalidPath));
}
