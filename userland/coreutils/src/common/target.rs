//! Target operands of `cp`, `mv`, `ln` and `install`.

use tidebox_gnu::message::quote_path;
use tidebox_rt::{FileKind, Stat};

/// A source and its target.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// Operand error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// The command line is invalid.
    Usage(String),
    /// The target is not a directory.
    Failure(String),
}

/// Target options.
#[derive(Debug, Default)]
pub(crate) struct Target {
    /// `-t`
    pub(crate) directory: Option<Vec<u8>>,
    /// `-T`
    pub(crate) is_name: bool,
    /// `--strip-trailing-slashes`
    pub(crate) strip: bool,
    /// Do not follow a link to a directory (`ln -n`).
    pub(crate) link_is_file: bool,
    /// Error message of `ln` and `install` for `-t`.
    pub(crate) accesses: bool,
}

impl Target {
    /// Returns each source with its target, and whether the targets are in a common directory.
    pub(crate) fn pairs(&self, mut operands: Vec<Vec<u8>>) -> Result<(Vec<Pair>, bool), TargetError> {
        if self.strip {
            for operand in &mut operands {
                *operand = without_slashes(operand).to_vec();
            }
        }
        let missing =
            |last: &[u8]| TargetError::Usage(format!("missing destination file operand after {}", quote_path(last)));
        if self.directory.is_some() && self.is_name {
            let message = "cannot combine --target-directory (-t) and --no-target-directory (-T)";
            return Err(TargetError::Failure(message.to_owned()));
        }
        match (operands.as_slice(), &self.directory) {
            ([], _) => return Err(TargetError::Usage("missing file operand".to_owned())),
            ([only], None) => return Err(missing(only)),
            ([_, _, extra, ..], None) if self.is_name => {
                return Err(TargetError::Usage(format!("extra operand {}", quote_path(extra))));
            }
            _ => {}
        }
        if let Some(directory) = &self.directory {
            let what = if self.accesses { "failed to access" } else { "target directory" };
            self.check_directory(directory)
                .map_err(|why| TargetError::Failure(format!("{what} {}: {why}", quote_path(directory))))?;
            return Ok((into(directory, operands), true));
        }
        let last = operands.pop().unwrap_or_default();
        match (self.check_directory(&last), operands.as_slice()) {
            _ if self.is_name => Ok((operands.into_iter().map(|from| (from, last.clone())).collect(), false)),
            (Ok(()), _) => Ok((into(&last, operands), true)),
            (Err(_), [_]) => Ok((operands.into_iter().map(|from| (from, last.clone())).collect(), false)),
            (Err(why), _) => Err(TargetError::Failure(format!("target {}: {why}", quote_path(&last)))),
        }
    }

    /// Checks that this is a directory; the error is the cause.
    fn check_directory(&self, path: &[u8]) -> Result<(), &'static str> {
        let stat = tidebox_rt::stat(path, !self.link_is_file || path.ends_with(b"/")).map_err(|error| error.text())?;
        if stat.kind() == FileKind::Dir { Ok(()) } else { Err("Not a directory") }
    }
}

fn into(directory: &[u8], operands: Vec<Vec<u8>>) -> Vec<Pair> {
    let pair = |from: Vec<u8>| {
        let to = join(directory, base_name(&from));
        (from, to)
    };
    operands.into_iter().map(pair).collect()
}

/// Returns a path without trailing slashes.
pub(crate) fn without_slashes(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/").filter(|shorter| !shorter.is_empty()) {
        path = shorter;
    }
    path
}

/// Returns the last component of a path.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let path = without_slashes(path);
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => path.get(slash + 1..).unwrap_or_default(),
        None => path,
    }
}

/// Returns the parent directory of a path.
pub(crate) fn parent_dir(path: &[u8]) -> &[u8] {
    let path = without_slashes(path);
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => path.get(..slash).unwrap_or_default(),
        None => b".",
    }
}

/// Joins a directory and a name.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat()
}

/// Returns whether both stats are of the same file.
pub(crate) fn same(a: &Stat, b: &Stat) -> bool {
    (a.dev, a.ino) == (b.dev, b.ino)
}

/// Resolves the symbolic links of a path. Returns a missing path unchanged.
pub(crate) fn followed(path: &[u8]) -> Vec<u8> {
    let found = std::fs::canonicalize(tidebox_rt::path_of_bytes(path));
    found.map(|path| path.into_os_string().into_encoded_bytes()).unwrap_or_else(|_| path.to_vec())
}

/// Returns whether two paths name the same directory entry.
pub(crate) fn same_entry(a: &[u8], b: &[u8]) -> bool {
    let parent = |path: &[u8]| tidebox_rt::stat(parent_dir(path), true);
    base_name(a) == base_name(b) && matches!((parent(a), parent(b)), (Ok(a), Ok(b)) if same(&a, &b))
}
