//! The modes of what `cp` copies.
//!
//! WASI has no modes, so that the `cp` of uutils makes plain files of programs. What it is going to copy is found out
//! before it runs, and the modes are set afterwards: a new file gets those of its original less the umask, and with
//! `-p` or `-a` every file gets those of its original.

use std::ffi::OsString;

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_rt::{FileKind, Stat};

const SHORT: &str = "abdfHilLnpPrRsS:t:TuvxZ";

const PRESERVE: char = '\u{e001}';
const NO_PRESERVE: char = '\u{e002}';
const PARENTS: char = '\u{e003}';
const OTHER: char = '\u{e004}';
const NO_COPY: char = '\u{e005}';

const LONG: &[Long] = &[
    long("archive", Takes::Nothing, 'a'),
    long("attributes-only", Takes::Nothing, NO_COPY),
    long("backup", Takes::Maybe, OTHER),
    long("context", Takes::Maybe, OTHER),
    long("copy-contents", Takes::Nothing, OTHER),
    long("debug", Takes::Nothing, OTHER),
    long("dereference", Takes::Nothing, 'L'),
    long("force", Takes::Nothing, OTHER),
    long("help", Takes::Nothing, NO_COPY),
    long("interactive", Takes::Nothing, OTHER),
    long("link", Takes::Nothing, NO_COPY),
    long("no-clobber", Takes::Nothing, OTHER),
    long("no-dereference", Takes::Nothing, 'P'),
    long("no-preserve", Takes::Value, NO_PRESERVE),
    long("no-target-directory", Takes::Nothing, 'T'),
    long("one-file-system", Takes::Nothing, OTHER),
    long("parents", Takes::Nothing, PARENTS),
    long("preserve", Takes::Maybe, PRESERVE),
    long("progress", Takes::Nothing, OTHER),
    long("recursive", Takes::Nothing, 'R'),
    long("reflink", Takes::Maybe, OTHER),
    long("remove-destination", Takes::Nothing, OTHER),
    long("sparse", Takes::Value, OTHER),
    long("strip-trailing-slashes", Takes::Nothing, OTHER),
    long("suffix", Takes::Value, 'S'),
    long("symbolic-link", Takes::Nothing, NO_COPY),
    long("target-directory", Takes::Value, 't'),
    long("update", Takes::Maybe, OTHER),
    long("verbose", Takes::Nothing, OTHER),
    long("version", Takes::Nothing, NO_COPY),
];

/// Which modes are to be set once the files are copied.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    copies: Vec<Copy>,
    preserve: bool,
    recursive: bool,
    /// Links are copied as links, also those that are named.
    keeps_links: bool,
    /// Links are never copied as links.
    follows_links: bool,
}

#[derive(Debug)]
struct Copy {
    to: Vec<u8>,
    /// The mode of the original.
    mode: u32,
    is_folder: bool,
    /// There was such a file before.
    existed: bool,
}

impl Plan {
    /// Finds out what a command line of `cp` copies. Where it is wrong nothing is planned: `cp` is going to say so.
    pub(crate) fn new(arguments: &[OsString]) -> Self {
        let arguments = arguments.iter().skip(1).map(|argument| argument.clone().into_encoded_bytes()).collect();
        Self::read(arguments).unwrap_or_default()
    }

    fn read(arguments: Vec<Vec<u8>>) -> Option<Self> {
        let mut plan = Self::default();
        let mut operands: Vec<Vec<u8>> = Vec::new();
        let mut target: Option<Vec<u8>> = None;
        let (mut parents, mut is_name) = (false, false);
        let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
        while let Some(item) = parser.next_item().ok()? {
            let (key, value) = match item {
                Item::Operand(operand) => {
                    operands.push(operand);
                    continue;
                }
                Item::Option(key, value) => (key, value.unwrap_or_default()),
            };
            let names_mode = || value.split(|byte| *byte == b',').any(|word| word == b"mode" || word == b"all");
            match key {
                'a' => (plan.preserve, plan.recursive, plan.keeps_links) = (true, true, true),
                'p' => plan.preserve = true,
                'd' | 'P' => plan.keeps_links = true,
                'L' => plan.follows_links = true,
                'r' | 'R' => plan.recursive = true,
                't' => target = Some(value),
                'T' => is_name = true,
                PARENTS => parents = true,
                PRESERVE => plan.preserve |= value.is_empty() || names_mode(),
                NO_PRESERVE if names_mode() => return None,
                // Links share their modes.
                'l' | 's' | NO_COPY => return None,
                _ => {}
            }
        }
        let target = match target {
            Some(target) => target,
            None => operands.pop()?,
        };
        let into = !is_name && is_folder(&target);
        for from in operands {
            let to = match (into, parents) {
                (false, _) => target.clone(),
                (true, true) => join(&target, &from),
                (true, false) => join(&target, base_name(&from)),
            };
            plan.add(from, to);
        }
        Some(plan)
    }

    /// Plans a file or folder that is named.
    fn add(&mut self, from: Vec<u8>, to: Vec<u8>) {
        let follows = self.follows_links || !(self.keeps_links || self.recursive);
        let mut waiting = vec![(from, to, follows)];
        while let Some((from, to, follows)) = waiting.pop() {
            let Ok(stat) = tidebox_rt::stat(&from, follows) else {
                continue;
            };
            let is_folder = match stat.kind() {
                FileKind::Dir if self.recursive => true,
                FileKind::File => false,
                _ => continue,
            };
            if is_folder {
                for entry in tidebox_rt::read_dir(&from).unwrap_or_default() {
                    if entry.name != b"." && entry.name != b".." {
                        waiting.push((join(&from, &entry.name), join(&to, &entry.name), self.follows_links));
                    }
                }
            }
            let existed = tidebox_rt::stat(&to, true).is_ok();
            self.copies.push(Copy { to, mode: stat.mode, is_folder, existed });
        }
    }

    /// Sets the modes of what was copied.
    pub(crate) fn apply(&self) {
        let umask = tidebox_rt::umask(None).unwrap_or(0o022);
        for copy in &self.copies {
            let mode = match (self.preserve, copy.existed) {
                (true, _) => copy.mode & 0o7777,
                (false, true) => continue,
                (false, false) => copy.mode & 0o777 & !umask,
            };
            let fits = |stat: &Stat| (stat.kind() == FileKind::Dir) == copy.is_folder && stat.mode & 0o7777 != mode;
            if tidebox_rt::stat(&copy.to, true).is_ok_and(|stat| fits(&stat)) {
                // `cp` has said what there is to say about a file that it may not change.
                let _ = tidebox_rt::chmod(&copy.to, mode);
            }
        }
    }
}

fn is_folder(path: &[u8]) -> bool {
    tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir)
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if name.is_empty() || name == b"." {
        return folder.to_vec();
    }
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

fn base_name(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/").filter(|shorter| !shorter.is_empty()) {
        path = shorter;
    }
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => path.get(slash + 1..).unwrap_or_default(),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::Plan;

    /// Runs a plan around a copy that loses modes, as `cp` does it in WASI. The mode of the copy.
    fn copied(name: &str, option: &str, existed: Option<u32>) -> u32 {
        let folder = std::env::temp_dir().join(format!("tidebox-cp-{}-{name}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(&from).expect("the folder can be made");
        fs::create_dir_all(&to).expect("the folder can be made");
        let set = |path: &std::path::Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
        };
        fs::write(from.join("x"), "").expect("the file can be written");
        set(&from.join("x"), 0o775);
        if let Some(mode) = existed {
            fs::write(to.join("x"), "").expect("the file can be written");
            set(&to.join("x"), mode);
        }
        let arguments = ["cp".into(), option.into(), from.join("x").into_os_string(), to.clone().into_os_string()];
        let plan = Plan::new(&arguments);
        fs::write(to.join("x"), "").expect("the file can be written");
        if existed.is_none() {
            set(&to.join("x"), 0o644);
        }
        plan.apply();
        let mode = fs::metadata(to.join("x")).expect("the copy is there").permissions().mode() & 0o7777;
        fs::remove_dir_all(&folder).expect("the folder can be removed");
        mode
    }

    #[test]
    fn a_new_copy_gets_the_mode_of_its_original_less_the_umask() {
        let umask = tidebox_rt::umask(None).expect("there is an umask");
        assert_eq!(copied("new", "-f", None), 0o775 & !umask);
    }

    #[test]
    fn a_file_that_was_there_keeps_its_mode_unless_modes_are_preserved() {
        assert_eq!(copied("old", "-f", Some(0o600)), 0o600);
        assert_eq!(copied("preserved", "-p", Some(0o600)), 0o775);
        assert_eq!(copied("archive", "-a", Some(0o600)), 0o775);
        assert_eq!(copied("links", "-l", Some(0o600)), 0o600);
    }
}
