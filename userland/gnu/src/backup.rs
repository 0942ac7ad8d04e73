//! Backups of files that are about to be replaced.

use tidebox_rt::Errno;

use crate::choice::parse_choice;

/// Values of `--backup`.
const WORDS: &[&[&str]] = &[&["none", "off"], &["simple", "never"], &["existing", "nil"], &["numbered", "t"]];

/// Naming scheme of backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A suffix.
    Simple,
    /// A number if numbered backups exist already, else a suffix.
    Existing,
    /// A number.
    Numbered,
}

/// Backup options.
#[derive(Clone, Debug)]
pub struct Backup {
    wanted: bool,
    /// Name of the value in error messages.
    called: &'static str,
    word: Option<Vec<u8>>,
    suffix: Option<Vec<u8>>,
    naming: Option<Naming>,
    tail: Vec<u8>,
}

impl Default for Backup {
    fn default() -> Self {
        Self::called("backup type")
    }
}

impl Backup {
    /// No backups. Takes the name that messages use for the kind of backup.
    pub fn called(called: &'static str) -> Self {
        Self { wanted: false, called, word: None, suffix: None, naming: None, tail: Vec::new() }
    }

    /// Backups with this naming scheme and suffix.
    pub fn with(naming: Naming, suffix: &[u8]) -> Self {
        Self { wanted: true, naming: Some(naming), tail: suffix.to_vec(), ..Self::default() }
    }

    /// `-b` or `--backup=WORD`.
    pub fn set_control(&mut self, word: Option<Vec<u8>>) {
        self.wanted = true;
        self.word = word.filter(|word| !word.is_empty()).or(self.word.take());
    }

    /// `-S SUFFIX`, which implies backups.
    pub fn suffix(&mut self, suffix: Vec<u8>) {
        self.wanted = true;
        self.suffix = Some(suffix);
    }

    /// Resolves the options. An error is the message of a wrong command line.
    pub fn resolve(&mut self) -> Result<(), String> {
        if !self.wanted {
            return Ok(());
        }
        let of_environment = |name: &str| std::env::var_os(name).map(|value| value.into_encoded_bytes());
        let (what, word) = match &self.word {
            Some(word) => (self.called, Some(word.clone())),
            None => ("$VERSION_CONTROL", of_environment("VERSION_CONTROL").filter(|word| !word.is_empty())),
        };
        self.naming = match word {
            None => Some(Naming::Existing),
            Some(word) => match parse_choice(what, &word, WORDS)? {
                0 => None,
                1 => Some(Naming::Simple),
                2 => Some(Naming::Existing),
                _ => Some(Naming::Numbered),
            },
        };
        let suffix = self.suffix.clone().or_else(|| of_environment("SIMPLE_BACKUP_SUFFIX"));
        self.tail = suffix.filter(|suffix| !suffix.is_empty() && !suffix.contains(&b'/')).unwrap_or(b"~".to_vec());
        Ok(())
    }

    /// Returns whether backups are made.
    pub fn is_wanted(&self) -> bool {
        self.naming.is_some()
    }

    /// Returns whether every backup gets a new name.
    pub fn is_numbered(&self) -> bool {
        self.naming == Some(Naming::Numbered)
    }

    /// Returns whether the file of this name is itself the simple backup of `other`.
    pub fn would_replace(&self, other: &[u8], name: &[u8]) -> bool {
        self.naming != Some(Naming::Numbered) && self.is_wanted() && [name, &self.tail].concat() == other
    }

    /// Returns the backup name of a file.
    pub fn name(&self, path: &[u8]) -> Vec<u8> {
        let path = without_slashes(path);
        let plain = [path, &self.tail].concat();
        match self.naming {
            Some(Naming::Numbered) => numbered(path, highest(path).unwrap_or(0) + 1),
            Some(Naming::Existing) => highest(path).map_or(plain, |number| numbered(path, number + 1)),
            _ => plain,
        }
    }

    /// Renames a file to its backup and returns the new name.
    pub fn make(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let backup = self.name(path);
        tidebox_rt::rename(path, &backup)?;
        // If the backup is already another name of the file, the rename keeps both.
        if let (Ok(left), Ok(made)) = (tidebox_rt::stat(path, false), tidebox_rt::stat(&backup, false))
            && (left.dev, left.ino) == (made.dev, made.ino)
        {
            tidebox_rt::unlink(path)?;
        }
        Ok(backup)
    }
}

/// Strips trailing slashes from a name.
fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(path.len().min(1), |last| last + 1);
    path.get(..end).unwrap_or_default()
}

fn numbered(path: &[u8], number: u64) -> Vec<u8> {
    [path, format!(".~{number}~").as_bytes()].concat()
}

/// Returns the highest number of the existing backups.
fn highest(path: &[u8]) -> Option<u64> {
    let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => path.split_at(slash + 1),
        None => (&b"."[..], path),
    };
    let number = |entry: &[u8]| -> Option<u64> {
        let digits = entry.strip_prefix(name)?.strip_prefix(b".~")?.strip_suffix(b"~")?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    tidebox_rt::read_dir(folder).ok()?.iter().filter_map(|entry| number(&entry.name)).max()
}
