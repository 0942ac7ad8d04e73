//! `namei`: what stands on the way to a file, name by name.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::Output;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{Errno, FileKind, Stat};

const HELP: &str = "
Usage:
 namei [options] <pathname>...

Follow a pathname until a terminal point is found.

Options:
 -x, --mountpoints   show mount point directories with a 'D'
 -m, --modes         show the mode bits of each file
 -o, --owners        show owner and group name of each file
 -l, --long          use a long listing format (-m -o -v) 
 -n, --nosymlinks    don't follow symlinks
 -v, --vertical      vertical align of modes and owners
 -h, --help          display this help
 -V, --version       display version

For more details see namei(1).
";

/// Maximum number of links followed in one path.
const MAX_LINKS: usize = 20;

#[derive(Default)]
struct Options {
    mounts: bool,
    modes: bool,
    owners: bool,
    stay: bool,
    vertical: bool,
}

/// A path component. A missing one has the error.
struct Step {
    name: Vec<u8>,
    level: usize,
    stat: Result<Stat, Errno>,
    target: Option<Vec<u8>>,
    mounted: bool,
}

/// Runs `namei`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("mountpoints", Takes::Nothing, 'x'),
        long("modes", Takes::Nothing, 'm'),
        long("owners", Takes::Nothing, 'o'),
        long("long", Takes::Nothing, 'l'),
        long("nosymlinks", Takes::Nothing, 'n'),
        long("vertical", Takes::Nothing, 'v'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line =
        CommandLine { version: "namei from util-linux 2.38.1\n", ..CommandLine::new("namei", "xmolnvhV", &long, HELP) };
    let mut options = Options::default();
    let operands = line.parse::<i32>(arguments, |key, _| {
        match key {
            'x' => options.mounts = true,
            'm' => options.modes = true,
            'o' => options.owners = true,
            'n' => options.stay = true,
            'v' => options.vertical = true,
            _ => (options.modes, options.owners, options.vertical) = (true, true, true),
        }
        Ok(())
    });
    let operands = match operands {
        Ok(operands) if operands.is_empty() => return line.usage_error("pathname argument is missing"),
        Ok(operands) => operands,
        Err(code) => return code,
    };
    let (mut out, mut code) = (Output::standard(), 0);
    for operand in &operands {
        let (mut steps, mut links) = (Vec::new(), 0);
        let followed = walk(&options, operand, b"", 0, &mut links, &mut steps);
        out.push(b"f: ");
        out.push(operand);
        out.push(b"\n");
        code |= i32::from(!followed);
        print(&options, &steps, &mut out);
        if links > MAX_LINKS {
            out.flush_now();
            print_error("namei", &format!("{}: exceeded limit of symlinks", String::from_utf8_lossy(operand)));
        }
    }
    out.finish("namei", code)
}

/// Adds every component of a path and its links. Returns `false` if one is missing.
fn walk(options: &Options, path: &[u8], base: &[u8], level: usize, links: &mut usize, steps: &mut Vec<Step>) -> bool {
    let mut here = base.to_vec();
    let root = path.first() == Some(&b'/');
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let names: Vec<&[u8]> =
        if root { std::iter::once(b"/".as_slice()).chain(names).collect() } else { names.collect() };
    for name in names {
        let folder = here.clone();
        if name == b"/" {
            here = b"/".to_vec();
        } else {
            if !here.is_empty() && !here.ends_with(b"/") {
                here.push(b'/');
            }
            here.extend_from_slice(name);
        }
        let stat = tidebox_rt::stat(&here, false);
        let is_link = stat.as_ref().is_ok_and(|stat| stat.kind() == FileKind::Symlink);
        let target = if is_link { tidebox_rt::read_link(&here).ok() } else { None };
        let mounted = stat.as_ref().is_ok_and(|stat| stat.kind() == FileKind::Dir && is_mount(&here, stat));
        let missing = stat.is_err();
        steps.push(Step { name: name.to_vec(), level, stat, target: target.clone(), mounted });
        if missing {
            return false;
        }
        if let Some(target) = target.filter(|_| !options.stay) {
            *links += 1;
            if *links > MAX_LINKS || !walk(options, &target, &folder, level + 1, links, steps) {
                return false;
            }
        }
    }
    true
}

fn is_mount(path: &[u8], stat: &Stat) -> bool {
    let around = tidebox_rt::stat(&[path, b"/.."].concat(), true);
    around.is_ok_and(|around| around.dev != stat.dev || around.ino == stat.ino)
}

fn print(options: &Options, steps: &[Step], out: &mut Output) {
    let (users, groups) = (Names::load(Kind::User), Names::load(Kind::Group));
    let owners: Vec<Option<(String, String)>> = steps
        .iter()
        .map(|step| step.stat.as_ref().ok().map(|stat| (users.name_or_id(stat.uid), groups.name_or_id(stat.gid))))
        .collect();
    let width = |of: fn(&(String, String)) -> usize| owners.iter().flatten().map(of).max().unwrap_or(0);
    let (users, groups) = (width(|pair| pair.0.len()), width(|pair| pair.1.len()));
    for (step, owner) in steps.iter().zip(&owners) {
        let indent = " ".repeat(step.level * 2);
        let mut head = String::new();
        match &step.stat {
            Err(_) => {
                let mode = if options.modes { 10 } else { 1 };
                let owners = if options.owners { users + groups + 2 } else { 0 };
                head.push_str(&" ".repeat(mode + owners + 1));
            }
            Ok(stat) => {
                let letters = tidebox_gnu::mode::letters(stat.mode);
                let kind = if step.mounted && options.mounts { "D" } else { letters.get(..1).unwrap_or("?") };
                head.push_str(kind);
                if options.modes {
                    head.push_str(letters.get(1..).unwrap_or_default());
                }
                if let Some((user, group)) = owner.as_ref().filter(|_| options.owners) {
                    head.push_str(&format!(" {user:<users$} {group:<groups$}"));
                }
                head.push(' ');
            }
        }
        if options.vertical {
            out.push(format!("{head}{indent}").as_bytes());
        } else {
            out.push(format!(" {indent}{head}").as_bytes());
        }
        out.push(&step.name);
        match (&step.stat, &step.target) {
            (Err(errno), _) => out.push(format!(" - {}", errno.text()).as_bytes()),
            (_, Some(target)) => {
                out.push(b" -> ");
                out.push(target);
            }
            _ => {}
        }
        out.push(b"\n");
    }
}
