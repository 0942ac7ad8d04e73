//! curl's command line. Its rules are special: no `--name=value`, `--no-name` undoes a switch, and long names may be
//! abbreviated.

use Takes::{Nothing, Unsupported, Value};

/// Kind of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A switch.
    Nothing,
    /// With a value.
    Value,
    /// With or without a value, but not supported here.
    Unsupported,
}

/// An option: its letter (`\0` if it has no letter), name and kind.
type Known = (char, &'static str, Takes);

/// All known options. Those without effect are listed in [`WITHOUT_EFFECT`].
const KNOWN: &[Known] = &[
    ('#', "progress-bar", Nothing),
    ('0', "http1.0", Nothing),
    ('\0', "http1.1", Nothing),
    ('\0', "http2", Nothing),
    ('\0', "http2-prior-knowledge", Unsupported),
    ('1', "tlsv1", Nothing),
    ('\0', "tlsv1.0", Nothing),
    ('\0', "tlsv1.1", Nothing),
    ('\0', "tlsv1.2", Nothing),
    ('\0', "tlsv1.3", Nothing),
    ('\0', "ssl", Nothing),
    ('\0', "ssl-reqd", Nothing),
    ('4', "ipv4", Nothing),
    ('6', "ipv6", Nothing),
    ('A', "user-agent", Value),
    ('b', "cookie", Value),
    ('c', "cookie-jar", Value),
    ('C', "continue-at", Value),
    ('d', "data", Value),
    ('\0', "data-ascii", Value),
    ('\0', "data-binary", Value),
    ('\0', "data-raw", Value),
    ('\0', "data-urlencode", Value),
    ('D', "dump-header", Value),
    ('e', "referer", Value),
    ('f', "fail", Nothing),
    ('F', "form", Value),
    ('\0', "form-string", Value),
    ('\0', "fail-early", Nothing),
    ('\0', "fail-with-body", Nothing),
    ('g', "globoff", Nothing),
    ('G', "get", Nothing),
    ('h', "help", Nothing),
    ('H', "header", Value),
    ('i', "include", Nothing),
    ('I', "head", Nothing),
    ('j', "junk-session-cookies", Nothing),
    ('J', "remote-header-name", Nothing),
    ('\0', "json", Value),
    ('k', "insecure", Nothing),
    ('\0', "basic", Nothing),
    ('\0', "compressed", Nothing),
    ('\0', "connect-timeout", Value),
    ('\0', "create-dirs", Nothing),
    ('\0', "keepalive", Nothing),
    ('\0', "keepalive-time", Value),
    ('L', "location", Nothing),
    ('\0', "location-trusted", Nothing),
    ('m', "max-time", Value),
    ('\0', "max-filesize", Value),
    ('\0', "max-redirs", Value),
    ('\0', "noproxy", Value),
    ('N', "no-buffer", Nothing),
    ('\0', "buffer", Nothing),
    ('o', "output", Value),
    ('\0', "output-dir", Value),
    ('O', "remote-name", Nothing),
    ('\0', "remote-name-all", Nothing),
    ('\0', "oauth2-bearer", Value),
    ('\0', "post301", Nothing),
    ('\0', "post302", Nothing),
    ('\0', "post303", Nothing),
    ('\0', "progress-meter", Nothing),
    ('q', "disable", Nothing),
    ('r', "range", Value),
    ('R', "remote-time", Nothing),
    ('\0', "raw", Nothing),
    ('\0', "remove-on-error", Nothing),
    ('X', "request", Value),
    ('\0', "retry", Value),
    ('\0', "retry-all-errors", Nothing),
    ('\0', "retry-connrefused", Nothing),
    ('\0', "retry-delay", Value),
    ('\0', "retry-max-time", Value),
    ('s', "silent", Nothing),
    ('S', "show-error", Nothing),
    ('\0', "stderr", Value),
    ('\0', "tcp-nodelay", Nothing),
    ('T', "upload-file", Value),
    ('u', "user", Value),
    ('\0', "url", Value),
    ('v', "verbose", Nothing),
    ('V', "version", Nothing),
    ('w', "write-out", Value),
    ('a', "append", Unsupported),
    ('B', "use-ascii", Unsupported),
    ('E', "cert", Unsupported),
    ('K', "config", Unsupported),
    ('l', "list-only", Unsupported),
    ('M', "manual", Unsupported),
    ('n', "netrc", Unsupported),
    ('p', "proxytunnel", Unsupported),
    ('P', "ftp-port", Unsupported),
    ('Q', "quote", Unsupported),
    ('t', "telnet-option", Unsupported),
    ('U', "proxy-user", Unsupported),
    ('x', "proxy", Unsupported),
    ('y', "speed-time", Unsupported),
    ('Y', "speed-limit", Unsupported),
    ('z', "time-cond", Unsupported),
    ('Z', "parallel", Unsupported),
    (':', "next", Unsupported),
    ('\0', "anyauth", Unsupported),
    ('\0', "aws-sigv4", Unsupported),
    ('\0', "cacert", Unsupported),
    ('\0', "capath", Unsupported),
    ('\0', "cert-type", Unsupported),
    ('\0', "ciphers", Unsupported),
    ('\0', "connect-to", Unsupported),
    ('\0', "digest", Unsupported),
    ('\0', "dns-servers", Unsupported),
    ('\0', "doh-url", Unsupported),
    ('\0', "etag-compare", Unsupported),
    ('\0', "etag-save", Unsupported),
    ('\0', "ftp-create-dirs", Unsupported),
    ('\0', "happy-eyeballs-timeout-ms", Unsupported),
    ('\0', "http0.9", Unsupported),
    ('\0', "http3", Unsupported),
    ('\0', "interface", Unsupported),
    ('\0', "key", Unsupported),
    ('\0', "libcurl", Unsupported),
    ('\0', "limit-rate", Unsupported),
    ('\0', "local-port", Unsupported),
    ('\0', "negotiate", Unsupported),
    ('\0', "netrc-file", Unsupported),
    ('\0', "netrc-optional", Unsupported),
    ('\0', "ntlm", Unsupported),
    ('\0', "parallel-max", Unsupported),
    ('\0', "pass", Unsupported),
    ('\0', "path-as-is", Unsupported),
    ('\0', "pinnedpubkey", Unsupported),
    ('\0', "preproxy", Unsupported),
    ('\0', "proto", Unsupported),
    ('\0', "proto-default", Unsupported),
    ('\0', "proto-redir", Unsupported),
    ('\0', "proxy-header", Unsupported),
    ('\0', "rate", Unsupported),
    ('\0', "request-target", Unsupported),
    ('\0', "resolve", Unsupported),
    ('\0', "socks5", Unsupported),
    ('\0', "socks5-hostname", Unsupported),
    ('\0', "tls-max", Unsupported),
    ('\0', "tr-encoding", Unsupported),
    ('\0', "trace", Unsupported),
    ('\0', "trace-ascii", Unsupported),
    ('\0', "trace-time", Unsupported),
    ('\0', "unix-socket", Unsupported),
    ('\0', "url-query", Unsupported),
    ('\0', "variable", Unsupported),
    ('\0', "xattr", Unsupported),
];

/// Options that request the default behaviour, or a connection detail controlled by the host.
pub(super) const WITHOUT_EFFECT: &[&str] = &[
    "basic",
    "buffer",
    "disable",
    "http1.0",
    "http1.1",
    "http2",
    "ipv4",
    "ipv6",
    "keepalive",
    "keepalive-time",
    "no-buffer",
    "noproxy",
    "progress-bar",
    "raw",
    "ssl",
    "ssl-reqd",
    "tcp-nodelay",
    "tlsv1",
    "tlsv1.0",
    "tlsv1.1",
    "tlsv1.2",
    "tlsv1.3",
];

/// One command line element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A switch, on or off.
    Switch(&'static str, bool),
    /// An option with its value.
    Value(&'static str, Vec<u8>),
    /// An operand.
    Operand(Vec<u8>),
}

/// Parses the whole command line. The error is the text after `curl: `.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Vec<Item>, String> {
    let (mut items, mut rest) = (Vec::new(), arguments.into_iter());
    while let Some(argument) = rest.next() {
        if argument == b"--" {
            items.extend(rest.by_ref().map(Item::Operand));
        } else if let Some(name) = argument.strip_prefix(b"--") {
            items.push(long(&String::from_utf8_lossy(name), &mut rest)?);
        } else if argument.len() > 1 && argument.starts_with(b"-") {
            short(argument.get(1..).unwrap_or_default(), &mut rest, &mut items)?;
        } else {
            items.push(Item::Operand(argument));
        }
    }
    Ok(items)
}

fn long(written: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<Item, String> {
    let unknown = || format!("option --{written}: is unknown");
    let exact = |name: &str| KNOWN.iter().find(|(_, known, _)| *known == name);
    if let Some(known) = exact(written) {
        return finish(*known, &format!("--{written}"), rest);
    }
    if let Some((_, name, Nothing)) = written.strip_prefix("no-").and_then(exact) {
        return Ok(Item::Switch(name, false));
    }
    let mut fitting = KNOWN.iter().filter(|(_, name, _)| name.starts_with(written));
    match (fitting.next(), fitting.next()) {
        (Some(known), None) => finish(*known, &format!("--{written}"), rest),
        (Some(_), Some(_)) => Err(format!("option --{written}: is ambiguous")),
        (None, _) => Err(unknown()),
    }
}

fn finish(known: Known, written: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<Item, String> {
    match known {
        (_, name, Nothing) => Ok(Item::Switch(name, true)),
        (_, name, Value) => {
            let value = rest.next().ok_or_else(|| format!("option {written}: requires parameter"))?;
            Ok(Item::Value(name, value))
        }
        (_, _, Unsupported) => Err(format!("option {written}: is not supported in this sandbox")),
    }
}

fn short(cluster: &[u8], rest: &mut impl Iterator<Item = Vec<u8>>, items: &mut Vec<Item>) -> Result<(), String> {
    for (at, letter) in cluster.iter().enumerate() {
        let letter = char::from(*letter);
        let Some(known) = KNOWN.iter().find(|(known, _, _)| *known == letter && letter != '\0') else {
            return Err(format!("option -{letter}: is unknown"));
        };
        let attached = cluster.get(at + 1..).unwrap_or_default();
        if known.2 == Value && !attached.is_empty() {
            items.push(Item::Value(known.1, attached.to_vec()));
            return Ok(());
        }
        items.push(finish(*known, &format!("-{letter}"), rest)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Item, KNOWN, Takes, WITHOUT_EFFECT, parse};

    fn read(arguments: &[&str]) -> Result<Vec<Item>, String> {
        parse(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect())
    }

    #[test]
    fn letters_cluster_and_take_values_from_either_side() {
        let expected = vec![
            Item::Switch("silent", true),
            Item::Switch("location", true),
            Item::Value("output", b"f".to_vec()),
            Item::Value("request", b"PUT".to_vec()),
            Item::Operand(b"u".to_vec()),
        ];
        assert_eq!(read(&["-sLo", "f", "-XPUT", "u"]), Ok(expected));
    }

    #[test]
    fn long_names_may_be_shortened_or_negated() {
        assert_eq!(
            read(&["--sil", "--no-location"]),
            Ok(vec![Item::Switch("silent", true), Item::Switch("location", false)])
        );
        assert_eq!(read(&["--no-buffer"]), Ok(vec![Item::Switch("no-buffer", true)]));
        for (argument, message) in [
            ("--data=x", "option --data=x: is unknown"),
            ("--ret", "option --ret: is ambiguous"),
            ("--output", "option --output: requires parameter"),
            ("-W", "option -W: is unknown"),
            ("-x", "option -x: is not supported in this sandbox"),
        ] {
            assert_eq!(read(&[argument]), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_has_no_effect_is_known() {
        for name in WITHOUT_EFFECT {
            assert!(KNOWN.iter().any(|(_, known, takes)| known == name && *takes != Takes::Unsupported), "{name}");
        }
        assert_eq!(read(&["--", "-s"]), Ok(vec![Item::Operand(b"-s".to_vec())]));
    }
}
