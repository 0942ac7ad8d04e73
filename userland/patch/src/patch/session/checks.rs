//! Checks of a patch before its hunks are applied.

use super::super::header::FoundPatch;
use super::super::lines::Lines;
use super::super::read::Style;
use super::{Session, Subject};

impl Session {
    /// Prints the text before the patch if the file cannot be determined.
    pub(super) fn introduce(&mut self, lines: &Lines, from: usize, found: &FoundPatch, has_file: bool) {
        if !self.is_silent() {
            if found.packing.indent > 0 {
                let indent = found.packing.indent;
                self.print(&format!("(Patch is indented {indent} space{}.)\n", if indent == 1 { "" } else { "s" }));
            }
            if found.packing.strip_returns {
                self.print("(Stripping trailing CRs from patch; use --binary to disable.)\n");
            }
            if !has_file && !self.skips {
                let hint = if self.options.strip.is_none() { "should have used the" } else { "used the wrong" };
                let line = found.start + 1;
                self.print(&format!("can't find file to patch at input line {line}\n"));
                if found.style != Style::Normal {
                    self.print(&format!("Perhaps you {hint} -p or --strip option?\n"));
                }
            }
        }
        if (self.is_verbose() || !has_file && !self.skips) && from < found.start {
            self.print("The text leading up to this was:\n--------------------------\n");
            for at in from..found.start {
                let line = lines.get(at).unwrap_or_default();
                self.out.push(b"|");
                self.out.push(line);
                if !line.ends_with(b"\n") {
                    self.out.push(b"\n");
                }
            }
            self.print("--------------------------\n");
        }
    }

    pub(super) fn skip_without_file(&mut self) {
        if self.skips {
            return;
        }
        self.skips = true;
        if self.options.force || self.options.batch {
            self.print("No file to patch.  Skipping patch.\n");
            return;
        }
        self.ask("File to patch: ");
        self.ask("Skip this patch? [y] ");
        if !self.is_silent() {
            self.print("Skipping patch.\n");
        }
    }

    /// Checks whether the file may be patched.
    pub(super) fn check(&mut self, found: &FoundPatch, subject: &Subject) {
        let (Some(name), false) = (&subject.name, self.skips) else {
            return;
        };
        let as_link = found.header.is_link();
        if !self.is_patchable(name, subject.stat, as_link) {
            self.skips = true;
            return;
        }
        let is_closed = !as_link && subject.stat.is_some() && tidebox_rt::access(name, 2).is_err();
        if is_closed {
            let name = self.display(name);
            self.print(&format!("File {name} is read-only; trying to patch anyway\n"));
        }
    }

    pub(super) fn announce(&mut self, found: &FoundPatch, subject: &Subject) {
        if self.skips || self.is_silent() {
            return;
        }
        let does = if self.options.dry_run { "checking" } else { "patching" };
        let kind = if found.header.is_link() { "symbolic link" } else { "file" };
        let mut line = format!("{does} {kind} {}", self.display(&subject.target));
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
        self.print(&(line + "\n"));
        if self.is_verbose() {
            self.print("Using Plan A...\n");
        }
    }
}
