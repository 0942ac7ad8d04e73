//! `chown` and `chgrp` for a user other than root: the current owner is accepted, every other one is rejected.

use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::usage;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::common::owner::{self, Owner};

const USAGE: &str = "\
Usage: TOOL [OPTION]... WHO FILE...
  or:  TOOL [OPTION]... --reference=RFILE FILE...
Changes WHO of each FILE. Only root can give files away, and no process runs as root.

";

tidebox_gnu::options! {
    /// Options of `chown`.
    enum Flag {
        Changes = "-c, --changes", "like verbose but report only when a change is made";
        Quiet = "-f, --silent, --quiet", "suppress most error messages";
        Verbose = "-v, --verbose", "output a diagnostic for every file processed";
        Dereference = "--dereference", "affect the targets of links (default)";
        NoDereference = "-h, --no-dereference", "affect links themselves";
        From = "--from=OWNER:GROUP", "change only files with this owner";
        PreserveRoot = "--preserve-root", "refuse to operate recursively on /";
        NoPreserveRoot = "--no-preserve-root", "treat / like any other directory (default)";
        Reference = "--reference=RFILE", "use RFILE's owner rather than naming one";
        Recursive = "-R, --recursive", "operate on files and directories recursively";
        FollowArguments = "-H", "with -R, follow links to directories that are operands";
        FollowAll = "-L", "with -R, follow all links to directories";
        FollowNone = "-P", "with -R, follow no links (default)";
    }
}

/// Maximum directory depth; deeper directories are reported and skipped.
const MAX_DEPTH: usize = 1000;

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

/// Runs `chown`.
pub fn chown(arguments: Vec<Vec<u8>>) -> i32 {
    run("chown", arguments)
}

/// Runs `chgrp`.
pub fn chgrp(arguments: Vec<Vec<u8>>) -> i32 {
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
    let who = if tool == "chown" { "[OWNER][:[GROUP]]" } else { "GROUP" };
    let usage = USAGE.replace("TOOL", tool).replace("WHO", who);
    let without: &[Flag] = if tool == "chown" { &[] } else { &[Flag::From] };
    let line = Syntax { without, ..Syntax::core(tool, &usage, 25) };
    let operands = line.parse(arguments, |key, value| {
        match key {
            Flag::Verbose => change.verbose = true,
            // Ownership never changes, so nothing is reported.
            Flag::Changes => change.verbose = false,
            Flag::Quiet => change.silent = true,
            Flag::NoDereference => change.follows = false,
            Flag::Recursive => change.recursive = true,
            Flag::Dereference => change.follows = true,
            Flag::PreserveRoot => change.preserves_root = true,
            Flag::NoPreserveRoot => change.preserves_root = false,
            Flag::Reference => reference = Some(value),
            Flag::From => match owner::parse(&value) {
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
        None => parse_owner(tool, &operands.remove(0)),
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
        Some(last) => usage(tool, &format!("missing operand after {}", quote_value(last)), 1),
        None => usage(tool, "missing operand", 1),
    }
}

/// Owner and group of the reference file, limited to what the tool changes.
fn owner_of(tool: &str, reference: &[u8]) -> Result<Owner, String> {
    let stat = tidebox_rt::stat(reference, true)
        .map_err(|errno| format!("failed to get attributes of {}: {}", quote_path(reference), errno.text()))?;
    Ok(Owner { user: (tool == "chown").then_some(stat.uid), group: Some(stat.gid) })
}

/// Parses the owner operand. Prints a warning about the obsolete separator.
fn parse_owner(tool: &str, operand: &[u8]) -> Result<Owner, String> {
    let (owner, warning) =
        if tool == "chgrp" { owner::group(operand).map(|owner| (owner, None)) } else { owner::parse(operand) }?;
    warning.into_iter().for_each(|warning| print_error(tool, &warning));
    Ok(owner)
}

fn fail(tool: &str, message: &str) -> i32 {
    print_error(tool, message);
    1
}

impl Change {
    fn report_error(&mut self, message: &str) {
        self.failed = true;
        if !self.silent {
            self.out.flush_now();
            print_error(self.tool, message);
        }
    }

    fn file(&mut self, name: &[u8], depth: usize) {
        if depth == 0 && self.recursive && self.preserves_root && name.iter().all(|byte| *byte == b'/') {
            self.report_error("it is dangerous to operate recursively on '/'");
            self.report_error("use --no-preserve-root to override this failsafe");
            return;
        }
        let own = match tidebox_rt::stat(name, false) {
            Ok(stat) => stat,
            Err(errno) => return self.report_error(&format!("cannot access {}: {}", quote_path(name), errno.text())),
        };
        if self.recursive && own.kind() == FileKind::Dir {
            self.children(name, depth);
        }
        // Symbolic links below a directory are not changed.
        let stat = match own.kind() {
            FileKind::Symlink if self.follows && !(self.recursive && depth > 0) => match tidebox_rt::stat(name, true) {
                Ok(stat) => stat,
                Err(errno) => {
                    return self.report_error(&format!("cannot dereference {}: {}", quote_path(name), errno.text()));
                }
            },
            _ => own,
        };
        self.apply(name, &stat);
    }

    fn children(&mut self, name: &[u8], depth: usize) {
        if depth >= MAX_DEPTH {
            return self.report_error(&format!(
                "cannot read directory {}: {}",
                quote_path(name),
                Errno::NAMETOOLONG.text()
            ));
        }
        match tidebox_rt::read_dir(name) {
            Ok(entries) => {
                for entry in entries {
                    let slash: &[u8] = if name.ends_with(b"/") { b"" } else { b"/" };
                    self.file(&[name, slash, &entry.name].concat(), depth + 1);
                }
            }
            Err(errno) => self.report_error(&format!("cannot read directory {}: {}", quote_path(name), errno.text())),
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
        let shown = quote_path(name);
        if differs || self.owner.is_allowed(stat) {
            if self.verbose {
                let is = if is.is_empty() { String::new() } else { format!(" as {is}") };
                self.out.push(format!("{what} of {shown} retained{is}\n").as_bytes());
            }
            return;
        }
        self.report_error(&format!("changing {what} of {shown}: {}", Errno::PERM.text()));
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
