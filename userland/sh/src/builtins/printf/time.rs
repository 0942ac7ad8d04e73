//! `%(..)T`

use super::{Printf, Spec};

impl Printf<'_> {
    /// `%(format)T`: the argument is seconds since the epoch, -1 now, -2 the shell's start.
    pub(super) fn time<'b>(&mut self, spec: &Spec, text: &'b [u8]) -> &'b [u8] {
        let end = end_of_time(text);
        let Some(len) = end.filter(|&end| text.get(end + 1) == Some(&b'T')) else {
            let letter = end.and_then(|end| text.get(end + 1..end + 2)).unwrap_or_default();
            // A warning does not change the status; the text is printed literally.
            let warning = [b"warning: `", letter, b"': invalid time format specification"].concat();
            self.shell.report_builtin_error(warning);
            self.out.push(b'%');
            return text;
        };
        let format = text.get(1..len).unwrap_or_default();
        let seconds = match self.next().cloned() {
            None => -1,
            Some(arg) => self.integer(&arg),
        };
        let now = || i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        let seconds = match seconds {
            -1 => now(),
            -2 => {
                let passed = tidebox_rt::monotonic_ns().saturating_sub(self.shell.computed.started_ns) / 1_000_000_000;
                now().saturating_sub(i64::try_from(passed).unwrap_or(0))
            }
            seconds => seconds,
        };
        let shown = self.shell.format_time(if format.is_empty() { b"%X" } else { format }, seconds);
        self.pad_text(spec, &shown);
        text.get(len + 2..).unwrap_or_default()
    }
}

/// Offset of the parenthesis that closes the one at the start.
fn end_of_time(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    text.iter().position(|byte| {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    })
}
