//! Tests the parts of a call in isolation; the backends test their connections.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::*;
use crate::FileErrorCode;

struct Slow(Vec<u8>);

impl ByteSource for Slow {
    fn poll_read(&mut self, _: &mut Context<'_>, max_bytes: usize) -> Poll<Vec<u8>> {
        let n = max_bytes.min(3).min(self.0.len());
        Poll::Ready(self.0.drain(..n).collect())
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future must not wait"),
    }
}

#[test]
fn read_to_end_stops_at_the_limit() {
    let input = || HostInput::new(Slow(b"12345678".to_vec()));
    assert_eq!(now(input().read_to_end(8)), Some(b"12345678".to_vec()));
    assert_eq!(now(input().read_to_end(7)), None);
}

#[test]
fn write_all_ends_when_complete_or_without_a_reader() {
    struct Narrow(Arc<Mutex<Vec<u8>>>);
    impl ByteSink for Narrow {
        fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
            let mut received = self.0.lock().expect("one thread");
            if received.len() >= 6 {
                return Poll::Ready(Err(BrokenPipe));
            }
            let n = bytes.len().min(2);
            received.extend_from_slice(&bytes[..n]);
            Poll::Ready(Ok(n))
        }
    }
    let received = Arc::default();
    let mut output = HostOutput::new(Narrow(Arc::clone(&received)));
    assert_eq!(now(output.write("abcde")), Ok(()));
    assert_eq!(now(output.write("fgh")), Err(BrokenPipe));
    assert_eq!(*received.lock().expect("one thread"), b"abcdefg"[..].to_vec());
}

fn call() -> HostCall {
    let output = || HostOutput::new(Nowhere);
    let id = SandboxId::parse("sb-1").expect("an id");
    HostCall::new(id, SandboxPath::root(), HostInput::new(Slow(Vec::new())), output(), output())
}

struct Nowhere;

impl ByteSink for Nowhere {
    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
        Poll::Ready(Err(BrokenPipe))
    }
}

#[test]
fn arguments_and_variables_may_be_any_bytes() {
    let mut call = call();
    call.arguments = vec![b"ask".to_vec(), b"\xffa".to_vec()];
    call.environment = vec![b"HOMES=x".to_vec(), b"HOME=/a=b".to_vec(), b"odd".to_vec()];
    assert_eq!(call.argument(1).as_deref(), Some("\u{fffd}a"));
    assert_eq!(call.argument(2), None);
    assert_eq!(call.variable("HOME"), Some(b"/a=b".as_slice()));
    assert_eq!(call.variable("odd"), None);
}

#[test]
fn a_call_without_files_cannot_read_or_write() {
    let call = call();
    assert_eq!(now(call.files.read("a", 1)).map_err(|e| e.code), Err(FileErrorCode::FileNotFound));
    assert_eq!(now(call.files.write("/a", "x")).map_err(|e| e.code), Err(FileErrorCode::PermissionDenied));
    assert_eq!(now(call.files.read("a\0b", 1)).map_err(|e| e.code), Err(FileErrorCode::InvalidPath));
}
