//! `unzip`: extracts files from an archive.

mod open;
mod options;
mod place;

use crate::archive::{Archive, DataError, unpack};
use crate::entry::{DEFLATED, ENCRYPTED, Entry, STORED};
use crate::pattern::Selection;
use crate::words::{Out, display, print_parts};
pub(crate) use open::open;
use options::{Mode, Options, VERSION, help, read, usage};

/// Runs the tool.
pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    if arguments.is_empty() {
        return help();
    }
    if let Some(first) = arguments.first()
        && let Some(rest) = first.strip_prefix(b"-Z")
    {
        let mut words = arguments.clone();
        words.remove(0);
        if !rest.is_empty() {
            words.insert(0, [b"-", rest].concat());
        }
        return crate::info::main(words);
    }
    let (options, words) = match read(arguments) {
        Ok(read) => read,
        Err(code) => return code,
    };
    let mut words = words.into_iter();
    let Some(file) = words.next() else {
        if options.long {
            let mut out = Out::default();
            out.put(&[VERSION.as_bytes(), b"\nThis is the unzip of Tidebox. It knows stored and deflated files.\n"]);
            return 0;
        }
        return usage();
    };
    let (names, not) = crate::info::split(words);
    let mut out = Out::default();
    let announces = options.mode != Mode::Pipe && options.quiet == 0;
    let called: &[u8] = match options.mode {
        Mode::Pipe => b"unzip -p",
        Mode::Test => b"unzip -t",
        _ => b"unzip",
    };
    let (path, archive) = match open(&file, called, &mut out, announces) {
        Ok(found) => found,
        Err(code) => return code,
    };
    let selection = Selection::new(names, not, options.ignore_case);
    let run =
        Unzip { options, archive, selection, path, out, code: 0, links: Vec::new(), folders: Vec::new(), never: false };
    run.run()
}

struct Unzip {
    options: Options,
    archive: Archive,
    selection: Selection,
    path: Vec<u8>,
    out: Out,
    code: i32,
    /// Symbolic links are created last, so that nothing is extracted through them: path, target.
    links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directories get their modes and times last.
    folders: Vec<(Vec<u8>, Option<u32>, i64)>,
    /// Confirmation is not possible, so nothing is replaced any more.
    never: bool,
}

impl Unzip {
    fn worse(&mut self, code: i32) {
        self.code = self.code.max(code);
    }

    fn run(mut self) -> i32 {
        if self.archive.extra > 0 {
            self.out.flush();
            let extra = self.archive.extra;
            let plural = if extra == 1 { "" } else { "s" };
            print_parts(&[
                b"warning [",
                &self.path,
                format!(
                    "]:  {extra} extra byte{plural} at beginning or within zipfile\n  (attempting to process anyway)\n"
                )
                .as_bytes(),
            ]);
            self.worse(1);
        }
        if self.archive.damaged && self.archive.entries.is_empty() && self.archive.end.entries > 0 {
            print_parts(&[b"error [", &self.path, b"]:  start of central directory not found;\n  zipfile corrupt.\n  \
                     (please check that you have transferred or created the zipfile in the\n  appropriate BINARY mode and \
                     that you have compiled UnZip properly)\n"]);
            return 3;
        }
        if !self.archive.end.comment.is_empty()
            && self.options.quiet == 0
            && matches!(self.options.mode, Mode::Extract | Mode::Test | Mode::List)
        {
            let comment = self.archive.end.comment.clone();
            self.out.put(&[&comment, b"\n"]);
        }
        if self.archive.entries.is_empty() {
            self.out.flush();
            print_parts(&[b"warning [", &self.path, b"]:  zipfile is empty\n"]);
            return 1;
        }
        if self.options.mode == Mode::List {
            let (long, quiet) = (self.options.long, self.options.quiet);
            let count = crate::list::list(&self.archive, &mut self.selection, long, quiet, &mut self.out);
            return if count == 0 { 11 } else { self.code };
        }
        if self.archive.overlaps() {
            self.out.flush();
            print_parts(&[b"error: invalid zip file with overlapped components (possible zip bomb)\n"]);
            return 12;
        }
        self.all()
    }

    fn all(mut self) -> i32 {
        if self.options.mode == Mode::Extract
            && let Some(folder) = self.options.folder.clone()
            && tidebox_rt::stat(&folder, true).is_err()
            && let Err(errno) = tidebox_rt::make_dir(&folder)
        {
            self.out.flush();
            print_parts(&[
                b"checkdir:  cannot create extraction directory: ",
                &folder,
                b"\n           ",
                errno.text().as_bytes(),
                b"\n",
            ]);
            return 2;
        }
        let entries = std::mem::take(&mut self.archive.entries);
        for entry in &entries {
            if !self.selection.takes(&entry.name) {
                continue;
            }
            if self.entry(entry) {
                break;
            }
        }
        self.finish();
        self.out.flush();
        let (names, not) = self.selection.unmet();
        let unmet = !names.is_empty();
        for name in &names {
            if self.options.mode == Mode::Test {
                self.out.put(&[b"caution: filename not matched:  ", name, b"\n"]);
            } else {
                print_parts(&[b"caution: filename not matched:  ", name, b"\n"]);
            }
        }
        for name in not {
            print_parts(&[b"caution: excluded filename not matched:  ", name, b"\n"]);
        }
        if self.options.mode == Mode::Test && self.options.quiet < 2 {
            let path = display(&self.path);
            if self.code == 0 && !unmet {
                let tested = if self.selection.names.is_empty() && self.selection.not.is_empty() {
                    b"No errors detected in compressed data of ".to_vec()
                } else {
                    b"No errors detected in ".to_vec()
                };
                if self.selection.names.is_empty() && self.selection.not.is_empty() {
                    self.out.put(&[&tested, &path, b".\n"]);
                } else {
                    let count = entries
                        .iter()
                        .filter(|entry| crate::pattern::any(&self.selection.names, &entry.name, false))
                        .count();
                    let files = if count == 1 { "file" } else { "files" };
                    self.out.put(&[&tested, &path, format!(" for the {count} {files} tested.\n").as_bytes()]);
                }
            } else {
                self.out.put(&[b"At least one error was detected in ", &path, b".\n"]);
            }
        }
        if unmet {
            self.code = self.code.max(11);
        }
        self.code
    }

    /// Prints the action for a file before it starts.
    fn announce(&mut self, what: &str, name: &[u8]) {
        if self.options.quiet == 0 {
            let name = display(name);
            let pad = " ".repeat(22usize.saturating_sub(name.len()));
            self.out.put(&[format!("{what:>11}: ").as_bytes(), &name, pad.as_bytes(), b"  "]);
        }
    }

    fn line_end(&mut self) {
        if self.options.quiet == 0 {
            self.out.put(&[b"\n"]);
        }
    }

    /// Extracts one file; `true` if no more can be extracted.
    fn entry(&mut self, entry: &Entry) -> bool {
        if entry.flags & ENCRYPTED != 0 {
            return self.skip(entry, "unable to get password", 5);
        }
        if !matches!(entry.method, STORED | DEFLATED) {
            return self.skip(entry, &format!("unsupported compression method {}", entry.method), 81);
        }
        let data = match self.archive.data(entry) {
            Ok(Some(data)) => data,
            Ok(None) => {
                self.out.flush();
                print_parts(&[
                    b"file #1:  bad zipfile offset (local header sig):  ",
                    entry.offset.to_string().as_bytes(),
                    b"\n",
                ]);
                self.worse(2);
                return false;
            }
            Err(errno) => {
                print_parts(&[b"unzip:  ", &self.path, b": ", errno.text().as_bytes(), b"\n"]);
                self.worse(3);
                return true;
            }
        };
        match self.options.mode {
            Mode::Pipe | Mode::Show => self.show(entry, data),
            Mode::Test => self.test(entry, data),
            _ => return self.extract(entry, data),
        }
        false
    }

    fn skip(&mut self, entry: &Entry, why: &str, code: i32) -> bool {
        let name = display(&entry.name);
        let pad = " ".repeat(22usize.saturating_sub(name.len()));
        self.out.flush();
        print_parts(&[format!("{:>11}: ", "skipping").as_bytes(), &name, format!("{pad}  {why}\n").as_bytes()]);
        self.worse(code);
        false
    }

    fn show(&mut self, entry: &Entry, data: u64) {
        if entry.is_dir() {
            return;
        }
        if self.options.mode == Mode::Show {
            self.announce(if entry.method == STORED { "extracting" } else { "inflating" }, &entry.name);
            self.line_end();
        }
        self.out.flush();
        let done = unpack(&self.archive, entry, data, &mut |bytes| tidebox_rt::write_all(1, bytes));
        self.judge(entry, &done, &entry.name.clone());
        if self.options.mode == Mode::Show {
            self.line_end();
        }
    }

    fn test(&mut self, entry: &Entry, data: u64) {
        self.announce("testing", &entry.name);
        let done = unpack(&self.archive, entry, data, &mut |_| Ok(()));
        if done.is_ok() {
            if self.options.quiet == 0 {
                self.out.put(&[b" OK\n"]);
            }
        } else {
            self.judge(entry, &done, &entry.name.clone());
        }
    }

    /// Reports an error in the data of a file.
    fn judge(&mut self, entry: &Entry, done: &Result<(), DataError>, name: &[u8]) {
        let name = display(name);
        self.out.flush();
        // If its name is not printed already, it is part of the error.
        let bare = self.options.quiet > 0 || self.options.mode == Mode::Pipe;
        match done {
            Ok(()) => {}
            Err(DataError::Sum { found }) => {
                let text = format!(" bad CRC {found:08x}  (should be {:08x})\n", entry.sum);
                let pad = " ".repeat(22usize.saturating_sub(name.len()));
                let prefix = if bare { [name.as_slice(), pad.as_bytes(), b" "].concat() } else { Vec::new() };
                if self.options.mode == Mode::Test {
                    self.out.put(&[&prefix, text.as_bytes()]);
                } else {
                    print_parts(&[&prefix, text.as_bytes()]);
                }
                self.worse(2);
            }
            Err(DataError::Data) => {
                let what: &[u8] = if bare { &name } else { b"" };
                print_parts(&[b"\n  error:  invalid compressed data to inflate ", what, b"\n"]);
                self.worse(2);
            }
            Err(DataError::Read(errno)) => {
                print_parts(&[b"\nunzip:  ", &self.path, b": ", errno.text().as_bytes(), b"\n"]);
                self.worse(3);
            }
            Err(DataError::Write(errno)) => {
                print_parts(&[b"\n", &name, b":  write error: ", errno.text().as_bytes(), b"\n"]);
                self.worse(50);
            }
        }
    }
}
