//! Opening an archive by name.

use tidebox_rt::Errno;

use crate::archive::{Archive, NoArchive};
use crate::words::{Out, display, print_parts};

/// Opens an archive by its name, or by the name with `.zip` appended.
pub(crate) fn open(file: &[u8], tool: &[u8], out: &mut Out, tells: bool) -> Result<(Vec<u8>, Archive), i32> {
    let tries = [file.to_vec(), [file, b".zip"].concat(), [file, b".ZIP"].concat()];
    let mut why = None;
    for path in tries {
        match Archive::open(&path) {
            Ok(archive) => {
                if tells {
                    out.put(&[b"Archive:  ", &display(&path), b"\n"]);
                }
                out.flush();
                return Ok((path, archive));
            }
            Err(NoArchive::System(Errno::NOENT)) => {}
            Err(other) => {
                why = Some((path, other));
                break;
            }
        }
    }
    let Some((path, why)) = why else {
        if tool == b"zipinfo" {
            out.put(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
            return Err(9);
        }
        if tool == b"unzip -p" {
            return Err(9);
        }
        print_parts(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
        return Err(9);
    };
    match why {
        NoArchive::System(errno) => {
            print_parts(&[b"error:  cannot open zipfile [ ", &path, b" ]\n        ", errno.text().as_bytes(), b"\n"]);
            print_parts(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
            return Err(9);
        }
        NoArchive::TooLarge => {
            print_parts(&[tool, b":  the directory of ", &path, b" is larger than 64 MiB\n"]);
            return Err(4);
        }
        NoArchive::NoEnd | NoArchive::Empty => {}
    }
    let head = if tells { [b"Archive:  ".as_slice(), &path, b"\n"].concat() } else { Vec::new() };
    out.put(&[&head]);
    out.flush();
    let bracket = if tool == b"zipinfo" || !tells { [b"[".as_slice(), &path, b"]\n"].concat() } else { Vec::new() };
    let tests = tool == b"unzip -t";
    let tool: &[u8] = if tool.starts_with(b"unzip") { b"unzip" } else { tool };
    let text = [
        bracket.as_slice(),
        b"  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one \
          disk of a multi-part archive.  In the\n  latter case the central directory and zipfile comment will be found \
          on\n  the last disk(s) of this archive.\n",
        tool,
        b":  cannot find zipfile directory in one of ",
        &path,
        b" or\n        ",
        &path,
        b".zip, and cannot find ",
        &path,
        b".ZIP, period.\n",
    ];
    // The messages of a test are its output.
    if tests {
        out.put(&text);
    } else {
        print_parts(&text);
    }
    Err(9)
}
