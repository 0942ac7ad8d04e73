//! Tests, actions and settings by their names.

mod value;
use std::collections::VecDeque;

use tidebox_gnu::message::{quote_value, unicode_locale};
use tidebox_gnu::regex::{self, Dialect, Regex, StrayOperators};
use tidebox_gnu::user::Kind;

use crate::execute::{self, Execute};
use crate::expression::{Action, Test};
use crate::output::Targets;
use crate::parse::{Follow, Settings};
use crate::printf::Format;
use value::{age, compare, dialect, newer_than, owner, permission, size, stamp, stat_of, types};

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * 60;
const SECOND_NS: u64 = 1_000_000_000;

/// Parsed item of the expression.
#[derive(Debug)]
pub(crate) enum Primary {
    Test(Test),
    Action(Action),
    /// A setting, which is true for all files.
    Setting,
}

/// Parser state.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) follow: Follow,
    pub(crate) settings: Settings,
    pub(crate) targets: Targets,
    pub(crate) warnings: Vec<String>,
    dialect: Dialect,
    misplaced: StrayOperators,
    /// Report suspicious expressions (`-warn`).
    warn: bool,
    deletes: bool,
    prunes: bool,
    /// `-depth` is given explicitly.
    explicit_depth: bool,
    /// File with the starting points.
    pub(crate) list: Option<Vec<u8>>,
}

impl Context {
    pub(crate) fn new(follow: Follow) -> Self {
        let settings = Settings {
            most_depth: usize::MAX,
            least_depth: 0,
            depth_first: false,
            one_device: false,
            now: tidebox_rt::realtime_ns(),
            ignore_races: false,
        };
        Self {
            follow,
            settings,
            targets: Targets::new(),
            warnings: Vec::new(),
            dialect: Dialect::Emacs,
            misplaced: StrayOperators::Tolerated,
            warn: false,
            deletes: false,
            prunes: false,
            explicit_depth: false,
            list: None,
        }
    }

    /// Rejects `-delete` with `-prune`: it visits contents first, so pruning has no effect and pruned files would be deleted.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.deletes && self.prunes && !self.explicit_depth {
            return Err("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in \
                        effect.  If you want to carry on anyway, just explicitly use the -depth option."
                .to_owned());
        }
        Ok(())
    }
}

type Rest = VecDeque<Vec<u8>>;

fn value(name: &str, rest: &mut Rest) -> Result<Vec<u8>, String> {
    rest.pop_front().ok_or_else(|| format!("missing argument to `{name}'"))
}

fn text(name: &str, rest: &mut Rest) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&value(name, rest)?).into_owned())
}

/// Parses the test, action or setting `name` with its arguments. `late` is true if a test precedes it.
pub(crate) fn parse(name: &str, rest: &mut Rest, context: &mut Context, late: bool) -> Result<Primary, String> {
    if let Some(test) = test(name, rest, context)? {
        return Ok(Primary::Test(test));
    }
    if let Some(action) = action(name, rest, context)? {
        return Ok(Primary::Action(action));
    }
    setting(name, rest, context, late)?;
    Ok(Primary::Setting)
}

fn test(name: &str, rest: &mut Rest, context: &mut Context) -> Result<Option<Test>, String> {
    Ok(Some(match name {
        "-true" => Test::True,
        "-false" => Test::False,
        "-name" | "-iname" => {
            let glob = value(name, rest)?;
            if context.warn && glob.contains(&b'/') && glob.len() > 1 {
                context.warnings.push(format!(
                    "{} matches against basenames only, but the given pattern contains a directory separator ({}), thus \
                     the expression will evaluate to false all the time.  Did you mean {}?",
                    quote_value(name.as_bytes()),
                    quote_value(b"/"),
                    quote_value(if name == "-iname" { b"-iwholename" } else { b"-wholename" })
                ));
            }
            Test::Name { glob, ignore_case: name == "-iname" }
        }
        "-path" | "-wholename" => Test::Path { glob: value(name, rest)?, ignore_case: false },
        "-ipath" | "-iwholename" => Test::Path { glob: value(name, rest)?, ignore_case: true },
        "-lname" | "-ilname" => Test::LinkName { glob: value(name, rest)?, ignore_case: name == "-ilname" },
        "-regex" | "-iregex" => pattern(name, rest, context)?,
        "-type" | "-xtype" => Test::Type { letters: types(name, &text(name, rest)?)?, other_side: name == "-xtype" },
        "-size" => size(&text(name, rest)?)?,
        "-empty" => Test::Empty,
        "-mtime" | "-atime" | "-ctime" => age(name, rest, stamp(name, 1), DAY)?,
        "-mmin" | "-amin" | "-cmin" => age(name, rest, stamp(name, 1), MINUTE)?,
        "-newer" | "-anewer" | "-cnewer" => {
            let than = stat_of(&value(name, rest)?, context.follow)?.mtime_ns;
            Test::NewerThan { stamp: stamp(name, 1), than }
        }
        "-perm" => permission(&text(name, rest)?)?,
        "-readable" => Test::Access(4),
        "-writable" => Test::Access(2),
        "-executable" => Test::Access(1),
        "-user" => Test::User(owner(Kind::User, &text(name, rest)?)?),
        "-group" => Test::Group(owner(Kind::Group, &text(name, rest)?)?),
        "-uid" => Test::User(compare(name, &text(name, rest)?)?),
        "-gid" => Test::Group(compare(name, &text(name, rest)?)?),
        "-nouser" => Test::NoUser,
        "-nogroup" => Test::NoGroup,
        "-used" => Test::Used(compare(name, &text(name, rest)?)?),
        "-fstype" => Test::FileSystem(value(name, rest)?),
        "-links" => Test::Links(compare(name, &text(name, rest)?)?),
        "-inum" => Test::Inode(compare(name, &text(name, rest)?)?),
        "-samefile" => {
            let stat = stat_of(&value(name, rest)?, context.follow)?;
            Test::SameFile { device: stat.dev, inode: stat.ino }
        }
        _ if name.starts_with("-newer") && name.len() == 8 => newer_than(name, rest, context.follow)?,
        _ => return Ok(None),
    }))
}

fn action(name: &str, rest: &mut Rest, context: &mut Context) -> Result<Option<Action>, String> {
    let targets = &mut context.targets;
    Ok(Some(match name {
        "-print" => Action::Print { output: targets.standard(), end: b'\n' },
        "-print0" => Action::Print { output: targets.standard(), end: 0 },
        "-fprint" => Action::Print { output: targets.file(&value(name, rest)?), end: b'\n' },
        "-fprint0" => Action::Print { output: targets.file(&value(name, rest)?), end: 0 },
        "-ls" => Action::List { output: targets.standard() },
        "-fls" => Action::List { output: targets.file(&value(name, rest)?) },
        "-printf" => {
            let output = targets.standard();
            Action::Printf { output, format: Format::parse(&value(name, rest)?, &mut context.warnings)? }
        }
        "-fprintf" => {
            let output = targets.file(&value(name, rest)?);
            Action::Printf { output, format: Format::parse(&value(name, rest)?, &mut context.warnings)? }
        }
        "-exec" | "-execdir" | "-ok" | "-okdir" => Action::Execute(exec(name, rest)?),
        "-delete" => {
            // A directory can be deleted only after its contents.
            context.settings.depth_first = true;
            context.deletes = true;
            Action::Delete
        }
        "-prune" => {
            context.prunes = true;
            Action::Prune
        }
        "-quit" => Action::Quit,
        _ => return Ok(None),
    }))
}

fn setting(name: &str, rest: &mut Rest, context: &mut Context, late: bool) -> Result<(), String> {
    let settings = &mut context.settings;
    match name {
        "-maxdepth" => settings.most_depth = depth(name, &text(name, rest)?)?,
        "-mindepth" => settings.least_depth = depth(name, &text(name, rest)?)?,
        "-depth" | "-d" => (settings.depth_first, context.explicit_depth) = (true, true),
        "-files0-from" => context.list = Some(value(name, rest)?),
        "-xdev" | "-mount" => settings.one_device = true,
        "-ignore_readdir_race" => settings.ignore_races = true,
        "-noignore_readdir_race" => settings.ignore_races = false,
        "-daystart" => settings.now = (settings.now / (DAY * SECOND_NS)).saturating_add(1) * DAY * SECOND_NS,
        "-follow" => context.follow = Follow::Always,
        "-regextype" => {
            let kind = text(name, rest)?;
            context.dialect = dialect(&kind)?;
            context.misplaced =
                if kind == "posix-extended" { StrayOperators::Refused } else { StrayOperators::Tolerated };
        }
        "-warn" => context.warn = true,
        "-nowarn" => context.warn = false,
        "-noleaf" => {}
        _ => return Err(format!("unknown predicate `{name}'")),
    }
    let global = matches!(name, "-maxdepth" | "-mindepth" | "-depth" | "-d" | "-xdev" | "-mount");
    if global && late && context.warn {
        context.warnings.push(format!(
            "you have specified the global option {name} after the argument of another test, but global options are \
             not positional, i.e., {name} affects tests specified before it as well as those specified after it.  \
             Please specify global options before other arguments."
        ));
    }
    Ok(())
}

fn depth(name: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!("Expected a positive decimal integer argument to {name}, but got {}", quote_value(text.as_bytes()))
    })
}

/// Types of `-regextype`, in the order of its message.
const DIALECTS: [&str; 13] = [
    "findutils-default",
    "ed",
    "emacs",
    "gnu-awk",
    "grep",
    "posix-awk",
    "awk",
    "posix-basic",
    "posix-egrep",
    "egrep",
    "posix-extended",
    "posix-minimal-basic",
    "sed",
];

fn pattern(name: &str, rest: &mut Rest, context: &Context) -> Result<Test, String> {
    let source = value(name, rest)?;
    let options = regex::Options {
        ignore_case: name == "-iregex",
        whole_line: true,
        misplaced: context.misplaced,
        // Paths have no zero bytes, so dots and sets match all characters.
        terminator: 0,
        unicode: unicode_locale(),
        ..regex::Options::of(context.dialect)
    };
    let shown = String::from_utf8_lossy(&source).into_owned();
    let regex = Regex::new(&[source], &options)
        .map_err(|error| format!("failed to compile regular expression '{shown}': {error}"))?;
    Ok(Test::Regex(Box::new(regex)))
}

fn exec(name: &str, rest: &mut Rest) -> Result<Execute, String> {
    let missing = || format!("missing argument to `{name}'");
    let prompts = name.starts_with("-ok");
    let mut words: Vec<Vec<u8>> = Vec::new();
    if rest.front().is_some_and(|word| word == b";") {
        return Err(format!("invalid argument `;' to `{name}'"));
    }
    let many = loop {
        let word = rest.pop_front().ok_or_else(missing)?;
        if word == b";" {
            break false;
        }
        // `+` ends the command only right after `{}`.
        if word == b"+" && !prompts && words.last().is_some_and(|last| last == b"{}") {
            break true;
        }
        words.push(word);
    };
    if words.is_empty() || (many && words.len() < 2) {
        return Err(missing());
    }
    if many && words.iter().filter(|word| execute::holds_braces(word)).count() > 1 {
        return Err(format!("Only one instance of {{}} is supported with {name} ... +"));
    }
    if name.ends_with("dir") {
        check_path(name)?;
    }
    Ok(Execute::new(words, many, name.ends_with("dir"), prompts))
}

/// Rejects relative directories in `PATH`: `-execdir` would run programs of the searched directories.
fn check_path(name: &str) -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let relative = path.as_encoded_bytes().split(|byte| *byte == b':').find(|folder| !folder.starts_with(b"/"));
    match relative {
        Some(folder) if !path.is_empty() => Err(format!(
            "The relative path {} is included in the PATH environment variable, which is insecure in combination with \
             the {name} action of find.  Please remove that entry from $PATH",
            quote_value(folder)
        )),
        _ => Ok(()),
    }
}
