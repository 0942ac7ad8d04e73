//! `locale`: the current locale. Available are `C` and `C.UTF-8`.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

const CATEGORIES: &[&str] = &[
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
];

/// Exit code of a usage error.
const MISUSE: i32 = 64;

const USAGE: &str = "\
Usage: locale [OPTION...] NAME
  or:  locale [OPTION...] [-a|-m]
Get locale-specific information.

";

tidebox_gnu::options! {
    /// Options of `locale`.
    enum Flag {
        AllLocales = "-a, --all-locales", "Write names of available locales";
        Charmaps = "-m, --charmaps", "Write names of available charmaps";
        KeywordName = "-k, --keyword-name", "Write names of selected keywords";
        Help = "-?, --help", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax::new("locale", USAGE, 29);

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs `locale`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut keyword = false;
    let names = SYNTAX.parse(arguments, |flag, _| match flag {
        Flag::AllLocales => Err(ToolResult::Print(b"C\nC.utf8\nPOSIX\n".to_vec())),
        Flag::Charmaps => Err(ToolResult::Print(b"ANSI_X3.4-1968\nUTF-8\n".to_vec())),
        _ => {
            keyword = true;
            Ok(())
        }
    });
    let names = match names {
        Ok(names) => names,
        // Unlike other tools, `locale` has its own hint and exit code.
        Err(ToolResult::Usage(message, _)) => {
            print_error("locale", &message);
            tidebox_gnu::eprint_line!("Try `locale --help' or `locale --usage' for more information.");
            return MISUSE;
        }
        Err(result) => return result.into_exit_code("locale"),
    };
    if names.is_empty() {
        return print("locale", settings().as_bytes());
    }
    let mut out = String::new();
    let mut code = 0;
    for name in &names {
        let charmap = if tidebox_gnu::message::unicode_locale() { "UTF-8" } else { "ANSI_X3.4-1968" };
        let value = match name.as_slice() {
            b"charmap" => charmap,
            b"decimal_point" => ".",
            b"thousands_sep" => "",
            b"LC_ALL" => continue,
            _ => {
                tidebox_gnu::eprint_line!("locale: unknown name \"{}\"", String::from_utf8_lossy(name));
                code = 1;
                continue;
            }
        };
        if keyword {
            out.push_str(&format!("{}=\"{value}\"\n", String::from_utf8_lossy(name)));
        } else {
            out.push_str(&format!("{value}\n"));
        }
    }
    code.max(print("locale", out.as_bytes()))
}

fn settings() -> String {
    let (all, lang) = (variable("LC_ALL"), variable("LANG"));
    let mut out = format!("LANG={}\n", lang.clone().unwrap_or_default());
    out.push_str(&format!("LANGUAGE={}\n", variable("LANGUAGE").unwrap_or_default()));
    for category in CATEGORIES {
        // Quotes indicate that the value derives from another variable.
        let line = match (&all, variable(category)) {
            (Some(all), _) => format!("{category}=\"{all}\"\n"),
            (None, Some(own)) => format!("{category}={own}\n"),
            (None, None) => format!("{category}=\"{}\"\n", lang.as_deref().unwrap_or("POSIX")),
        };
        out.push_str(&line);
    }
    out.push_str(&format!("LC_ALL={}\n", all.unwrap_or_default()));
    out
}
