//! `stat`: the state of files.

mod escape;
mod pad;
mod printer;

use tidebox_gnu::answer::{Answer, print};
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, complain, quoted};

use crate::file_system::FileSystem;
use printer::Printer;

const HELP: &str = "\
Usage: stat [OPTION]... FILE...
Prints the state of each FILE.

  -L, --dereference   of what a link leads to
  -f, --file-system   of the file system that it is on
  -c, --format=FORMAT print FORMAT and a line end instead of everything
      --printf=FORMAT as --format, but without line end, and \\n and its kin count
  -t, --terse         print it on one line

FORMAT may hold: %a %A mode, %b %B blocks and their size, %d %D device, %f raw mode,
%F type, %g %G group, %h links, %i inode, %m mount point, %n name, %N name and where a
link leads, %o block size, %s size, %u %U user, %w %W birth (unknown), %x %X access,
%y %Y modification, %z %Z change of state
";

const DEFAULT: &str = "  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: %Hd,%Ld\tInode: %-10i  Links: %h
Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
";

const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";

const PRINTF: char = '\u{e001}';
const HELP_KEY: char = '\u{e002}';

const LONG: &[Long] = &[
    long("dereference", Takes::Nothing, 'L'),
    long("file-system", Takes::Nothing, 'f'),
    long("format", Takes::Value, 'c'),
    long("printf", Takes::Value, PRINTF),
    long("terse", Takes::Nothing, 't'),
    long("help", Takes::Nothing, HELP_KEY),
];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut follow = false;
    let mut terse = false;
    let mut file_system = false;
    let mut format: Option<(Vec<u8>, bool)> = None;
    let line = CommandLine::core("stat", "Lfc:t", LONG, HELP);
    let files = line.read(arguments, |key, value| {
        match key {
            'L' => follow = true,
            't' => terse = true,
            'c' => format = Some((value, false)),
            PRINTF => format = Some((value, true)),
            _ => file_system = true,
        }
        Ok(())
    });
    let files = match files {
        Ok(files) if files.is_empty() => return line.wrong("missing operand"),
        Ok(files) => files,
        Err(answer) => return answer,
    };
    if let Some(wrong) = format.as_ref().and_then(|(format, _)| wrong_directive(format)) {
        return Answer::Failure(format!("{}: invalid directive", cited(&wrong)), 1);
    }
    let mut printer = Printer::new(format, terse, file_system);
    if file_system {
        (printer.file_system, follow) = (Some(FileSystem::now()), true);
    }
    if file_system && files.iter().any(|file| file == b"-") {
        return Answer::Failure("using '-' to denote standard input does not work in file system mode".to_owned(), 1);
    }
    let mut out = Vec::new();
    let mut code = 0;
    for file in &files {
        let stat = if file == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(file, follow) };
        match stat {
            Ok(stat) => printer.print(file, &stat, &mut out),
            Err(error) => {
                let what = if file_system { "cannot read file system information for" } else { "cannot statx" };
                code = 1;
                // What is known so far comes first.
                let _ = print(&std::mem::take(&mut out));
                complain("stat", &format!("{what} {}: {}", quoted(file), error.text()));
            }
        }
    }
    Answer::PrintAndCode(out, code)
}

/// A `%` that has flags or a width before it, or a directive without its letter.
fn wrong_directive(format: &[u8]) -> Option<Vec<u8>> {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let behind = rest.get(at + 1..)?;
        let flags = behind.iter().take_while(|byte| b"-0+ #'.123456789".contains(byte)).count();
        let letter = behind.get(flags);
        if flags > 0 && matches!(letter, None | Some(b'%')) {
            return rest.get(at..=at + flags + usize::from(letter.is_some())).map(<[u8]>::to_vec);
        }
        rest = behind.get(flags + 1..)?;
    }
    None
}
