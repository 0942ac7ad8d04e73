//! The command line of `zip`, with its own syntax: lists of patterns follow some options.

use crate::pattern;
use crate::words::Out;

/// Operation on the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Update,
    Freshen,
    Delete,
    Sync,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) action: Action,
    pub(crate) archive: Vec<u8>,
    pub(crate) files: Vec<Vec<u8>>,
    /// The options as given, for a hint.
    pub(crate) given: Vec<u8>,
    pub(crate) recursive: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) junk: bool,
    pub(crate) links: bool,
    pub(crate) no_folders: bool,
    pub(crate) move_files: bool,
    pub(crate) test: bool,
    pub(crate) from_stdin: bool,
    /// Write no extra fields.
    pub(crate) plain: bool,
    pub(crate) level: u32,
    pub(crate) exclude: Vec<Vec<u8>>,
    pub(crate) include: Vec<Vec<u8>>,
}

impl Options {
    pub(crate) fn to_stdout(&self) -> bool {
        self.archive == b"-"
    }

    /// Returns whether the include and exclude patterns select a name.
    pub(crate) fn keeps(&self, name: &[u8]) -> bool {
        (self.include.is_empty() || pattern::any(&self.include, name, false))
            && !pattern::any(&self.exclude, name, false)
    }
}

const HELP: &str = "\
Copyright (c) 1990-2008 Info-ZIP - Type 'zip \"-L\"' for software license.
Zip 3.0 (July 5th 2008). Usage:
zip [-options] [-b path] [-t mmddyyyy] [-n suffixes] [zipfile list] [-xi list]
  The default action is to add or replace zipfile entries from list, which
  can include the special name - to compress standard input.
  If zipfile and list are omitted, zip compresses stdin to stdout.
  -f   freshen: only changed files  -u   update: only changed or new files
  -d   delete entries in zipfile    -m   move into zipfile (delete OS files)
  -r   recurse into directories     -j   junk (don't record) directory names
  -0   store only                   -1   compress faster    -9   compress better
  -q   quiet operation              -v   verbose operation
  -@   read names from stdin
  -x   exclude the following names  -i   include only the following names
  -D   do not add directory entries -T   test zipfile integrity
  -X   eXclude eXtra file attributes
  -y   store symbolic links as the link instead of the referenced file
  -h   show this help
";

/// Long names of short options.
const LONG: &[(&str, &str)] = &[
    ("recurse-paths", "r"),
    ("quiet", "q"),
    ("junk-paths", "j"),
    ("exclude", "x"),
    ("include", "i"),
    ("update", "u"),
    ("freshen", "f"),
    ("delete", "d"),
    ("move", "m"),
    ("symlinks", "y"),
    ("no-dir-entries", "D"),
    ("no-extra", "X"),
    ("test", "T"),
    ("verbose", "v"),
    ("names-stdin", "@"),
    ("filesync", "FS"),
    ("grow", "g"),
    ("encrypt", "e"),
    ("password", "P"),
    ("help", "h"),
    ("store", "0"),
];

/// Reads the patterns after `-x` and `-i`. The first is always a pattern; if it is in the same argument, it is the only one.
fn patterns(
    letter: u8,
    attached: &[u8],
    words: &mut std::iter::Peekable<std::vec::IntoIter<Vec<u8>>>,
    list: &mut Vec<Vec<u8>>,
) -> Result<(), i32> {
    if !attached.is_empty() {
        return add_pattern(attached.to_vec(), list);
    }
    let Some(first) = words.next() else {
        let what = if letter == b'x' { "exclude" } else { "include only" };
        let letter = char::from(letter);
        return Err(invalid(&format!("option '{letter}' ({what} files matching patterns) requires a value")));
    };
    add_pattern(first, list)?;
    while let Some(word) = words.next_if(|word| word != b"@" && word.first() != Some(&b'-')) {
        add_pattern(word, list)?;
    }
    words.next_if(|word| word == b"@");
    Ok(())
}

/// Adds a pattern; a file of patterns is refused.
fn add_pattern(word: Vec<u8>, list: &mut Vec<Vec<u8>>) -> Result<(), i32> {
    let Some(file) = word.strip_prefix(b"@") else {
        list.push(word);
        return Ok(());
    };
    let reason = if file.is_empty() { "missing file after @" } else { "pattern files (@FILE) are not supported" };
    Err(invalid(reason))
}

pub(crate) fn invalid(message: &str) -> i32 {
    Out::default().put(&[b"\nzip error: Invalid command arguments (", message.as_bytes(), b")\n"]);
    16
}

/// Parses the arguments.
pub(crate) fn read(arguments: Vec<Vec<u8>>) -> Result<Options, i32> {
    let given: Vec<Vec<u8>> =
        arguments.iter().filter(|word| word.starts_with(b"-") && word.len() > 1).cloned().collect();
    let given = given.join(&b' ');
    let mut options = Options {
        action: Action::Add,
        archive: Vec::new(),
        files: Vec::new(),
        given,
        recursive: false,
        quiet: false,
        verbose: false,
        junk: false,
        links: false,
        no_folders: false,
        move_files: false,
        test: false,
        from_stdin: false,
        plain: false,
        level: 6,
        exclude: Vec::new(),
        include: Vec::new(),
    };
    let mut names = Vec::new();
    let mut words = arguments.into_iter().peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        if ended || word.len() < 2 || word.first() != Some(&b'-') {
            names.push(word);
            continue;
        }
        if word == b"--" {
            ended = true;
            continue;
        }
        let letters = match word.strip_prefix(b"--") {
            Some(long) => {
                let text = String::from_utf8_lossy(long).into_owned();
                let found = LONG.iter().find(|(name, _)| *name == text);
                let Some((_, letters)) = found else {
                    return Err(invalid(&format!("long option '{text}' not supported")));
                };
                letters.as_bytes().to_vec()
            }
            None => word.get(1..).unwrap_or_default().to_vec(),
        };
        options.letters(&letters, &mut words)?;
    }
    options.finish(names)
}

impl Options {
    fn letters(
        &mut self,
        letters: &[u8],
        words: &mut std::iter::Peekable<std::vec::IntoIter<Vec<u8>>>,
    ) -> Result<(), i32> {
        let mut rest = letters;
        while let Some((letter, after)) = rest.split_first() {
            rest = after;
            match (letter, after.first()) {
                (b'F', Some(b'S')) => (self.action, rest) = (Action::Sync, after.get(1..).unwrap_or_default()),
                (b'r', _) => self.recursive = true,
                (b'q', _) => self.quiet = true,
                (b'v', _) => self.verbose = true,
                (b'j', _) => self.junk = true,
                (b'u', _) => self.action = Action::Update,
                (b'f', _) => self.action = Action::Freshen,
                (b'd', _) => self.action = Action::Delete,
                (b'm', _) => self.move_files = true,
                (b'y', _) => self.links = true,
                (b'D', _) => self.no_folders = true,
                (b'X', _) => self.plain = true,
                (b'T', _) => self.test = true,
                (b'@', _) => self.from_stdin = true,
                // No effect: Info-ZIP grows the archive file directly, which is not visible; hidden files are always included.
                (b'g' | b'S', _) => {}
                (b'0'..=b'9', _) => self.level = u32::from(letter - b'0'),
                (b'x' | b'i', _) => {
                    let list = if *letter == b'x' { &mut self.exclude } else { &mut self.include };
                    return patterns(*letter, rest, words, list);
                }
                // A password needs a terminal, which is never available.
                (b'e', _) => return Err(invalid("stderr is not a tty")),
                (b'P', _) => return Err(invalid("encryption is not supported by this zip")),
                (b'h' | b'?' | b'H', _) => {
                    Out::default().put(&[HELP.as_bytes()]);
                    return Err(0);
                }
                (b'L', _) => {
                    Out::default()
                        .put(&[b"This zip is a part of Tidebox, under the terms of MIT or Apache-2.0, as you like.\n"]);
                    return Err(0);
                }
                (other, _) if b"AabBcEFIJklMnNoORstUVwWzZ$!".contains(other) => {
                    return Err(invalid(&format!("option '{}' is not supported by this zip", char::from(*other))));
                }
                (other, _) => return Err(invalid(&format!("short option '{}' not supported", char::from(*other)))),
            }
        }
        Ok(())
    }

    fn finish(mut self, names: Vec<Vec<u8>>) -> Result<Self, i32> {
        let mut names = names.into_iter();
        match names.next() {
            Some(archive) => self.archive = archive,
            None if self.verbose => {
                Out::default().put(&[b"This is Zip 3.0 (July 5th 2008), by Info-ZIP, as Tidebox has it.\n"]);
                return Err(0);
            }
            None => {
                // Standard input into an archive on standard output.
                self.archive = b"-".to_vec();
                self.files = vec![b"-".to_vec()];
                return Ok(self);
            }
        }
        if self.archive != b"-" {
            let last = self.archive.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if !last.contains(&b'.') {
                self.archive.extend_from_slice(b".zip");
            }
        }
        self.files = names.collect();
        if self.from_stdin {
            let text = tidebox_gnu::stream::read_all(b"-").unwrap_or_default();
            self.files.extend(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
        }
        Ok(self)
    }
}
