//! `script`: writes the output of a command to a log file. The command gets pipes, because the sandbox has no terminal.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::command::Command;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::strftime;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, Open};

const USAGE: &str = "
Usage:
 script [options] [file]

Log the output of a command.

Options:
";

tidebox_gnu::options! {
    /// Options of `script`.
    enum Flag {
        LogOut = "-O, --log-out <file>", "log file; the default is typescript";
        Append = "-a, --append", "append to the file";
        Command = "-c, --command <command>", "run this command instead of a shell";
        Return = "-e, --return", "exit with the code of the command";
        Flush = "-f, --flush", "flush the log after each write (always done)";
        Force = "--force", "allow the log file to be a link";
        Quiet = "-q, --quiet", "print no messages";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
        Echo = "-E, --echo=WHEN", "", unsupported "option '-E' is not supported here";
        LogIo = "-B, --log-io=FILE", "", unsupported "option '-B' is not supported here";
        LogIn = "-I, --log-in=FILE", "", unsupported "option '-I' is not supported here";
        LogTiming = "-T, --log-timing=FILE", "", unsupported "option '-T' is not supported here";
        LoggingFormat = "-m, --logging-format=NAME", "", unsupported "option '-m' is not supported here";
        OutputLimit = "-o, --output-limit=SIZE", "", unsupported "option '-o' is not supported here";
        Timing = "-t[FILE], --timing[=FILE]", "", unsupported "option '-t' is not supported here";
    }
}

const LINE: Syntax<'_, Flag> =
    Syntax { indent: 1, version: "script from util-linux 2.38.1\n", ..Syntax::new("script", USAGE, 25) };

/// Default log file.
const TYPESCRIPT: &[u8] = b"typescript";

#[derive(Default)]
struct Options {
    append: bool,
    command: Option<Vec<u8>>,
    returns: bool,
    force: bool,
    quiet: bool,
    file: Option<Vec<u8>>,
}

/// Runs `script`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options::default();
    let operands = LINE.parse::<i32>(arguments, |key, value| {
        match key {
            Flag::Append => options.append = true,
            Flag::Command => options.command = Some(value),
            Flag::Return => options.returns = true,
            Flag::Force => options.force = true,
            Flag::Quiet => options.quiet = true,
            Flag::LogOut => options.file = Some(value),
            _ => {}
        }
        Ok(())
    });
    match operands {
        Err(code) => code,
        Ok(operands) if operands.len() > 1 => LINE.usage_error("unexpected number of arguments"),
        Ok(operands) => {
            options.file = options.file.take().or_else(|| operands.into_iter().next());
            let file = options.file.clone().unwrap_or_else(|| TYPESCRIPT.to_vec());
            run(&options, &file).unwrap_or_else(|errno| {
                print_error("script", &format!("cannot open {}: {}", String::from_utf8_lossy(&file), errno.text()));
                1
            })
        }
    }
}

fn run(options: &Options, file: &[u8]) -> Result<i32, Errno> {
    let link = tidebox_rt::stat(file, false).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::Symlink);
    if options.file.is_none() && link && !options.force {
        let shown = String::from_utf8_lossy(file);
        print_error(
            "script",
            &format!(
                "output file `{shown}' is a link\nUse --force if you really want to use it.\nProgram not started."
            ),
        );
        return Ok(1);
    }
    let how = Open { write: true, create: true, append: options.append, truncate: !options.append, ..Open::default() };
    let log = tidebox_rt::open(file, how)?;
    let mut out = Output::standard();
    if !options.quiet {
        out.push(format!("Script started, output log file is '{}'.\n", String::from_utf8_lossy(file)).as_bytes());
        out.flush_now();
    }
    let command = options.command.as_deref();
    let shown = command.map_or(String::new(), |command| format!("COMMAND=\"{}\" ", String::from_utf8_lossy(command)));
    let begun = format!("Script started on {} [{shown}<not executed on terminal>]\n", now());
    tidebox_rt::write_all(log, begun.as_bytes())?;
    let shell = std::env::var_os("SHELL").map_or(b"/bin/sh".to_vec(), std::ffi::OsString::into_encoded_bytes);
    let words: Vec<&[u8]> = match command {
        Some(command) => vec![&shell, b"-c", command],
        None => vec![&shell],
    };
    let code = copy(&words, log, &mut out)?;
    let ended = format!("\nScript done on {} [COMMAND_EXIT_CODE=\"{code}\"]\n", now());
    tidebox_rt::write_all(log, ended.as_bytes())?;
    tidebox_rt::close(log)?;
    if !options.quiet {
        out.push(b"Script done.\n");
    }
    Ok(out.finish("script", if options.returns { code } else { 0 }))
}

fn now() -> String {
    let moment = Moment::local_ns(tidebox_rt::realtime_ns());
    let instant = (moment.seconds, moment.nanoseconds);
    String::from_utf8_lossy(&strftime::format(b"%F %T%:z", instant, Zone::local())).into_owned()
}

/// Runs a program and copies its output to standard output and to the log, with the line ends of a terminal.
fn copy(words: &[&[u8]], log: tidebox_rt::Fd, out: &mut Output) -> Result<i32, Errno> {
    let (read, write) = tidebox_rt::pipe()?;
    let spawned = Command { descriptors: &[(0, 0), (1, write), (2, write)], ..Command::new(words) }.spawn();
    tidebox_rt::close(write)?;
    let child = spawned?;
    let mut input = Input::of(read);
    let mut line = Vec::new();
    loop {
        let chunk = input.chunk()?;
        if chunk.is_empty() {
            break;
        }
        line.clear();
        for byte in chunk {
            if *byte == b'\n' {
                line.push(b'\r');
            }
            line.push(*byte);
        }
        let count = chunk.len();
        input.consume(count);
        out.push(&line);
        out.flush_now();
        tidebox_rt::write_all(log, &line)?;
    }
    let waited = tidebox_rt::wait(i32::try_from(child).unwrap_or(-1), true)?;
    Ok(waited.map_or(0, |waited| i32::from(waited.status.code())))
}
