//! Locale variables. The locales are C, and UTF-8 with byte order.

use super::lossy;
use crate::ir::Bytes;
use crate::state::Shell;
use crate::vars::Var;

/// Names of missing locales, each with the variable that named it. Like bash, the shell prints the reason only for the first
/// lookup.
pub(crate) type Missing = std::collections::BTreeSet<(Bytes, Bytes)>;

/// The variables that name the locale of characters, the strongest first.
const NAMES: [&[u8]; 3] = [b"LC_ALL", b"LC_CTYPE", b"LANG"];

/// The meaning of a locale's name.
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

/// Returns whether a codeset is UTF-8, in any spelling.
fn is_unicode(codeset: &[u8]) -> bool {
    codeset.iter().filter(|&&byte| byte != b'-').map(u8::to_ascii_lowercase).eq(*b"utf8")
}

/// Returns whether the name of a locale, which need not exist, ends with a name of UTF-8.
fn names_unicode(name: &[u8]) -> bool {
    let codeset = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    codeset.len() < name.len() && is_unicode(codeset)
}

impl Shell {
    fn locale_variable(&self, name: &[u8]) -> Option<Bytes> {
        self.vars.get(name).and_then(Var::scalar).filter(|value| !value.is_empty()).cloned()
    }

    /// Applies the locale in the variables. A missing locale has no effect.
    pub(crate) fn apply_locale(&self) {
        let named = NAMES.iter().find_map(|name| self.locale_variable(name));
        crate::character::name_unicode(named.as_ref().is_some_and(|name| names_unicode(name)));
        match named.map(|name| known(&name)) {
            None | Some(Some(Known::C)) => crate::character::set_bytes(true),
            Some(Some(Known::Utf8)) => crate::character::set_bytes(false),
            Some(None) => {}
        }
    }

    /// Sets the initial locale: C if the variables name no existing locale.
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
                    let text = [
                        &self.invocation.name[..],
                        b": warning: setlocale: LC_ALL: cannot change locale (",
                        &name,
                        b")\n",
                    ];
                    // A closed standard error is ignored.
                    let _ = self.io.write(2, &text.concat());
                    self.expansion.missing_locales.insert((b"LC_ALL".to_vec(), name));
                }
            }
        }
    }

    /// Applies a change of a locale variable. Reports a locale that does not exist.
    pub(crate) fn locale_changed(&mut self, variable: &[u8]) {
        if self.expansion.quiet_locale {
            return;
        }
        let all = self.locale_variable(b"LC_ALL");
        let named = match variable {
            b"LC_ALL" => all,
            b"LANG" => None,
            _ if all.is_some() => return,
            _ => self.locale_variable(variable).or_else(|| self.locale_variable(b"LANG")),
        };
        if let Some(name) = named.filter(|name| known(name).is_none()) {
            if matches!(variable, b"LC_ALL" | b"LC_CTYPE") && names_unicode(&name) {
                // For escapes the name is enough.
                crate::character::name_unicode(true);
            }
            let first = self.expansion.missing_locales.insert((variable.to_vec(), name.clone()));
            let why = if first { ": No such file or directory" } else { "" };
            let (variable, name) = (lossy(variable), lossy(&name));
            self.report_error(format!("warning: setlocale: {variable}: cannot change locale ({name}){why}"));
            return;
        }
        if NAMES.contains(&variable) {
            self.apply_locale();
        }
    }
}
