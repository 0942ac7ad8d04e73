//! One run of `patch`: patch after patch, file after file.

mod checks;

use tidebox_gnu::stream::Output;
use tidebox_rt::Stat;

use super::apply::Work;
use super::choose::target;
use super::header::{FoundPatch, Header, Search};
use super::hunk::Hunk;
use super::lines::Lines;
use super::locate::{Position, split};
use super::name::Named;
use super::options::{Options, Verbosity};
use super::place::{Pending, read_or_empty};
use super::read::{Reader, Style};
use super::reject::Rejects;
use super::{Fatal, failed};

pub(crate) struct Session {
    pub(crate) options: Options,
    pub(crate) out: Output,
    lines: std::rc::Rc<Lines>,
    /// Apply the current patch in reverse.
    pub(crate) reverse: bool,
    /// Skip the rest of the current patch.
    pub(super) skips: bool,
    /// Response to «Apply anyway?».
    applies_anyway: bool,
    /// Set if any hunk or file failed.
    pub(crate) failed: bool,
    /// Changes of git patches are applied after the last of them is read, because each refers to the initial state.
    pub(super) pending: Vec<Pending>,
    /// Files to be removed.
    pub(crate) removes: Vec<Vec<u8>>,
    pub(super) backed_up: Vec<Vec<u8>>,
    /// Reject files created by this run; later patches to the same file append to them.
    pub(super) rejected: Vec<Vec<u8>>,
    pub(super) in_git: bool,
    reported_cut: bool,
    /// Content of the file of `-o` until now; later patches append to it.
    pub(super) output_begun: bool,
}

/// Results of the hunks of one file.
pub(super) struct Applied {
    pub(super) content: Vec<u8>,
    pub(super) hunks: usize,
    pub(super) rejects: Rejects,
    /// A hunk matched with an offset or fuzz.
    pub(super) mismatch: bool,
    pub(super) end: usize,
}

/// The file to patch.
pub(super) struct Subject {
    pub(super) name: Option<Vec<u8>>,
    pub(super) stat: Option<Stat>,
    /// Output path.
    pub(super) target: Vec<u8>,
    /// Its name before an earlier rename.
    before: Option<Vec<u8>>,
}

impl Session {
    pub(crate) fn new(options: Options, text: Vec<u8>) -> Self {
        Self {
            reverse: options.reverse,
            out: if options.output.as_deref() == Some(b"-") { Output::to(2) } else { Output::standard() },
            options,
            lines: std::rc::Rc::new(Lines::new(text)),
            skips: false,
            applies_anyway: false,
            failed: false,
            pending: Vec::new(),
            removes: Vec::new(),
            backed_up: Vec::new(),
            rejected: Vec::new(),
            in_git: false,
            reported_cut: false,
            output_begun: false,
        }
    }

    pub(crate) fn print(&mut self, text: &str) {
        self.out.push(text.as_bytes());
    }

    pub(super) fn is_silent(&self) -> bool {
        self.options.verbosity == Verbosity::Silent
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.options.verbosity == Verbosity::Verbose
    }

    /// Formats a name for messages.
    pub(crate) fn display(&self, name: &[u8]) -> String {
        tidebox_gnu::message::display_name(name).into_owned()
    }

    /// Resolves a question without a prompt: no terminal is available, so the response is an empty line.
    fn ask(&mut self, question: &str) {
        self.print(question);
        self.print("\n");
    }

    /// Returns whether to apply in reverse, by option or question.
    pub(crate) fn agrees_to_reverse(&mut self, question: &str) -> bool {
        if self.options.forward || !(self.options.force && self.is_silent()) {
            self.print(question);
        }
        if self.options.forward {
            self.print("  Skipping patch.\n");
            self.skips = true;
        } else if self.options.force {
            if !self.is_silent() {
                self.print("  Applying it anyway.\n");
            }
        } else if self.options.batch {
            self.print(if self.reverse { "  Ignoring -R.\n" } else { "  Assuming -R.\n" });
            return true;
        } else {
            self.ask(if self.reverse { "  Ignore -R? [n] " } else { "  Assume -R? [n] " });
            self.ask("Apply anyway? [n] ");
            if !self.is_silent() {
                self.print("Skipping patch.\n");
            }
            self.skips = true;
        }
        false
    }

    pub(crate) fn run(&mut self) -> Result<(), Fatal> {
        let lines = std::rc::Rc::clone(&self.lines);
        let mut at = 0;
        if lines.len() == 0 && self.options.output.is_some() && self.options.file.is_some() {
            // A patch without changes is still a copy.
            self.patch(&lines, 0, FoundPatch::of_no_hunks())?;
            return Ok(());
        }
        while let Some(found) = self.next_patch(&lines, at)? {
            let end = self.patch(&lines, at, found)?;
            if end <= at {
                return Err("Only garbage was found in the patch input.".to_owned());
            }
            at = end;
            self.reverse = self.options.reverse;
            (self.skips, self.applies_anyway) = (false, false);
        }
        Ok(())
    }

    fn next_patch(&mut self, lines: &Lines, at: usize) -> Result<Option<FoundPatch>, Fatal> {
        if at > 0 && at >= lines.len() {
            if self.is_verbose() {
                self.print("done\n");
            }
            return Ok(None);
        }
        if self.is_verbose() {
            self.print("Hmm...");
        }
        let search = Search {
            strip: self.options.strip,
            style: self.options.style,
            needs_header: self.options.file.is_none() && !matches!(self.options.style, Some(Style::Normal)),
            binary: self.options.binary,
        };
        let found = search.find(lines, at);
        match &found {
            None => {
                if self.is_verbose() {
                    let garbage = "  Ignoring the trailing garbage.\ndone\n";
                    self.print(if at > 0 { garbage } else { "  I can't seem to find a patch in there anywhere.\n" });
                }
                if at == 0 && lines.len() > 0 {
                    return Err("Only garbage was found in the patch input.".to_owned());
                }
            }
            Some(found) if self.is_verbose() => {
                let looks = if at == 0 { "L" } else { "The next patch l" };
                self.print(&format!("  {looks}ooks like {} to me...\n", found.style.name()));
            }
            Some(_) => {}
        }
        Ok(found)
    }

    /// Processes one patch and returns the line after it.
    fn patch(&mut self, lines: &Lines, from: usize, mut found: FoundPatch) -> Result<usize, Fatal> {
        if self.in_git != found.header.git {
            self.settle()?;
            self.in_git = found.header.git;
        } else if self.goes_on(&found.header) {
            self.settle()?;
        }
        let choice = self.choose(&mut found.header);
        // A patch skipped before its file is opened leaves no rejects.
        let unseen = self.skips;
        self.introduce(lines, from, &found, choice.name.is_some());
        if choice.name.is_none() {
            self.skip_without_file();
        }
        let target = match (&self.options.output, &choice.name) {
            _ if unseen => Vec::new(),
            (Some(output), _) => output.clone(),
            (None, Some(name)) => target(&found.header, self.reverse, name),
            (None, None) => Vec::new(),
        };
        let subject = Subject { name: choice.name, stat: choice.stat, target, before: choice.before };
        self.check(&found, &subject);
        if found.style == Style::GitBinary && !self.skips {
            let shown = self.display(&subject.target);
            self.print(&format!("File {shown}: git binary diffs are not supported.\n"));
            self.failed = true;
            self.skips = true;
        }
        self.announce(&found, &subject);
        let applied = self.hunks(lines, &found, &subject)?;
        let end = applied.end;
        if found.style != Style::GitBinary {
            self.put(&found, &subject, applied)?;
        }
        Ok(end)
    }

    /// Returns whether the patch applies to the result of an earlier git patch, as in consecutive commits. Renames and copies use
    /// the initial state.
    fn goes_on(&self, header: &Header) -> bool {
        let is_pending = |file: &Named| self.pending.iter().any(|pending| Some(&pending.name) == file.name.as_ref());
        !header.renames && !header.copies && header.files.iter().any(is_pending)
    }

    fn hunks(&mut self, lines: &Lines, found: &FoundPatch, subject: &Subject) -> Result<Applied, Fatal> {
        let name = subject.name.as_deref().unwrap_or_default();
        let text = if self.skips || subject.stat.is_none() {
            Vec::new()
        } else {
            let read = if found.header.is_link() { tidebox_rt::read_link(name) } else { read_or_empty(name) };
            read.map_err(|errno| failed("Can't open file", name, errno))?
        };
        let mut reader = Reader { lines, style: found.style, packing: found.packing, at: found.start, cut: false };
        let mut work = Work::new(split(&text));
        let unified = self.options.reject_unified.unwrap_or(found.style == Style::Unified);
        let mut rejects = Rejects::new(found.style, unified);
        let (mut offset, mut mismatch, mut hunks) = (0, false, 0);
        while let Some(hunk) = reader.next_hunk()? {
            if reader.cut && !self.reported_cut {
                self.reported_cut = true;
                if !self.is_silent() {
                    self.print("patch unexpectedly ends in middle of line\n");
                }
            }
            hunks += 1;
            let mut place =
                Position { input: &work.input, frozen: as_i64(work.frozen), offset, loosely: self.options.loosely };
            let (at, fuzz, hunk) = self.find(&place, hunk, hunks == 1, &mut mismatch);
            let grown = work.grown;
            // An existing file that should not exist, but is not empty, is not extended.
            let made_twice = found.header.absent[usize::from(self.reverse)] == 2 && !text.is_empty();
            match at.filter(|at| !self.skips && (*at != 1 || !made_twice)) {
                Some(at) => {
                    let moved = at - (hunk.old_first + offset);
                    offset += moved;
                    work.apply(&hunk, at);
                    self.succeeded(hunks, at + grown, fuzz, offset);
                }
                None => {
                    rejects.add(&hunk, &found.header.files, self.reverse, grown);
                    place.offset = 0;
                    let guess = at.unwrap_or(hunk.old_first) + grown;
                    let ends = !self.skips && place.differs_in_line_ends(&hunk, guess);
                    self.missed(hunks, guess, ends);
                }
            }
        }
        Ok(Applied { content: work.finish(), hunks, rejects, mismatch, end: reader.at })
    }

    /// Finds the position of a hunk with increasing fuzz; the first hunk may show that the patch is reversed.
    fn find(&mut self, place: &Position<'_>, hunk: Hunk, first: bool, mismatch: &mut bool) -> (Option<i64>, i64, Hunk) {
        let mut hunk = if self.reverse { hunk.reversed() } else { hunk };
        let (prefix, suffix) = hunk.contexts();
        let most = self.options.fuzz.min(prefix.max(suffix));
        let mut fuzz = 0;
        while !self.skips {
            let at = place.locate(&hunk, fuzz);
            *mismatch |= at != Some(hunk.old_first) || fuzz > 0;
            if at.is_some() {
                return (at, fuzz, hunk);
            }
            if first && !self.options.force && !self.applies_anyway && self.reverse == self.options.reverse {
                let other = hunk.reversed();
                let at = place.locate(&other, fuzz);
                let what = if self.reverse { "Unreversed" } else { "Reversed (or previously applied)" };
                if at.is_some() && self.agrees_to_reverse(&format!("{what} patch detected!")) {
                    self.reverse = !self.reverse;
                    hunk = other;
                    return (at, fuzz, hunk);
                }
            }
            if fuzz >= most {
                break;
            }
            fuzz += 1;
        }
        (None, fuzz, hunk)
    }

    fn succeeded(&mut self, number: usize, at: i64, fuzz: i64, offset: i64) {
        if !self.is_verbose() && (self.is_silent() || fuzz == 0 && offset == 0) {
            return;
        }
        let mut line = format!("Hunk #{number} succeeded at {at}");
        if fuzz > 0 {
            line.push_str(&format!(" with fuzz {fuzz}"));
        }
        if offset != 0 {
            line.push_str(&format!(" (offset {offset} line{})", if offset == 1 { "" } else { "s" }));
        }
        self.print(&(line + ".\n"));
    }

    fn missed(&mut self, number: usize, at: i64, line_ends: bool) {
        if self.is_verbose() || !self.skips && !self.is_silent() {
            let what = if self.skips { "ignored" } else { "FAILED" };
            let ends = if line_ends { " (different line endings)" } else { "" };
            self.print(&format!("Hunk #{number} {what} at {at}{ends}.\n"));
        }
    }
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
