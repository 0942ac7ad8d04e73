//! The command line. As in bzip2, every argument that starts with a dash is an option, at any position.

use super::{Bzip2, Mode};
use crate::words::print_parts;

const VERSION: &str = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.\n";
const LICENSE: &str =
    "   \n   This bzip2 is a part of Tidebox, under the terms of MIT or Apache-2.0, as you like.\n   \n";

fn usage(name: &str) -> String {
    format!(
        "{VERSION}
   usage: {name} [flags and input files in any order]

   -h --help           print this message
   -d --decompress     force decompression
   -z --compress       force compression
   -k --keep           keep (don't delete) input files
   -f --force          overwrite existing output files
   -t --test           test compressed file integrity
   -c --stdout         output to standard out
   -q --quiet          suppress noncritical error messages
   -v --verbose        be verbose (a 2nd -v gives more)
   -L --license        display software version & license
   -V --version        display software version & license
   -s --small          use less memory (at most 2500k)
   -1 .. -9            set block size to 100k .. 900k
   --fast              alias for -1
   --best              alias for -9

   If invoked as `bzip2', default action is to compress.
              as `bunzip2',  default action is to decompress.
              as `bzcat', default action is to decompress to stdout.

   If no file names are given, bzip2 compresses or decompresses
   from standard input to standard output.  You can combine
   short flags, so `-v -4' means the same as -v4 or -4v, &c.

"
    )
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let mut bzip2 = Bzip2 {
        name: name.to_owned(),
        mode: if name == "bzip2" { Mode::Compress } else { Mode::Decompress },
        to_stdout: name == "bzcat",
        force: false,
        keep: false,
        quiet: false,
        verbose: false,
        level: 9,
        widest: 7,
        code: 0,
        failed: false,
    };
    let mut words = Vec::new();
    for variable in tidebox_rt::environ() {
        for key in [b"BZIP2=".as_slice(), b"BZIP="] {
            if let Some(value) = variable.strip_prefix(key) {
                let split = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                words.extend(split.map(<[u8]>::to_vec));
            }
        }
    }
    words.extend(arguments);
    let mut files = Vec::new();
    let mut ended = false;
    for word in words {
        if ended || word.first() != Some(&b'-') || word == b"-" {
            files.push(word);
        } else if word == b"--" {
            ended = true;
        } else if let Err(code) = bzip2.word(&word) {
            return code;
        }
    }
    bzip2.run(&files)
}

impl Bzip2 {
    /// Parses one option argument. An error is the exit code.
    fn word(&mut self, word: &[u8]) -> Result<(), i32> {
        if word.starts_with(b"--") {
            let letter = match word {
                b"--help" => 'h',
                b"--decompress" => 'd',
                b"--compress" => 'z',
                b"--keep" => 'k',
                b"--force" => 'f',
                b"--test" => 't',
                b"--stdout" => 'c',
                b"--quiet" => 'q',
                b"--verbose" => 'v',
                b"--license" | b"--version" => 'V',
                b"--small" => 's',
                b"--fast" => '1',
                b"--best" => '9',
                b"--repetitive-fast" | b"--repetitive-best" => 's',
                _ => return Err(self.bad(word)),
            };
            return self.flag(letter, word);
        }
        word.iter().skip(1).try_for_each(|letter| self.flag(char::from(*letter), word))
    }

    fn flag(&mut self, letter: char, word: &[u8]) -> Result<(), i32> {
        match letter {
            'c' => self.to_stdout = true,
            'd' => self.mode = Mode::Decompress,
            'z' => self.mode = Mode::Compress,
            'f' => self.force = true,
            't' => self.mode = Mode::Test,
            'k' => self.keep = true,
            // `--small` has no effect: the library needs little memory.
            's' => {}
            'q' => self.quiet = true,
            'v' => self.verbose = true,
            '1'..='9' => self.level = letter.to_digit(10).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(9),
            'V' | 'L' => {
                print_parts(&[VERSION.as_bytes(), LICENSE.as_bytes()]);
                return Err(0);
            }
            'h' => {
                print_parts(&[usage(&self.name).as_bytes()]);
                return Err(0);
            }
            _ => return Err(self.bad(word)),
        }
        Ok(())
    }

    fn bad(&self, word: &[u8]) -> i32 {
        print_parts(&[self.name.as_bytes(), b": Bad flag `", word, b"'\n", usage(&self.name).as_bytes()]);
        1
    }
}
