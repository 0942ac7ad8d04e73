//! Results of a patch: new content, deleted files, and rejects.

use super::header::FoundPatch;
use super::name::{NEW, OLD};
use super::place::{Becomes, Pending};
use super::session::{Applied, Session, Subject};
use super::{Fatal, failed};

impl Session {
    /// Writes the result, and the reject file next to it.
    pub(super) fn put(&mut self, found: &FoundPatch, subject: &Subject, mut applied: Applied) -> Result<(), Fatal> {
        if !self.skips {
            if self.options.output.is_some() {
                self.put_output(&applied.content)?;
            } else {
                self.put_in_place(found, subject, &mut applied)?;
            }
        }
        self.put_rejects(subject, &applied)
    }

    fn put_output(&mut self, content: &[u8]) -> Result<(), Fatal> {
        let Some(output) = self.options.output.clone().filter(|_| !self.options.dry_run) else {
            return Ok(());
        };
        if output == b"-" {
            self.out.flush_now();
            return tidebox_rt::write_all(1, content).map_err(|errno| format!("write error : {}", errno.text()));
        }
        let begun = std::mem::replace(&mut self.output_begun, true);
        let how = tidebox_rt::Open { write: true, create: true, truncate: !begun, append: begun, ..Default::default() };
        let fd = tidebox_rt::open(&output, how).map_err(|errno| failed("Can't create file", &output, errno))?;
        let written = tidebox_rt::write_all(fd, content).and(tidebox_rt::close(fd));
        written.map_err(|errno| failed("Can't create file", &output, errno))
    }

    fn put_in_place(&mut self, found: &FoundPatch, subject: &Subject, applied: &mut Applied) -> Result<(), Fatal> {
        let Some(name) = subject.name.clone() else {
            return Ok(());
        };
        let header = &found.header;
        let failures = applied.rejects.count;
        let mut mismatch = applied.mismatch || failures > 0;
        let goes = header.absent[usize::from(!self.reverse)] == 2;
        let removes_empty = self.options.removes_empty;
        let is_empty = applied.content.is_empty();
        if is_empty && (removes_empty || goes) {
            let backup = self.backs_up(mismatch);
            return self.later(Pending::removal(subject.target.clone(), backup));
        }
        if !is_empty && goes {
            mismatch = true;
            self.failed = true;
            if !self.is_silent() {
                let shown = self.display(&subject.target);
                self.print(&format!("Not deleting file {shown} as content differs from patch\n"));
            }
        }
        let (from, to) = if self.reverse { (NEW, OLD) } else { (OLD, NEW) };
        let new_mode = header.modes.get(to).copied().filter(|mode| *mode != 0 && header.modes.get(from) != Some(mode));
        let mode = new_mode.or_else(|| subject.stat.map(|stat| stat.mode)).map(|mode| mode & 0o777);
        let backup = self.backs_up(mismatch);
        let contents = std::mem::take(&mut applied.content);
        let becomes = if header.is_link() { Becomes::Link(contents) } else { Becomes::Contents(contents) };
        let changes = failures < applied.hunks || new_mode.is_some() || header.renames || header.copies;
        if changes {
            self.later(Pending { name: subject.target.clone(), becomes, mode, backup })?;
            // If files exchange names, the old name may belong to another file already.
            let is_taken = self.pending.iter().any(|pending| pending.name == name && !pending.is_removal());
            if header.renames && subject.target != name && !is_taken {
                self.later(Pending::removal(name, backup))?;
            }
        } else if backup && (subject.stat.is_some() || applied.hunks > 0) {
            if subject.stat.is_none() {
                return Err(failed("Can't reopen file", &name, tidebox_rt::Errno::NOENT));
            }
            // No hunk matched: the file is unchanged, and its backup is a copy.
            self.later(Pending { name: subject.target.clone(), becomes, mode, backup })?;
        }
        Ok(())
    }

    fn backs_up(&self, mismatch: bool) -> bool {
        self.options.backup || self.options.backup_of_mismatch && mismatch
    }

    /// Applies an action now, or for git patches after all of them are read.
    pub(crate) fn later(&mut self, pending: Pending) -> Result<(), Fatal> {
        if self.options.dry_run {
            return Ok(());
        }
        if self.in_git {
            if pending.is_removal() {
                self.removes.push(pending.name.clone());
            } else {
                self.removes.retain(|name| *name != pending.name);
            }
            self.pending.push(pending);
            return Ok(());
        }
        self.report_removal(&pending);
        pending.place(&self.options, &mut self.backed_up)
    }

    fn report_removal(&mut self, pending: &Pending) {
        if self.is_verbose() && pending.is_removal() {
            let shown = self.display(&pending.name);
            self.print(&format!("Removing file {shown}\n"));
        }
    }

    pub(super) fn settle(&mut self) -> Result<(), Fatal> {
        self.removes.clear();
        for pending in std::mem::take(&mut self.pending) {
            self.report_removal(&pending);
            pending.place(&self.options, &mut self.backed_up)?;
        }
        Ok(())
    }

    fn put_rejects(&mut self, subject: &Subject, applied: &Applied) -> Result<(), Fatal> {
        let (count, hunks) = (applied.rejects.count, applied.hunks);
        if count == 0 {
            return Ok(());
        }
        self.failed = true;
        let what = if self.skips { "ignored" } else { "FAILED" };
        self.print(&format!("{count} out of {hunks} hunk{} {what}", if hunks == 1 { "" } else { "s" }));
        let given = self.options.rejects.clone();
        if subject.target.is_empty() || given.as_deref() == Some(b"-") || self.options.dry_run {
            self.print("\n");
            return Ok(());
        }
        let file = given.unwrap_or_else(|| [subject.target.as_slice(), b".rej"].concat());
        let shown = self.display(&file);
        self.print(&format!(" -- saving rejects to file {shown}\n"));
        let begun = self.rejected.contains(&file);
        if !begun {
            // A file of an earlier run keeps its permissions. A missing one is not an error.
            let _ = tidebox_rt::unlink(&file);
        }
        self.rejected.push(file.clone());
        let how = tidebox_rt::Open { write: true, create: true, truncate: !begun, append: begun, ..Default::default() };
        let fd = tidebox_rt::open(&file, how).map_err(|errno| failed("Can't create file", &file, errno))?;
        let written = tidebox_rt::write_all(fd, &applied.rejects.text).and(tidebox_rt::close(fd));
        written.map_err(|errno| failed("Can't create file", &file, errno))
    }
}
