//! File modes in octal and symbolic notation.

/// A mode change as accepted by `chmod` and `find -perm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    /// Bits of the affected users, including set-id bits and sticky bit.
    affected: u32,
    /// True if users were specified. If not, the umask applies.
    named: bool,
    operator: u8,
    permission: Permission,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Permission {
    /// These bits, for all users.
    Bits(u32),
    /// `X`: execute permission for directories and for executable files, together with these bits.
    ConditionalExecution(u32),
    /// The bits of another class of users, as a shift.
    Copy(u32),
    /// This exact mode, from octal digits.
    Exactly { bits: u32, keeps_special: bool },
}

const ALL: u32 = 0o7777;

impl Change {
    /// Parses a mode. `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return parse_octal(text, text, false).map(|clause| Self { clauses: vec![clause] });
        }
        let clauses = text.split(',').map(parse_clause).collect::<Option<Vec<_>>>()?;
        Some(Self { clauses: clauses.concat() })
    }

    /// Returns `mode` after this change. `umask` masks bits if no users are specified.
    pub fn apply(&self, mode: u32, is_folder: bool, umask: u32) -> u32 {
        self.clauses.iter().fold(mode & ALL, |mode, clause| clause.apply(mode, is_folder, umask))
    }
}

impl Clause {
    fn apply(&self, mode: u32, is_folder: bool, umask: u32) -> u32 {
        let bits = match self.permission {
            Permission::Exactly { bits, keeps_special } => {
                return if is_folder && keeps_special { bits | (mode & 0o6000) } else { bits };
            }
            Permission::Bits(bits) => bits,
            Permission::ConditionalExecution(bits) if is_folder || mode & 0o111 != 0 => bits | 0o111,
            Permission::ConditionalExecution(bits) => bits,
            Permission::Copy(shift) => ((mode >> shift) & 7) * 0o111,
        };
        let held_back = if self.named { 0 } else { umask };
        let bits = bits & self.affected & !held_back;
        match self.operator {
            b'+' => mode | bits,
            b'-' => mode & !bits,
            // `=` keeps the set-id bits of directories unless it specifies them, and keeps everything that applies to other
            // users. Without users it applies to all, regardless of the umask.
            _ => {
                let kept = if is_folder { 0o6000 & !bits & mode } else { 0 };
                (mode & !self.affected) | bits | kept
            }
        }
    }
}

/// Parses octal digits, of a whole mode or after an operator, where they may leave a directory's set-id bits unspecified.
fn parse_octal(digits: &str, text: &str, operates: bool) -> Option<Clause> {
    let bits = u32::from_str_radix(digits, 8).ok().filter(|bits| *bits <= ALL && !digits.starts_with('+'))?;
    let operator = text.bytes().next().filter(|first| matches!(first, b'+' | b'-')).unwrap_or(b'=');
    // Four digits and fewer keep the set-id bits of a directory, as in GNU.
    let keeps_special = !operates && digits.len() < 5 && bits & 0o6000 == 0;
    let permission = match operator {
        b'=' => Permission::Exactly { bits, keeps_special },
        _ => Permission::Bits(bits),
    };
    Some(Clause { affected: ALL, named: true, operator, permission })
}

/// Reads `[ugoa]*([-+=][rwxXst]*|[ugo])+` or `[-+=][0-7]+`.
fn parse_clause(text: &str) -> Option<Vec<Clause>> {
    let operators = text.find(['+', '-', '='])?;
    let (users, mut rest) = text.split_at(operators);
    let mut affected = 0;
    for user in users.chars() {
        affected |= match user {
            'u' => 0o4700,
            'g' => 0o2070,
            'o' => 0o1007,
            'a' => ALL,
            _ => return None,
        };
    }
    let named = !users.is_empty();
    let affected = if named { affected } else { ALL };
    let mut clauses = Vec::new();
    while let Some(operator) = rest.bytes().next() {
        let after = rest.get(1..)?;
        let end = after.find(['+', '-', '=']).unwrap_or(after.len());
        if after.starts_with(|first: char| first.is_ascii_digit()) {
            let digits = after.get(..end).filter(|_| !named)?;
            clauses.push(parse_octal(digits, rest, true)?);
            // Digits must be last.
            return (end == after.len()).then_some(clauses);
        }
        let permission = parse_permission(after.get(..end)?, affected)?;
        clauses.push(Clause { affected, named, operator, permission });
        rest = after.get(end..)?;
    }
    Some(clauses)
}

fn parse_permission(letters: &str, affected: u32) -> Option<Permission> {
    match letters {
        "u" => return Some(Permission::Copy(6)),
        "g" => return Some(Permission::Copy(3)),
        "o" => return Some(Permission::Copy(0)),
        _ => {}
    }
    let mut bits = 0;
    let mut conditional = false;
    for letter in letters.chars() {
        bits |= match letter {
            'r' => 0o444,
            'w' => 0o222,
            'x' => 0o111,
            's' => 0o6000 & affected,
            't' => 0o1000,
            'X' => {
                conditional = true;
                0
            }
            _ => return None,
        };
    }
    // The sticky bit belongs to no class of users; any specified class includes it.
    Some(if conditional { Permission::ConditionalExecution(bits) } else { Permission::Bits(bits) })
}

/// Formats a mode like `ls -l`, file type first.
pub fn letters(mode: u32) -> String {
    let kind = match mode >> 12 {
        0o04 => 'd',
        0o12 => 'l',
        0o02 => 'c',
        0o06 => 'b',
        0o01 => 'p',
        0o14 => 's',
        _ => '-',
    };
    let mut text = String::from(kind);
    for (shift, special, set, unset) in [(6, 0o4000, 's', 'S'), (3, 0o2000, 's', 'S'), (0, 0o1000, 't', 'T')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => set,
            (true, false) => unset,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// Copies the mode of another file. Does nothing on a file system without modes.
pub fn keep(path: &[u8], mode: u32) -> Result<(), tidebox_rt::Errno> {
    match tidebox_rt::chmod(path, mode) {
        Err(tidebox_rt::Errno::NOTSUP) => Ok(()),
        set => set,
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, letters};

    fn changed(text: &str, mode: u32, is_folder: bool) -> Option<u32> {
        Some(Change::parse(text)?.apply(mode, is_folder, 0o022))
    }

    #[test]
    fn digits_and_letters_change_modes_as_chmod_does() {
        for (text, mode, is_folder, wanted) in [
            ("755", 0o644, false, 0o755),
            ("0", 0o777, false, 0),
            ("+x", 0o644, false, 0o755),
            ("+w", 0o444, false, 0o644),
            ("a+w", 0o444, false, 0o666),
            ("u+x,go-r", 0o644, false, 0o700),
            ("u=rwx,g=u,o=", 0o004, false, 0o770),
            ("=r", 0o777, false, 0o444),
            ("=7777,-5022", 0o644, false, 0o2755),
            ("=755", 0o2700, true, 0o755),
            ("++1", 0o600, false, 0o601),
            ("+111,u-x", 0o644, false, 0o655),
            ("a=r", 0o777, false, 0o444),
            ("+X", 0o644, false, 0o644),
            ("+X", 0o644, true, 0o755),
            ("+X", 0o744, false, 0o755),
            ("u+s", 0o755, false, 0o4755),
            ("g+s", 0o755, false, 0o2755),
            ("+t", 0o755, true, 0o1755),
            ("o+t", 0o755, true, 0o1755),
            ("u+x-w", 0o644, false, 0o544),
            ("-111", 0o755, false, 0o644),
            ("755", 0o2700, true, 0o2755),
            ("00755", 0o2700, true, 0o755),
        ] {
            assert_eq!(changed(text, mode, is_folder), Some(wanted), "{text} on {mode:o}");
        }
    }

    #[test]
    fn what_is_no_mode_is_refused() {
        for text in ["", "8", "77777", "u", "u+q", "x+r", "u+x,", "u+1", "a=7", "+8", "+1+2", "+77777", "u+gr"] {
            assert_eq!(Change::parse(text), None, "{text}");
        }
    }

    #[test]
    fn letters_show_special_bits() {
        assert_eq!(letters(0o100_644), "-rw-r--r--");
        assert_eq!(letters(0o041_777), "drwxrwxrwt");
        assert_eq!(letters(0o104_655), "-rwSr-xr-x");
        assert_eq!(letters(0o120_777), "lrwxrwxrwx");
    }
}
