//! Transfers of the host; those of guests are tested where they are decoded.

use crate::testing::{Guest, OK, call};
use crate::wasi::{Halt, ext, p1};
use crate::{Errno, Signal};
use tidebox_core::Limits;

const WAITS: Halt = Halt::Block(None);

fn small_pipes() -> Guest {
    let mut limits = Limits::default();
    limits.pipe_bytes = 4096;
    Guest::with(limits, b"typed")
}

#[test]
fn the_host_reads_what_a_guest_would() {
    let mut g = small_pipes();
    let mut buffer = [0; 3];
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(3));
    assert_eq!(&buffer, b"typ");
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(2));
    assert_eq!(g.k.read(g.pid, 0, &mut buffer), Ok(0), "the end");
    let file = g.open(b"etc/motd", "r").expect("it is there");
    assert_eq!(g.k.read_at(g.pid, file, &mut buffer, 1), Ok(3));
    assert_eq!(&buffer, b"ell");
    assert_eq!(g.read(file, 2), Ok(b"he".to_vec()), "reading at an offset moves nothing");
    assert_eq!(g.k.read(g.pid, 0, &mut []), Ok(0));
    assert_eq!(g.k.read(g.pid, 99, &mut buffer), Err(Errno::Badf.into()));
    assert_eq!(g.k.read(g.pid, 3, &mut buffer), Err(Errno::Isdir.into()));
    assert_eq!(g.k.read_at(g.pid, 0, &mut buffer, 0), Err(Errno::Spipe.into()));
}

#[test]
fn a_write_takes_what_fits_and_two_under_way_do_not_mix_up_their_counts() {
    let mut g = small_pipes();
    let (first_reader, first) = g.pipe();
    let (second_reader, second) = g.pipe();
    let long = vec![b'x'; 5000];
    assert_eq!(g.k.write(g.pid, first, &long), Ok(4096), "the pipe holds no more");
    assert_eq!(g.k.write(g.pid, first, &long[4096..]), Err(WAITS));
    assert_eq!(g.k.write(g.pid, second, b"short"), Ok(5), "the other pipe has room");
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
    assert_eq!(parked.get(), 1, "room wakes the writer");
    assert_eq!(g.k.write(g.pid, writer, &[2; 100]), Ok(100));
}

#[test]
fn a_pipe_that_nobody_reads_ends_the_writer_unless_it_ignores_that() {
    let mut g = small_pipes();
    let (reader, writer) = g.pipe();
    g.close(reader);
    assert_eq!(call!(&mut g, ext::sig_set(13, 1)), OK);
    assert_eq!(g.k.write(g.pid, writer, b"x"), Err(Errno::Pipe.into()));
    assert_eq!(call!(&mut g, ext::sig_set(13, 0)), OK);
    assert_eq!(g.k.write(g.pid, writer, b"x"), Err(Halt::Kill(Signal::Pipe)));
    assert_eq!(g.k.read(g.pid, 0, &mut [0; 1]), Err(Halt::Kill(Signal::Pipe)), "a doomed process moves nothing");
}

#[test]
fn files_take_bytes_at_their_offset_at_their_end_and_up_to_the_quota() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 6;
    let mut g = Guest::with(limits, b"");
    let file = g.open(b"workspace/f", "wc").expect("made");
    assert_eq!(g.k.write(g.pid, file, b"ab"), Ok(2));
    assert_eq!(g.k.write_at(g.pid, file, b"Z", 0), Ok(1));
    let end = g.open(b"workspace/f", "a").expect("there");
    assert_eq!(g.k.write(g.pid, end, b"cd"), Ok(2));
    assert_eq!(g.k.write(g.pid, end, b"efgh"), Ok(2), "what still fits");
    assert_eq!(g.k.write(g.pid, end, b"gh"), Err(Errno::Fbig.into()));
    assert_eq!(call!(&mut g, p1::fd_close(file)), OK);
    let file = g.open(b"workspace/f", "r").expect("there");
    assert_eq!(g.read(file, 100), Ok(b"Zbcdef".to_vec()));
    assert_eq!(g.k.write(g.pid, file, b"x"), Err(Errno::Badf.into()), "it was not opened for writing");
}
