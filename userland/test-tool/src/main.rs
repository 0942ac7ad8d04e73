//! A user-provided program for tests: plain Rust, built as a WASI preview1 module and as a WASI 0.2 component. The name that it
//! is started with selects the action.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it shows what a program that knows nothing of the sandbox does"
)]

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

type Outcome = Result<ExitCode, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let name = arguments.first().map(String::as_str).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    match run(name, &arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::from(1)
        }
    }
}

fn run(name: &str, arguments: &[String]) -> Outcome {
    let first = arguments.get(1).map(String::as_str).unwrap_or_default();
    match name {
        "tell" => print_arguments(arguments)?,
        "copy" => copy()?,
        "flood" => flood()?,
        "nap" => std::thread::sleep(Duration::from_secs(3600)),
        "spin" => spin(),
        "hog" => hog(),
        "deep" => println!("{}", deep(1)),
        "abort" => std::process::abort(),
        "leave" => return Ok(ExitCode::from(first.parse::<u8>()?)),
        "count" => count(first.parse()?),
        "files" => files()?,
        "list" => list(first)?,
        "show" => show()?,
        "network" => network(),
        "random" => random()?,
        _ => return Err(format!("'{name}' is nothing that this program does").into()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints its arguments, one per line.
fn print_arguments(arguments: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    arguments.iter().try_for_each(|argument| writeln!(out, "{argument}"))
}

/// Copies standard input to standard output.
fn copy() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = input.read(&mut buffer)?;
        if n == 0 {
            return output.flush();
        }
        output.write_all(buffer.get(..n).unwrap_or_default())?;
    }
}

/// Prints lines of `y` endlessly.
fn flood() -> io::Result<()> {
    let mut out = io::stdout().lock();
    loop {
        out.write_all(b"y\ny\ny\ny\n")?;
        out.flush()?;
    }
}

fn spin() {
    let mut n: u64 = 0;
    while black_box(true) {
        n = black_box(n.wrapping_add(1));
    }
}

/// Allocates memory until allocation fails.
fn hog() {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 1 << 20]));
    }
}

#[allow(unconditional_recursion, reason = "its stack is what ends it")]
fn deep(n: u64) -> u64 {
    black_box(deep(black_box(n + 1)) + 1)
}

/// Computes for a number of milliseconds.
fn count(milliseconds: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(milliseconds) {
        black_box(0);
    }
}

/// Exercises the file functions of the standard library in the working directory.
fn files() -> io::Result<()> {
    use std::fs::OpenOptions;
    use std::io::{Seek, SeekFrom};
    fs::create_dir("dir")?;
    fs::write("dir/a", "one\n")?;
    OpenOptions::new().append(true).open("dir/a")?.write_all(b"two\n")?;
    let taken = OpenOptions::new().write(true).create_new(true).open("dir/a").map(|_| ());
    println!("create_new: {:?}", taken.map_err(|error| error.kind()));
    let mut file = OpenOptions::new().read(true).write(true).open("dir/a")?;
    file.seek(SeekFrom::Start(4))?;
    file.write_all(b"TWO")?;
    file.seek(SeekFrom::End(-4))?;
    let mut rest = String::new();
    file.read_to_string(&mut rest)?;
    println!("rest: {rest:?}");
    file.set_len(5)?;
    file.sync_all()?;
    println!("len: {}", file.metadata()?.len());
    fs::rename("dir/a", "dir/b")?;
    fs::hard_link("dir/b", "dir/c")?;
    println!("gone: {:?}", fs::metadata("dir/a").map(|_| ()).map_err(|error| error.kind()));
    println!("busy: {}", fs::remove_dir("dir").is_err());
    list("dir")?;
    fs::remove_file("dir/b")?;
    println!("left: {:?}", fs::read_to_string("dir/c")?);
    fs::remove_dir_all("dir")?;
    println!(
        "escape: {:?}",
        fs::read("../../../etc/hostname").map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    );
    fs::write("/tmp/elsewhere", "absolute\n")?;
    println!("absolute: {:?}", fs::read_to_string("/tmp/elsewhere")?);
    println!("denied: {:?}", fs::write("/bin/mine", "").map_err(|error| error.kind()));
    Ok(())
}

fn list(path: &str) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = if kind.is_dir() {
            "dir"
        } else if kind.is_symlink() {
            "link"
        } else {
            "file"
        };
        names.push(format!("{kind} {}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    names.iter().for_each(|name| println!("{name}"));
    Ok(())
}

/// Prints its environment.
fn show() -> Result<(), Box<dyn Error>> {
    println!("HOME={}", env::var("HOME").unwrap_or_default());
    println!("seconds: {}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs());
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    println!("slept: {}", start.elapsed() >= Duration::from_millis(20));
    use std::io::IsTerminal;
    println!("terminal: {}", io::stdin().is_terminal() || io::stdout().is_terminal());
    Ok(())
}

fn network() {
    let say = |what: &str, outcome: io::Result<()>| match outcome {
        Ok(()) => println!("{what}: allowed"),
        Err(error) => println!("{what}: {:?}", error.kind()),
    };
    say("connect", TcpStream::connect("127.0.0.1:80").map(|_| ()));
    say("listen", TcpListener::bind("127.0.0.1:0").map(|_| ()));
    say("udp", UdpSocket::bind("127.0.0.1:0").map(|_| ()));
    say("lookup", ("example.com", 80).to_socket_addrs().map(|_| ()));
}

/// Two random numbers, from the hash keys of the standard library.
fn random() -> Result<(), Box<dyn Error>> {
    use std::hash::{BuildHasher, RandomState};
    println!("{:016x}", RandomState::new().hash_one(1));
    Ok(())
}
