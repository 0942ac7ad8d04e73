//! Checks of a patch before its hunks are applied.

use super::super::header::Found;
use super::super::lines::Lines;
use super::super::options::ReadOnly;
use super::super::place::read_or_empty;
use super::super::read::Style;
use super::super::{Fatal, failed};
use super::{Session, Subject};

impl Session {
    /// Prints the text before the patch if the file cannot be determined.
    pub(super) fn introduce(&mut self, lines: &Lines, from: usize, found: &Found, has_file: bool) {
        if !self.is_silent() {
            if found.packing.indent > 0 {
                let indent = found.packing.indent;
                self.say(&format!("(Patch is indented {indent} space{}.)\n", if indent == 1 { "" } else { "s" }));
            }
            if found.packing.strip_returns {
                self.say("(Stripping trailing CRs from patch; use --binary to disable.)\n");
            }
            if !has_file && !self.skips {
                let hint = if self.options.strip.is_none() { "should have used the" } else { "used the wrong" };
                let line = found.start + 1;
                self.say(&format!("can't find file to patch at input line {line}\n"));
                if found.style != Style::Ed && found.style != Style::Normal {
                    self.say(&format!("Perhaps you {hint} -p or --strip option?\n"));
                }
            }
        }
        if (self.is_verbose() || !has_file && !self.skips) && from < found.start {
            self.say("The text leading up to this was:\n--------------------------\n");
            for at in from..found.start {
                let line = lines.get(at).unwrap_or_default();
                self.out.push(b"|");
                self.out.push(line);
                if !line.ends_with(b"\n") {
                    self.out.push(b"\n");
                }
            }
            self.say("--------------------------\n");
        }
    }

    pub(super) fn skip_without_file(&mut self) {
        if self.skips {
            return;
        }
        self.skips = true;
        if self.options.force || self.options.batch {
            self.say("No file to patch.  Skipping patch.\n");
            return;
        }
        self.ask("File to patch: ");
        self.ask("Skip this patch? [y] ");
        if !self.is_silent() {
            self.say("Skipping patch.\n");
        }
    }

    /// Checks whether the file may be patched.
    pub(super) fn check(&mut self, found: &Found, subject: &Subject) -> Result<(), Fatal> {
        let (Some(name), false) = (&subject.name, self.skips) else {
            return Ok(());
        };
        let as_link = found.header.is_link();
        if !self.is_patchable(name, subject.stat, as_link) {
            self.skips = true;
            return Ok(());
        }
        let is_closed = !as_link && subject.stat.is_some() && tidebox_rt::access(name, 2).is_err();
        if is_closed && self.options.read_only != ReadOnly::Ignore {
            let shown = self.shown(name);
            let warns = self.options.read_only == ReadOnly::Warn;
            let then = if warns { "trying to patch anyway" } else { "refusing to patch" };
            self.say(&format!("File {shown} is read-only; {then}\n"));
            self.skips = !warns;
            self.failed |= !warns;
        }
        self.check_prerequisite(found, name)
    }

    pub(super) fn check_prerequisite(&mut self, found: &Found, name: &[u8]) -> Result<(), Fatal> {
        let Some(wanted) = &found.header.prerequisite else {
            return Ok(());
        };
        let content = read_or_empty(name).map_err(|errno| failed("Can't open file", name, errno))?;
        if content.split(u8::is_ascii_whitespace).any(|word| word == wanted.as_slice()) {
            if self.is_verbose() {
                self.say(&format!("Good.  This file appears to be the {} version.\n", String::from_utf8_lossy(wanted)));
            }
            return Ok(());
        }
        let wanted = String::from_utf8_lossy(wanted).into_owned();
        if self.options.force {
            if !self.is_silent() {
                self.say(&format!(
                    "Warning: this file doesn't appear to be the {wanted} version -- patching anyway.\n"
                ));
            }
            return Ok(());
        }
        if self.options.batch {
            return Err(format!("This file doesn't appear to be the {wanted} version -- aborting."));
        }
        self.ask(&format!("This file doesn't appear to be the {wanted} version -- patch anyway? [n] "));
        Err("aborted".to_owned())
    }

    pub(super) fn announce(&mut self, found: &Found, subject: &Subject) {
        if self.skips || self.is_silent() {
            return;
        }
        let does = if self.options.dry_run { "checking" } else { "patching" };
        let kind = if found.header.is_link() { "symbolic link" } else { "file" };
        let mut line = format!("{does} {kind} {}", self.shown(&subject.target));
        if let Some(name) = subject.name.as_ref().filter(|name| **name != subject.target) {
            let how = match (found.header.copies, found.header.renames) {
                (true, _) => "copied",
                (_, true) => "renamed",
                _ => "read",
            };
            line.push_str(&format!(" ({how} from {})", String::from_utf8_lossy(name)));
        }
        if let Some(before) = &subject.before {
            line.push_str(&format!(" (already renamed from {})", String::from_utf8_lossy(before)));
        }
        self.say(&(line + "\n"));
        if self.is_verbose() {
            self.say("Using Plan A...\n");
        }
    }
}
