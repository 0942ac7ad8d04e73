//! `id`, `whoami`, `groups`, `logname`: who the caller is.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::{ToolResult, print};
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{print_error, quote_value};
use tidebox_gnu::user::{Kind, Names};

const ID_HELP: &str = "\
Usage: id [OPTION]... [USER]...
Prints user and group of each USER, or of the caller.

  -u, --user    only the user id
  -g, --group   only the group id
  -G, --groups  only the ids of all groups
  -n, --name    names instead of numbers, with -u, -g or -G
  -r, --real    has no effect: no program runs in another's name
  -z, --zero    separate with zero bytes
";

const LONG: &[Long] = &[
    long("user", Takes::Nothing, 'u'),
    long("group", Takes::Nothing, 'g'),
    long("groups", Takes::Nothing, 'G'),
    long("name", Takes::Nothing, 'n'),
    long("real", Takes::Nothing, 'r'),
    long("zero", Takes::Nothing, 'z'),
    long("help", Takes::Nothing, 'h'),
];

/// A user by numbers. Everyone is in one group, which has the number of the user.
#[derive(Clone, Copy)]
struct Who {
    user: u32,
    group: u32,
}

fn caller() -> Result<Who, ToolResult> {
    let ids = tidebox_rt::getids()
        .map_err(|error| ToolResult::Failure(format!("cannot find user ID: {}", error.text()), 1))?;
    Ok(Who { user: ids.uid, group: ids.gid })
}

fn named(name: &[u8]) -> Result<Who, ToolResult> {
    let id = Names::load(Kind::User).id(&String::from_utf8_lossy(name));
    let reason = if name.is_empty() { ": No such file or directory" } else { "" };
    let id = id.ok_or_else(|| ToolResult::Failure(format!("{}: no such user{reason}", quote_value(name)), 1))?;
    Ok(Who { user: id, group: id })
}

/// Runs `id`.
pub fn id(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut which = None;
    let (mut name, mut zero) = (false, false);
    let refused = |message: &str| Err(ToolResult::Failure(message.to_owned(), 1));
    let users = CommandLine::core("id", "agGnruzZ", LONG, ID_HELP).parse(arguments, |key, _| {
        match key {
            'u' | 'g' | 'G' if which.is_some_and(|which| which != key) => {
                return refused("cannot print \"only\" of more than one choice");
            }
            'u' | 'g' | 'G' => which = Some(key),
            'n' => name = true,
            'z' => zero = true,
            'Z' => return refused("--context (-Z) works only on an SELinux-enabled kernel"),
            _ => {}
        }
        Ok(())
    });
    let users = match users {
        Ok(users) => users,
        Err(answer) => return answer,
    };
    if which.is_none() && name {
        return ToolResult::Failure("cannot print only names or real IDs in default format".to_owned(), 1);
    }
    if which.is_none() && zero {
        return ToolResult::Failure("option --zero not permitted in default format".to_owned(), 1);
    }
    let whos = if users.is_empty() { vec![caller()] } else { users.iter().map(|user| named(user)).collect() };
    // The groups of one user end with two zero bytes where more users follow.
    let end = match (zero, which, users.len()) {
        (false, ..) => "\n",
        (true, Some('G'), 2..) => "\0\0",
        (true, ..) => "\0",
    };
    let (mut out, mut failed) = (String::new(), false);
    for who in whos {
        match who {
            Ok(who) => out.push_str(&(described(who, which, name) + end)),
            Err(ToolResult::Failure(message, _)) => {
                // What is said so far comes first; where nobody reads it, nobody reads the rest.
                let _ = print(std::mem::take(&mut out).as_bytes());
                print_error("id", &message);
                failed = true;
            }
            Err(answer) => return answer,
        }
    }
    ToolResult::PrintAndCode(out.into_bytes(), i32::from(failed))
}

fn described(who: Who, which: Option<char>, name: bool) -> String {
    let (users, groups) = (Names::load(Kind::User), Names::load(Kind::Group));
    let text = |names: &Names, id: u32| if name { names.name_or_id(id) } else { id.to_string() };
    match which {
        Some('u') => text(&users, who.user),
        Some(_) => text(&groups, who.group),
        None => {
            let both = |names: &Names, id: u32| match names.name(id) {
                Some(name) => format!("{id}({name})"),
                None => id.to_string(),
            };
            let group = both(&groups, who.group);
            format!("uid={} gid={group} groups={group}", both(&users, who.user))
        }
    }
}

/// Rejects arguments; these tools take none.
fn without_arguments(arguments: &[Vec<u8>]) -> Result<(), ToolResult> {
    match arguments.first() {
        Some(first) if first.starts_with(b"-") && first.len() > 1 => {
            let letter = char::from(first.get(1).copied().unwrap_or(b'-'));
            Err(ToolResult::Usage(format!("invalid option -- '{letter}'"), 1))
        }
        Some(first) => Err(ToolResult::Usage(format!("extra operand {}", quote_value(first)), 1)),
        None => Ok(()),
    }
}

/// Runs `whoami`.
pub fn whoami(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = CommandLine::core("whoami", "", &[], "Usage: whoami [OPTION]...\nPrints the name of the user.\n");
    let operands = line.parse::<ToolResult>(arguments, |_, _| Ok(()));
    match operands.and_then(|operands| without_arguments(&operands)).and_then(|()| caller()) {
        Ok(who) => ToolResult::Print((described(who, Some('u'), true) + "\n").into_bytes()),
        Err(answer) => answer,
    }
}

const GROUPS_LONG: &[Long] = &[long("help", Takes::Nothing, 'h'), long("version", Takes::Nothing, 'V')];

const GROUPS_HELP: &str = "\
Usage: groups [OPTION]... [USERNAME]...
Print group memberships for each USERNAME or, if no USERNAME is specified, for
the current process (which may differ if the groups database has changed).
      --help        display this help and exit
      --version     output version information and exit
";

/// Runs `groups`.
pub fn groups(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = CommandLine::core("groups", "", GROUPS_LONG, GROUPS_HELP);
    let arguments = match line.parse(arguments, |_, _| Ok(())) {
        Ok(users) => users,
        Err(answer) => return answer,
    };
    let mut out = String::new();
    if arguments.is_empty() {
        match caller() {
            Ok(who) => out = described(who, Some('G'), true) + "\n",
            Err(answer) => return answer,
        }
    }
    for user in &arguments {
        match named(user) {
            Ok(who) => {
                out.push_str(&format!("{} : {}\n", String::from_utf8_lossy(user), described(who, Some('G'), true)))
            }
            Err(answer) => return answer,
        }
    }
    ToolResult::Print(out.into_bytes())
}

/// Runs `logname`.
pub fn logname(arguments: Vec<Vec<u8>>) -> ToolResult {
    match without_arguments(&arguments) {
        // A sandbox has no logins.
        Ok(()) => ToolResult::Failure("no login name".to_owned(), 1),
        Err(answer) => answer,
    }
}
