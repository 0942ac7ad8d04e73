//! Names of users and groups.

use std::fs;

/// Entries if `/etc/passwd` or `/etc/group` do not exist.
const BUILT_IN: &[(&str, u32)] = &[("root", 0), ("tidebox", 1000)];

/// Users or groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `/etc/passwd`
    User,
    /// `/etc/group`
    Group,
}

/// The known names.
#[derive(Clone, Debug)]
pub struct Names {
    entries: Vec<(String, u32)>,
}

impl Names {
    /// Reads the user or group database.
    pub fn load(kind: Kind) -> Self {
        let file = if kind == Kind::User { "/etc/passwd" } else { "/etc/group" };
        let mut entries = parse(&fs::read_to_string(file).unwrap_or_default());
        for (name, id) in BUILT_IN {
            if !entries.iter().any(|(known, known_id)| known == name || known_id == id) {
                entries.push(((*name).to_owned(), *id));
            }
        }
        Self { entries }
    }

    /// Returns the name of an id.
    pub fn name(&self, id: u32) -> Option<&str> {
        self.entries.iter().find(|(_, known)| *known == id).map(|(name, _)| name.as_str())
    }

    /// Returns the name of an id, or its digits.
    pub fn name_or_id(&self, id: u32) -> String {
        self.name(id).map_or_else(|| id.to_string(), str::to_owned)
    }

    /// Returns the id of a name, or its numeric value.
    pub fn id(&self, name: &str) -> Option<u32> {
        let known = self.entries.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        known.or_else(|| name.parse().ok())
    }
}

fn parse(text: &str) -> Vec<(String, u32)> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next().filter(|name| !name.is_empty() && !name.starts_with('#'))?;
            let id = fields.nth(1)?.parse().ok()?;
            Some((name.to_owned(), id))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Names, parse};

    #[test]
    fn names_and_ids_lead_to_each_other() {
        let names = Names { entries: parse("root:x:0:0::/:/bin/sh\n\nann:x:1001:1001::/home/ann:/bin/sh\nbroken\n") };
        assert_eq!(names.id("ann"), Some(1001));
        assert_eq!(names.name(0), Some("root"));
        assert_eq!(names.name_or_id(7), "7");
        assert_eq!(names.id("42"), Some(42));
        assert_eq!(names.id("nobody"), None);
    }
}
