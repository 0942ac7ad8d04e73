//! `id`, `whoami`, `groups`, `logname`: user and group of the caller.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Output;
use tidebox_gnu::user::{Kind, Names};

use crate::common::StandardFlag;

const ID_USAGE: &str = "\
Usage: id [OPTION]... [USER]...
Prints user and group of each USER, or of the caller.

";

tidebox_gnu::options! {
    /// Options of `id`.
    enum Flag {
        User = "-u, --user", "only the user id";
        Group = "-g, --group", "only the group id";
        Groups = "-G, --groups", "only the ids of all groups";
        Name = "-n, --name", "names instead of numbers, with -u, -g or -G";
        Real = "-r, --real", "has no effect: no program runs in another's name";
        Zero = "-z, --zero", "separate with zero bytes";
        All = "-a", "";
        Context = "-Z, --context", "", unsupported "--context (-Z) works only on an SELinux-enabled kernel";
    }
}

/// User and group ids. Each user has one group, with the same number.
#[derive(Clone, Copy)]
struct Ids {
    user: u32,
    group: u32,
}

fn caller() -> Result<Ids, ToolResult> {
    let ids = tidebox_rt::getids()
        .map_err(|error| ToolResult::Failure(format!("cannot find user ID: {}", error.text()), 1))?;
    Ok(Ids { user: ids.uid, group: ids.gid })
}

fn lookup(name: &[u8]) -> Result<Ids, ToolResult> {
    let id = Names::load(Kind::User).id(&String::from_utf8_lossy(name));
    let id = id.ok_or_else(|| ToolResult::Failure(format!("{}: no such user", quote_value(name)), 1))?;
    Ok(Ids { user: id, group: id })
}

/// Runs `id`.
pub fn id(arguments: Vec<Vec<u8>>) -> ToolResult {
    print_ids(arguments).unwrap_or_else(|error| error)
}

fn print_ids(arguments: Vec<Vec<u8>>) -> Result<ToolResult, ToolResult> {
    let mut field = None;
    let (mut name, mut zero) = (false, false);
    let failure = |message: &str| ToolResult::Failure(message.to_owned(), 1);
    let users = Syntax::core("id", ID_USAGE, 16).parse(arguments, |key, _| {
        match key {
            Flag::User | Flag::Group | Flag::Groups if field.is_some_and(|field| field != key) => {
                return Err(failure("cannot print \"only\" of more than one choice"));
            }
            Flag::User | Flag::Group | Flag::Groups => field = Some(key),
            Flag::Name => name = true,
            Flag::Zero => zero = true,
            _ => {}
        }
        Ok(())
    })?;
    if field.is_none() && name {
        return Err(failure("cannot print only names or real IDs in default format"));
    }
    if field.is_none() && zero {
        return Err(failure("option --zero not permitted in default format"));
    }
    // With several users, two zero bytes end the groups of each.
    let end = match (zero, field, users.len()) {
        (false, ..) => "\n",
        (true, Some(Flag::Groups), 2..) => "\0\0",
        (true, ..) => "\0",
    };
    if users.is_empty() {
        return Ok(ToolResult::Print((describe(caller()?, field, name) + end).into_bytes()));
    }
    let (mut out, mut code) = (Output::standard(), 0);
    for user in &users {
        match lookup(user) {
            Ok(ids) => out.push((describe(ids, field, name) + end).as_bytes()),
            Err(error) => {
                out.flush_now();
                code = error.into_exit_code("id");
            }
        }
    }
    Ok(ToolResult::Code(out.finish("id", code)))
}

fn describe(ids: Ids, field: Option<Flag>, name: bool) -> String {
    let (users, groups) = (Names::load(Kind::User), Names::load(Kind::Group));
    let text = |names: &Names, id: u32| if name { names.name_or_id(id) } else { id.to_string() };
    match field {
        Some(Flag::User) => text(&users, ids.user),
        Some(_) => text(&groups, ids.group),
        None => {
            let both = |names: &Names, id: u32| match names.name(id) {
                Some(name) => format!("{id}({name})"),
                None => id.to_string(),
            };
            let group = both(&groups, ids.group);
            format!("uid={} gid={group} groups={group}", both(&users, ids.user))
        }
    }
}

/// Parses the command line of a tool without operands.
fn no_operands(tool: &str, usage: &str, arguments: Vec<Vec<u8>>) -> Result<(), ToolResult> {
    let line = Syntax::core(tool, usage, 0);
    let operands = line.parse(arguments, |_: StandardFlag, _| Ok::<_, ToolResult>(()))?;
    match operands.first() {
        Some(extra) => Err(line.usage_error(format!("extra operand {}", quote_value(extra)))),
        None => Ok(()),
    }
}

/// Runs `whoami`.
pub fn whoami(arguments: Vec<Vec<u8>>) -> ToolResult {
    let usage = "Usage: whoami [OPTION]...\nPrints the name of the user.\n";
    match no_operands("whoami", usage, arguments).and_then(|()| caller()) {
        Ok(ids) => ToolResult::Print((describe(ids, Some(Flag::User), true) + "\n").into_bytes()),
        Err(error) => error,
    }
}

const GROUPS_USAGE: &str = "\
Usage: groups [OPTION]... [USERNAME]...
Print group memberships for each USERNAME or, if no USERNAME is specified, for
the current process (which may differ if the groups database has changed).
      --help        display this help and exit
      --version     output version information and exit
";

/// Runs `groups`.
pub fn groups(arguments: Vec<Vec<u8>>) -> ToolResult {
    print_groups(arguments).unwrap_or_else(|error| error)
}

fn print_groups(arguments: Vec<Vec<u8>>) -> Result<ToolResult, ToolResult> {
    let users =
        Syntax::core("groups", GROUPS_USAGE, 0).parse(arguments, |_: StandardFlag, _| Ok::<_, ToolResult>(()))?;
    let mut out = String::new();
    if users.is_empty() {
        out = describe(caller()?, Some(Flag::Groups), true) + "\n";
    }
    for user in &users {
        let groups = describe(lookup(user)?, Some(Flag::Groups), true);
        out.push_str(&format!("{} : {groups}\n", String::from_utf8_lossy(user)));
    }
    Ok(ToolResult::Print(out.into_bytes()))
}

/// Runs `logname`. A sandbox has no logins.
pub fn logname(arguments: Vec<Vec<u8>>) -> ToolResult {
    let usage = "Usage: logname [OPTION]\nPrints the login name, which a sandbox does not have.\n";
    match no_operands("logname", usage, arguments) {
        Ok(()) => ToolResult::Failure("no login name".to_owned(), 1),
        Err(error) => error,
    }
}
