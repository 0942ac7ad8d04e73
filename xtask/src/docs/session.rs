//! The terminal session on the first page: `docs/images/session.txt` is recorded from real commands and drawn as SVG.
//!
//! The file has the form of a `console` block, and a test of the root package runs it again (`tests/readme`).

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{RETRY, svg};
use crate::project::Project;
use crate::setup;
use crate::step::Progress;

const LINE_HEIGHT: f64 = 19.0;
const CHARACTER_WIDTH: f64 = 8.0;
/// Height of the bar above the text.
const HEAD: f64 = 38.0;
/// Seconds between two commands.
const PAUSE: f64 = 0.7;

const STYLE: &str = "\
.card{fill:#0d1117;stroke:#30363d}.command{fill:#e6edf3;font-weight:600}.prompt{fill:#3fb950}.output{fill:#9fb0c0}\
.step{animation:show .01s linear backwards}@keyframes show{from{opacity:0}to{opacity:1}}\
@media(prefers-reduced-motion:reduce){.step{animation:none}}";

fn transcript(project: &Project) -> PathBuf {
    project.root.join("docs/images/session.txt")
}

/// Runs the commands of the transcript with the command `tidebox`, and replaces their output.
pub(super) fn record(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    progress.run("build the command", project.cargo(&["build", "--locked", "--bin", "tidebox"]), RETRY)?;
    let path = transcript(project);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let dir = project.target.join("session");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let programs = project.tidebox().parent().context("the command has no directory")?.to_path_buf();
    let mut search = vec![programs];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut recorded = String::new();
    for command in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = Command::new("sh");
        // As on a terminal: both streams, in order.
        shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(&dir).stdin(Stdio::null());
        let output = shell.env("PATH", std::env::join_paths(&search)?).output().context("cannot start sh")?;
        let output = String::from_utf8(output.stdout).with_context(|| format!("{command} printed invalid UTF-8"))?;
        let _ = writeln!(recorded, "$ {command}");
        recorded += &output;
        ensure!(recorded.ends_with('\n'), "the output of `{command}` does not end with a newline");
    }
    fs::write(&path, recorded).with_context(|| format!("cannot write {}", path.display()))
}

/// The drawing of the recorded session.
pub(super) fn drawing(project: &Project) -> Result<String> {
    let path = transcript(project);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(text.starts_with("$ "), "{} must start with a command", path.display());
    Ok(draw(&text))
}

fn draw(transcript: &str) -> String {
    let columns = transcript.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let width = (columns as f64).mul_add(CHARACTER_WIDTH, 40.0).max(480.0);
    let height = (transcript.lines().count() as f64).mul_add(LINE_HEIGHT, HEAD + 22.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"{}\" font-size=\"13\" xml:space=\"preserve\">\n\
         <title>A recorded session of the command tidebox</title>\n<style>{STYLE}</style>\n\
         <rect class=\"card\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n\
         <circle cx=\"20\" cy=\"19\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"40\" cy=\"19\" r=\"6\" fill=\"#febc2e\"/>\
         <circle cx=\"60\" cy=\"19\" r=\"6\" fill=\"#28c840\"/>\n",
        svg::MONOSPACE,
        width - 1.0,
        height - 1.0,
    );
    let mut y = HEAD + LINE_HEIGHT;
    let mut seconds = 0.0;
    for line in transcript.lines() {
        let is_command = line.starts_with("$ ");
        // Output appears shortly after its command.
        let delay = if is_command { seconds } else { seconds - PAUSE + 0.3 };
        if is_command {
            seconds += PAUSE;
        }
        let _ = writeln!(
            text,
            "<text class=\"step\" style=\"animation-delay:{delay:.1}s\" x=\"20\" y=\"{y}\">{}</text>",
            draw_line(line)
        );
        y += LINE_HEIGHT;
    }
    text + "</svg>\n"
}

fn draw_line(line: &str) -> String {
    match line.strip_prefix("$ ") {
        Some(command) => {
            format!("<tspan class=\"prompt\">$ </tspan><tspan class=\"command\">{}</tspan>", svg::escape(command))
        }
        None => format!("<tspan class=\"output\">{}</tspan>", svg::escape(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_drawn_with_escaped_text() {
        let text = draw("$ echo '<a>' && true\n<a>\n");
        assert!(text.contains("echo '&lt;a&gt;' &amp;&amp; true"), "{text}");
        assert_eq!(text.matches("class=\"step\"").count(), 2);
    }
}
