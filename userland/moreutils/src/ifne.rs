//! `ifne`: runs a program if the input is non-empty, or if it is empty.

use tidebox_gnu::command::Command;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

const USAGE: &str = "Usage: ifne [-n] command [args]\n";

/// Runs `ifne`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut words: &[Vec<u8>] = &arguments;
    let mut reversed = false;
    if let Some((first, rest)) = words.split_first()
        && first == b"-n"
    {
        (reversed, words) = (true, rest);
    }
    if words.is_empty() {
        tidebox_gnu::eprint_part!("{USAGE}");
        return 1;
    }
    match run(words, reversed) {
        Ok(code) => code,
        Err(Errno::PIPE) => 141,
        Err(errno) => {
            print_error("ifne", errno.text());
            1
        }
    }
}

fn run(words: &[Vec<u8>], reversed: bool) -> Result<i32, Errno> {
    let mut input = Input::standard();
    let empty = input.chunk()?.is_empty();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    if empty {
        return if reversed { Ok(code_of(Command::new(&words).run(), &words)) } else { Ok(0) };
    }
    if reversed {
        copy(&mut input, 1)?;
        return Ok(0);
    }
    let (read, write) = tidebox_rt::pipe()?;
    let child = Command { descriptors: &[(0, read), (1, 1), (2, 2)], ..Command::new(&words) }.spawn();
    tidebox_rt::close(read)?;
    let child = match child {
        Ok(child) => child,
        Err(errno) => return Ok(code_of(Err(errno), &words)),
    };
    let copied = copy(&mut input, write);
    tidebox_rt::close(write)?;
    // A program that stops reading is not an error.
    if !matches!(copied, Ok(()) | Err(Errno::PIPE)) {
        copied?;
    }
    let waited = tidebox_rt::wait(i32::try_from(child).unwrap_or(-1), true)?;
    Ok(waited.map_or(0, |waited| i32::from(waited.status.code())))
}

fn code_of(ended: Result<tidebox_rt::ExitStatus, Errno>, words: &[&[u8]]) -> i32 {
    match ended {
        Ok(status) => i32::from(status.code()),
        Err(errno) => {
            print_error(&String::from_utf8_lossy(words.first().copied().unwrap_or_default()), errno.text());
            1
        }
    }
}

fn copy(input: &mut Input, to: tidebox_rt::Fd) -> Result<(), Errno> {
    loop {
        let chunk = input.chunk()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let count = chunk.len();
        tidebox_rt::write_all(to, chunk)?;
        input.consume(count);
    }
}
