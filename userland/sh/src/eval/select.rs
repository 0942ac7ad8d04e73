//! `select`.

use crate::expand::lossy;
use crate::ir::{Bytes, List, Name, Word};
use crate::state::{EvalResult, Shell};
use crate::vars::Key;

impl Shell {
    #[inline(never)]
    pub(super) fn run_select(&mut self, name: &Name, words: Option<&[Word]>, body: &List) -> EvalResult {
        if self.options.xtrace {
            self.trace_for("select", name, words);
        }
        let values = self.loop_words(words)?;
        if values.is_empty() {
            self.status = 0;
            return Ok(());
        }
        self.set_command_text(|| super::trace::for_text("select", name, words));
        if !self.run_debug_trap()? {
            return Ok(());
        }
        self.as_loop(|shell| {
            let mut show = true;
            loop {
                if show {
                    shell.show_menu(&values);
                }
                let prompt = shell.lookup(b"PS3").unwrap_or_else(|| b"#? ".to_vec());
                // A closed standard error is ignored.
                let _ = shell.io.write(2, &prompt);
                let (line, is_whole) = shell.read_line(0)?;
                let kept = shell.assign(&Name::from(&b"REPLY"[..]), Key::Whole, false, line.clone())?;
                if !is_whole || !kept {
                    let _ = shell.io.write(1, b"\n");
                    shell.status = 1;
                    return Ok(());
                }
                show = line.is_empty();
                if show {
                    continue;
                }
                let chosen = crate::parse::plain_number(line.trim_ascii())
                    .and_then(|n| usize::try_from(n).ok()?.checked_sub(1))
                    .and_then(|at| values.get(at).cloned());
                if !shell.assign(name, Key::Whole, false, chosen.unwrap_or_default())? {
                    shell.status = 1;
                    return Ok(());
                }
                if !shell.run_body(body)? {
                    return Ok(());
                }
            }
        })
    }

    /// The numbered choices of `select`, in columns as bash lays them out: with tabs, and the first column no wider than
    /// its own numbers need.
    #[inline(never)]
    fn show_menu(&mut self, values: &[Bytes]) {
        let screen = self.lookup(b"COLUMNS").and_then(|text| crate::parse::plain_number(&text));
        let screen = screen.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(80);
        let digits = values.len().to_string().len();
        let widest = values.iter().map(|v| lossy(v).chars().count()).max().unwrap_or(0);
        let width = widest + digits + 2 + 2;
        let columns = (screen / width.max(1)).max(1);
        let mut rows = values.len().div_ceil(columns).max(1);
        if rows == 1 {
            rows = values.len();
        }
        let first_digits = rows.to_string().len();
        let mut text = String::new();
        for row in 0..rows {
            let mut at = 0;
            for index in (row..values.len()).step_by(rows) {
                let digits = if index < rows { first_digits } else { digits };
                let Some(value) = values.get(index) else { break };
                let entry = format!("{:digits$}) {}", index + 1, lossy(value));
                text.push_str(&entry);
                let column = (index / rows) * width;
                at = at.max(column) + entry.chars().count();
                if index + rows < values.len() {
                    blanks(&mut text, at, column + width);
                    at = column + width;
                }
            }
            text.push('\n');
        }
        let _ = self.io.write(2, text.as_bytes());
    }
}

/// Goes from one column of the screen to another with as many tabs as possible.
fn blanks(text: &mut String, from: usize, to: usize) {
    let mut at = from;
    while at < to {
        if to / 8 > at / 8 {
            text.push('\t');
            at += 8 - at % 8;
        } else {
            text.push(' ');
            at += 1;
        }
    }
}
