//! Output of `-l`, from the index at the end of each stream.

use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::print;
use tidebox_rt::{Errno, Fd};

use crate::stream;

/// Totals of the listed files.
#[derive(Debug, Default)]
struct Sums {
    files: u64,
    streams: u64,
    blocks: u64,
    small: u64,
    large: u64,
    /// Bit *n* is check *n*.
    checks: u16,
}

/// Error of a file that cannot be listed.
enum ListError {
    System(Errno),
    Invalid(&'static str),
}

const HEADING: &str = "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n";
const DAMAGED: ListError = ListError::Invalid("Compressed data is corrupt");

/// Lists files, and returns the exit code.
pub(super) fn list(files: &[Vec<u8>]) -> i32 {
    let mut sums = Sums::default();
    let mut code = 0;
    for name in files {
        let found = stream::open(name).map_err(ListError::System).and_then(|fd| {
            let found = examine(fd);
            // Nothing was written to it.
            let _ = tidebox_rt::close(fd);
            found
        });
        let shown = String::from_utf8_lossy(name);
        let file = match found {
            Ok(file) => file,
            Err(error) => {
                let what = match error {
                    ListError::System(errno) => errno.text(),
                    ListError::Invalid(what) => what,
                };
                print_error("xz", &format!("{shown}: {what}"));
                code = 1;
                continue;
            }
        };
        let heading = if sums.files == 0 { HEADING } else { "" };
        code |= print("xz", format!("{heading}{}{shown}\n", columns(&file)).as_bytes());
        sums.files += 1;
        sums.streams += file.streams;
        sums.blocks += file.blocks;
        sums.small += file.small;
        sums.large += file.large;
        sums.checks |= file.checks;
    }
    if sums.files > 1 {
        let text = format!("{}\n{}{} files\n", "-".repeat(79), columns(&sums), sums.files);
        code |= print("xz", text.as_bytes());
    }
    code
}

/// Formats a number of bytes for people.
pub(super) fn nice(bytes: u64) -> String {
    if bytes < 10_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for next in ["MiB", "GiB", "TiB"] {
        if value <= 9999.9 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    format!("{value:.1} {unit}")
}

fn columns(sums: &Sums) -> String {
    format!(
        "{:>5} {:>7}  {:>11}  {:>11}  {:>5}  {:<7} ",
        sums.streams,
        sums.blocks,
        nice(sums.small),
        nice(sums.large),
        ratio(sums.small, sums.large),
        checks(sums.checks),
    )
}

fn ratio(small: u64, large: u64) -> String {
    let ratio = small as f64 / large as f64;
    if large == 0 || ratio > 9.999 { "---".to_owned() } else { format!("{ratio:.3}") }
}

fn checks(kinds: u16) -> String {
    let known = [(0, "None"), (1, "CRC32"), (4, "CRC64"), (10, "SHA-256")];
    let names = known.iter().filter(|(kind, _)| kinds >> kind & 1 == 1).map(|(_, name)| *name);
    names.collect::<Vec<_>>().join(",")
}

/// Walks the streams of a file from its end to its start.
fn examine(fd: Fd) -> Result<Sums, ListError> {
    let stat = tidebox_rt::fstat(fd).map_err(ListError::System)?;
    let mut sums = Sums { small: stat.size, ..Sums::default() };
    if stat.size == 0 {
        return Err(ListError::Invalid("File is empty"));
    }
    if stat.size < 32 {
        return Err(ListError::Invalid("Too small to be a valid .xz file"));
    }
    let mut end = stat.size;
    while end > 0 {
        let footer = read_at(fd, end.checked_sub(12).ok_or(DAMAGED)?, 12)?;
        if footer.ends_with(&[0; 4]) {
            end = end.checked_sub(4).ok_or(DAMAGED)?;
            continue;
        }
        let (Some(size), Some(flags), true) = (footer.get(4..8), footer.get(9), footer.ends_with(b"YZ")) else {
            return Err(if sums.streams == 0 { ListError::Invalid("File format not recognized") } else { DAMAGED });
        };
        let index_size = (u64::from(little(size) as u32) + 1) * 4;
        let index_at = end.checked_sub(12 + index_size).ok_or(DAMAGED)?;
        // An index is limited by the size of its file.
        let index = read_at(fd, index_at, index_size)?;
        let blocks = stream_of(&index, &mut sums)?;
        sums.streams += 1;
        sums.checks |= 1 << (flags & 15);
        end = index_at.checked_sub(blocks).and_then(|at| at.checked_sub(12)).ok_or(DAMAGED)?;
    }
    Ok(sums)
}

/// Adds the blocks of one index; returns their size in bytes.
fn stream_of(index: &[u8], sums: &mut Sums) -> Result<u64, ListError> {
    let mut rest = index.strip_prefix(&[0]).ok_or(DAMAGED)?;
    let count = number(&mut rest)?;
    let mut bytes: u64 = 0;
    for _ in 0..count {
        let packed = number(&mut rest)?;
        let unpacked = number(&mut rest)?;
        sums.blocks += 1;
        sums.large = sums.large.checked_add(unpacked).ok_or(DAMAGED)?;
        bytes = packed.checked_add(3).and_then(|padded| bytes.checked_add(padded & !3)).ok_or(DAMAGED)?;
    }
    Ok(bytes)
}

/// Parses a variable-length integer with seven bits per byte.
fn number(rest: &mut &[u8]) -> Result<u64, ListError> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first().ok_or(DAMAGED)?;
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Ok(value);
        }
    }
    Err(DAMAGED)
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn read_at(fd: Fd, at: u64, count: u64) -> Result<Vec<u8>, ListError> {
    let count = usize::try_from(count).map_err(|_| DAMAGED)?;
    let bytes = tidebox_gnu::stream::read_at(fd, at, count).map_err(ListError::System)?;
    if bytes.len() < count { Err(ListError::Invalid("Unexpected end of file")) } else { Ok(bytes) }
}
