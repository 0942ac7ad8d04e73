//! `chown` and `chgrp` for somebody who is not root: files stay with whom they belong to, and everything else is refused.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::usage;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::owner::{self, Owner};
use crate::{curly, quoted};

const HELP: &str = "\
Usage: TOOL [OPTION]... WHO FILE...
  or:  TOOL [OPTION]... --reference=RFILE FILE...
Changes WHO of each FILE. Nobody but root can give files away, and there is no root here.

  -c, --changes          like verbose but report only when a change is made
  -f, --silent, --quiet  suppress most error messages
  -v, --verbose          output a diagnostic for every file processed
      --dereference      affect what links lead to (default)
  -h, --no-dereference   affect links themselves
      --from=OWNER:GROUP only where this is the owner (chown)
      --preserve-root, --no-preserve-root
      --reference=RFILE  use RFILE's owner rather than naming one
  -R, --recursive        operate on files and directories recursively
  -H, -L, -P             which links to folders are followed with -R
";

const REFERENCE: char = '\u{e001}';
const FROM: char = '\u{e002}';
const PRESERVE_ROOT: char = '\u{e003}';
const NO_PRESERVE_ROOT: char = '\u{e004}';
const DEREFERENCE: char = '\u{e005}';
const HELP_KEY: char = '\u{e006}';

const LONG: &[Long] = &[
    long("changes", Takes::Nothing, 'c'),
    long("dereference", Takes::Nothing, DEREFERENCE),
    long("from", Takes::Value, FROM),
    long("no-dereference", Takes::Nothing, 'h'),
    long("no-preserve-root", Takes::Nothing, NO_PRESERVE_ROOT),
    long("preserve-root", Takes::Nothing, PRESERVE_ROOT),
    long("quiet", Takes::Nothing, 'f'),
    long("recursive", Takes::Nothing, 'R'),
    long("reference", Takes::Value, REFERENCE),
    long("silent", Takes::Nothing, 'f'),
    long("verbose", Takes::Nothing, 'v'),
    long("help", Takes::Nothing, HELP_KEY),
];

/// Folders within folders; deeper ones are told of and left alone.
const DEEPEST: usize = 1000;

struct Change {
    tool: &'static str,
    owner: Owner,
    from: Owner,
    silent: bool,
    verbose: bool,
    recursive: bool,
    follows: bool,
    preserves_root: bool,
    out: Output,
    failed: bool,
}

/// `chown`.
pub(crate) fn chown(arguments: Vec<Vec<u8>>) -> i32 {
    run("chown", arguments)
}

/// `chgrp`.
pub(crate) fn chgrp(arguments: Vec<Vec<u8>>) -> i32 {
    run("chgrp", arguments)
}

fn run(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let mut change = Change {
        tool,
        owner: Owner::default(),
        from: Owner::default(),
        silent: false,
        verbose: false,
        recursive: false,
        follows: true,
        preserves_root: false,
        out: Output::standard(),
        failed: false,
    };
    let mut reference = None;
    let long: Vec<Long> = LONG.iter().filter(|long| tool == "chown" || long.key != FROM).copied().collect();
    let who = if tool == "chown" { "[OWNER][:[GROUP]]" } else { "GROUP" };
    let help = HELP.replace("TOOL", tool).replace("WHO", who);
    let line = CommandLine::core(tool, "HLPRcfhv", &long, &help);
    let operands = line.read(arguments, |key, value| {
        match key {
            'v' => change.verbose = true,
            // Nothing ever changes, so that there is nothing to tell of changes.
            'c' => change.verbose = false,
            'f' => change.silent = true,
            'h' => change.follows = false,
            'R' => change.recursive = true,
            DEREFERENCE => change.follows = true,
            PRESERVE_ROOT => change.preserves_root = true,
            NO_PRESERVE_ROOT => change.preserves_root = false,
            REFERENCE => reference = Some(value),
            FROM => match owner::parse(&value) {
                Ok((from, _)) => change.from = from,
                Err(message) => return Err(fail(tool, &message)),
            },
            _ => {}
        }
        Ok(())
    });
    let mut operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    let wanted = if reference.is_some() { 1 } else { 2 };
    if operands.len() < wanted {
        return missing(tool, &operands);
    }
    let owner = match reference {
        Some(reference) => owner_of(tool, &reference),
        None => owner_named(tool, &operands.remove(0)),
    };
    match owner {
        Ok(owner) => change.owner = owner,
        Err(message) => return fail(tool, &message),
    }
    for file in &operands {
        change.file(file, 0);
    }
    let code = i32::from(change.failed);
    change.out.finish(tool, code)
}

fn missing(tool: &str, operands: &[Vec<u8>]) -> i32 {
    match operands.last() {
        Some(last) => usage(tool, &format!("missing operand after {}", curly(last)), 1),
        None => usage(tool, "missing operand", 1),
    }
}

/// Whom a file belongs to, as far as the tool changes that.
fn owner_of(tool: &str, reference: &[u8]) -> Result<Owner, String> {
    let stat = tidebox_rt::stat(reference, true)
        .map_err(|errno| format!("failed to get attributes of {}: {}", quoted(reference), errno.text()))?;
    Ok(Owner { user: (tool == "chown").then_some(stat.uid), group: Some(stat.gid) })
}

/// Whom a word of the command line names; it may be old-fashioned, which is told.
fn owner_named(tool: &str, word: &[u8]) -> Result<Owner, String> {
    let (owner, warning) =
        if tool == "chgrp" { owner::group(word).map(|owner| (owner, None)) } else { owner::parse(word) }?;
    warning.into_iter().for_each(|warning| complain(tool, &warning));
    Ok(owner)
}

fn fail(tool: &str, message: &str) -> i32 {
    complain(tool, message);
    1
}

impl Change {
    fn complain(&mut self, message: &str) {
        self.failed = true;
        if !self.silent {
            self.out.flush_now();
            complain(self.tool, message);
        }
    }

    fn file(&mut self, name: &[u8], depth: usize) {
        if depth == 0 && self.recursive && self.preserves_root && name.iter().all(|byte| *byte == b'/') {
            self.complain("it is dangerous to operate recursively on '/'");
            self.complain("use --no-preserve-root to override this failsafe");
            return;
        }
        let own = match tidebox_rt::stat(name, false) {
            Ok(stat) => stat,
            Err(errno) => return self.complain(&format!("cannot access {}: {}", quoted(name), errno.text())),
        };
        if self.recursive && own.kind() == FileKind::Dir {
            self.children(name, depth);
        }
        // Links below a folder are left to themselves.
        let stat = match own.kind() {
            FileKind::Symlink if self.follows && !(self.recursive && depth > 0) => match tidebox_rt::stat(name, true) {
                Ok(stat) => stat,
                Err(errno) => {
                    return self.complain(&format!("cannot dereference {}: {}", quoted(name), errno.text()));
                }
            },
            _ => own,
        };
        self.apply(name, &stat);
    }

    fn children(&mut self, name: &[u8], depth: usize) {
        if depth >= DEEPEST {
            return self.complain(&format!("cannot read directory {}: {}", quoted(name), Errno::NAMETOOLONG.text()));
        }
        match tidebox_rt::read_dir(name) {
            Ok(entries) => {
                for entry in entries {
                    let slash: &[u8] = if name.ends_with(b"/") { b"" } else { b"/" };
                    self.file(&[name, slash, &entry.name].concat(), depth + 1);
                }
            }
            Err(errno) => self.complain(&format!("cannot read directory {}: {}", quoted(name), errno.text())),
        }
    }

    fn apply(&mut self, name: &[u8], stat: &Stat) {
        let differs = self.from.user.is_some_and(|user| user != stat.uid)
            || self.from.group.is_some_and(|group| group != stat.gid);
        let what = if self.tool == "chgrp" || self.owner.user.is_none() && self.owner.group.is_some() {
            "group"
        } else {
            "ownership"
        };
        let is = self
            .described(&Owner { user: self.owner.user.map(|_| stat.uid), group: self.owner.group.map(|_| stat.gid) });
        let shown = quoted(name);
        if differs || self.owner.is_allowed(stat) {
            if self.verbose {
                let is = if is.is_empty() { String::new() } else { format!(" as {is}") };
                self.out.push(format!("{what} of {shown} retained{is}\n").as_bytes());
            }
            return;
        }
        self.complain(&format!("changing {what} of {shown}: {}", Errno::PERM.text()));
        if self.verbose {
            let wanted = self.described(&self.owner);
            self.out.push(format!("failed to change {what} of {shown} from {is} to {wanted}\n").as_bytes());
        }
    }

    fn described(&self, owner: &Owner) -> String {
        let user = owner.user.map(|user| Names::load(Kind::User).name_or_id(user));
        let group = owner.group.map(|group| Names::load(Kind::Group).name_or_id(group));
        match (user, group) {
            (Some(user), Some(group)) => format!("{user}:{group}"),
            (user, group) => user.or(group).unwrap_or_default(),
        }
    }
}
