//! A test program that uses WASI 0.3 directly. Its first argument selects the action.

use futures::join;
use wasip3::cli::{environment, stdin, stdout};
use wasip3::clocks::monotonic_clock;
use wasip3::filesystem::preopens;
use wasip3::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags};
use wasip3::wit_stream;

wasip3::cli::command::export!(Tool);

struct Tool;

impl wasip3::exports::cli::run::Guest for Tool {
    async fn run() -> Result<(), ()> {
        let arguments = environment::get_arguments();
        match arguments.get(1).map(String::as_str) {
            Some("tell") => print(&arguments.join(" ")).await,
            Some("copy") => copy().await,
            Some("file") => file().await,
            Some("list") => list().await,
            Some("nap") => nap().await,
            Some("both") => both().await,
            Some("fail") => Err(()),
            _ => Err(()),
        }
    }
}

async fn print(text: &str) -> Result<(), ()> {
    let (mut writer, reader) = wit_stream::new();
    let text = format!("{text}\n").into_bytes();
    let (written, rest) = join!(stdout::write_via_stream(reader).into_future(), async move {
        let rest = writer.write_all(text).await;
        drop(writer);
        rest
    });
    if rest.is_empty() { written.map_err(|_| ()) } else { Err(()) }
}

/// Copies standard input to standard output, without touching a byte.
async fn copy() -> Result<(), ()> {
    let (bytes, read) = stdin::read_via_stream();
    let written = stdout::write_via_stream(bytes).await;
    let read = read.await;
    written.map_err(|_| ())?;
    read.map_err(|_| ())
}

fn here() -> Result<Descriptor, ()> {
    let directories = preopens::get_directories();
    directories.into_iter().find(|(_, name)| name == ".").map(|(directory, _)| directory).ok_or(())
}

/// Writes a file by a stream, appends to it, and reads it back from the middle.
async fn file() -> Result<(), ()> {
    let directory = here()?;
    let both = DescriptorFlags::READ | DescriptorFlags::WRITE;
    let file =
        directory.open_at(PathFlags::empty(), "p3.txt".to_owned(), OpenFlags::CREATE, both).await.map_err(|_| ())?;
    let (mut writer, reader) = wit_stream::new();
    let (written, _) = join!(file.write_via_stream(reader, 0).into_future(), async move {
        writer.write_all(b"one\n".to_vec()).await;
        drop(writer);
    });
    written.map_err(|_| ())?;
    let (mut writer, reader) = wit_stream::new();
    let (written, _) = join!(file.append_via_stream(reader).into_future(), async move {
        writer.write_all(b"two\n".to_vec()).await;
        drop(writer);
    });
    written.map_err(|_| ())?;
    let size = file.stat().await.map_err(|_| ())?.size;
    let (bytes, read) = file.read_via_stream(2);
    let rest = bytes.collect().await;
    read.await.map_err(|_| ())?;
    let missing = directory.stat_at(PathFlags::empty(), "missing".to_owned()).await;
    let above = directory.create_directory_at("/bin/x".to_owned()).await;
    print(&format!("{size} {:?} {missing:?} {above:?}", String::from_utf8_lossy(&rest))).await
}

async fn list() -> Result<(), ()> {
    let (entries, done) = here()?.read_directory();
    let names: Vec<String> = entries.collect().await.into_iter().map(|entry| entry.name).collect();
    done.await.map_err(|_| ())?;
    print(&names.join(" ")).await
}

async fn nap() -> Result<(), ()> {
    monotonic_clock::wait_for(3_600_000_000_000).await;
    print("awake").await
}

/// Waits for input and a clock concurrently.
async fn both() -> Result<(), ()> {
    let (mut bytes, _) = stdin::read_via_stream();
    let (_, (status, read)) = join!(monotonic_clock::wait_for(20_000_000), bytes.read(Vec::with_capacity(16)));
    print(&format!("{status:?} {}", read.len())).await
}
