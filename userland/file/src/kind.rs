//! File types, before the content is examined.

use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::options::Options;
use crate::{Description, data};

/// Maximum number of bytes of a file that are examined.
const LOOKED_AT: usize = 1 << 20;

/// Examines a file.
pub(crate) fn detect(name: &[u8], options: &Options) -> Description {
    if name == b"-" {
        return content(Input::standard(), name);
    }
    let stat = match tidebox_rt::stat(name, options.follow) {
        Ok(stat) => stat,
        Err(errno) if options.errors_count => {
            let name = String::from_utf8_lossy(name);
            let text = format!("ERROR: cannot stat `{name}' ({})", errno.text());
            return Description { text, failed: true, ..Description::default() };
        }
        Err(errno) => return cannot_open(name, errno),
    };
    match stat.kind() {
        FileKind::File if stat.size == 0 => special("empty", "inode/x-empty"),
        FileKind::File => regular(name, stat),
        FileKind::Dir => special("directory", "inode/directory"),
        FileKind::Symlink => link(name),
        FileKind::CharDevice => special("character special", "inode/chardevice"),
        FileKind::BlockDevice => special("block special", "inode/blockdevice"),
        FileKind::Pipe => special("fifo (named pipe)", "inode/fifo"),
        FileKind::Socket => special("socket", "inode/socket"),
        FileKind::Unknown => special("data", "application/octet-stream"),
    }
}

fn special(text: &str, mime: &str) -> Description {
    Description { text: text.to_owned(), mime: mime.to_owned(), charset: "binary", failed: false }
}

fn cannot_open(name: &[u8], errno: Errno) -> Description {
    let name = String::from_utf8_lossy(name);
    let text = format!("cannot open `{name}' ({})", errno.text());
    Description { text, mime: String::new(), charset: "", failed: true }
}

fn link(name: &[u8]) -> Description {
    let target = tidebox_rt::read_link(name).unwrap_or_default();
    let shown = String::from_utf8_lossy(&target);
    if tidebox_rt::stat(name, true).is_err() {
        let text = format!("broken symbolic link to {shown}");
        return Description { text, mime: "inode/symlink".to_owned(), charset: "", failed: false };
    }
    special(&format!("symbolic link to {shown}"), "inode/symlink")
}

fn regular(name: &[u8], stat: Stat) -> Description {
    match Input::file(name) {
        Ok(input) => content(input, name),
        Err(Errno::ACCES) => {
            let mut text = String::new();
            text.push_str(if stat.mode & 0o111 != 0 { "executable, " } else { "" });
            text.push_str("regular file, no read permission");
            Description { text, failed: true, ..Description::default() }
        }
        Err(errno) => cannot_open(name, errno),
    }
}

fn content(mut input: Input, name: &[u8]) -> Description {
    let mut bytes = Vec::new();
    while bytes.len() < LOOKED_AT {
        match input.chunk() {
            Ok([]) => break,
            Ok(piece) => {
                let count = piece.len().min(LOOKED_AT - bytes.len());
                bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
                input.consume(count);
            }
            Err(errno) => {
                let name = String::from_utf8_lossy(name);
                let text = format!("ERROR: cannot read `{name}' ({})", errno.text());
                return Description { text, mime: String::new(), charset: "", failed: true };
            }
        }
    }
    if bytes.is_empty() {
        return special("empty", "inode/x-empty");
    }
    data::detect(&bytes)
}
