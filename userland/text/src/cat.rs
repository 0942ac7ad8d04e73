//! `cat`: copies files to standard output, one after the other.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{complain, named};
use tidebox_rt::{Errno, FileKind};

use crate::Failure;
use crate::input::{CHUNK, Input, complain_about};
use crate::render::{Render, Style};

const HELP: &str = "\
Usage: cat [OPTION]... [FILE]...
Copies each FILE to standard output; without FILE, or where FILE is -, standard input.

  -A, --show-all          the same as -vET
  -b, --number-nonblank   number lines that are not empty; overrides -n
  -e                      the same as -vE
  -E, --show-ends         show $ at the end of each line
  -n, --number            number all lines
  -s, --squeeze-blank     show no more than one of several empty lines
  -t                      the same as -vT
  -T, --show-tabs         show tabs as ^I
  -u                      (ignored: output is never held back)
  -v, --show-nonprinting  show other bytes as ^X and M-X, but for line ends and tabs
";

const HELP_KEY: char = '\u{e001}';

const LONG: &[Long] = &[
    long("number-nonblank", Takes::Nothing, 'b'),
    long("number", Takes::Nothing, 'n'),
    long("squeeze-blank", Takes::Nothing, 's'),
    long("show-nonprinting", Takes::Nothing, 'v'),
    long("show-ends", Takes::Nothing, 'E'),
    long("show-tabs", Takes::Nothing, 'T'),
    long("show-all", Takes::Nothing, 'A'),
    long("help", Takes::Nothing, HELP_KEY),
];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut style = Style::default();
    let mut files = CommandLine::core("cat", "AbeEnstTuv", LONG, HELP).read(arguments, |key, _| {
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
        if let Err(trouble) = copy.file(file)? {
            match trouble {
                Trouble::System(errno) => complain_about("cat", file, errno),
                Trouble::Itself => complain("cat", &format!("{}: input file is output file", named(file))),
            }
            code = 1;
        }
    }
    copy.finish()?;
    Ok(code)
}

/// What an option's letter asks for.
pub(crate) fn set(style: &mut Style, key: char) {
    match key {
        'A' => (style.marks, style.ends, style.tabs) = (true, true, true),
        'b' => style.numbers_filled = true,
        'e' => (style.marks, style.ends) = (true, true),
        'E' => style.ends = true,
        'n' => style.numbers = true,
        's' => style.squeezes = true,
        't' => (style.marks, style.tabs) = (true, true),
        'T' => style.tabs = true,
        'v' => style.marks = true,
        _ => {}
    }
}

/// Why one file is not copied.
enum Trouble {
    System(Errno),
    /// What is read is what is written, so that the copy would not end.
    Itself,
}

struct Copy {
    buffer: Vec<u8>,
    render: Option<Render>,
    /// The file that standard output is: device and number. Only a regular file can be copied into itself.
    output: Option<(u32, u64)>,
}

impl Copy {
    /// Copies one file. What is wrong with the file is the inner error, so that the next one is copied all the same.
    fn file(&mut self, name: &[u8]) -> Result<Result<(), Trouble>, Failure> {
        let input = match Input::open(name) {
            Ok(input) => input,
            Err(errno) => return Ok(Err(Trouble::System(errno))),
        };
        if self.output.is_some() && self.output == input.pending() {
            return Ok(Err(Trouble::Itself));
        }
        loop {
            let got = match input.read(&mut self.buffer) {
                Ok(0) => return Ok(Ok(())),
                Ok(got) => got,
                Err(errno) => return Ok(Err(Trouble::System(errno))),
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
