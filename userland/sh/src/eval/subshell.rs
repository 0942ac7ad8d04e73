//! Subshells, background lists, forked children.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno};

use crate::ir::{Chain, Command, Kind, List, Pipeline, Redirect, RedirectKind, Simple};
use crate::state::{Current, Run, Shell, Stop};

impl Shell {
    /// Starts a copy of the shell that runs `body` and ends. The copy has the descriptors of the script and no others.
    #[inline(never)]
    pub(crate) fn fork_child(&mut self, body: impl FnOnce(&mut Self) -> Run) -> Run<u32> {
        self.io.flush();
        self.note_own_pids();
        if !self.jobs.list.is_empty() && self.coprocess.is_none() {
            // Whoever comes from here cannot ask what has become of them. The ends of a coprocess that is over are not closed here,
            // where the descriptors are those of the child.
            self.reap();
        }
        // A substitution is counted as a step of what `set -x` shows by whoever starts it.
        let substitutes = self.keeps_loops;
        let forked = rt::fork(|| {
            self.enter_subshell();
            self.substitutes = substitutes;
            self.traps.ends_deeper = !substitutes;
            self.traps.passes_exit = false;
            let result = body(self);
            if matches!(result, Err(Stop::Discard | Stop::Abandon)) && self.status == 0 {
                self.status = 1;
            }
            self.traps.end_by_words();
            let code = self.finish();
            rt::exit(code)
        });
        match forked {
            Ok(pid) => Ok(pid),
            Err(errno) => {
                let text = if errno == Errno::AGAIN { "retry: Resource temporarily unavailable" } else { errno.text() };
                self.complain(format!("fork: {text}"));
                self.status = 254;
                Err(Stop::Discard)
            }
        }
    }

    fn enter_subshell(&mut self) {
        self.io.leave_private();
        self.io.close_all_unused();
        self.coprocess = None;
        self.traps.reset_for_subshell(self.options.functrace, self.options.errtrace);
        self.jobs.inherit();
        if std::mem::take(&mut self.jobs.starting) {
            // The parent does the same, because either may be first.
            let _ = rt::setpgid(0, 0);
        }
        self.jobs.uncontrolled |= !self.keeps_loops;
        self.subshell += 1;
        self.beside = false;
        self.forked = true;
        self.texts = 0;
        self.session = None;
        self.text_line = None;
        if !std::mem::take(&mut self.keeps_loops) {
            self.loops = 0;
        }
        self.globs = None;
        self.random = self.random.wrapping_add(rt::getids().map_or(0, |ids| ids.pid)) & 0x7fff_ffff;
    }

    /// `$$` and `$PPID` are in a child what they were in the shell that was started.
    fn note_own_pids(&mut self) {
        if (self.pid.is_none() || self.parent.is_none())
            && let Ok(ids) = rt::getids()
        {
            self.pid.get_or_insert(ids.pid);
            self.parent.get_or_insert(ids.ppid);
        }
    }

    /// `$PPID`.
    pub(crate) fn parent_pid(&mut self) -> u32 {
        *self.parent.get_or_insert_with(|| rt::getids().map_or(0, |ids| ids.ppid))
    }

    /// `( list )`, whose redirections are made in the copy.
    #[inline(never)]
    pub(crate) fn run_subshell(&mut self, list: &List, redirects: &[Redirect]) -> Run {
        let pid = self.fork_child(|child| {
            child.jobs.list.clear();
            child.jobs.line = child.line;
            // A command string that ends in them has the status that it would have itself.
            let outer = std::mem::replace(&mut child.expands_alone, child.subshell == 1);
            let redirected = child.redirect(redirects);
            child.expands_alone = outer;
            if redirected?.is_none() {
                child.status = 1;
                return Ok(());
            }
            let result = child.run_within(list);
            if child.bad_default && result == Err(Stop::Discard) {
                child.status = 2;
            }
            result
        })?;
        let status = self.wait_pid(pid)?;
        self.status = status.code();
        // Only the trap for its failure is told of it.
        if self.traps.get(crate::trap::ERR).is_some() {
            self.names_command(|| crate::print::subshell(list, redirects));
        }
        self.report_death(pid, status, || crate::print::subshell(list, redirects));
        self.notify_of_deaths();
        self.run_pending_traps()
    }

    /// Keeps what `BASH_COMMAND` shows, if a trap could ask for it.
    pub(crate) fn names_command(&mut self, text: impl FnOnce() -> crate::ir::Bytes) {
        if self.traps.names_commands() {
            self.current = Some(Current::Text(text()));
        }
    }

    /// Runs the commands of a subshell in its process, which is also that of a subshell that is all there is to run.
    fn run_within(&mut self, list: &List) -> Run {
        let Some(inner) = only_subshell(list) else {
            self.note_last(list);
            return self.run_list(list);
        };
        self.subshell += 1;
        self.run_forked(inner)
    }

    /// Runs a command in a child that was forked for it. A subshell needs no other child then.
    pub(crate) fn run_forked(&mut self, command: &Command) -> Run {
        if let Command::Compound(compound) = command
            && let Kind::Subshell(list) = &compound.kind
        {
            self.line = compound.line;
            self.jobs.line = compound.line;
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
        self.debugged = matches!(command, Command::Simple(_));
        self.run_command(command)
    }

    /// `chain &`. Standard input is empty, because a non-interactive shell has no job control.
    #[inline(never)]
    pub(crate) fn run_background(&mut self, chain: &Rc<Chain>) -> Run {
        if chain.rest.is_empty()
            && let [only] = chain.first.stages.as_slice()
        {
            self.debug_before_fork(only)?;
        }
        if chain.rest.is_empty() {
            self.count_from_subshell(&chain.first.stages);
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
            self.io.own(fd);
            self.io.set(0, Some(fd));
        }
        self.jobs.starting = self.options.monitor;
        self.traps.background = !self.options.monitor;
        let pids = self.start_background(chain);
        self.traps.background = false;
        self.jobs.starting = false;
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
        // What ran before it is a matter of what has not ended by now.
        self.reap();
        let number = self.jobs.add(&pids, job_text(chain, self.options.extglob), grouped);
        if let (true, Some(pid)) = (self.options.interactive && !self.forked, pids.last()) {
            // Where standard error is closed there is nobody to tell.
            let _ = self.io.write(2, format!("[{number}] {pid}\n").as_bytes());
        }
        self.status = 0;
        Ok(())
    }

    fn start_background(&mut self, chain: &Rc<Chain>) -> Run<Vec<u32>> {
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
                child.run_beside(&chain.first)
            } else {
                child.traps.enter_background(true);
                child.run_chain(chain)
            }
        })?;
        Ok(vec![pid])
    }

    /// Runs a pipeline in the process that was made for it in the background, where a `!` before it turns no status.
    fn run_beside(&mut self, pipeline: &Pipeline) -> Run {
        let stages = pipeline.stages.as_slice();
        let simple = if let [Command::Simple(simple)] = stages { Some(simple) } else { None };
        self.traps.enter_background(simple.is_none());
        self.expands_alone = simple.is_some();
        if let Some(simple) = simple {
            self.traps.keep_late(simple);
        } else {
            self.traps.carry_late();
        }
        if let [only] = stages {
            self.traps.passes_exit = passes_exit(only);
            let run = |shell: &mut Self| shell.run_forked(only);
            return if pipeline.bang && self.options.errexit { self.as_condition(run) } else { run(self) };
        }
        self.beside = true;
        self.run_multi(stages)
    }
}

impl Shell {
    /// Whether a redirection opens a pipe that has a name, which waits for the other end.
    fn waits_for_pipe(&mut self, simple: &Simple) -> bool {
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

/// Whether bash leaves a process that runs just this command past the EXIT trap: from within a compound command.
pub(super) fn passes_exit(command: &Command) -> bool {
    let Command::Compound(compound) = command else { return false };
    !matches!(compound.kind, Kind::Group(_) | Kind::Subshell(_))
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
    let commands = crate::parse::read_list_for_print(&[text, b"\n"].concat(), extglob);
    commands.map_or_else(|| text.to_vec(), |commands| crate::print::job(&commands))
}

/// Whether a command is `jobs`, or that by way of `command`.
pub(super) fn asks_for_jobs(command: &Command) -> bool {
    let Command::Simple(simple) = command else { return false };
    let mut words = simple.args.iter().map_while(|arg| match arg {
        crate::ir::Arg::Word(word) => word.literal(),
        crate::ir::Arg::Assign(_) => None,
    });
    words.find(|word| *word != b"command") == Some(b"jobs")
}
