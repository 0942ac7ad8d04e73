//! Copying of the content, times and mode of one file.

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{Errno, Fd, Open, Stat, Time};

/// Buffer size in bytes.
const CHUNK: usize = 128 * 1024;

/// Options for copying the content of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentOptions {
    /// The target is new.
    pub(crate) new: bool,
    /// Remove a target that cannot be opened, and try again.
    pub(crate) force: bool,
    /// Do not copy the content.
    pub(crate) attributes_only: bool,
    pub(crate) verbose: bool,
}

/// Copies the content of a file. Returns whether the target was created. On an error, prints a message and returns `None`.
pub(crate) fn copy(tool: &str, from: &[u8], to: &[u8], options: ContentOptions) -> Option<bool> {
    let source = match tidebox_rt::open(from, Open { read: true, ..Open::default() }) {
        Ok(source) => source,
        Err(error) => {
            print_error(tool, &format!("cannot open {} for reading: {}", quote_path(from), error.text()));
            return None;
        }
    };
    let created = match target(tool, to, options) {
        Ok((target, new)) => {
            let copied = options.attributes_only || transfer(tool, (source, from), (target, to));
            let closed = tidebox_rt::close(target);
            if let Err(error) = closed {
                print_error(tool, &format!("error writing {}: {}", quote_path(to), error.text()));
            }
            (copied && closed.is_ok()).then_some(new)
        }
        Err(error) => {
            // A path with a trailing slash must be a directory, and none exists.
            let error = if to.ends_with(b"/") && error != Errno::ACCES { Errno::NOTDIR } else { error };
            print_error(tool, &format!("cannot create regular file {}: {}", quote_path(to), error.text()));
            None
        }
    };
    // The source was only read; closing cannot lose data.
    let _ = tidebox_rt::close(source);
    created
}

/// Opens the target for writing; returns whether it is new.
fn target(tool: &str, to: &[u8], options: ContentOptions) -> Result<(Fd, bool), Errno> {
    let new = Open { write: true, create: true, exclusive: true, ..Open::default() };
    if options.new {
        return tidebox_rt::open(to, new).map(|fd| (fd, true));
    }
    let old = Open { write: true, truncate: !options.attributes_only, ..Open::default() };
    match tidebox_rt::open(to, old) {
        // The target of a dangling link is created.
        Err(Errno::NOENT) => tidebox_rt::open(to, Open { exclusive: false, ..new }).map(|fd| (fd, true)),
        Err(error) if options.force => {
            tidebox_rt::unlink(to).map_err(|_| error)?;
            if options.verbose {
                crate::common::print_line(tool, &format!("removed {}", quote_path(to)));
            }
            tidebox_rt::open(to, new).map(|fd| (fd, true))
        }
        other => other.map(|fd| (fd, false)),
    }
}

fn transfer(tool: &str, (source, from): (Fd, &[u8]), (target, to): (Fd, &[u8])) -> bool {
    let mut buffer = vec![0; CHUNK];
    loop {
        match tidebox_rt::read(source, &mut buffer) {
            Ok(0) => return true,
            Ok(got) => {
                if let Err(error) = tidebox_rt::write_all(target, buffer.get(..got).unwrap_or_default()) {
                    print_error(tool, &format!("error writing {}: {}", quote_path(to), error.text()));
                    return false;
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => {
                print_error(tool, &format!("error reading {}: {}", quote_path(from), error.text()));
                return false;
            }
        }
    }
}

/// Sets the times of a copy to those of the source.
pub(crate) fn keep_times(tool: &str, stat: &Stat, to: &[u8], follow: bool) -> bool {
    match tidebox_rt::set_times(to, follow, Time::At(stat.atime_ns), Time::At(stat.mtime_ns)) {
        Ok(()) => true,
        // Some file systems store no times for links.
        Err(Errno::NOTSUP) if !follow => true,
        Err(error) => {
            print_error(tool, &format!("preserving times for {}: {}", quote_path(to), error.text()));
            false
        }
    }
}

/// Sets the mode of a copy if it differs. On a file system without modes, this is an error only if `preserved`.
pub(crate) fn set_mode(tool: &str, to: &[u8], mode: u32, preserved: bool) -> bool {
    if tidebox_rt::stat(to, true).is_ok_and(|stat| stat.mode & 0o7777 == mode) {
        return true;
    }
    match tidebox_rt::chmod(to, mode) {
        Ok(()) => true,
        Err(Errno::NOTSUP) if !preserved => true,
        Err(error) => {
            print_error(tool, &format!("preserving permissions for {}: {}", quote_path(to), error.text()));
            false
        }
    }
}
