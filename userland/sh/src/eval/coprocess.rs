//! `coproc`.

use std::collections::BTreeMap;

use tidebox_rt::Fd;

use crate::expand::lossy;
use crate::ir::{Command, Name};
use crate::state::{EvalResult, Shell};
use crate::vars::{Key, READONLY, Value};

impl Shell {
    /// Starts a command with pipes at its standard input and output, whose other ends the array `name` holds.
    #[inline(never)]
    pub(crate) fn run_coprocess(&mut self, name: &Name, body: &Command) -> EvalResult {
        if crate::parse::token::name_len(name) != name.len() {
            self.report_error([b"`", &name[..], b"': not a valid identifier"].concat());
            self.status = 1;
            return Ok(());
        }
        self.reap();
        if let Some((old, pid)) = &self.coprocess {
            let text = format!("warning: execute_coproc: coproc [{pid}:{}] still exists", lossy(old));
            self.report_error(text);
        }
        let ends = self.io.pipe().and_then(|input| Ok((input, self.io.pipe()?)));
        let ((their_input, ours_out), (ours_in, their_output)) = match ends {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("pipe error: {errno}")),
        };
        let table = self.io.table().clone();
        self.io.set(0, Some(their_input));
        self.io.set(1, Some(their_output));
        let forked = self.fork_child(|child| {
            child.jobs.list.clear();
            child.run_forked(body)
        });
        self.io.set_table(table);
        self.io.close(their_input);
        self.io.close(their_output);
        let pid = forked?;
        // Between them bash has had the ends of the other side.
        let mut free = (3..=63).rev().filter(|number| self.io.fd(*number).is_none());
        let numbers = (free.next().unwrap_or(64), free.nth(2).unwrap_or(65));
        let (read, write) = (self.assign_number(numbers.0, ours_in), self.assign_number(numbers.1, ours_out));
        self.jobs.add(&[pid], crate::print::coprocess(name, body), false);
        self.status = 0;
        let Some(name) = self.array_to_fill(name) else { return Ok(()) };
        let name = &name;
        self.coprocess = Some((Name::clone(name), pid));
        if !self.may_assign(name)? {
            return Ok(());
        }
        let numbers = [(0, read), (1, write)].map(|(at, number)| (at, number.to_string().into_bytes()));
        let var = self.vars.entry(name);
        var.value = Value::Indexed(BTreeMap::from(numbers));
        var.flags &= !crate::vars::BARE;
        let pid_name: Name = [&name[..], b"_PID"].concat().into();
        self.assign(&pid_name, Key::Whole, false, pid.to_string().into_bytes())?;
        Ok(())
    }

    /// Gives a descriptor a number that the script is unlikely to use.
    fn assign_number(&mut self, number: u32, fd: Fd) -> u32 {
        self.io.set(number, Some(fd));
        self.io.keep_private(number);
        number
    }

    /// Updates the array of a coprocess if the closed descriptor was one of its pipes.
    pub(super) fn forget_coprocess_end(&mut self, number: u32) {
        let Some((name, _)) = &self.coprocess else { return };
        let Some(var) = self.vars.get_mut(name).filter(|var| !var.has(READONLY)) else { return };
        if let Value::Indexed(map) = &mut var.value {
            let number = number.to_string();
            map.values_mut().filter(|text| **text == number.as_bytes()).for_each(|text| *text = b"-1".to_vec());
        }
    }

    /// Closes the ends of a coprocess that has ended, and removes its variables.
    pub(crate) fn forget_coprocess(&mut self, pid: u32) {
        let Some((name, _)) = self.coprocess.take_if(|(_, known)| *known == pid) else { return };
        if let Some(Value::Indexed(map)) = self.vars.get(&name).map(|var| &var.value) {
            let numbers: Vec<u32> =
                map.values().filter_map(|text| crate::parse::plain_number(text)?.try_into().ok()).collect();
            for number in numbers {
                if let Some(fd) = self.io.fd(number) {
                    self.io.set(number, None);
                    self.io.close_unused(fd);
                }
            }
        }
        self.vars.remove(&[&name[..], b"_PID"].concat());
        if self.vars.get(&name).is_some_and(|var| var.has(READONLY)) {
            self.report_error([&name[..], b": cannot unset: readonly variable"].concat());
            return;
        }
        self.vars.remove(&name);
    }
}
