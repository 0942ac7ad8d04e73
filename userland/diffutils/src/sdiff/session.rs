//! Interactive merge, with a choice at each difference.

use tidebox_gnu::command::Command;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, read_all, write_file};
use tidebox_rt::{Errno, ExitStatus, Fd, FileKind, Open};

use super::TROUBLE;
use crate::columns::{Columns, part};
use crate::diff::joined;
use crate::file::File;
use crate::options::parse;
use crate::output::Output;
use crate::script::{Change, Script};
use crate::{DIFFERENT, Failure};

const CHOICES: &str = "\
ed:\tEdit then use both versions, each decorated with a header.
eb:\tEdit then use both versions.
el or e1:\tEdit then use the left version.
er or e2:\tEdit then use the right version.
e:\tDiscard both versions then edit a new one.
l or 1:\tUse the left version.
r or 2:\tUse the right version.
s:\tSilently include common lines.
v:\tVerbosely include common lines.
q:\tQuit.";

/// Merges both files into `target`, prompting on standard output and reading from standard input.
pub(super) fn merge(target: &[u8], mut line: Vec<Vec<u8>>, names: Vec<Vec<u8>>) -> Result<i32, Failure> {
    if names.iter().any(|name| name == b"-") {
        return Err(Failure::Other("cannot interactively merge standard input".to_owned()));
    }
    let names = resolved(names)?;
    let texts = names.iter().map(|name| load(name)).collect::<Result<Vec<_>, _>>()?;
    let create = Open { write: true, create: true, truncate: true, ..Open::default() };
    let file = tidebox_rt::open(target, create).map_err(|errno| unreachable_file(target, errno))?;
    line.push(b"--".to_vec());
    line.extend(names.iter().cloned());
    let options = match parse(line) {
        Ok((options, _)) => options,
        Err(failure) => {
            tidebox_gnu::exit::IntoExitCode::into_exit_code(failure, "diff");
            return Err(Failure::Other("subsidiary program 'diff' failed (exit status 2)".to_owned()));
        }
    };
    let [old, new] = texts.as_slice() else {
        return Ok(TROUBLE);
    };
    let script = Script::new(old, new, &options.rules);
    let mut layout = options.layout;
    layout.suppress_common = false;
    let session = Session {
        columns: Columns::new(&layout),
        script: &script,
        names: &names,
        target: target.to_vec(),
        file,
        answers: Input::standard(),
        shows_common: true,
        output: Output::default(),
    };
    session.run()
}

/// A directory means the file in it with the other's name.
fn resolved(mut names: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Failure> {
    let mut folders = Vec::new();
    for name in &names {
        let stat = tidebox_rt::stat(name, true).map_err(|errno| unreachable_file(name, errno))?;
        folders.push(stat.kind() == FileKind::Dir);
    }
    let base = |name: &[u8]| name.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    match (folders.as_slice(), names.as_mut_slice()) {
        ([true, true], _) => Err(Failure::Other("both files to be compared are directories".to_owned())),
        ([true, false], [folder, file]) | ([false, true], [file, folder]) => {
            *folder = joined(folder, &base(file));
            Ok(names)
        }
        _ => Ok(names),
    }
}

fn load(name: &[u8]) -> Result<Vec<u8>, Failure> {
    File::open(name).and_then(|file| file.load()).map_err(|errno| unreachable_file(name, errno))
}

fn unreachable_file(name: &[u8], errno: Errno) -> Failure {
    Failure::Other(format!("{}: {}", String::from_utf8_lossy(name), errno.text()))
}

struct Session<'a> {
    columns: Columns<'a>,
    script: &'a Script<'a>,
    names: &'a [Vec<u8>],
    target: Vec<u8>,
    file: Fd,
    answers: Input,
    shows_common: bool,
    output: Output,
}

impl Session<'_> {
    fn run(mut self) -> Result<i32, Failure> {
        let script = self.script;
        let (mut old, mut new) = (0, 0);
        let mut code = 0;
        for change in script.counted() {
            self.common(old..change.old.start, new..change.new.start)?;
            (old, new) = (change.old.end, change.new.end);
            code = DIFFERENT;
            self.columns.change(script, change, &mut self.output)?;
            if !self.choose(change)? {
                return Ok(TROUBLE);
            }
        }
        self.common(old..script.old.len(), new..script.new.len())?;
        self.output.flush()?;
        Ok(code)
    }

    fn common(&mut self, old: std::ops::Range<usize>, new: std::ops::Range<usize>) -> Result<(), Failure> {
        if self.shows_common {
            self.columns.common(self.script, old.clone(), new, &mut self.output)?;
        }
        self.take(part(&self.script.old, &old))
    }

    /// Writes lines into the merged file.
    fn take(&self, lines: &[&[u8]]) -> Result<(), Failure> {
        self.write(&lines.concat())
    }

    fn write(&self, text: &[u8]) -> Result<(), Failure> {
        tidebox_rt::write_all(self.file, text).map_err(|errno| unreachable_file(&self.target, errno))
    }

    /// Prompts until there is a valid response; false at the end of the input.
    fn choose(&mut self, change: &Change) -> Result<bool, Failure> {
        let (left, right) = (part(&self.script.old, &change.old), part(&self.script.new, &change.new));
        let mut answer = Vec::new();
        loop {
            self.output.put(b"%")?;
            self.output.flush()?;
            let more = self.answers.line(b'\n', &mut answer);
            if !more.map_err(|errno| unreachable_file(b"-", errno))? {
                return Ok(false);
            }
            match answer.trim_ascii() {
                b"q" => return Ok(false),
                b"s" => self.shows_common = false,
                b"v" => self.shows_common = true,
                b"l" | b"1" => return self.take(left).map(|()| true),
                b"r" | b"2" => return self.take(right).map(|()| true),
                b"e" => return self.edit(Vec::new()),
                b"eb" => return self.edit([left.concat(), right.concat()].concat()),
                b"ed" => {
                    let left = headed("---", self.names.first(), &change.old, left);
                    let right = headed("+++", self.names.get(1), &change.new, right);
                    return self.edit([left, right].concat());
                }
                b"el" | b"e1" => return self.edit(left.concat()),
                b"er" | b"e2" => return self.edit(right.concat()),
                _ => {
                    self.output.flush()?;
                    tidebox_gnu::eprint_line!("{CHOICES}");
                }
            }
        }
    }

    /// Appends the result of an editor run on a text.
    fn edit(&self, text: Vec<u8>) -> Result<bool, Failure> {
        let folder = std::env::var_os("TMPDIR").map_or_else(|| b"/tmp".to_vec(), |value| value.into_encoded_bytes());
        let mut random = [0; 8];
        tidebox_rt::random(&mut random).map_err(|errno| unreachable_file(&folder, errno))?;
        let name = [&folder[..], format!("/sdiff{:016x}", u64::from_le_bytes(random)).as_bytes()].concat();
        let failed = |errno| unreachable_file(&name, errno);
        write_file(&name, &text).map_err(failed)?;
        let editor = std::env::var_os("EDITOR").map_or_else(|| b"ed".to_vec(), |value| value.into_encoded_bytes());
        let ended = Command::new(&[&editor, &name]).run();
        let edited = read_all(&name);
        // The editor may have removed the file already.
        let _ = tidebox_rt::unlink(&name);
        let shown = String::from_utf8_lossy(&editor).into_owned();
        match ended {
            Ok(ExitStatus::Exited(0)) => {}
            Ok(status) => {
                let code = status.code();
                return Err(Failure::Other(format!("subsidiary program '{shown}' failed (exit status {code})")));
            }
            Err(_) => return Err(Failure::Other(format!("subsidiary program '{shown}' not found"))),
        }
        self.write(&edited.map_err(failed)?)?;
        Ok(true)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if tidebox_rt::close(self.file).is_err() {
            print_error("sdiff", &format!("{}: it could not be closed", String::from_utf8_lossy(&self.target)));
        }
    }
}

/// Prints lines after the name of their file; nothing without lines.
fn headed(mark: &str, name: Option<&Vec<u8>>, range: &std::ops::Range<usize>, lines: &[&[u8]]) -> Vec<u8> {
    let place = match lines.len() {
        0 => return Vec::new(),
        1 => range.end.to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    };
    let name = name.map_or(&b""[..], Vec::as_slice);
    [mark.as_bytes(), b" ", name, format!(" {place}\n").as_bytes(), &lines.concat()].concat()
}
