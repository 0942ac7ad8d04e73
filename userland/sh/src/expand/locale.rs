//! The variables of the locale. There are two locales: that of C, and UTF-8 with the order of bytes.

use super::lossy;
use crate::ir::Bytes;
use crate::state::Shell;
use crate::vars::Var;

/// Names of locales that were looked for in vain, each with the variable that it was looked for by. bash tells the reason
/// only the first time, because the C library remembers what is not there.
pub(crate) type Missing = std::collections::BTreeSet<(Bytes, Bytes)>;

/// The variables that name the locale of characters, the strongest first.
const NAMES: [&[u8]; 3] = [b"LC_ALL", b"LC_CTYPE", b"LANG"];

/// The locale that the environment of the process names.
fn started_with() -> Option<Bytes> {
    let lines = tidebox_rt::environ();
    NAMES.iter().find_map(|name| {
        let value = |line: &Bytes| Some(line.strip_prefix(*name)?.strip_prefix(b"=")?.to_vec());
        lines.iter().find_map(value).filter(|value| !value.is_empty())
    })
}

/// What a locale's name means here.
enum Known {
    C,
    Utf8,
}

fn known(name: &[u8]) -> Option<Known> {
    if matches!(name, b"C" | b"POSIX") {
        return Some(Known::C);
    }
    is_unicode(name.strip_prefix(b"C.")?).then_some(Known::Utf8)
}

/// Whether that is UTF-8, however it is written.
fn is_unicode(codeset: &[u8]) -> bool {
    codeset.iter().filter(|&&byte| byte != b'-').map(u8::to_ascii_lowercase).eq(*b"utf8")
}

/// Whether the name of a locale, which need not be there, ends with that of UTF-8.
fn names_unicode(name: &[u8]) -> bool {
    let codeset = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    codeset.len() < name.len() && is_unicode(codeset)
}

impl Shell {
    fn locale_variable(&self, name: &[u8]) -> Option<Bytes> {
        self.vars.get(name).and_then(Var::scalar).filter(|value| !value.is_empty()).cloned()
    }

    /// Takes over the locale that the variables name. A name that there is no locale for leaves it as it is.
    pub(crate) fn note_locale(&self) {
        self.take_locale(NAMES.iter().find_map(|name| self.locale_variable(name)));
    }

    fn take_locale(&self, named: Option<Bytes>) {
        crate::character::name_unicode(named.as_ref().is_some_and(|name| names_unicode(name)));
        match named.map(|name| known(&name)) {
            None | Some(Some(Known::C)) => crate::character::set_bytes(true),
            Some(Some(Known::Utf8)) => crate::character::set_bytes(false),
            Some(None) => {}
        }
    }

    /// The locale that a shell starts with: that of C where the variables name none, or one that there is not.
    pub(crate) fn start_locale(&mut self) {
        let Some(name) = NAMES.iter().find_map(|name| self.locale_variable(name)) else {
            crate::character::name_unicode(false);
            crate::character::set_bytes(true);
            return;
        };
        crate::character::name_unicode(names_unicode(&name));
        match known(&name) {
            Some(Known::Utf8) => {}
            Some(Known::C) => crate::character::set_bytes(true),
            None => {
                crate::character::set_bytes(true);
                if self.locale_variable(b"LC_ALL").is_some() {
                    let text = [&self.name[..], b": warning: setlocale: LC_ALL: cannot change locale (", &name, b")\n"];
                    // Where standard error is closed there is nobody to tell.
                    let _ = self.io.write(2, &text.concat());
                    for variable in
                        [&b"LC_ALL"[..], b"LC_CTYPE", b"LC_COLLATE", b"LC_MESSAGES", b"LC_NUMERIC", b"LC_TIME"]
                    {
                        self.missing_locales.insert((variable.to_vec(), name.clone()));
                    }
                }
            }
        }
    }

    /// Hears that a variable of the locale has changed, and complains when it names none.
    pub(crate) fn locale_changed(&mut self, variable: &[u8]) {
        if self.quiet_locale {
            return;
        }
        let all = self.locale_variable(b"LC_ALL");
        if matches!(variable, b"LC_ALL" | b"LANG") && all.is_none() {
            self.look_for_all();
        }
        let wanted = match variable {
            b"LC_ALL" => all,
            b"LANG" => None,
            _ if all.is_some() => return,
            _ => self.locale_variable(variable).or_else(|| self.locale_variable(b"LANG")),
        };
        if let Some(name) = wanted.filter(|name| known(name).is_none()) {
            if matches!(variable, b"LC_ALL" | b"LC_CTYPE") && names_unicode(&name) {
                // For escapes the name is enough.
                crate::character::name_unicode(true);
            }
            let first = self.missing_locales.insert((variable.to_vec(), name.clone()));
            let why = if first { ": No such file or directory" } else { "" };
            let (variable, name) = (lossy(variable), lossy(&name));
            self.complain(format!("warning: setlocale: {variable}: cannot change locale ({name}){why}"));
            return;
        }
        let is_named = NAMES.iter().any(|name| self.locale_variable(name).is_some());
        if variable == b"LC_CTYPE" && !is_named {
            // bash leaves it to the C library, which looks into the environment that the shell was started with.
            self.take_locale(started_with());
        } else if NAMES.contains(&variable) {
            self.note_locale();
        }
    }

    /// Without `LC_ALL` bash looks for the locale of `LANG` as a whole, and then for those of each variable. It tells of
    /// none that there is not, but the C library will remember.
    fn look_for_all(&mut self) {
        if let Some(name) = self.locale_variable(b"LANG").filter(|name| known(name).is_none()) {
            self.missing_locales.insert((b"LC_ALL".to_vec(), name));
            return;
        }
        for variable in [&b"LC_CTYPE"[..], b"LC_COLLATE", b"LC_MESSAGES", b"LC_NUMERIC", b"LC_TIME"] {
            if let Some(name) = self.locale_variable(variable).filter(|name| known(name).is_none()) {
                self.missing_locales.insert((variable.to_vec(), name));
            }
        }
    }
}
