//! Options that Git sets before a command.

/// Answer to an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Ok,
    Unsupported,
    Invalid,
}

/// Options of fetching and pushing.
#[derive(Debug)]
pub(crate) struct Options {
    verbosity: i64,
    progress: bool,
    thin: bool,
    keep: bool,
    depth: Option<String>,
    deepen_since: Option<String>,
    deepen_not: Vec<String>,
    deepen_relative: bool,
    follow_tags: bool,
    check_connectivity: bool,
    cloning: bool,
    update_shallow: bool,
    from_promisor: bool,
    refetch: bool,
    filter: Option<String>,
    dry_run: bool,
    atomic: bool,
    force: bool,
    leases: Vec<String>,
    force_if_includes: bool,
    signed: Option<String>,
    push_options: Vec<String>,
    /// Git reads the hash algorithm in the list of references.
    pub(crate) object_format: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            verbosity: 1,
            progress: true,
            thin: true,
            keep: false,
            depth: None,
            deepen_since: None,
            deepen_not: Vec::new(),
            deepen_relative: false,
            follow_tags: false,
            check_connectivity: false,
            cloning: false,
            update_shallow: false,
            from_promisor: false,
            refetch: false,
            filter: None,
            dry_run: false,
            atomic: false,
            force: false,
            leases: Vec::new(),
            force_if_includes: false,
            signed: None,
            push_options: Vec::new(),
            object_format: false,
        }
    }
}

impl Options {
    /// Sets an option.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Answer {
        if let Some(switch) = self.switch(name) {
            // Git sends different values for a switch that is on.
            match value {
                "true" | "yes" | "1" => *switch = true,
                "false" | "no" | "0" => *switch = false,
                _ => return Answer::Invalid,
            }
            return Answer::Ok;
        }
        let text = value.to_owned();
        match name {
            "verbosity" => match value.parse() {
                Ok(verbosity) => self.verbosity = verbosity,
                Err(_) => return Answer::Invalid,
            },
            "depth" if value.parse::<u32>().is_err() => return Answer::Invalid,
            "depth" => self.depth = Some(text),
            "deepen-since" => self.deepen_since = Some(text),
            "deepen-not" => self.deepen_not.push(text),
            "filter" => self.filter = Some(text),
            "cas" => match unquote(value) {
                Some(lease) => self.leases.push(lease),
                None => return Answer::Invalid,
            },
            "push-option" => match unquote(value) {
                Some(option) => self.push_options.push(option),
                None => return Answer::Invalid,
            },
            "pushcert" if matches!(value, "true" | "false" | "if-asked") => self.signed = Some(text),
            "pushcert" => return Answer::Invalid,
            "object-format" if matches!(value, "" | "true" | "sha1" | "sha256") => self.object_format = true,
            _ => return Answer::Unsupported,
        }
        Answer::Ok
    }

    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "progress" => &mut self.progress,
            "thin" => &mut self.thin,
            "keep" => &mut self.keep,
            "deepen-relative" => &mut self.deepen_relative,
            "followtags" => &mut self.follow_tags,
            "check-connectivity" => &mut self.check_connectivity,
            "cloning" => &mut self.cloning,
            "update-shallow" | "updateshallow" => &mut self.update_shallow,
            "from-promisor" => &mut self.from_promisor,
            "refetch" => &mut self.refetch,
            "dry-run" => &mut self.dry_run,
            "atomic" => &mut self.atomic,
            "force" => &mut self.force,
            "force-if-includes" => &mut self.force_if_includes,
            _ => return None,
        })
    }

    /// Arguments of `git fetch-pack` between its mode and the URL.
    pub(crate) fn fetch_arguments(&self) -> Vec<String> {
        let mut arguments = switches(&[
            (self.thin, "--thin"),
            (self.keep, "--keep"),
            (self.verbosity <= 0, "--quiet"),
            (self.verbosity > 2, "-v"),
            (!self.progress, "--no-progress"),
            (self.follow_tags, "--include-tag"),
            (self.check_connectivity, "--check-self-contained-and-connected"),
            (self.cloning, "--cloning"),
            (self.update_shallow, "--update-shallow"),
            (self.from_promisor, "--from-promisor"),
            (self.refetch, "--refetch"),
            (self.deepen_relative && self.depth.is_some(), "--deepen-relative"),
        ]);
        let named = [("--depth", &self.depth), ("--shallow-since", &self.deepen_since), ("--filter", &self.filter)];
        for (name, value) in named {
            arguments.extend(value.as_ref().map(|value| format!("{name}={value}")));
        }
        arguments.extend(self.deepen_not.iter().map(|name| format!("--shallow-exclude={name}")));
        arguments
    }

    /// Arguments of `git send-pack` between its mode and the URL.
    pub(crate) fn push_arguments(&self) -> Vec<String> {
        let mut arguments = switches(&[
            (self.thin, "--thin"),
            (self.verbosity <= 0, "--quiet"),
            (self.verbosity > 1, "--verbose"),
            (true, if self.progress { "--progress" } else { "--no-progress" }),
            (self.dry_run, "--dry-run"),
            (self.atomic, "--atomic"),
            (self.force, "--force"),
            (self.force_if_includes, "--force-if-includes"),
        ]);
        arguments.extend(self.signed.as_ref().map(|value| format!("--signed={value}")));
        arguments.extend(self.leases.iter().map(|lease| format!("--force-with-lease={lease}")));
        arguments.extend(self.push_options.iter().map(|option| format!("--push-option={option}")));
        arguments
    }
}

fn switches(list: &[(bool, &str)]) -> Vec<String> {
    list.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()).collect()
}

/// Removes the quotes of C from a value that has them. `None` if the quoted text is invalid or is not UTF-8.
fn unquote(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else { return Some(text.to_owned()) };
    let mut bytes = quoted.strip_suffix('"')?.bytes();
    let mut out = Vec::with_capacity(quoted.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            quoted @ (b'"' | b'\\') => quoted,
            first @ b'0'..=b'3' => {
                let mut digit = || bytes.next().filter(u8::is_ascii_digit).map(|digit| (digit - b'0') & 7);
                (first - b'0') << 6 | digit()? << 3 | digit()?
            }
            _ => return None,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::{Answer, Options, unquote};

    #[test]
    fn options_become_arguments() {
        let mut options = Options::default();
        for (name, value) in [
            ("verbosity", "3"),
            ("progress", "false"),
            ("depth", "2"),
            ("deepen-not", "a"),
            ("deepen-not", "b"),
            ("filter", "blob:none"),
            ("from-promisor", "1"),
            ("refetch", "yes"),
            ("thin", "false"),
            ("atomic", "true"),
            ("cas", "refs/heads/a:12"),
            ("push-option", "\"a \\\"b\""),
            ("object-format", ""),
            ("deepen-relative", "true"),
        ] {
            assert_eq!(options.set(name, value), Answer::Ok, "{name}");
        }
        assert_eq!(
            options.fetch_arguments().join(" "),
            "-v --no-progress --from-promisor --refetch --deepen-relative --depth=2 --filter=blob:none --shallow-exclude=a \
             --shallow-exclude=b"
        );
        assert_eq!(
            options.push_arguments().join(" "),
            "--verbose --no-progress --atomic --force-with-lease=refs/heads/a:12 --push-option=a \"b"
        );
        assert!(options.object_format);
    }

    #[test]
    fn invalid_values_and_unknown_options_are_not_set() {
        let mut options = Options::default();
        for (name, value) in [
            ("verbosity", "x"),
            ("depth", "-1"),
            ("depth", "1 2"),
            ("thin", "maybe"),
            ("pushcert", "x"),
            ("cas", "\"a"),
        ] {
            assert_eq!(options.set(name, value), Answer::Invalid, "{name} {value}");
        }
        for name in ["servpath", "family", "", "depths"] {
            assert_eq!(options.set(name, "x"), Answer::Unsupported, "{name}");
        }
        assert_eq!(options.set("object-format", "md5"), Answer::Unsupported);
    }

    #[test]
    fn quoted_texts_are_those_of_c() {
        assert_eq!(unquote("plain\\n").as_deref(), Some("plain\\n"));
        assert_eq!(unquote(r#""a\tb\\\"\303\251""#).as_deref(), Some("a\tb\\\"é"));
        for text in ["\"", "\"a", r#""\""#, r#""\x""#, r#""\30""#, r#""\377""#] {
            assert_eq!(unquote(text), None, "{text}");
        }
    }
}
