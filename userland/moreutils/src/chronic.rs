//! `chronic`: shows the output of a program only if it fails.

use tidebox_gnu::command::Command;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Fd};

use super::BufferedInput;

/// Runs `chronic`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut words: &[Vec<u8>] = &arguments;
    let (mut check_stderr, mut verbose) = (false, false);
    while let Some((first, rest)) = words.split_first()
        && first.len() > 1
        && let Some(letters) = first.strip_prefix(b"-")
    {
        words = rest;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            match letter {
                b'e' => check_stderr = true,
                b'v' => verbose = true,
                other => {
                    tidebox_gnu::eprint_line!("Unknown option: {}", char::from(*other));
                }
            }
        }
    }
    if words.is_empty() {
        tidebox_gnu::eprint_line!("usage: chronic COMMAND...");
        return 255;
    }
    match run(words, check_stderr, verbose) {
        Ok(code) => code,
        Err(errno) => {
            print_error("chronic", errno.text());
            1
        }
    }
}

fn run(words: &[Vec<u8>], check_stderr: bool, verbose: bool) -> Result<i32, Errno> {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let (out, out_write) = tidebox_rt::pipe()?;
    let (err, err_write) = tidebox_rt::pipe()?;
    let spawned = Command { descriptors: &[(0, 0), (1, out_write), (2, err_write)], ..Command::new(&words) }.spawn();
    tidebox_rt::close(out_write)?;
    tidebox_rt::close(err_write)?;
    let child = match spawned {
        Ok(child) => child,
        Err(errno) => {
            let name = String::from_utf8_lossy(words.first().copied().unwrap_or_default()).into_owned();
            match errno {
                Errno::NOENT => {
                    let path = std::env::var("PATH").unwrap_or_default().replace(':', ", ");
                    tidebox_gnu::eprint_line!("Command '{name}' not found in {path} at /usr/bin/chronic line 69.");
                }
                errno => print_error("chronic", &format!("{name}: {}", errno.text())),
            }
            return Ok(2);
        }
    };
    let (out, err) = both(out, err)?;
    let waited = tidebox_rt::wait(i32::try_from(child).unwrap_or(-1), true)?;
    let code = waited.map_or(0, |waited| i32::from(waited.status.code()));
    if code != 0 || check_stderr && !err.is_empty() {
        if verbose {
            tidebox_rt::write_all(1, b"STDOUT:\n")?;
        }
        out.write_to(1)?;
        if verbose {
            tidebox_rt::write_all(1, b"\nSTDERR:\n")?;
        }
        err.write_to(2)?;
        if verbose {
            tidebox_rt::write_all(1, format!("\nRETVAL: {code}\n").as_bytes())?;
        }
    }
    // With `-e`, output on standard error also counts as a failure.
    Ok(if code == 0 && check_stderr && !err.is_empty() { 2 } else { code })
}

/// Reads two pipes concurrently, so that neither blocks the program.
fn both(out: Fd, err: Fd) -> Result<(BufferedInput, BufferedInput), Errno> {
    const A_MOMENT_NS: u64 = 1_000_000;
    let mut buffered =
        (BufferedInput { bytes: Vec::new(), file: None }, BufferedInput { bytes: Vec::new(), file: None });
    let mut buffer = vec![0; 64 * 1024];
    let (mut out_open, mut err_open) = (true, true);
    while out_open || err_open {
        for (fd, open, into) in [(out, &mut out_open, &mut buffered.0), (err, &mut err_open, &mut buffered.1)] {
            if !*open || tidebox_rt::poll_read(fd, A_MOMENT_NS)? == tidebox_rt::Readiness::TimedOut {
                continue;
            }
            match tidebox_rt::read(fd, &mut buffer)? {
                0 => *open = false,
                got => into.push(buffer.get(..got).unwrap_or_default())?,
            }
        }
    }
    // The pipes are closed when this process exits.
    let _ = (Input::of(out), Input::of(err));
    Ok(buffered)
}
