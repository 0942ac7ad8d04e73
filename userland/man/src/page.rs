//! Manual of a command, from its help.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::stream::Input;
use tidebox_rt::{ExitStatus, Open};

use crate::description;

/// Page width.
const WIDTH: usize = 78;

/// Maximum bytes of a tool's help.
const MAX_LENGTH: usize = 1 << 20;

/// Directory of the sandbox's builtin commands.
fn place(name: &str) -> Option<String> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let places = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{name}"));
    places.into_iter().find(|path| tidebox_rt::access(path.as_bytes(), 1).is_ok())
}

/// Returns whether the sandbox has a command with that name.
pub(crate) fn is_there(name: &str) -> bool {
    place(name).is_some()
}

/// Returns the manual of a command, or `None` if the command does not exist.
pub(crate) fn page(name: &str) -> Option<String> {
    let path = place(name)?;
    let about = description(name);
    let help = help(name, &path).filter(|help| !help.trim().is_empty());
    // Without help output or a description, a command has no manual.
    if about.is_none() && help.is_none() {
        return None;
    }
    let title = format!("{}(1)", name.to_uppercase());
    let middle = "User Commands";
    let gap = WIDTH.saturating_sub(2 * title.len() + middle.len());
    let (left, right) = (" ".repeat(gap / 2), " ".repeat(gap - gap / 2));
    let mut out = format!("{title}{left}{middle}{right}{title}\n\nNAME\n       {name}");
    if let Some(about) = about {
        out.push_str(&format!(" - {about}"));
    }
    out.push('\n');
    let help = help.unwrap_or_default();
    let (synopsis, rest) = split(&help);
    let mut section = |heading: &str, lines: &[String]| {
        if lines.iter().any(|line| !line.is_empty()) {
            out.push_str(&format!("\n{heading}\n"));
            for line in lines {
                out.push_str(&if line.is_empty() { "\n".to_owned() } else { format!("       {line}\n") });
            }
        }
    };
    section("SYNOPSIS", &synopsis);
    section("DESCRIPTION", &rest);
    if name == "bash" || name == "sh" {
        section("SEE ALSO", &["`help` lists the commands that are part of the shell.".to_owned()]);
    }
    out.push_str(&format!("\nTidebox{}{title}\n", " ".repeat(WIDTH.saturating_sub(7 + title.len()))));
    Some(out)
}

/// Splits a help text into its usage lines and the rest.
fn split(help: &str) -> (Vec<String>, Vec<String>) {
    let mut synopsis = Vec::new();
    let mut lines = help.lines().skip_while(|line| line.trim().is_empty()).peekable();
    let mut rest = Vec::new();
    while let Some(line) = lines.peek() {
        let text = line.trim();
        let lower = text.to_ascii_lowercase();
        let begins = lower.starts_with("usage:");
        let goes_on = !synopsis.is_empty() && line.starts_with(' ') && !text.starts_with('-');
        if !begins && !goes_on {
            break;
        }
        let text = if begins { text.get(6..).unwrap_or_default().trim() } else { text };
        let text = text.strip_prefix("or:").unwrap_or(text).trim();
        if !text.is_empty() || begins {
            synopsis.push(text.to_owned());
        }
        lines.next();
    }
    synopsis.retain(|line| !line.is_empty());
    rest.extend(lines.skip_while(|line| line.trim().is_empty()).map(|line| line.trim_end().replace('\t', "        ")));
    while rest.last().is_some_and(String::is_empty) {
        rest.pop();
    }
    (synopsis, rest)
}

/// Returns the help of a command.
fn help(name: &str, path: &str) -> Option<String> {
    let (read, write) = tidebox_rt::pipe().ok()?;
    let null = tidebox_rt::open(b"/dev/null", Open { read: true, write: true, ..Open::default() }).ok();
    let quiet = null.unwrap_or(write);
    let arguments: &[&[u8]] = &[path.as_bytes(), b"--help"];
    let command = Command { descriptors: &[(0, quiet), (1, write), (2, write)], ..Command::new(arguments) };
    let started = command.spawn();
    // EOF arrives after all write ends are closed.
    let _ = tidebox_rt::close(write);
    if let Some(null) = null {
        let _ = tidebox_rt::close(null);
    }
    let mut text = Vec::new();
    let pid = match started {
        Ok(pid) => pid,
        Err(_) => {
            let _ = tidebox_rt::close(read);
            return None;
        }
    };
    let mut input = Input::of(read);
    while text.len() < MAX_LENGTH {
        match input.chunk() {
            Ok([]) | Err(_) => break,
            Ok(chunk) => {
                text.extend_from_slice(chunk);
                let count = chunk.len();
                input.consume(count);
            }
        }
    }
    drop(input);
    let ended = wait(pid);
    let text = String::from_utf8_lossy(&text).replace(path, name);
    // Some tools print their usage to standard error.
    let is_help = matches!(ended, Ok(ExitStatus::Exited(0))) || text.to_ascii_lowercase().contains("usage:");
    is_help.then_some(text)
}
