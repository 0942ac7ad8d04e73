//! Subshells, background lists, forked children.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno};

use crate::ir::{Chain, Command, Kind, List, Pipeline, Redirect, RedirectKind, Simple};
use crate::job_control::NewGroup;
use crate::state::{Current, EvalResult, Shell, Unwind};

impl Shell {
    /// Forks a copy of the shell that runs `body` and exits. The copy has only the descriptors of the script.
    #[inline(never)]
    pub(crate) fn fork_child(&mut self, body: impl FnOnce(&mut Self) -> EvalResult) -> EvalResult<u32> {
        self.io.flush();
        self.store_own_pids();
        if !self.jobs.list.is_empty() && self.coprocess.is_none() {
            // The child cannot wait for these processes. The pipes of a finished coprocess are not closed here, where the
            // descriptors are those of the child.
            self.reap();
        }
        // The caller counts a substitution as a level of `set -x`.
        let substitutes = self.process.forks_substitution;
        // A substitution belongs to no job.
        let group = if substitutes { std::mem::take(&mut self.jobs.starting) } else { self.jobs.starting };
        let forked = rt::fork(|| {
            self.enter_subshell();
            self.process.is_substitution = substitutes;
            let result = body(self);
            if matches!(result, Err(Unwind::Discard)) && self.status == 0 {
                self.status = 1;
            }
            let code = self.finish();
            rt::exit(code)
        });
        if let Ok(pid) = forked {
            self.join_job(pid);
        }
        if substitutes {
            self.jobs.starting = group;
        }
        match forked {
            Ok(pid) => Ok(pid),
            Err(errno) => {
                let text = if errno == Errno::AGAIN { "retry: Resource temporarily unavailable" } else { errno.text() };
                self.report_error(format!("fork: {text}"));
                self.status = 254;
                Err(Unwind::Discard)
            }
        }
    }

    fn enter_subshell(&mut self) {
        self.io.leave_private();
        self.io.close_all_unused();
        self.coprocess = None;
        let group = std::mem::take(&mut self.jobs.starting);
        self.traps.unstoppable |= self.has_terminal() && group == NewGroup::Shared;
        self.traps.reset_for_subshell(self.options.functrace, self.options.errtrace);
        self.jobs.inherit();
        group.enter();
        self.jobs.uncontrolled |= !self.process.forks_substitution;
        self.process.subshell += 1;
        self.process.forked = true;
        self.session = None;
        if !std::mem::take(&mut self.process.forks_substitution) {
            self.flow.loops = 0;
        }
        self.expansion.pending_globs = None;
        self.computed.random = self.computed.random.wrapping_add(rt::getids().map_or(0, |ids| ids.pid)) & 0x7fff_ffff;
    }

    /// A child has the `$$` and `$PPID` of the shell that was started.
    fn store_own_pids(&mut self) {
        if (self.process.pid.is_none() || self.process.parent.is_none())
            && let Ok(ids) = rt::getids()
        {
            self.process.pid.get_or_insert(ids.pid);
            self.process.parent.get_or_insert(ids.ppid);
        }
    }

    /// `$PPID`.
    pub(crate) fn parent_pid(&mut self) -> u32 {
        *self.process.parent.get_or_insert_with(|| rt::getids().map_or(0, |ids| ids.ppid))
    }

    /// `( list )`, whose redirections are made in the copy.
    #[inline(never)]
    pub(crate) fn run_subshell(&mut self, list: &List, redirects: &[Redirect]) -> EvalResult {
        let pid = self.start_job(|shell| {
            shell.fork_child(|child| {
                child.jobs.list.clear();
                if child.redirect(redirects)?.is_none() {
                    child.status = 1;
                    return Ok(());
                }
                child.run_within(list)
            })
        })?;
        let Some(status) = self.wait_process(pid, || crate::print::subshell(list, redirects))? else {
            return self.run_pending_traps();
        };
        self.status = status.code();
        // Only the ERR trap reads it.
        if self.traps.get(crate::trap::ERR).is_some() {
            self.set_command_text(|| crate::print::subshell(list, redirects));
        }
        self.report_death(pid, status, || crate::print::subshell(list, redirects));
        self.report_signal_exits();
        self.run_pending_traps()
    }

    /// Sets `BASH_COMMAND` if a trap could read it.
    pub(crate) fn set_command_text(&mut self, text: impl FnOnce() -> crate::ir::Bytes) {
        if self.traps.reads_commands() {
            self.traps.command = Some(Current::Text(text()));
        }
    }

    /// Runs the commands of a subshell in its process. A subshell that is the only command shares the process.
    fn run_within(&mut self, list: &List) -> EvalResult {
        let Some(inner) = only_subshell(list) else {
            self.note_last(list);
            return self.run_list(list);
        };
        self.process.subshell += 1;
        self.run_forked(inner)
    }

    /// Runs a command in a child that was forked for it. A subshell needs no other child then.
    pub(crate) fn run_forked(&mut self, command: &Command) -> EvalResult {
        if let Command::Compound(compound) = command
            && let Kind::Subshell(list) = &compound.kind
        {
            self.line = compound.line;
            return match self.redirect(&compound.redirects)? {
                Some(_) => self.run_within(list),
                None => {
                    self.status = 1;
                    Ok(())
                }
            };
        }
        if let Command::Simple(simple) = command {
            self.jobs.last = Some(Rc::clone(simple));
        }
        self.process.debug_trap_ran = matches!(command, Command::Simple(_));
        self.run_command(command)
    }

    /// `chain &`. Standard input is empty, because a non-interactive shell has no job control.
    #[inline(never)]
    pub(crate) fn run_background(&mut self, chain: &Rc<Chain>) -> EvalResult {
        if chain.rest.is_empty()
            && let [only] = chain.first.stages.as_slice()
        {
            self.debug_before_fork(only)?;
        }
        // Input that the script has redirected is left as it is, and so is all of it under job control.
        let own = self.io.fd(0) == Some(0) && !self.options.monitor;
        let null = if own {
            rt::open(b"/dev/null", rt::Open { read: true, ..rt::Open::default() })
        } else {
            Err(Errno::NOENT)
        };
        let table = self.io.table().clone();
        if let Ok(fd) = null {
            self.io.track_fd(fd);
            self.io.set(0, Some(fd));
        }
        self.jobs.starting = if self.options.monitor { NewGroup::Background } else { NewGroup::Shared };
        self.traps.background = !self.options.monitor;
        let pids = self.start_background(chain);
        self.traps.background = false;
        self.jobs.starting = NewGroup::Shared;
        self.io.set_table(table);
        if let Ok(fd) = null {
            self.io.close(fd);
        }
        let pids = pids?;
        let grouped = self.options.monitor;
        if grouped {
            for pid in &pids {
                // A child that has ended already needs no group.
                let _ = rt::setpgid(*pid, 0);
            }
        }
        // The previous job must still be running.
        self.reap();
        let number = self.jobs.add(&pids, job_text(chain, self.options.extglob), grouped);
        if let (true, Some(pid)) = (self.options.interactive && !self.process.forked, pids.last()) {
            // A closed standard error is ignored.
            let _ = self.io.write(2, format!("[{number}] {pid}\n").as_bytes());
        }
        self.status = 0;
        Ok(())
    }

    fn start_background(&mut self, chain: &Rc<Chain>) -> EvalResult<Vec<u32>> {
        // A program alone needs no copy of the shell to wait for it.
        if chain.rest.is_empty()
            && chain.first.timed.is_none()
            && let [Command::Simple(simple)] = chain.first.stages.as_slice()
            && self.spawns_directly(simple)
            && !self.waits_for_pipe(simple)
        {
            let stages = self.start_stages(&chain.first.stages)?;
            if let [super::Stage::Process(pid)] = stages.as_slice() {
                return Ok(vec![*pid]);
            }
            let status = self.wait_stages(&stages)?;
            return Ok(vec![self.fork_child(|child| {
                child.status = status;
                Ok(())
            })?]);
        }
        let pid = self.fork_child(|child| {
            child.jobs.list.clear();
            if chain.rest.is_empty() && chain.first.timed.is_none() {
                child.run_background_pipeline(&chain.first)
            } else {
                child.traps.enter_background();
                child.run_chain(chain)
            }
        })?;
        Ok(vec![pid])
    }

    /// Runs a pipeline in its background process. A `!` before it does not change the status.
    fn run_background_pipeline(&mut self, pipeline: &Pipeline) -> EvalResult {
        self.traps.enter_background();
        let [only] = pipeline.stages.as_slice() else { return self.run_multi(&pipeline.stages) };
        let run = |shell: &mut Self| shell.run_forked(only);
        if pipeline.bang && self.options.errexit { self.as_condition(run) } else { run(self) }
    }
}

impl Shell {
    /// Returns whether a redirection opens a FIFO, which waits for the other end.
    pub(super) fn waits_for_pipe(&mut self, simple: &Simple) -> bool {
        simple.redirects.iter().any(|redirect| {
            let (RedirectKind::Read(word) | RedirectKind::Write(word) | RedirectKind::Append(word)) = &redirect.kind
            else {
                return false;
            };
            // Only words without side effects come here.
            let path = self.expand_text(word).unwrap_or_default();
            rt::stat(&path, true).is_ok_and(|stat| stat.kind() == rt::FileKind::Pipe)
        })
    }
}

/// The subshell that a list consists of.
fn only_subshell(list: &List) -> Option<&Command> {
    let [item] = list.items.as_slice() else { return None };
    let pipeline = &item.chain.first;
    let alone = !item.background && item.chain.rest.is_empty() && !pipeline.bang && pipeline.timed.is_none();
    let [only @ Command::Compound(compound)] = pipeline.stages.as_slice() else { return None };
    (alone && matches!(compound.kind, Kind::Subshell(_))).then_some(only)
}

/// A background list as `jobs` shows it.
fn job_text(chain: &Chain, extglob: bool) -> crate::ir::Bytes {
    if let ([], [Command::Compound(compound)]) = (chain.rest.as_slice(), chain.first.stages.as_slice())
        && let Kind::Subshell(list) = &compound.kind
        && compound.redirects.is_empty()
    {
        return crate::print::subshell(list, &[]);
    }
    let text = chain.text.strip_prefix(b"!").filter(|_| chain.first.bang).unwrap_or(&chain.text);
    let text = text.trim_ascii();
    let commands = crate::parse::read_list(&[text, b"\n"].concat(), extglob);
    commands.map_or_else(|| text.to_vec(), |commands| crate::print::job(&commands))
}

/// Returns whether a command is `jobs`, directly or through `command`.
pub(super) fn runs_jobs_builtin(command: &Command) -> bool {
    let Command::Simple(simple) = command else { return false };
    let mut words = simple.args.iter().map_while(|arg| match arg {
        crate::ir::Arg::Word(word) => word.literal(),
        crate::ir::Arg::Assign(_) => None,
    });
    words.find(|word| *word != b"command") == Some(b"jobs")
}
