//! Members that are piped to a command instead of being extracted.

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::{Disposition, Errno, ExitStatus};

use crate::header::{Format, Member};
use crate::message::{Fatal, error, fatal, warn};
use crate::options::Options;
use crate::quote::escaped;
use crate::reader::{RECORD, Reader};
use crate::scan;

/// Signal of a write to a pipe without a reader.
const SIGPIPE: u32 = 13;

/// Runs a command with the content of a member as its standard input.
pub(crate) fn feed(
    command: &[u8],
    options: &Options,
    reader: &mut Reader,
    member: &Member,
    name: &[u8],
) -> Result<(), Fatal> {
    let failed = |errno: Errno| fatal(&[b"/bin/sh: Cannot exec: ", errno.text().as_bytes()]);
    let (read, write) = tidebox_rt::pipe().map_err(failed)?;
    let mut environment = tidebox_rt::environ();
    environment.extend(described(options, member, name));
    let arguments: [&[u8]; 3] = [b"/bin/sh", b"-c", command];
    let descriptors = [(0, read), (1, 1), (2, 2)];
    let command = Command { environment: Some(&environment), descriptors: &descriptors, ..Command::new(&arguments) };
    let pid = command.spawn().map_err(failed)?;
    tidebox_rt::close(read).map_err(failed)?;
    // A command need not read all input.
    tidebox_rt::sig_set(SIGPIPE, Disposition::Ignore).map_err(failed)?;
    let mut buffer = vec![0; RECORD * 8];
    let mut open = true;
    let read = loop {
        match reader.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(got) if open => match tidebox_rt::write_all(write, buffer.get(..got).unwrap_or_default()) {
                Ok(()) => {}
                Err(Errno::PIPE) => open = false,
                Err(errno) => {
                    open = false;
                    error(&[&escaped(name, true), b": Cannot write: ", errno.text().as_bytes()]);
                }
            },
            Ok(_) => {}
            Err(error) => break Err(scan::read_error(options, error)),
        }
    };
    tidebox_rt::close(write).map_err(failed)?;
    tidebox_rt::sig_set(SIGPIPE, Disposition::Default).map_err(failed)?;
    let status = wait(pid).map_err(failed)?;
    let report = if options.ignore_command { drop } else { |text: String| error(&[text.as_bytes()]) };
    match status {
        ExitStatus::Exited(0) => {}
        ExitStatus::Exited(code) => report(format!("{pid}: Child returned status {code}")),
        // A signal is always reported, but is not a failure.
        ExitStatus::Killed(signal) => warn(&[format!("{pid}: Child terminated on signal {signal}").as_bytes()]),
    }
    read
}

/// Environment variables that describe the member.
fn described(options: &Options, member: &Member, name: &[u8]) -> Vec<Vec<u8>> {
    let format = match options.format {
        Format::Ustar => "ustar",
        Format::Gnu => "gnu",
        Format::Pax => "posix",
    };
    let (seconds, _) = member.mtime;
    let text = |key: &str, value: &[u8]| [b"TAR_", key.as_bytes(), b"=", value].concat();
    let number = |key: &str, value: u64| text(key, value.to_string().as_bytes());
    vec![
        text("VERSION", b"1.34"),
        text("ARCHIVE", &options.archive),
        number("VOLUME", 1),
        number("BLOCKING_FACTOR", (options.record / crate::header::BLOCK) as u64),
        text("FORMAT", format.as_bytes()),
        text("FILETYPE", b"f"),
        text("MODE", format!("{:04o}", member.mode).as_bytes()),
        text("FILENAME", name),
        text("REALNAME", name),
        text("UNAME", &member.uname),
        text("GNAME", &member.gname),
        number("UID", member.uid),
        number("GID", member.gid),
        number("SIZE", member.size),
        text("MTIME", seconds.to_string().as_bytes()),
        text("ATIME", seconds.to_string().as_bytes()),
        text("CTIME", seconds.to_string().as_bytes()),
    ]
}
