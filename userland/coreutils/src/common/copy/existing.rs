//! Handling of an existing target: checks, backup and removal.

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{Errno, FileKind, Stat};

use super::{Copier, Existing, Follow};
use crate::common::ask::{self, question};
use crate::common::print_line;
use crate::common::same_file::{ExistingTargetAction, ReplaceOptions, target_action};
use crate::common::target::{base_name, parent_dir};

impl Copier<'_> {
    /// Returns the metadata of an existing target. `None` if the target must not be written.
    pub(super) fn existing_target(&self, from: &[u8], to: &[u8], kind: FileKind) -> Option<Option<Stat>> {
        let options = self.options;
        let refuse = |message: String| {
            self.fail(&message);
            None
        };
        let looks_through = kind != FileKind::Symlink && !options.remove_destination && !options.symbolic_link;
        let through_link = looks_through && !options.backup.is_wanted();
        let old = match tidebox_rt::stat(to, through_link) {
            // With --force, a link loop is removed later, when it cannot be opened.
            Err(error) if error == Errno::ACCES || (error == Errno::LOOP && !options.force) => {
                return refuse(format!("cannot stat {}: {}", quote_path(to), error.text()));
            }
            other => other,
        };
        let dangles = old.is_err_and(|error| error == Errno::NOENT);
        let link = tidebox_rt::stat(to, false).ok().filter(|stat| stat.kind() == FileKind::Symlink);
        if let (Some(link), true) = (&link, through_link && kind != FileKind::Dir) {
            if self.created.contains_key(&(link.dev, link.ino)) {
                let names = (quote_path(from), quote_path(to));
                return refuse(format!("will not copy {} through just-created symlink {}", names.0, names.1));
            }
            let strict = !tidebox_rt::environ().iter().any(|entry| entry.starts_with(b"POSIXLY_CORRECT="));
            if dangles && strict && !options.hard_link {
                return refuse(format!("not writing through dangling symlink {}", quote_path(to)));
            }
        }
        Some(old.ok())
    }

    fn replace_options(&self, follow: bool) -> ReplaceOptions {
        let options = self.options;
        ReplaceOptions {
            follow,
            moves: false,
            backup: options.backup.is_wanted(),
            // A link cannot be written into an existing file.
            removes: options.remove_destination || (options.force && (options.hard_link || options.symbolic_link)),
            hard_link: options.hard_link,
            symbolic_link: options.symbolic_link,
        }
    }

    /// Prepares an existing target for a copy. Returns whether to copy; `None` on an error.
    pub(super) fn clear(
        &mut self,
        (from, follow): (&[u8], bool),
        to: &[u8],
        stat: &Stat,
        old: &Stat,
        saved: &mut Option<Vec<u8>>,
    ) -> Option<bool> {
        let options = self.options;
        let failed = |message: String| {
            print_error(options.tool, &message);
            None
        };
        if stat.kind() != FileKind::Dir && options.existing != Existing::Keep {
            match target_action(from, to, self.replace_options(follow)) {
                ExistingTargetAction::Replace => {}
                ExistingTargetAction::Done => return Some(false),
                ExistingTargetAction::Refuse => {
                    return failed(format!("{} and {} are the same file", quote_path(from), quote_path(to)));
                }
            }
        }
        let (folder, other) = (stat.kind() == FileKind::Dir, old.kind() == FileKind::Dir);
        if folder && other {
            return Some(true);
        }
        if options.existing == Existing::Keep {
            return Some(false);
        }
        if options.update && old.mtime_ns >= stat.mtime_ns {
            return self.keep_linked(to, stat).then_some(false);
        }
        if options.existing == Existing::Ask && !ask::yes(&question(options.tool, to, old, options.force)) {
            return Some(false);
        }
        if other && !options.backup.is_wanted() {
            return failed(format!("cannot overwrite directory {} with non-directory", quote_path(to)));
        }
        if folder && !options.backup.is_wanted() {
            return failed(format!(
                "cannot overwrite non-directory {} with directory {}",
                quote_path(to),
                quote_path(from)
            ));
        }
        if self.created.contains_key(&(old.dev, old.ino)) && !options.backup.is_numbered() {
            return failed(format!("will not overwrite just-created {} with {}", quote_path(to), quote_path(from)));
        }
        if options.backup.is_wanted() {
            *saved = Some(self.back_up(from, to)?);
            return Some(true);
        }
        self.remove_for(to, stat, old).then_some(true)
    }

    /// Renames the target to its backup and returns the backup name; `None` on an error.
    fn back_up(&self, from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
        let backup = &self.options.backup;
        if backup.would_replace(base_name(from), base_name(to)) && parent_dir(from) == parent_dir(to) {
            self.fail(&format!("backing up {} might destroy source;  {} not copied", quote_path(to), quote_path(from)));
            return None;
        }
        match backup.make(to) {
            Ok(name) => Some(name),
            Err(error) => {
                self.fail(&format!("cannot backup {}: {}", quote_path(to), error.text()));
                None
            }
        }
    }

    /// Removes the target if the copy cannot be written into it. Returns false on an error.
    fn remove_for(&self, to: &[u8], stat: &Stat, old: &Stat) -> bool {
        let options = self.options;
        let fifo = stat.kind() == FileKind::Pipe && options.special && options.follow == Follow::Never;
        let in_the_way = stat.kind() == FileKind::Symlink || options.hard_link || options.symbolic_link;
        // With --preserve=links, other hard links of the target keep its content.
        let shared = options.preserve_links && old.nlink > 1;
        if options.remove_destination
            || shared
            || fifo
            || (in_the_way && (options.force || stat.kind() == FileKind::Symlink))
        {
            if let Err(error) = tidebox_rt::unlink(to) {
                return self.fail(&format!("cannot remove {}: {}", quote_path(to), error.text()));
            }
            if options.verbose {
                print_line(options.tool, &format!("removed {}", quote_path(to)));
            }
        }
        true
    }
}
