//! The command line of `ls`.

mod reader;

use tidebox_gnu::choice::parse_choice;

use super::order::Order;
use super::quote::{Style, WORDS, style};
use crate::common::block_size::{Unit, block_size, of_environment};
pub(super) use reader::parse;

/// Columns of a line when nobody says.
const DEFAULT_WIDTH: usize = 80;

/// How files are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One on each line.
    Lines,
    /// In columns, downwards.
    Columns,
    /// In columns, across.
    Across,
    /// Separated by commas.
    Commas,
    /// One on each line, with its state.
    Long,
}

/// Files to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Those whose names do not begin with a dot.
    Visible,
    /// All but `.` and `..`.
    AlmostAll,
    All,
}

/// Links to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    Never,
    /// Those on the command line that lead to folders.
    Folders,
    /// Those on the command line.
    Named,
    Always,
}

/// What follows a name to tell what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Nothing,
    /// A slash after folders.
    Slash,
    /// As [`Self::Classify`] but for programs.
    FileType,
    /// A sign after everything but plain files.
    Classify,
}

/// Format of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeStyle {
    /// `Nov 21 10:50`, or `Jan  2  2024` when that is long ago.
    Locale,
    /// `2026-11-21 10:50`
    LongIso,
    /// `11-21 10:50`, or `2024-01-02`.
    Iso,
    /// `2026-11-21 10:50:14.102250708 +0000`
    FullIso,
    /// As `date` does it; where there are two lines, the second is for times of the last half year.
    Format(String),
}

/// Everything that the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) layout: Layout,
    pub(crate) shows: Shows,
    pub(crate) follow: Follow,
    pub(crate) mark: Mark,
    pub(crate) order: Order,
    /// The word or format of `--time-style`.
    pub(crate) time_style: Option<String>,
    pub(crate) times: TimeStyle,
    pub(crate) folders_as_files: bool,
    pub(crate) recursive: bool,
    pub(crate) inodes: bool,
    pub(crate) blocks: bool,
    /// Sizes in a long list are shown so.
    pub(crate) sizes: Unit,
    /// Blocks are shown so.
    pub(crate) block_sizes: Unit,
    pub(crate) numeric: bool,
    pub(crate) owner: bool,
    pub(crate) group: bool,
    pub(crate) style: Style,
    /// What does not print is shown as a question mark.
    pub(crate) hides: bool,
    pub(crate) color: bool,
    /// Columns between tab stops; 0 is none.
    pub(crate) tab_size: usize,
    pub(crate) width: usize,
    pub(crate) end: u8,
    pub(crate) ignore: Vec<Vec<u8>>,
    /// Names that `-a` and `-A` show all the same.
    pub(crate) hidden: Vec<Vec<u8>>,
    pub(crate) author: bool,
    /// Names lead to their files in a terminal that knows such links.
    pub(crate) hyperlinks: bool,
    /// A column of security contexts, of which there are none.
    pub(crate) contexts: bool,
    /// At the end it is said where the names stand, for Emacs.
    pub(crate) dired: bool,
}

impl Default for Options {
    fn default() -> Self {
        let terminal = tidebox_rt::is_terminal(1);
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Self {
            files: Vec::new(),
            layout: if terminal { Layout::Columns } else { Layout::Lines },
            shows: Shows::Visible,
            follow: Follow::Folders,
            mark: Mark::Nothing,
            order: Order::default(),
            time_style: None,
            times: TimeStyle::Locale,
            folders_as_files: false,
            recursive: false,
            inodes: false,
            blocks: false,
            sizes: ["LS_BLOCK_SIZE", "BLOCK_SIZE"]
                .iter()
                .find_map(|name| std::env::var(name).ok())
                .and_then(|text| block_size(&text))
                .unwrap_or(Unit::Bytes(1)),
            block_sizes: of_environment(&["LS_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]),
            numeric: false,
            owner: true,
            group: true,
            style: std::env::var("QUOTING_STYLE")
                .ok()
                .and_then(|word| parse_choice("", word.as_bytes(), WORDS).ok())
                .map_or(if terminal { Style::ShellEscape } else { Style::Literal }, style),
            hides: terminal,
            color: false,
            tab_size: std::env::var("TABSIZE").ok().and_then(|size| size.parse().ok()).unwrap_or(8),
            width: width.unwrap_or(DEFAULT_WIDTH),
            end: b'\n',
            ignore: Vec::new(),
            hidden: Vec::new(),
            author: false,
            hyperlinks: false,
            contexts: false,
            dired: false,
        }
    }
}
