//! `unzip`: takes files out of an archive.

use tidebox_rt::{Errno, Fd, FileKind, Open, Time};

use crate::archive::{Archive, Broken, NoArchive, unpack};
use crate::entry::{DEFLATED, ENCRYPTED, Entry, STORED};
use crate::pattern::Wanted;
use crate::words::{Out, shown, tell};

const VERSION: &str = "UnZip 6.00 of 20 April 2009, by Debian. Original by Info-ZIP.\n";

const USAGE: &str = "
Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir;
  file[.zip] may be a wildcard.  -Z => ZipInfo mode (\"unzip -Z\" for usage).

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -z  display archive comment only
  -v  list verbosely/show version info       -T  timestamp archive to latest
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
modifiers:
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -a  auto-convert any text files
  -j  junk paths (do not make directories)   -aa treat ALL files as text
  -U  use escapes for all non-ASCII Unicode  -UU ignore any Unicode fields
  -C  match filenames case-insensitively     -L  make (some) names lowercase
  -X  restore UID/GID info                   -V  retain VMS version numbers
  -K  keep setuid/setgid/tacky permissions   -M  pipe through \"more\" pager
See \"unzip -hh\" or unzip.txt for more help.  Examples:
  unzip data1 -x joe   => extract all files except joe from zipfile data1.zip
  unzip -p foo | more  => send contents of foo.zip via pipe into program more
  unzip -fo foo ReadMe => quietly replace existing ReadMe if archive file newer
";

/// What is done with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Extract,
    /// Their bytes go to standard output, each under its name.
    Show,
    /// Their bytes go to standard output and nothing else does.
    Pipe,
    Test,
    List,
    Comment,
}

#[derive(Debug)]
struct Options {
    mode: Mode,
    long: bool,
    quiet: u8,
    overwrite: bool,
    never: bool,
    junk: bool,
    update: bool,
    freshen: bool,
    ignore_case: bool,
    lower: bool,
    keep_special: bool,
    keep_dots: bool,
    no_times: u8,
    text: u8,
    folder: Option<Vec<u8>>,
}

fn usage() -> i32 {
    tell(&[VERSION.as_bytes(), USAGE.as_bytes()]);
    10
}

fn help() -> i32 {
    Out::default().put(&[VERSION.as_bytes(), USAGE.as_bytes()]);
    0
}

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
    let tells = options.mode != Mode::Pipe && options.quiet == 0;
    let called: &[u8] = match options.mode {
        Mode::Pipe => b"unzip -p",
        Mode::Test => b"unzip -t",
        _ => b"unzip",
    };
    let (path, archive) = match open(&file, called, &mut out, tells) {
        Ok(found) => found,
        Err(code) => return code,
    };
    let wanted = Wanted::new(names, not, options.ignore_case);
    let run =
        Unzip { options, archive, wanted, path, out, code: 0, links: Vec::new(), folders: Vec::new(), never: false };
    run.run()
}

/// Reads the words: what is asked for, and the names. Options may stand between the names, too.
fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), i32> {
    let mut options = Options {
        mode: Mode::Extract,
        long: false,
        quiet: 0,
        overwrite: false,
        never: false,
        junk: false,
        update: false,
        freshen: false,
        ignore_case: false,
        lower: false,
        keep_special: false,
        keep_dots: false,
        no_times: 0,
        text: 0,
        folder: None,
    };
    let mut names = Vec::new();
    let mut words = arguments.into_iter();
    let mut excluding = false;
    while let Some(word) = words.next() {
        if word == b"-x" && !names.is_empty() {
            excluding = true;
            names.push(word);
            continue;
        }
        if word == b"--" {
            names.extend(words.by_ref());
            break;
        }
        if word.len() < 2 || word.first() != Some(&b'-') || (excluding && !word.starts_with(b"-d")) {
            names.push(word);
            continue;
        }
        let letters = word.get(1..).unwrap_or_default();
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'c' => options.mode = Mode::Show,
                b'p' => options.mode = Mode::Pipe,
                b't' => options.mode = Mode::Test,
                b'l' => options.mode = Mode::List,
                b'z' => options.mode = Mode::Comment,
                b'v' => options.long = true,
                b'q' => options.quiet = options.quiet.saturating_add(1),
                b'o' => options.overwrite = true,
                b'n' => options.never = true,
                b'j' => options.junk = true,
                b'u' => options.update = true,
                b'f' => (options.freshen, options.update) = (true, true),
                b'C' => options.ignore_case = true,
                b'L' => options.lower = true,
                b'K' => options.keep_special = true,
                b':' => options.keep_dots = true,
                b'D' => options.no_times = options.no_times.saturating_add(1),
                b'a' => options.text = options.text.saturating_add(1),
                // Owners cannot be restored, names are shown as they are, and there is no pager and no VMS.
                b'X' | b'U' | b'M' | b'V' | b'b' | b's' | b'^' | b'W' => {}
                b'd' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    let folder = if attached.is_empty() { words.next() } else { Some(attached.to_vec()) };
                    let Some(folder) = folder else {
                        tell(&[b"error:  must specify directory to which to extract with -d option\n"]);
                        return Err(10);
                    };
                    options.folder = Some(folder);
                    break;
                }
                b'h' => return Err(help()),
                b'P' | b'T' | b'O' | b'I' => {
                    tell(&[b"unzip:  option -", &[*letter], b" is not supported by this unzip\n"]);
                    return Err(10);
                }
                b'-' => return Err(usage()),
                _ => return Err(usage()),
            }
        }
    }
    if options.long && options.mode == Mode::Extract {
        options.mode = if names.is_empty() { Mode::Extract } else { Mode::List };
    }
    if options.overwrite && options.never {
        tell(&[b"caution:  both -n and -o specified; ignoring -o\n"]);
        options.overwrite = false;
    }
    Ok((options, names))
}

/// Opens an archive by its name, or by that with `.zip` behind it.
pub(crate) fn open(file: &[u8], tool: &[u8], out: &mut Out, tells: bool) -> Result<(Vec<u8>, Archive), i32> {
    let tries = [file.to_vec(), [file, b".zip"].concat(), [file, b".ZIP"].concat()];
    let mut why = None;
    for path in tries {
        match Archive::open(&path) {
            Ok(archive) => {
                if tells {
                    out.put(&[b"Archive:  ", &shown(&path), b"\n"]);
                }
                out.flush();
                return Ok((path, archive));
            }
            Err(NoArchive::System(Errno::NOENT)) => {}
            Err(other) => {
                why = Some((path, other));
                break;
            }
        }
    }
    let Some((path, why)) = why else {
        if tool == b"zipinfo" {
            out.put(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
            return Err(9);
        }
        if tool == b"unzip -p" {
            return Err(9);
        }
        tell(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
        return Err(9);
    };
    match why {
        NoArchive::System(errno) => {
            tell(&[b"error:  cannot open zipfile [ ", &path, b" ]\n        ", errno.text().as_bytes(), b"\n"]);
            tell(&[tool, b":  cannot find or open ", file, b", ", file, b".zip or ", file, b".ZIP.\n"]);
            return Err(9);
        }
        NoArchive::TooLarge => {
            tell(&[tool, b":  the directory of ", &path, b" is larger than 64 MiB\n"]);
            return Err(4);
        }
        NoArchive::NoEnd | NoArchive::Empty => {}
    }
    let head = if tells { [b"Archive:  ".as_slice(), &path, b"\n"].concat() } else { Vec::new() };
    out.put(&[&head]);
    out.flush();
    let bracket = if tool == b"zipinfo" || !tells { [b"[".as_slice(), &path, b"]\n"].concat() } else { Vec::new() };
    let tests = tool == b"unzip -t";
    let tool: &[u8] = if tool.starts_with(b"unzip") { b"unzip" } else { tool };
    let text = [
        bracket.as_slice(),
        b"  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one \
          disk of a multi-part archive.  In the\n  latter case the central directory and zipfile comment will be found \
          on\n  the last disk(s) of this archive.\n",
        tool,
        b":  cannot find zipfile directory in one of ",
        &path,
        b" or\n        ",
        &path,
        b".zip, and cannot find ",
        &path,
        b".ZIP, period.\n",
    ];
    // What a test has to say is its output.
    if tests {
        out.put(&text);
    } else {
        tell(&text);
    }
    Err(9)
}

struct Unzip {
    options: Options,
    archive: Archive,
    wanted: Wanted,
    path: Vec<u8>,
    out: Out,
    code: i32,
    /// Symbolic links are made last, so that nothing is unpacked through them: place, target.
    links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Folders get their modes and times last.
    folders: Vec<(Vec<u8>, Option<u32>, i64)>,
    /// Nobody answers, so that nothing is replaced any more.
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
            tell(&[
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
            tell(&[b"error [", &self.path, b"]:  start of central directory not found;\n  zipfile corrupt.\n  \
                     (please check that you have transferred or created the zipfile in the\n  appropriate BINARY mode and \
                     that you have compiled UnZip properly)\n"]);
            return 3;
        }
        if !self.archive.end.comment.is_empty()
            && self.options.quiet == 0
            && matches!(self.options.mode, Mode::Extract | Mode::Test | Mode::List | Mode::Comment)
        {
            let comment = self.archive.end.comment.clone();
            self.out.put(&[&comment, b"\n"]);
        }
        if self.options.mode == Mode::Comment {
            return self.code;
        }
        if self.archive.entries.is_empty() {
            self.out.flush();
            tell(&[b"warning [", &self.path, b"]:  zipfile is empty\n"]);
            return 1;
        }
        if self.options.mode == Mode::List {
            let (long, quiet) = (self.options.long, self.options.quiet);
            let count = crate::list::list(&self.archive, &mut self.wanted, long, quiet, &mut self.out);
            return if count == 0 { 11 } else { self.code };
        }
        if self.archive.overlaps() {
            self.out.flush();
            tell(&[b"error: invalid zip file with overlapped components (possible zip bomb)\n"]);
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
            tell(&[
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
            if !self.wanted.takes(&entry.name) {
                continue;
            }
            if self.entry(entry) {
                break;
            }
        }
        self.finish();
        self.out.flush();
        let (names, not) = self.wanted.unmet();
        let unmet = !names.is_empty();
        for name in &names {
            if self.options.mode == Mode::Test {
                self.out.put(&[b"caution: filename not matched:  ", name, b"\n"]);
            } else {
                tell(&[b"caution: filename not matched:  ", name, b"\n"]);
            }
        }
        for name in not {
            tell(&[b"caution: excluded filename not matched:  ", name, b"\n"]);
        }
        if self.options.mode == Mode::Test && self.options.quiet < 2 {
            let path = shown(&self.path);
            if self.code == 0 && !unmet {
                let tested = if self.wanted.names.is_empty() && self.wanted.not.is_empty() {
                    b"No errors detected in compressed data of ".to_vec()
                } else {
                    b"No errors detected in ".to_vec()
                };
                if self.wanted.names.is_empty() && self.wanted.not.is_empty() {
                    self.out.put(&[&tested, &path, b".\n"]);
                } else {
                    let count = entries
                        .iter()
                        .filter(|entry| crate::pattern::any(&self.wanted.names, &entry.name, false))
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

    /// Says what is done with a file, before it is.
    fn announce(&mut self, what: &str, name: &[u8]) {
        if self.options.quiet == 0 {
            let name = shown(name);
            let pad = " ".repeat(22usize.saturating_sub(name.len()));
            self.out.put(&[format!("{what:>11}: ").as_bytes(), &name, pad.as_bytes(), b"  "]);
        }
    }

    fn line_end(&mut self) {
        if self.options.quiet == 0 {
            self.out.put(&[b"\n"]);
        }
    }

    /// Takes one file; `true` when no more can be taken.
    fn entry(&mut self, entry: &Entry) -> bool {
        if entry.flags & ENCRYPTED != 0 {
            self.out.flush();
            tell(&[
                format!("{:>11}: ", "skipping").as_bytes(),
                &shown(&entry.name),
                " ".repeat(22usize.saturating_sub(entry.name.len())).as_bytes(),
                b"  unable to get password\n",
            ]);
            self.worse(5);
            return false;
        }
        if !matches!(entry.method, STORED | DEFLATED) {
            self.out.flush();
            let pad = " ".repeat(22usize.saturating_sub(entry.name.len()));
            let text = format!("  unsupported compression method {}\n", entry.method);
            tell(&[format!("{:>11}: ", "skipping").as_bytes(), &shown(&entry.name), pad.as_bytes(), text.as_bytes()]);
            self.worse(81);
            return false;
        }
        let data = match self.archive.data(entry) {
            Ok(Some(data)) => data,
            Ok(None) => {
                self.out.flush();
                tell(&[
                    b"file #1:  bad zipfile offset (local header sig):  ",
                    entry.offset.to_string().as_bytes(),
                    b"\n",
                ]);
                self.worse(2);
                return false;
            }
            Err(errno) => {
                tell(&[b"unzip:  ", &self.path, b": ", errno.text().as_bytes(), b"\n"]);
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

    /// Says what is wrong with the bytes of a file.
    fn judge(&mut self, entry: &Entry, done: &Result<(), Broken>, name: &[u8]) {
        let name = shown(name);
        self.out.flush();
        // Where its name is not in front already, it is said with what is wrong.
        let bare = self.options.quiet > 0 || self.options.mode == Mode::Pipe;
        match done {
            Ok(()) => {}
            Err(Broken::Sum { found }) => {
                let text = format!(" bad CRC {found:08x}  (should be {:08x})\n", entry.sum);
                let pad = " ".repeat(22usize.saturating_sub(name.len()));
                let prefix = if bare { [name.as_slice(), pad.as_bytes(), b" "].concat() } else { Vec::new() };
                if self.options.mode == Mode::Test {
                    self.out.put(&[&prefix, text.as_bytes()]);
                } else {
                    tell(&[&prefix, text.as_bytes()]);
                }
                self.worse(2);
            }
            Err(Broken::Data) => {
                let what: &[u8] = if bare { &name } else { b"" };
                if what.is_empty() {
                    tell(&[b"\n  error:  invalid compressed data to inflate\n"]);
                } else {
                    tell(&[b"  error:  invalid compressed data to inflate ", what, b"\n"]);
                }
                self.worse(2);
            }
            Err(Broken::Ended) => {
                tell(&[b"\n  error:  invalid compressed data to inflate ", &name, b"\n"]);
                self.worse(3);
            }
            Err(Broken::Read(errno)) => {
                tell(&[b"\nunzip:  ", &self.path, b": ", errno.text().as_bytes(), b"\n"]);
                self.worse(3);
            }
            Err(Broken::Write(Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
                tell(&[
                    b"\n",
                    &name,
                    b":  write error (disk full?).  Continue? (y/n/^C) \nwarning:  ",
                    &name,
                    b" is probably truncated\n",
                ]);
                self.worse(50);
            }
            Err(Broken::Write(errno)) => {
                tell(&[b"\n", &name, b":  write error: ", errno.text().as_bytes(), b"\n"]);
                self.worse(50);
            }
        }
    }

    /// The place of a file: below the folder, and not led out of it by its name.
    fn place(&mut self, entry: &Entry) -> Option<Vec<u8>> {
        let mut name = entry.name.as_slice();
        if self.options.junk {
            name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        }
        if name.starts_with(b"/") {
            self.out.flush();
            tell(&[b"warning:  stripped absolute path spec from ", &shown(&entry.name), b"\n"]);
            self.worse(1);
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut led_up = false;
        for part in name.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if !self.options.keep_dots => led_up = true,
                part => parts.push(part),
            }
        }
        if led_up {
            if self.options.quiet == 0 {
                self.out.put(&[b"warning:  skipped \"../\" path component(s) in ", &shown(&entry.name), b"\n"]);
            }
            self.worse(1);
        }
        if parts.is_empty() {
            return None;
        }
        let mut place = parts.join(&b'/');
        if self.options.lower && entry.made_by >> 8 == 0 {
            place.make_ascii_lowercase();
        }
        Some(match &self.options.folder {
            Some(folder) => {
                let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
                [folder, slash, &place].concat()
            }
            None => place,
        })
    }

    fn extract(&mut self, entry: &Entry, data: u64) -> bool {
        if entry.is_dir() {
            if !self.options.junk {
                self.folder(entry);
            }
            return false;
        }
        let Some(place) = self.place(entry) else {
            return false;
        };
        if !self.make_parents(&place) {
            self.worse(2);
            return false;
        }
        if !self.may_replace(entry, &place) {
            return false;
        }
        self.write(entry, data, &place)
    }

    fn folder(&mut self, entry: &Entry) {
        let Some(place) = self.place(entry) else {
            return;
        };
        if self.options.freshen {
            return;
        }
        if tidebox_rt::stat(&place, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
            return;
        }
        if !self.make_parents(&place) {
            self.worse(2);
            return;
        }
        match tidebox_rt::make_dir(&place) {
            Ok(()) => {
                if self.options.quiet == 0 {
                    self.out.put(&[format!("{:>11}: ", "creating").as_bytes(), &shown(&place), b"/\n"]);
                }
                self.folders.push((place, entry.mode(), entry.seconds()));
            }
            Err(errno) => {
                self.out.flush();
                tell(&[
                    b"checkdir error:  cannot create ",
                    &place,
                    b"\n                 ",
                    errno.text().as_bytes(),
                    b"\n                 unable to process ",
                    &shown(&entry.name),
                    b".\n",
                ]);
                self.worse(2);
            }
        }
    }

    /// Makes the folders that a place lacks.
    fn make_parents(&mut self, place: &[u8]) -> bool {
        for at in (1..place.len()).filter(|at| place.get(*at) == Some(&b'/')) {
            let folder = place.get(..at).unwrap_or_default();
            match tidebox_rt::stat(folder, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => {}
                Ok(_) => {
                    self.out.flush();
                    tell(&[
                        b"checkdir error:  ",
                        folder,
                        b" exists but is not directory\n                 unable to process ",
                        place,
                        b".\n",
                    ]);
                    return false;
                }
                Err(_) => {
                    if let Err(errno) = tidebox_rt::make_dir(folder) {
                        self.out.flush();
                        tell(&[
                            b"checkdir error:  cannot create ",
                            folder,
                            b"\n                 ",
                            errno.text().as_bytes(),
                            b"\n                 unable to process ",
                            place,
                            b".\n",
                        ]);
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Whether the file at a place may be replaced. Nobody can be asked.
    fn may_replace(&mut self, entry: &Entry, place: &[u8]) -> bool {
        let there = match tidebox_rt::stat(place, false) {
            Ok(there) => there,
            Err(_) => return !self.options.freshen,
        };
        if self.options.update {
            let seconds = i64::try_from(there.mtime_ns / 1_000_000_000).unwrap_or(i64::MAX);
            if seconds >= entry.seconds() {
                return false;
            }
        }
        let linked = there.kind() == FileKind::Symlink;
        if linked && !self.options.overwrite {
            self.out.put(&[&shown(place), b" exists and is a symbolic link.\n"]);
        }
        if self.options.never || (self.never && !linked) {
            return false;
        }
        if !self.options.overwrite {
            self.out.flush();
            tell(&[
                b"replace ",
                &shown(place),
                b"? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n(EOF or read error, treating as \"[N]one\" ...)\n",
            ]);
            self.never = true;
            self.worse(1);
            return false;
        }
        if there.kind() != FileKind::Dir
            && let Err(errno) = tidebox_rt::unlink(place)
        {
            self.out.flush();
            tell(&[b"error:  cannot delete old ", &shown(place), b"\n        ", errno.text().as_bytes(), b"\n"]);
            self.worse(50);
            return false;
        }
        true
    }

    fn write(&mut self, entry: &Entry, data: u64, place: &[u8]) -> bool {
        if entry.is_link() {
            return self.link(entry, data, place);
        }
        let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
        let fd = match tidebox_rt::open(place, how) {
            Ok(fd) => fd,
            Err(errno) => {
                self.out.flush();
                tell(&[b"error:  cannot create ", &shown(place), b"\n        ", errno.text().as_bytes(), b"\n"]);
                self.worse(50);
                return false;
            }
        };
        let as_text = self.options.text > 1 || self.options.text == 1 && entry.internal & 1 == 1;
        let what = match (entry.method, as_text) {
            (STORED, _) => "extracting",
            _ => "inflating",
        };
        self.announce(what, place);
        let done = self.bytes(entry, data, fd, as_text);
        let closed = tidebox_rt::close(fd);
        if done.is_ok() && as_text && entry.method == DEFLATED && self.options.quiet == 0 {
            self.out.put(&[b" [text]  "]);
        }
        if done.is_err() {
            self.judge(entry, &done, place);
        } else {
            self.line_end();
        }
        if let (Ok(()), Err(errno)) = (&done, closed) {
            tell(&[&shown(place), b":  ", errno.text().as_bytes(), b"\n"]);
            self.worse(50);
        }
        self.attributes(entry, place);
        matches!(done, Err(Broken::Write(_)))
    }

    fn bytes(&self, entry: &Entry, data: u64, fd: Fd, as_text: bool) -> Result<(), Broken> {
        unpack(&self.archive, entry, data, &mut |bytes| {
            if as_text {
                // Lines that end as in DOS end as in Unix.
                let plain: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'\r').collect();
                tidebox_rt::write_all(fd, &plain)
            } else {
                tidebox_rt::write_all(fd, bytes)
            }
        })
    }

    fn attributes(&mut self, entry: &Entry, place: &[u8]) {
        if let Some(mode) = entry.mode() {
            let kept = if self.options.keep_special { 0o7777 } else { 0o777 };
            let umask = tidebox_rt::umask(None).unwrap_or(0o022);
            // The file is there; its mode is a matter of its owner, who just made it.
            let _ = tidebox_rt::chmod(place, mode & kept & !umask);
        }
        if self.options.no_times < 2 {
            let ns = u64::try_from(entry.seconds()).unwrap_or(0).saturating_mul(1_000_000_000);
            let _ = tidebox_rt::set_times(place, true, Time::At(ns), Time::At(ns));
        }
    }

    fn link(&mut self, entry: &Entry, data: u64, place: &[u8]) -> bool {
        let mut target = Vec::new();
        if entry.size > 65_536 {
            self.out.flush();
            tell(&[b"warning:  symbolic link (", &shown(place), b") failed\n"]);
            self.worse(1);
            return false;
        }
        let done = unpack(&self.archive, entry, data, &mut |bytes| {
            target.extend_from_slice(bytes);
            Ok(())
        });
        if done.is_err() {
            self.judge(entry, &done, place);
            return false;
        }
        if self.options.quiet == 0 {
            let pad = " ".repeat(22usize.saturating_sub(place.len()));
            self.out.put(&[
                format!("{:>11}: ", "linking").as_bytes(),
                &shown(place),
                pad.as_bytes(),
                b"  -> ",
                &shown(&target),
                b" \n",
            ]);
        }
        self.links.push((place.to_vec(), target));
        false
    }

    /// Makes the links that were put off, and gives folders their modes and times.
    fn finish(&mut self) {
        let links = std::mem::take(&mut self.links);
        if !links.is_empty() && self.options.quiet == 0 {
            self.out.put(&[b"finishing deferred symbolic links:\n"]);
        }
        for (place, target) in links {
            if self.options.quiet == 0 {
                let pad = " ".repeat(22usize.saturating_sub(place.len()));
                self.out.put(&[b"  ", &shown(&place), pad.as_bytes(), b" -> ", &shown(&target), b"\n"]);
            }
            if let Err(errno) = tidebox_rt::symlink(&target, &place) {
                self.out.flush();
                tell(&[b"symlink error: ", errno.text().as_bytes(), b"\n"]);
            }
        }
        for (place, mode, seconds) in std::mem::take(&mut self.folders).into_iter().rev() {
            if self.options.no_times == 0 {
                let ns = u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000);
                let _ = tidebox_rt::set_times(&place, true, Time::At(ns), Time::At(ns));
            }
            if let Some(mode) = mode {
                let umask = tidebox_rt::umask(None).unwrap_or(0o022);
                let _ = tidebox_rt::chmod(&place, mode & 0o777 & !umask);
            }
        }
    }
}
