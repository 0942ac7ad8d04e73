//! Scripts for `ed`, as written by `diff -e`, which are run by `ed`.

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::Stat;

use super::header::Found;
use super::lines::Lines;
use super::place::{Becomes, Pending, read_or_empty};
use super::read::normal_head;
use super::session::Session;
use super::{Fatal, failed};

impl Session {
    /// Runs a script and returns the line after it.
    pub(crate) fn ed(
        &mut self,
        lines: &Lines,
        found: &Found,
        name: Option<&[u8]>,
        target: &[u8],
        stat: Option<Stat>,
    ) -> Result<usize, Fatal> {
        let (script, end) = script(lines, found);
        let (Some(name), false, false) = (name, self.is_skipping(), self.options.dry_run) else {
            self.failed |= name.is_none();
            return Ok(end);
        };
        let content = read_or_empty(name).map_err(|errno| failed("Can't open file", name, errno))?;
        // The script runs on a copy, so that a failing script leaves the file unchanged.
        let copy = [target, b".patch-ed"].concat();
        tidebox_gnu::stream::write_file(&copy, &content).map_err(|errno| failed("Can't create file", &copy, errno))?;
        let result = edit(&copy, &script);
        let edited = read_or_empty(&copy);
        let _ = tidebox_rt::unlink(&copy);
        result?;
        let edited = edited.map_err(|errno| failed("Can't open file", &copy, errno))?;
        let mode = stat.map(|stat| stat.mode & 0o777);
        let backup = self.options.backup;
        let becomes = Becomes::Contents(edited);
        self.later(Pending { name: target.to_vec(), becomes, mode, backup, time: None })?;
        Ok(end)
    }
}

/// Returns the commands of the script, and the line after them.
fn script(lines: &Lines, found: &Found) -> (Vec<u8>, usize) {
    let (mut at, mut text) = (found.start, Vec::new());
    while let Some(line) = lines.get(at) {
        let line = found.packing.unpack(line);
        let Some(letter) = command(&line) else {
            break;
        };
        text.extend_from_slice(&line);
        at += 1;
        if !matches!(letter, b'a' | b'c' | b'i') {
            continue;
        }
        while let Some(line) = lines.get(at) {
            let line = found.packing.unpack(line);
            text.extend_from_slice(&line);
            at += 1;
            if line == b".\n" {
                break;
            }
        }
    }
    (text, at)
}

/// Returns the command letter of a line allowed in a script of `diff -e`. Other lines never reach `ed`, which could run commands.
fn command(line: &[u8]) -> Option<u8> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
    let rest = line.get(digits..)?;
    match rest {
        [letter @ (b'a' | b'c' | b'd' | b'i'), b'\n'] if digits > 0 => Some(*letter),
        [b'a', b'\n'] => Some(b'a'),
        _ if rest.starts_with(b"s/") && normal_head(line).is_none() => Some(b's'),
        _ => None,
    }
}

fn edit(file: &[u8], script: &[u8]) -> Result<(), Fatal> {
    let input = [script, b"w\nq\n"].concat();
    let source = [file, b".in"].concat();
    tidebox_gnu::stream::write_file(&source, &input).map_err(|errno| failed("Can't create file", &source, errno))?;
    let result = run(file, &source);
    let _ = tidebox_rt::unlink(&source);
    result
}

fn run(file: &[u8], source: &[u8]) -> Result<(), Fatal> {
    let how = tidebox_rt::Open { read: true, ..Default::default() };
    let fd = tidebox_rt::open(source, how).map_err(|errno| failed("Can't open file", source, errno))?;
    let arguments: &[&[u8]] = &[b"ed", b"-s", b"--", file];
    let command = Command { descriptors: &[(0, fd), (1, 1), (2, 2)], ..Command::new(arguments) };
    let status = command.spawn().and_then(wait);
    let _ = tidebox_rt::close(fd);
    match status {
        Ok(status) if status.code() == 0 => Ok(()),
        Ok(_) => Err("ed FAILED".to_owned()),
        Err(errno) => Err(failed("Can't run", b"ed", errno)),
    }
}
