//! `sync`: checks its operands. Files of a sandbox are in memory, so no data has to be written.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::options::Syntax;

const USAGE: &str = "\
Usage: sync [OPTION] [FILE]...
Synchronize cached writes to persistent storage

If one or more files are specified, sync only them,
or their containing file systems.

";

const NOTES: &str = "      --help        display this help and exit
      --version     output version information and exit
";

tidebox_gnu::options! {
    /// Options of `sync`.
    enum Flag {
        Data = "-d, --data", "sync only file data, no unneeded metadata";
        FileSystem = "-f, --file-system", "sync the file systems that contain the files";
    }
}

/// Runs `sync`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = Syntax { notes: NOTES, ..Syntax::core("sync", USAGE, 25) };
    let (mut data, mut file_system) = (false, false);
    let files = line.parse(arguments, |key, _| {
        match key {
            Flag::Data => data = true,
            Flag::FileSystem => file_system = true,
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
            // A file that cannot be read may be writable.
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
