//! Output of `-l`, from the headers of frames and blocks.

use tidebox_rt::Errno;

use super::Zstd;
use super::file::human;
use crate::stream::{self, Source};
use crate::words::show;

/// Information from the frames of a file.
#[derive(Debug, Default)]
struct Frames {
    frames: u64,
    skipped: u64,
    small: u64,
    /// `None` if a frame does not state its content size.
    large: Option<u64>,
    checks: bool,
}

/// Error of a file that cannot be listed.
enum Trouble {
    System(Errno),
    NotZstd,
    Damaged,
}

impl Zstd {
    pub(crate) fn list(mut self, files: &[Vec<u8>]) -> i32 {
        if files.iter().any(|file| file == b"-") {
            self.error(&[b"zstd: --list does not support reading from standard input \n"]);
            return 1;
        }
        let mut text = b"Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename\n".to_vec();
        let mut sums = Frames { large: Some(0), checks: true, ..Frames::default() };
        let mut counted = 0;
        for file in files {
            match examine(file) {
                Ok(found) => {
                    text.extend_from_slice(line(&found).as_bytes());
                    text.extend_from_slice(file);
                    text.push(b'\n');
                    counted += 1;
                    sums.frames += found.frames;
                    sums.skipped += found.skipped;
                    sums.small += found.small;
                    sums.large = sums.large.zip(found.large).map(|(a, b)| a + b);
                    sums.checks &= found.checks;
                }
                Err(trouble) => {
                    if matches!(trouble, Trouble::NotZstd) {
                        text.extend_from_slice(
                            &[b"File \"", file.as_slice(), b"\" not compressed by zstd \n"].concat(),
                        );
                        self.code = 1;
                        continue;
                    }
                    self.flush(&mut text);
                    match trouble {
                        Trouble::System(errno) => {
                            self.error(&[b"zstd: ", file, b": ", errno.text().as_bytes(), b" \n"]);
                        }
                        Trouble::NotZstd | Trouble::Damaged => self.error(&[b"Error while parsing \"", file, b"\" \n"]),
                    }
                }
            }
        }
        if counted > 1 {
            text.extend_from_slice(b"----------------------------------------------------------------- \n");
            text.extend_from_slice(line(&sums).as_bytes());
            text.extend_from_slice(format!("{counted} files\n").as_bytes());
        }
        self.flush(&mut text);
        self.code
    }

    fn flush(&mut self, text: &mut Vec<u8>) {
        if let Err(errno) = show(text) {
            self.error(&[b"zstd: stdout: ", errno.text().as_bytes(), b" \n"]);
        }
        text.clear();
    }
}

fn line(frames: &Frames) -> String {
    let (small, small_unit) = human(frames.small);
    let check = if frames.checks { "XXH64" } else { "None" };
    let begin = format!("{:>6}  {:>5}  {small}{small_unit:>4}", frames.frames + frames.skipped, frames.skipped);
    match frames.large {
        Some(bytes) => {
            let (large, large_unit) = human(bytes);
            let ratio = if frames.small == 0 { 0.0 } else { bytes as f64 / frames.small as f64 };
            format!("{begin}  {large:>8}{large_unit:>4}  {ratio:>5.3}  {check:>5}  ")
        }
        None => format!("{begin}                       {check:>5}  "),
    }
}

fn examine(name: &[u8]) -> Result<Frames, Trouble> {
    let fd = stream::open(name).map_err(Trouble::System)?;
    let found = walk(&mut Source::new(fd));
    // Nothing was written to it.
    let _ = tidebox_rt::close(fd);
    found
}

fn walk(source: &mut Source) -> Result<Frames, Trouble> {
    let mut found = Frames { large: Some(0), ..Frames::default() };
    loop {
        match magic(source.peek(4).map_err(Trouble::System)?) {
            Magic::End if found.frames + found.skipped > 0 => break,
            Magic::Frame => {
                source.advance(4);
                let size = frame(source, &mut found)?;
                found.large = found.large.zip(size).map(|(a, b)| a.saturating_add(b));
                found.frames += 1;
            }
            Magic::Skipped => {
                source.advance(4);
                let size = number(source, 4)?;
                pass(source, size)?;
                found.skipped += 1;
            }
            _ => return Err(Trouble::NotZstd),
        }
    }
    found.small = source.taken();
    Ok(found)
}

enum Magic {
    End,
    Frame,
    Skipped,
    Other,
}

fn magic(head: &[u8]) -> Magic {
    match head {
        [] => Magic::End,
        [0x28, 0xb5, 0x2f, 0xfd] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Magic::Frame,
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Magic::Skipped,
        _ => Magic::Other,
    }
}

/// Skips a frame; returns its content size.
fn frame(source: &mut Source, found: &mut Frames) -> Result<Option<u64>, Trouble> {
    let descriptor = number(source, 1)?;
    let single = descriptor & 0x20 != 0;
    found.checks = descriptor & 4 != 0;
    if !single {
        number(source, 1)?;
    }
    let dictionary = [0, 1, 2, 4].get((descriptor & 3) as usize).copied().unwrap_or(0);
    number(source, dictionary)?;
    let size = match descriptor >> 6 {
        0 if !single => None,
        0 => Some(number(source, 1)?),
        1 => Some(number(source, 2)? + 256),
        2 => Some(number(source, 4)?),
        _ => Some(number(source, 8)?),
    };
    loop {
        let header = number(source, 3)?;
        // An RLE block stores only its repeated byte.
        pass(source, if header >> 1 & 3 == 1 { 1 } else { header >> 3 })?;
        if header & 1 == 1 {
            break;
        }
    }
    if found.checks {
        number(source, 4)?;
    }
    Ok(size)
}

fn number(source: &mut Source, bytes: usize) -> Result<u64, Trouble> {
    let mut value = 0;
    for at in 0..bytes {
        let byte = source.byte().map_err(Trouble::System)?.ok_or(Trouble::Damaged)?;
        value |= u64::from(byte) << (8 * at);
    }
    Ok(value)
}

fn pass(source: &mut Source, count: u64) -> Result<(), Trouble> {
    let mut left = count;
    while left > 0 {
        let held = source.peek(1).map_err(Trouble::System)?.len();
        if held == 0 {
            return Err(Trouble::Damaged);
        }
        let step = usize::try_from(left).unwrap_or(usize::MAX).min(held);
        source.advance(step);
        left -= step as u64;
    }
    Ok(())
}
