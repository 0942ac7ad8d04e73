//! Validation of the whole command line.

use super::apply::{Reading, usage};
use super::values::{by_suffix, top_level};
use super::{Mode, Options, Stop, Word};
use crate::header::Format;

impl Reading {
    pub(super) fn finish(self) -> Result<Options, Stop> {
        let Some(mode) = self.mode else {
            return Err(usage("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"));
        };
        let mut options = self.options;
        options.mode = mode;
        if self.posix_option {
            if self.has_format && options.format != Format::Pax {
                return Err(usage("--pax-option can be used only on POSIX archives"));
            }
            options.format = Format::Pax;
        }
        if let Some((_, clamps)) = &mut options.mtime {
            *clamps = self.clamp;
        }
        let adds = matches!(mode, Mode::Create | Mode::Update);
        let named = options.words.iter().any(|word| matches!(word, Word::Name(..)));
        if adds && named {
            options.idle_excludes = self.idle;
        }
        if options.auto_compress && mode == Mode::Create && options.compressor.is_none() {
            options.compressor = by_suffix(&options.archive);
        }
        let empty = !named && !self.lists.any;
        if mode == Mode::Create && empty {
            return Err(usage("Cowardly refusing to create an empty archive"));
        }
        if options.compressor.is_some() && matches!(mode, Mode::Append | Mode::Update | Mode::Delete) {
            return Err(usage("Cannot update compressed archives"));
        }
        if let Some(folder) = &mut options.one_top_level
            && folder.is_empty()
        {
            *folder = top_level(&options.archive).ok_or_else(|| {
                usage("Cannot deduce top-level directory name; please set it explicitly with --one-top-level=DIR")
            })?;
        }
        Ok(options)
    }
}
