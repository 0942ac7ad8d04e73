//! What is where a copy goes, and making room there.

use tidebox_gnu::message::{complain, quoted};
use tidebox_rt::{Errno, FileKind, Stat};

use super::{Copier, Existing, Follow};
use crate::ask::{self, question};
use crate::same_file::{Manner, Verdict, judge};
use crate::say;
use crate::target::{base_name, folder_of};

impl Copier<'_> {
    /// What a copy finds in its place, if anything; `None` when it must not be written there.
    pub(super) fn what_is_there(&self, from: &[u8], to: &[u8], kind: FileKind) -> Option<Option<Stat>> {
        let options = self.options;
        let refuse = |message: String| {
            self.fail(&message);
            None
        };
        let looks_through = kind != FileKind::Symlink && !options.remove_destination && !options.symbolic_link;
        let through_link = looks_through && !options.backup.is_wanted();
        let there = match tidebox_rt::stat(to, through_link) {
            // With force a link that leads in a circle is removed when it cannot be opened.
            Err(error) if error == Errno::ACCES || (error == Errno::LOOP && !options.force) => {
                return refuse(format!("cannot stat {}: {}", quoted(to), error.text()));
            }
            other => other,
        };
        let dangles = there.is_err_and(|error| error == Errno::NOENT);
        let link = tidebox_rt::stat(to, false).ok().filter(|stat| stat.kind() == FileKind::Symlink);
        if let (Some(link), true) = (&link, through_link && kind != FileKind::Dir) {
            if self.made.contains_key(&(link.dev, link.ino)) {
                let names = (quoted(from), quoted(to));
                return refuse(format!("will not copy {} through just-created symlink {}", names.0, names.1));
            }
            let strict = !tidebox_rt::environ().iter().any(|entry| entry.starts_with(b"POSIXLY_CORRECT="));
            if dangles && strict && !options.hard_link {
                return refuse(format!("not writing through dangling symlink {}", quoted(to)));
            }
        }
        Some(there.ok())
    }

    fn manner(&self, follow: bool) -> Manner {
        let options = self.options;
        Manner {
            follow,
            moves: false,
            backup: options.backup.is_wanted(),
            // What is no copy cannot be written over what is there.
            removes: options.remove_destination || (options.force && (options.hard_link || options.symbolic_link)),
            hard_link: options.hard_link,
            symbolic_link: options.symbolic_link,
        }
    }

    /// Makes room for a copy where there is something: whether to go on; `None` when it failed.
    pub(super) fn clear(
        &mut self,
        (from, follow): (&[u8], bool),
        to: &[u8],
        stat: &Stat,
        there: &Stat,
        saved: &mut Option<Vec<u8>>,
    ) -> Option<bool> {
        let options = self.options;
        let failed = |message: String| {
            complain(options.tool, &message);
            None
        };
        if stat.kind() != FileKind::Dir && options.existing != Existing::Keep {
            match judge(from, to, self.manner(follow)) {
                Verdict::Replace => {}
                Verdict::Done => return Some(false),
                Verdict::Refuse => return failed(format!("{} and {} are the same file", quoted(from), quoted(to))),
            }
        }
        let (folder, other) = (stat.kind() == FileKind::Dir, there.kind() == FileKind::Dir);
        if folder && other {
            return Some(true);
        }
        if options.existing == Existing::Keep {
            return Some(false);
        }
        if options.update && there.mtime_ns >= stat.mtime_ns {
            return self.keep_linked(to, stat).then_some(false);
        }
        if options.existing == Existing::Ask && !ask::yes(&question(options.tool, to, there, options.force)) {
            return Some(false);
        }
        if other && !options.backup.is_wanted() {
            return failed(format!("cannot overwrite directory {} with non-directory", quoted(to)));
        }
        if folder && !options.backup.is_wanted() {
            return failed(format!("cannot overwrite non-directory {} with directory {}", quoted(to), quoted(from)));
        }
        if self.made.contains_key(&(there.dev, there.ino)) && !options.backup.is_numbered() {
            return failed(format!("will not overwrite just-created {} with {}", quoted(to), quoted(from)));
        }
        if options.backup.is_wanted() {
            *saved = Some(self.back_up(from, to)?);
            return Some(true);
        }
        self.remove_for(to, stat, there).then_some(true)
    }

    /// Gives what is there another name, which it answers; `None` when it failed.
    fn back_up(&self, from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
        let backup = &self.options.backup;
        if backup.would_replace(base_name(from), base_name(to)) && folder_of(from) == folder_of(to) {
            self.fail(&format!("backing up {} might destroy source;  {} not copied", quoted(to), quoted(from)));
            return None;
        }
        match backup.make(to) {
            Ok(name) => Some(name),
            Err(error) => {
                self.fail(&format!("cannot backup {}: {}", quoted(to), error.text()));
                None
            }
        }
    }

    /// Removes what is there where the copy cannot be written into it. Whether it is out of the way.
    fn remove_for(&self, to: &[u8], stat: &Stat, there: &Stat) -> bool {
        let options = self.options;
        let fifo = stat.kind() == FileKind::Pipe && options.special && options.follow == Follow::Never;
        let in_the_way = stat.kind() == FileKind::Symlink || options.hard_link || options.symbolic_link;
        // Another name of what is there keeps its content where names of one file are preserved.
        let shared = options.preserve_links && there.nlink > 1;
        if options.remove_destination
            || shared
            || fifo
            || (in_the_way && (options.force || stat.kind() == FileKind::Symlink))
        {
            if let Err(error) = tidebox_rt::unlink(to) {
                return self.fail(&format!("cannot remove {}: {}", quoted(to), error.text()));
            }
            if options.verbose {
                say(options.tool, &format!("removed {}", quoted(to)));
            }
        }
        true
    }
}
