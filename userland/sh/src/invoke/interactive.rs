//! Output of an interactive shell. Without a terminal, bash writes the prompts and the lines that it reads to standard
//! error.

use tidebox_rt as rt;

use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

impl Shell {
    /// Reports the missing terminal for job control.
    pub(super) fn report_no_job_control(&mut self) {
        let group = rt::getids().map_or(0, |ids| ids.pgid);
        let name = if self.options.interactive { self.base_name() } else { &self.invocation.name };
        let name = crate::expand::lossy(name).into_owned();
        self.show(
            format!(
                "{name}: cannot set terminal process group ({group}): Inappropriate ioctl for device\n\
                 {name}: no job control in this shell\n"
            )
            .as_bytes(),
        );
    }

    /// Shows the prompt for a command, which `PROMPT_COMMAND` comes before, or for another line of one.
    pub(super) fn show_prompt(&mut self, first: bool) -> EvalResult {
        if first {
            self.update_terminal();
            self.run_prompt_command()?;
        }
        let text = self.lookup(if first { b"PS1" } else { b"PS2" }).unwrap_or_default();
        let (status, line) = (self.status, self.line);
        // The prompt belongs to the next command.
        self.computed.commands_read += 1;
        let mut prompt = self.expand_prompt(&text);
        self.computed.commands_read -= 1;
        (self.status, self.line) = (status, line);
        // `\[` and `\]` only affect the width of the prompt.
        prompt.retain(|byte| !matches!(byte, 1 | 2));
        self.show(&prompt);
        Ok(())
    }

    /// Shows a line that was read.
    pub(super) fn show_line(&mut self, line: &[u8]) {
        let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
        self.show(&[line, end].concat());
    }

    /// Prints the message at the end of an interactive shell.
    pub(crate) fn show_end(&mut self) {
        if self.options.interactive && !self.process.forked {
            self.show(if self.options.login_shell { b"logout\n" } else { b"exit\n" });
        }
    }

    fn run_prompt_command(&mut self) -> EvalResult {
        let texts: Vec<Bytes> = match self.vars.get(b"PROMPT_COMMAND").map(|var| &var.value) {
            Some(Value::Text(text)) => vec![text.clone()],
            Some(Value::Indexed(map)) => map.values().cloned().collect(),
            _ => return Ok(()),
        };
        let (status, line) = (self.status, self.line);
        for text in texts {
            self.run_text(&text, 1)?;
            self.status = status;
        }
        self.line = line;
        Ok(())
    }

    fn show(&mut self, text: &[u8]) {
        self.io.flush();
        // A closed standard error is ignored.
        let _ = self.io.write(2, text);
    }
}
