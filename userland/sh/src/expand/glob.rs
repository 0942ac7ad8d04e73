//! Names of files from patterns.

use tidebox_rt::{self as rt, FileKind};

use crate::ir::Bytes;
use crate::pattern::{Pattern, Style};
use crate::state::{EvalResult, Shell};

/// Directories below one another that `**` walks into.
const MAX_DEPTH: u32 = 64;

/// A path that matches the components up to here.
struct Walk<'a> {
    shell: &'a Shell,
    style: Style,
    found: Vec<Bytes>,
    /// Number of components, starting at the first pattern.
    patterned: usize,
}

impl Shell {
    /// Appends the sorted names that `glob` matches, or the replacement for no match.
    pub(crate) fn expand_glob(&mut self, text: Bytes, glob: &[u8], into: &mut Vec<Bytes>) -> EvalResult {
        let style = Style { extended: self.options.extglob, fold: self.options.nocaseglob };
        let mut components: Vec<&[u8]> = glob.split(|&b| b == b'/').collect();
        let plain = components.iter().take_while(|part| !crate::pattern::is_glob(part, style.extended)).count();
        join_slashes(&mut components, plain);
        let mut walk = Walk { shell: self, style, found: Vec::new(), patterned: components.len() - plain };
        if glob.first() == Some(&b'/') {
            let rest = components.iter().position(|c| !c.is_empty()).unwrap_or(components.len());
            walk.descend(b"/", components.get(rest..).unwrap_or_default(), 0);
        } else {
            walk.descend(b"", &components, 0);
        }
        let mut found = walk.found;
        found.sort();
        if let Some(ignored) = self.vars.get(b"GLOBIGNORE").and_then(crate::vars::Var::scalar).filter(|v| !v.is_empty())
        {
            let patterns = ignored_patterns(ignored, style);
            found.retain(|path| !is_dots(path) && !patterns.iter().any(|pattern| ignores(pattern, path)));
        }
        if found.is_empty() {
            if self.options.failglob {
                let mut message = b"no match: ".to_vec();
                message.extend_from_slice(&text);
                return self.discard(message);
            }
            if !self.options.nullglob {
                into.push(text);
            }
            return Ok(());
        }
        into.extend(found);
        Ok(())
    }
}

impl Walk<'_> {
    fn descend(&mut self, base: &[u8], components: &[&[u8]], depth: u32) {
        let Some((&first, rest)) = components.split_first() else {
            self.found.push(base.to_vec());
            return;
        };
        // A backslash before the slash quotes it, which means nothing.
        let quotes = first.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1 && !rest.is_empty();
        let plain = || !crate::pattern::is_glob(first, self.style.extended);
        let first = if quotes && plain() { first.get(..first.len() - 1).unwrap_or_default() } else { first };
        if first.is_empty() {
            // A slash at the end wants a directory; doubled slashes inside are kept.
            if rest.is_empty() {
                if rt::stat(base, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
                    self.found.push(base.to_vec());
                }
            } else {
                let base = if base.is_empty() { base.to_vec() } else { [base, b"/"].concat() };
                self.descend(&base, rest, depth);
            }
            return;
        }
        if first == b"**" && self.shell.options.globstar {
            // Consecutive `**` are equivalent to one.
            let more = rest.iter().take_while(|next| **next == b"**").count();
            let rest = rest.get(more..).unwrap_or_default();
            let before = self.found.len();
            self.any_depth(base, rest, depth);
            // Then bash shows the directory itself without its slash.
            if (more > 0 || components.len() < self.patterned)
                && rest.is_empty()
                && let Some(own) = self.found.get_mut(before).filter(|own| *own == base)
            {
                own.pop();
            }
            return;
        }
        // A name without a pattern is looked up, whether or not the case matters.
        let fold = self.style.fold && !plain();
        let pattern = Pattern::new(first, Style { fold, ..self.style });
        if let Some(name) = pattern.literal() {
            let path = join(base, &name, rest.is_empty());
            if rt::stat(&path, false).is_ok() {
                self.descend(&path, rest, depth);
            }
            return;
        }
        let hidden = pattern.may_start_with_dot();
        for entry in self.list(base, hidden) {
            let dotglob = self.shell.options.dotglob && !is_dots(&entry.name);
            let matches = if !dotglob && entry.name.first() == Some(&b'.') {
                pattern.matches_hidden(&entry.name)
            } else {
                pattern.matches(&entry.name)
            };
            if matches && (rest.is_empty() || may_be_dir(entry.kind)) {
                let path = join(base, &entry.name, rest.is_empty());
                self.descend(&path, rest, depth);
            }
        }
    }

    /// `**`: this directory and all below it.
    fn any_depth(&mut self, base: &[u8], rest: &[&[u8]], depth: u32) {
        if !rest.is_empty() {
            self.descend(base, rest, depth);
        } else if !base.is_empty() {
            self.found.push(base.to_vec());
        }
        if depth >= MAX_DEPTH {
            return;
        }
        for entry in self.list(base, false) {
            if entry.kind == FileKind::Dir {
                let path = join(base, &entry.name, rest.is_empty());
                if rest.is_empty() {
                    self.found.push(path.clone());
                }
                let mut below = path;
                if below.last() != Some(&b'/') {
                    below.push(b'/');
                }
                self.any_depth_below(&below, rest, depth + 1);
            } else if rest.is_empty() {
                self.found.push(join(base, &entry.name, true));
            } else if rest.len() == 1 && rest.first().is_some_and(|last| last.is_empty()) && may_be_dir(entry.kind) {
                // A link to a directory matches, but its content does not.
                let path = join(base, &entry.name, false);
                if rt::stat(&path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
                    self.descend(&path, rest, MAX_DEPTH);
                }
            }
        }
    }

    fn any_depth_below(&mut self, base: &[u8], rest: &[&[u8]], depth: u32) {
        let before = self.found.len();
        self.any_depth(base, rest, depth);
        if rest.is_empty() {
            // The directory itself was listed by its parent, without the slash.
            let listed = self.found.get(before).is_some_and(|path| path == base);
            if listed {
                self.found.remove(before);
            }
        }
    }

    fn list(&self, base: &[u8], hidden: bool) -> Vec<rt::Entry> {
        let dir: &[u8] = if base.is_empty() { b"." } else { base };
        let mut entries = rt::read_dir(dir).unwrap_or_default();
        if hidden && !self.shell.options.globskipdots {
            for name in [&b"."[..], b".."] {
                entries.push(rt::Entry { name: name.to_vec(), kind: FileKind::Dir });
            }
        }
        entries.retain(|entry| hidden || self.shell.options.dotglob || entry.name.first() != Some(&b'.'));
        entries
    }
}

/// Merges slashes after the first pattern. Slashes before it are not changed.
fn join_slashes(components: &mut Vec<&[u8]>, first_pattern: usize) {
    let last = components.len().saturating_sub(1);
    let mut at = 0;
    components.retain(|component| {
        let stays = at <= first_pattern || at == last || !component.is_empty();
        at += 1;
        stays
    });
}

/// The patterns of `GLOBIGNORE`, between colons that are neither quoted nor within brackets.
fn ignored_patterns(text: &[u8], style: Style) -> Vec<Vec<Pattern>> {
    let of_path = |text: &[u8]| text.split(|&byte| byte == b'/').map(|part| Pattern::new(part, style)).collect();
    let mut patterns = Vec::new();
    let (mut start, mut at, mut bracket) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => bracket = text.get(at + 1..).is_some_and(|rest| rest.contains(&b']')),
            b']' => bracket = false,
            b':' if !bracket => {
                patterns.push(of_path(text.get(start..at).unwrap_or_default()));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    patterns.push(of_path(text.get(start..).unwrap_or_default()));
    patterns
}

/// Returns whether the patterns of a path's components match this path; a pattern does not match a slash.
fn ignores(patterns: &[Pattern], path: &[u8]) -> bool {
    let parts = path.split(|&byte| byte == b'/');
    parts.clone().count() == patterns.len() && parts.zip(patterns).all(|(part, pattern)| pattern.matches(part))
}

/// Returns whether a name is `.` or `..`, which `GLOBIGNORE` always omits.
fn is_dots(path: &[u8]) -> bool {
    matches!(path.rsplit(|&b| b == b'/').next(), Some(b"." | b".."))
}

fn may_be_dir(kind: FileKind) -> bool {
    matches!(kind, FileKind::Dir | FileKind::Symlink | FileKind::Unknown)
}

/// A path below `base`, with a slash at the end when more is to come.
fn join(base: &[u8], name: &[u8], last: bool) -> Bytes {
    let mut path = base.to_vec();
    path.extend_from_slice(name);
    if !last {
        path.push(b'/');
    }
    path
}
