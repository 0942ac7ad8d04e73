//! Copies of what is going to be replaced.

use tidebox_rt::Errno;

use crate::choice::choose;

/// The words of `--backup`.
const WORDS: &[&[&str]] = &[&["none", "off"], &["simple", "never"], &["existing", "nil"], &["numbered", "t"]];

/// How backups are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// With a suffix.
    Simple,
    /// With a number where there are such backups already, else with a suffix.
    Existing,
    /// With a number.
    Numbered,
}

/// What the options say about backups.
#[derive(Clone, Debug)]
pub struct Backup {
    wanted: bool,
    /// What messages call the word.
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
    /// None, with the name that messages have for the kind of backup.
    pub fn called(called: &'static str) -> Self {
        Self { wanted: false, called, word: None, suffix: None, naming: None, tail: Vec::new() }
    }

    /// `-b` or `--backup=WORD`.
    pub fn want(&mut self, word: Option<Vec<u8>>) {
        self.wanted = true;
        self.word = word.filter(|word| !word.is_empty()).or(self.word.take());
    }

    /// `-S SUFFIX`, which asks for backups by itself.
    pub fn suffix(&mut self, suffix: Vec<u8>) {
        self.wanted = true;
        self.suffix = Some(suffix);
    }

    /// Works out what was asked for. An error is the message of a wrong command line.
    pub fn settle(&mut self) -> Result<(), String> {
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
            Some(word) => match choose(what, &word, WORDS)? {
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

    /// Whether there are to be backups at all.
    pub fn is_wanted(&self) -> bool {
        self.naming.is_some()
    }

    /// Whether no backup takes the place of another.
    pub fn is_numbered(&self) -> bool {
        self.naming == Some(Naming::Numbered)
    }

    /// Whether what has this name is itself a simple backup of `other`.
    pub fn would_replace(&self, other: &[u8], name: &[u8]) -> bool {
        self.naming != Some(Naming::Numbered) && self.is_wanted() && [name, &self.tail].concat() == other
    }

    /// The name that a file's backup gets.
    pub fn name(&self, path: &[u8]) -> Vec<u8> {
        let path = without_slashes(path);
        let plain = [path, &self.tail].concat();
        match self.naming {
            Some(Naming::Numbered) => numbered(path, highest(path).unwrap_or(0) + 1),
            Some(Naming::Existing) => highest(path).map_or(plain, |number| numbered(path, number + 1)),
            _ => plain,
        }
    }

    /// Renames a file to its backup; the new name.
    pub fn make(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let backup = self.name(path);
        tidebox_rt::rename(path, &backup)?;
        // Where the backup is another name of the file already, renaming leaves both.
        if let (Ok(left), Ok(made)) = (tidebox_rt::stat(path, false), tidebox_rt::stat(&backup, false))
            && (left.dev, left.ino) == (made.dev, made.ino)
        {
            tidebox_rt::unlink(path)?;
        }
        Ok(backup)
    }
}

/// A name without slashes at its end.
fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(path.len().min(1), |last| last + 1);
    path.get(..end).unwrap_or_default()
}

fn numbered(path: &[u8], number: u64) -> Vec<u8> {
    [path, format!(".~{number}~").as_bytes()].concat()
}

/// The highest number of a backup that there is.
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
