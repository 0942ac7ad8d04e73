//! `cat`: copies files to standard output, one after the other.

pub(crate) mod render;

use tidebox_gnu::message::{path_label, print_error};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, FileKind};

use crate::cat::render::{Render, Style};
use crate::common::Failure;
use crate::common::input::{CHUNK, Input, print_file_error};

const USAGE: &str = "\
Usage: cat [OPTION]... [FILE]...
Copies each FILE to standard output. Without FILE, or if FILE is -, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `cat`.
    pub(crate) enum Flag {
        ShowAll = "-A, --show-all", "the same as -vET";
        NumberNonblank = "-b, --number-nonblank", "number lines that are not empty; overrides -n";
        NonprintingAndEnds = "-e", "the same as -vE";
        ShowEnds = "-E, --show-ends", "show $ at the end of each line";
        Number = "-n, --number", "number all lines";
        SqueezeBlank = "-s, --squeeze-blank", "print at most one of several empty lines";
        NonprintingAndTabs = "-t", "the same as -vT";
        ShowTabs = "-T, --show-tabs", "show tabs as ^I";
        Unbuffered = "-u", "has no effect: output is not buffered";
        ShowNonprinting = "-v, --show-nonprinting", "show other bytes as ^X and M-X, except line ends and tabs";
    }
}

/// Runs `cat`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut style = Style::default();
    let mut files = Syntax::core("cat", USAGE, 26).parse(arguments, |key, _| {
        set(&mut style, key);
        Ok::<_, Failure>(())
    })?;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut copy = Copy {
        buffer: vec![0; CHUNK],
        render: (style != Style::default()).then(|| Render::new(style)),
        output: tidebox_rt::fstat(1).ok().filter(|stat| stat.kind() == FileKind::File).map(|stat| (stat.dev, stat.ino)),
    };
    let mut code = 0;
    for file in &files {
        if let Err(error) = copy.file(file)? {
            match error {
                InputError::System(errno) => print_file_error("cat", file, errno),
                InputError::SameFile => print_error("cat", &format!("{}: input file is output file", path_label(file))),
            }
            code = 1;
        }
    }
    copy.finish()?;
    Ok(code)
}

/// Applies one option.
pub(crate) fn set(style: &mut Style, key: Flag) {
    match key {
        Flag::ShowAll => (style.marks, style.ends, style.tabs) = (true, true, true),
        Flag::NumberNonblank => style.numbers_filled = true,
        Flag::NonprintingAndEnds => (style.marks, style.ends) = (true, true),
        Flag::ShowEnds => style.ends = true,
        Flag::Number => style.numbers = true,
        Flag::SqueezeBlank => style.squeezes = true,
        Flag::NonprintingAndTabs => (style.marks, style.tabs) = (true, true),
        Flag::ShowTabs => style.tabs = true,
        Flag::ShowNonprinting => style.marks = true,
        _ => {}
    }
}

/// Error about one input file.
enum InputError {
    System(Errno),
    /// The input is the output file, so the copy would not end.
    SameFile,
}

struct Copy {
    buffer: Vec<u8>,
    render: Option<Render>,
    /// Device and inode of standard output, if it is a regular file. Only such a file can be copied into itself.
    output: Option<(u32, u64)>,
}

impl Copy {
    /// Copies one file. After the inner error, which is about this file, the next file is still copied.
    fn file(&mut self, name: &[u8]) -> Result<Result<(), InputError>, Failure> {
        let input = match Input::open(name) {
            Ok(input) => input,
            Err(errno) => return Ok(Err(InputError::System(errno))),
        };
        if self.output.is_some() && self.output == input.pending() {
            return Ok(Err(InputError::SameFile));
        }
        loop {
            let got = match input.read(&mut self.buffer) {
                Ok(0) => return Ok(Ok(())),
                Ok(got) => got,
                Err(errno) => return Ok(Err(InputError::System(errno))),
            };
            let bytes = self.buffer.get(..got).unwrap_or_default();
            match &mut self.render {
                None => write(bytes)?,
                Some(render) => write(render.pass(bytes))?,
            }
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        match &mut self.render {
            Some(render) => write(render.finish()),
            None => Ok(()),
        }
    }
}

pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    tidebox_rt::write_all(1, bytes).map_err(Failure::Write)
}
