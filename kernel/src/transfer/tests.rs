//! Host transfers; guest transfers are tested with their decoder.

use crate::Errno;
use crate::signal::Signal;
use crate::syscall::SyscallError;
use crate::testing::Guest;
use tidebox_core::Limits;

const WAITS: SyscallError = SyscallError::Block(None);

fn small_pipes() -> Guest {
    let mut limits = Limits::default();
    limits.pipe_bytes = 4096;
    Guest::with(limits, b"typed")
}

#[test]
fn a_host_read_returns_the_bytes_of_a_guest_read() {
    let mut g = small_pipes();
    let mut buffer = [0; 3];
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(3));
    assert_eq!(&buffer, b"typ");
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(2));
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(0), "the end");
    let file = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(g.k.read_at(g.pid, file, &mut buffer, 1), Ok(3));
    assert_eq!(&buffer, b"ell");
    assert_eq!(g.read(file, 2), Ok(b"he".to_vec()), "reading at an offset moves nothing");
    assert_eq!(g.k.read(g.pid, 0, &mut []), Ok(0));
    assert_eq!(g.k.read(g.pid, 99, &mut buffer), Err(Errno::Badf.into()));
    assert_eq!(g.k.read(g.pid, 3, &mut buffer), Err(Errno::Isdir.into()));
    assert_eq!(g.k.read_at(g.pid, 0, &mut buffer, 0), Err(Errno::Spipe.into()));
}

#[test]
fn concurrent_partial_writes_keep_separate_counts() {
    let mut g = small_pipes();
    let (first_reader, first) = g.pipe();
    let (second_reader, second) = g.pipe();
    let long = vec![b'x'; 5000];
    assert_eq!(g.k.write(g.pid, first, &long), Ok(4096), "the pipe holds no more");
    assert_eq!(g.k.write(g.pid, first, &long[4096..]), Err(WAITS));
    assert_eq!(g.k.write(g.pid, second, b"short"), Ok(5), "the other pipe has capacity");
    assert_eq!(g.read(first_reader, 4000).map(|got| got.len()), Ok(4000));
    assert_eq!(g.k.write(g.pid, first, &long[4096..]), Ok(904));
    assert_eq!(g.read(second_reader, 100), Ok(b"short".to_vec()));
}

#[test]
fn a_short_write_waits_until_all_of_it_fits() {
    let mut g = small_pipes();
    let (reader, writer) = g.pipe();
    assert_eq!(g.k.write(g.pid, writer, &[1; 4000]), Ok(4000));
    assert_eq!(g.k.write(g.pid, writer, &[2; 100]), Err(WAITS));
    let parked = g.park(g.pid);
    assert_eq!(g.read(reader, 4000).map(|got| got.len()), Ok(4000));
    assert_eq!(parked.get(), 1, "free capacity wakes the writer");
    assert_eq!(g.k.write(g.pid, writer, &[2; 100]), Ok(100));
}

#[test]
fn a_pipe_without_a_reader_kills_the_writer_unless_ignored() {
    let mut g = small_pipes();
    let (reader, writer) = g.pipe();
    g.close(reader);
    g.k.process_mut(g.pid).expect("it runs").signals.ignored = Signal::Pipe.bit();
    assert_eq!(g.k.write(g.pid, writer, b"x"), Err(Errno::Pipe.into()));
    g.k.process_mut(g.pid).expect("it runs").signals.ignored = 0;
    assert_eq!(g.k.write(g.pid, writer, b"x"), Err(SyscallError::Kill(Signal::Pipe)));
    assert_eq!(
        g.k.read(g.pid, 0, &mut [0; 1]),
        Err(SyscallError::Kill(Signal::Pipe)),
        "a killed process transfers nothing"
    );
}

#[test]
fn files_are_written_at_offset_at_end_and_up_to_the_limit() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 6;
    let mut g = Guest::with(limits, b"");
    let file = g.open(b"workspace/f", "wc").expect("created");
    assert_eq!(g.k.write(g.pid, file, b"ab"), Ok(2));
    assert_eq!(g.k.write_at(g.pid, file, b"Z", 0), Ok(1));
    let end = g.open(b"workspace/f", "a").expect("it exists");
    assert_eq!(g.k.write(g.pid, end, b"cd"), Ok(2));
    assert_eq!(g.k.write(g.pid, end, b"efgh"), Ok(2), "partial write");
    assert_eq!(g.k.write(g.pid, end, b"gh"), Err(Errno::Fbig.into()));
    g.close(file);
    let file = g.open(b"workspace/f", "r").expect("it exists");
    assert_eq!(g.read(file, 100), Ok(b"Zbcdef".to_vec()));
    assert_eq!(g.k.write(g.pid, file, b"x"), Err(Errno::Badf.into()), "it was not opened for writing");
}
