//! `sync`: files of the sandbox are in memory, so that there is nothing to write back.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{print_error, quote_path};

const HELP: &str = "\
Usage: sync [OPTION] [FILE]...
Synchronize cached writes to persistent storage

If one or more files are specified, sync only them,
or their containing file systems.

  -d, --data             sync only file data, no unneeded metadata
  -f, --file-system      sync the file systems that contain the files
      --help        display this help and exit
      --version     output version information and exit
";

const LONG: &[Long] = &[
    long("data", Takes::Nothing, 'd'),
    long("file-system", Takes::Nothing, 'f'),
    long("help", Takes::Nothing, 'h'),
    long("version", Takes::Nothing, 'V'),
];

/// Runs `sync`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = CommandLine::core("sync", "df", LONG, HELP);
    let (mut data, mut file_system) = (false, false);
    let files = line.parse(arguments, |key, _| {
        match key {
            'd' => data = true,
            _ => file_system = true,
        }
        Ok(())
    });
    let files = match files {
        Ok(files) => files,
        Err(answer) => return answer,
    };
    if data && files.is_empty() {
        return ToolResult::Failure("--data needs at least one argument".to_owned(), 1);
    }
    if data && file_system {
        return ToolResult::Failure("cannot specify both --data and --file-system".to_owned(), 1);
    }
    let mut code = 0;
    for file in &files {
        let opened = match tidebox_rt::access(file, 4) {
            // Who may only write opens it for that.
            Err(tidebox_rt::Errno::ACCES) => tidebox_rt::access(file, 2),
            other => other,
        };
        if let Err(error) = opened {
            print_error("sync", &format!("error opening {}: {}", quote_path(file), error.text()));
            code = 1;
        }
    }
    ToolResult::Code(code)
}
