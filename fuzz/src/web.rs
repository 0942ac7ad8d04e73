//! Fuzz targets for text that controls access: URLs, network rules, patterns and cassettes.

use tidebox_core::Dialect;
use tidebox_core::SandboxPath;
use tidebox_core::glob::GlobPattern;
use tidebox_core::layer::Cassette;
use tidebox_core::network::{AllowRule, NetworkPolicy, Target};

/// The first byte selects the kind of the rest.
pub(crate) fn urls(input: &[u8]) {
    let [what, rest @ ..] = input else { return };
    let text = String::from_utf8_lossy(rest);
    match what % 4 {
        0 => target(&text),
        1 => {
            let (pattern, path) = text.split_once('\n').unwrap_or((&text, "a/b"));
            for rules in [Dialect::Js.glob_rules(), Dialect::Python.glob_rules()] {
                if let Ok(glob) = GlobPattern::parse(pattern, rules) {
                    let _ = glob.matches(path.as_bytes(), false);
                }
            }
        }
        2 => {
            let Ok(cassette) = Cassette::parse(&text) else { return };
            let written = cassette.to_text().expect("what was read can be written");
            assert_eq!(Cassette::parse(&written).expect("what is written reads back"), cassette);
        }
        _ => {
            let Ok(path) = SandboxPath::parse(rest) else { return };
            assert!(path.as_bytes().starts_with(b"/") && !path.as_bytes().contains(&0));
            let again = SandboxPath::parse(path.as_bytes()).expect("a path is one");
            assert_eq!(again, path, "it is the same when it is read again");
        }
    }
}

/// Parses a URL as a request and as the target of a redirect.
fn target(text: &str) {
    let (url, location) = text.split_once('\n').unwrap_or((text, "/"));
    let Ok(target) = Target::parse(url) else { return };
    let printable = |path: &str| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
    assert!(printable(&target.path), "{target}");
    assert_eq!(Target::parse(&target.to_string()).as_ref().ok(), Some(&target), "it is the same when it is read again");
    if let Some(next) = target.follow(location) {
        assert!(printable(&next.path), "{next}");
    }
    let nobody = NetworkPolicy::new();
    assert!(nobody.check(&target, "GET").is_err(), "a policy without rules allows {target}");
    if let Ok(rule) = AllowRule::host(location) {
        let _ = NetworkPolicy::new().allow(rule).check(&target, "GET");
    }
}
