//! Options of `ls`.

mod reader;

use tidebox_gnu::choice::parse_choice;

use super::order::Order;
use super::quote::{Style, WORDS, style};
use crate::common::block_size::{Unit, block_size, of_environment};
pub(super) use reader::parse;

/// Default width of a line.
const DEFAULT_WIDTH: usize = 80;

/// Layout of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One file on each line.
    Lines,
    /// In columns, downwards.
    Columns,
    /// In columns, across.
    Across,
    /// Separated by commas.
    Commas,
    /// One file on each line, with its attributes.
    Long,
}

/// Files to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Names that do not start with a dot.
    Visible,
    /// All but `.` and `..`.
    AlmostAll,
    All,
}

/// Links to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    Never,
    /// Operands that link to directories.
    Dirs,
    /// Operands.
    Operands,
    Always,
}

/// Mark of the file type after a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Nothing,
    /// A slash after directories.
    Slash,
    /// Like [`Self::Classify`], but not after executables.
    FileType,
    /// A mark after executables and everything except regular files.
    Classify,
}

/// Format of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeStyle {
    /// `Nov 21 10:50`, or `Jan  2  2024` for an old file.
    Locale,
    /// `2026-11-21 10:50`
    LongIso,
    /// `11-21 10:50`, or `2024-01-02`.
    Iso,
    /// `2026-11-21 10:50:14.102250708 +0000`
    FullIso,
    /// Format of `date`. If it has two lines, the second one applies to times of the last half year.
    Format(String),
}

/// Parsed options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) layout: Layout,
    pub(crate) shows: Shows,
    pub(crate) follow: Follow,
    pub(crate) mark: Mark,
    pub(crate) order: Order,
    /// Value of `--time-style`.
    pub(crate) time_style: Option<String>,
    pub(crate) times: TimeStyle,
    pub(crate) dirs_as_files: bool,
    pub(crate) recursive: bool,
    pub(crate) inodes: bool,
    pub(crate) blocks: bool,
    /// Unit of sizes in a long list.
    pub(crate) sizes: Unit,
    /// Unit of blocks.
    pub(crate) block_sizes: Unit,
    pub(crate) numeric: bool,
    pub(crate) owner: bool,
    pub(crate) group: bool,
    pub(crate) style: Style,
    /// Unprintable characters are shown as question marks.
    pub(crate) hides: bool,
    pub(crate) color: bool,
    /// Columns between tab stops; 0 prints no tabs.
    pub(crate) tab_size: usize,
    pub(crate) width: usize,
    pub(crate) end: u8,
    pub(crate) ignore: Vec<Vec<u8>>,
    /// Patterns of names that are listed only with `-a` or `-A`.
    pub(crate) hidden: Vec<Vec<u8>>,
    pub(crate) author: bool,
    /// Print a column of security contexts, which is `?`.
    pub(crate) contexts: bool,
}

impl Default for Options {
    fn default() -> Self {
        let terminal = tidebox_rt::is_terminal(1);
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = width.or_else(|| tidebox_rt::terminal_width(1));
        Self {
            files: Vec::new(),
            layout: if terminal { Layout::Columns } else { Layout::Lines },
            shows: Shows::Visible,
            follow: Follow::Dirs,
            mark: Mark::Nothing,
            order: Order::default(),
            time_style: None,
            times: TimeStyle::Locale,
            dirs_as_files: false,
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
            contexts: false,
        }
    }
}
