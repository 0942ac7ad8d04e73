//! `script`: keeps what a command prints. There is no terminal for it to print to, so that it meets pipes.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::command::Command;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::strftime;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, Open};

const HELP: &str = "
Usage:
 script [options] [file]

Keep what a command prints.

Options:
 -O, --log-out <file>    where to keep it; the default is typescript
 -a, --append            add to the file
 -c, --command <command> run this rather than a shell that reads standard input
 -e, --return            exit with the code of the command
 -f, --flush             write as it comes, which is done anyhow
     --force             write to a link, too
 -q, --quiet             say nothing at begin and end
 -h, --help              display this help
 -V, --version           display version
";

/// Where it is kept when nothing else is said.
const TYPESCRIPT: &[u8] = b"typescript";
const FORCE: char = '\u{e001}';

#[derive(Default)]
struct Options {
    append: bool,
    command: Option<Vec<u8>>,
    returns: bool,
    force: bool,
    quiet: bool,
    file: Option<Vec<u8>>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("append", Takes::Nothing, 'a'),
        long("command", Takes::Value, 'c'),
        long("echo", Takes::Value, 'E'),
        long("return", Takes::Nothing, 'e'),
        long("flush", Takes::Nothing, 'f'),
        long("force", Takes::Nothing, FORCE),
        long("log-io", Takes::Value, 'B'),
        long("log-in", Takes::Value, 'I'),
        long("log-out", Takes::Value, 'O'),
        long("log-timing", Takes::Value, 'T'),
        long("logging-format", Takes::Value, 'm'),
        long("output-limit", Takes::Value, 'o'),
        long("quiet", Takes::Nothing, 'q'),
        long("timing", Takes::Maybe, 't'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line = CommandLine {
        version: "script from util-linux 2.38.1\n",
        ..CommandLine::new("script", "ac:E:efB:I:O:T:m:o:qt::hV", &long, HELP)
    };
    let mut options = Options::default();
    let operands = line.read::<i32>(arguments, |key, value| {
        match key {
            'a' => options.append = true,
            'c' => options.command = Some(value),
            'e' => options.returns = true,
            'f' => {}
            FORCE => options.force = true,
            'q' => options.quiet = true,
            'O' => options.file = Some(value),
            other => {
                complain("script", &format!("option '-{other}' is not supported here"));
                return Err(1);
            }
        }
        Ok(())
    });
    match operands {
        Err(code) => code,
        Ok(operands) if operands.len() > 1 => line.wrong("unexpected number of arguments"),
        Ok(operands) => {
            options.file = options.file.take().or_else(|| operands.into_iter().next());
            let file = options.file.clone().unwrap_or_else(|| TYPESCRIPT.to_vec());
            run(&options, &file).unwrap_or_else(|errno| {
                complain("script", &format!("cannot open {}: {}", String::from_utf8_lossy(&file), errno.text()));
                1
            })
        }
    }
}

fn run(options: &Options, file: &[u8]) -> Result<i32, Errno> {
    let link = tidebox_rt::stat(file, false).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::Symlink);
    if options.file.is_none() && link && !options.force {
        let shown = String::from_utf8_lossy(file);
        complain(
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

/// Runs a program and writes what it prints, both to where it goes and to the log, with the line ends of a terminal.
fn copy(words: &[&[u8]], log: tidebox_rt::Fd, out: &mut Output) -> Result<i32, Errno> {
    let (read, write) = tidebox_rt::pipe()?;
    let spawned = Command { descriptors: &[(0, 0), (1, write), (2, write)], ..Command::new(words) }.spawn();
    tidebox_rt::close(write)?;
    let child = spawned?;
    let mut input = Input::of(read);
    let mut line = Vec::new();
    loop {
        let piece = input.piece()?;
        if piece.is_empty() {
            break;
        }
        line.clear();
        for byte in piece {
            if *byte == b'\n' {
                line.push(b'\r');
            }
            line.push(*byte);
        }
        let count = piece.len();
        input.take(count);
        out.push(&line);
        out.flush_now();
        tidebox_rt::write_all(log, &line)?;
    }
    let waited = tidebox_rt::wait(i32::try_from(child).unwrap_or(-1), true)?;
    Ok(waited.map_or(0, |waited| i32::from(waited.status.code())))
}
