//! What the tools of uutils get wrong where WASI has no word for it, put right before they run.

use std::ffi::{OsStr, OsString};

/// Group and others may do nothing with what `mktemp` makes.
const PRIVATE: u32 = 0o077;

/// What a tool does with its arguments in the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It runs with these.
    Run(Vec<OsString>),
    /// The answer is known without it.
    Answer(i32),
    /// It cannot do that here.
    Refuse(&'static str),
}

/// Decides what becomes of a command line, the tool's name first.
pub(crate) fn prepare(tool: &str, arguments: Vec<OsString>) -> Turn {
    match tool {
        "mktemp" => {
            // std cannot ask for another mode than the one that the umask leaves.
            let _ = tidebox_rt::umask(Some(PRIVATE));
            Turn::Run(arguments)
        }
        "sort" => sort(arguments),
        "test" | "[" => test(arguments),
        _ => Turn::Run(arguments),
    }
}

/// `sort` merges and checks by a second thread, which there is not. Sorting gives the same as merging.
fn sort(arguments: Vec<OsString>) -> Turn {
    /// Options that take the rest of their argument, or the next one, as a value.
    const VALUED: &[u8] = b"kStTo";
    let mut kept = Vec::with_capacity(arguments.len());
    let mut rest = arguments.into_iter();
    kept.extend(rest.next());
    while let Some(argument) = rest.next() {
        let bytes = argument.as_encoded_bytes();
        if bytes == b"--" {
            kept.push(argument);
            break;
        }
        if bytes == b"--merge" {
            continue;
        }
        if bytes.starts_with(b"--check") {
            return Turn::Refuse("checking (-c, -C) is not supported here; compare the file with what sort prints");
        }
        if bytes.len() < 2 || !bytes.starts_with(b"-") || bytes.starts_with(b"--") {
            kept.push(argument);
            continue;
        }
        let letters = bytes.get(1..).unwrap_or_default();
        let end = letters.iter().position(|letter| VALUED.contains(letter)).unwrap_or(letters.len());
        let (flags, value) = letters.split_at_checked(end).unwrap_or((letters, b""));
        if flags.contains(&b'c') || flags.contains(&b'C') {
            return Turn::Refuse("checking (-c, -C) is not supported here; compare the file with what sort prints");
        }
        let takes_next = value.len() == 1;
        if flags.contains(&b'm') {
            let flags: Vec<u8> = flags.iter().copied().filter(|letter| *letter != b'm').collect();
            if !(flags.is_empty() && value.is_empty()) {
                kept.push(os_string(&[b"-", flags.as_slice(), value].concat()));
            }
        } else {
            kept.push(argument);
        }
        if takes_next {
            kept.extend(rest.next());
        }
    }
    kept.extend(rest);
    Turn::Run(kept)
}

fn os_string(bytes: &[u8]) -> OsString {
    tidebox_rt::path_of_bytes(bytes).as_os_str().to_owned()
}

/// `test -r`, `-w` and `-x` ask the kernel, because std knows no modes. Only where they are the whole question.
fn test(arguments: Vec<OsString>) -> Turn {
    let mut words: Vec<&OsStr> = arguments.iter().skip(1).map(OsString::as_os_str).collect();
    if arguments.first().is_some_and(|name| name.as_encoded_bytes().ends_with(b"["))
        && words.pop() != Some("]".as_ref())
    {
        // `[` says itself what it misses.
        return Turn::Run(arguments);
    }
    let negated = words.len() == 3 && words.first() == Some(&OsStr::new("!"));
    if negated {
        words.remove(0);
    }
    let [operator, file] = words.as_slice() else {
        return Turn::Run(arguments);
    };
    let wanted = match operator.as_encoded_bytes() {
        b"-r" => 4,
        b"-w" => 2,
        b"-x" => 1,
        _ => return Turn::Run(arguments),
    };
    let allowed = tidebox_rt::access(file.as_encoded_bytes(), wanted).is_ok();
    Turn::Answer(i32::from(allowed == negated))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Turn, prepare};

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn merging_becomes_sorting() {
        for (asked, run) in [
            ("sort -m a", "sort a"),
            ("sort -nmr -k 2 --merge a", "sort -nr -k 2 a"),
            ("sort -mt m -k2m a", "sort -t m -k2m a"),
            ("sort -o -m a", "sort -o -m a"),
            ("sort -- -m", "sort -- -m"),
            ("sort - -r", "sort - -r"),
        ] {
            assert_eq!(prepare("sort", words(asked)), Turn::Run(words(run)), "{asked}");
        }
    }

    #[test]
    fn checking_is_refused_instead_of_ending_in_a_panic() {
        for asked in ["sort -c a", "sort -rC a", "sort --check=quiet a"] {
            assert!(matches!(prepare("sort", words(asked)), Turn::Refuse(_)), "{asked}");
        }
        assert_eq!(prepare("sort", words("sort -t c a")), Turn::Run(words("sort -t c a")));
    }

    #[test]
    fn questions_about_rights_are_asked_of_the_kernel() {
        for (asked, code) in [("test -x /", 0), ("[ ! -x / ]", 1), ("[ -r /nowhere ]", 1), ("test ! -w /nowhere", 0)] {
            let tool = if asked.starts_with('[') { "[" } else { "test" };
            assert_eq!(prepare(tool, words(asked)), Turn::Answer(code), "{asked}");
        }
        for asked in ["test -d /", "test -x", "[ -x /", "test a = b"] {
            let tool = if asked.starts_with('[') { "[" } else { "test" };
            assert_eq!(prepare(tool, words(asked)), Turn::Run(words(asked)), "{asked}");
        }
    }
}
