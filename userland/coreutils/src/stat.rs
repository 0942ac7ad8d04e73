//! `stat`: prints attributes of files.

mod escape;
pub(crate) mod file_system;
mod pad;
mod printer;

use tidebox_gnu::exit::{ToolResult, print};
use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::options::Syntax;

use crate::stat::file_system::FileSystem;
use printer::Printer;

const USAGE: &str = "\
Usage: stat [OPTION]... FILE...
Prints the attributes of each FILE.

";

const NOTES: &str = "\n\
FORMAT may contain: %a %A mode, %b %B blocks and their size, %d %D device, %f raw mode,
%F type, %g %G group, %h links, %i inode, %m mount point, %n name, %N name and link
target, %o block size, %s size, %u %U user, %w %W birth (unknown), %x %X access,
%y %Y modification, %z %Z change of attributes
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

tidebox_gnu::options! {
    /// Options of `stat`.
    enum Flag {
        Dereference = "-L, --dereference", "follow links";
        FileSystem = "-f, --file-system", "print attributes of the file system";
        Format = "-c, --format=FORMAT", "print FORMAT and a line end";
        Printf = "--printf=FORMAT", "print FORMAT with escapes such as \\n, without a line end";
        Terse = "-t, --terse", "print one line";
    }
}

/// Runs `stat`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut follow = false;
    let mut terse = false;
    let mut file_system = false;
    let mut format: Option<(Vec<u8>, bool)> = None;
    let line = Syntax { notes: NOTES, ..Syntax::core("stat", USAGE, 22) };
    let files = line.parse(arguments, |key, value| {
        match key {
            Flag::Dereference => follow = true,
            Flag::Terse => terse = true,
            Flag::Format => format = Some((value, false)),
            Flag::Printf => format = Some((value, true)),
            _ => file_system = true,
        }
        Ok(())
    });
    let files = match files {
        Ok(files) if files.is_empty() => return line.usage_error("missing operand"),
        Ok(files) => files,
        Err(answer) => return answer,
    };
    if let Some(wrong) = format.as_ref().and_then(|(format, _)| invalid_directive(format)) {
        return ToolResult::Failure(format!("{}: invalid directive", quote_value(&wrong)), 1);
    }
    let mut printer = Printer::new(format, terse, file_system);
    if file_system {
        (printer.file_system, follow) = (Some(FileSystem::now()), true);
    }
    if file_system && files.iter().any(|file| file == b"-") {
        return ToolResult::Failure(
            "using '-' to denote standard input does not work in file system mode".to_owned(),
            1,
        );
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
                // Flush the output first, so that the message follows it.
                let _ = print(&std::mem::take(&mut out));
                print_error("stat", &format!("{what} {}: {}", quote_path(file), error.text()));
            }
        }
    }
    ToolResult::PrintAndCode(out, code)
}

/// Returns the first directive that has flags or a width, but no letter or a `%`.
fn invalid_directive(format: &[u8]) -> Option<Vec<u8>> {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let after = rest.get(at + 1..)?;
        let flags = after.iter().take_while(|byte| b"-0+ #'.123456789".contains(byte)).count();
        let letter = after.get(flags);
        if flags > 0 && matches!(letter, None | Some(b'%')) {
            return rest.get(at..=at + flags + usize::from(letter.is_some())).map(<[u8]>::to_vec);
        }
        rest = after.get(flags + 1..)?;
    }
    None
}
