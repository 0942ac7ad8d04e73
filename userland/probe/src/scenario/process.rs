//! Process inputs: arguments, environment, clocks, randomness, and polling.

use crate::journal::{BOTH, Fd, Journal, READ};
use crate::sys::Record;

const REALTIME: u32 = 0;
const MONOTONIC: u32 = 1;
const ABSOLUTE: u16 = 1;

pub(crate) fn args_and_environ(journal: &mut Journal, _root: &Fd) {
    journal.args();
    journal.environ();
}

pub(crate) fn clocks(journal: &mut Journal, _root: &Fd) {
    for id in 0..4 {
        journal.clock_res_get(id);
        journal.clock_time_get(id);
    }
    let year_2020 = 1_577_836_800_000_000_000;
    journal.note("realtime is of this age", journal.clock_time_get(REALTIME) > year_2020);
    let times: Vec<u64> = (0..100).map(|_| crate::sys::clock_time_get(MONOTONIC).1).collect();
    journal.note("monotonic never steps back", times.is_sorted());
}

pub(crate) fn random_bytes(journal: &mut Journal, _root: &Fd) {
    for len in [0, 1, 32, 256, 70_000] {
        journal.random_get(len);
    }
    let (a, b) = (journal.random_get(32), journal.random_get(32));
    journal.note("two draws differ", a != b);
    journal.note("draws are not blank", a.iter().any(|byte| *byte != 0));
}

pub(crate) fn yield_and_raise(journal: &mut Journal, _root: &Fd) {
    journal.sched_yield();
    journal.proc_raise(0);
}

fn clock(user: u64, id: u32, timeout: u64, flags: u16) -> Record<48> {
    let mut subscription = Record::new();
    subscription.put(0, &user.to_le_bytes());
    subscription.put(16, &id.to_le_bytes());
    subscription.put(24, &timeout.to_le_bytes());
    subscription.put(40, &flags.to_le_bytes());
    subscription
}

fn ready(user: u64, tag: u8, fd: &Fd) -> Record<48> {
    let mut subscription = Record::new();
    subscription.put(0, &user.to_le_bytes());
    subscription.put(8, &[tag]);
    subscription.put(16, &fd.number.to_le_bytes());
    subscription
}

fn read(user: u64, fd: &Fd) -> Record<48> {
    ready(user, 1, fd)
}

fn write(user: u64, fd: &Fd) -> Record<48> {
    ready(user, 2, fd)
}

const MS: u64 = 1_000_000;

pub(crate) fn poll_clocks(journal: &mut Journal, _root: &Fd) {
    for id in [REALTIME, MONOTONIC] {
        let start = journal.clock_time_get(id);
        journal.poll("20 ms", &[clock(1, id, 20 * MS, 0)]);
        let passed = journal.clock_time_get(id) - start;
        journal.note("at least 20 ms passed", passed >= 20 * MS);
        journal.note("less than 2 s passed", passed < 2000 * MS);
        journal.poll("0 ms", &[clock(2, id, 0, 0)]);
        journal.poll("until the past", &[clock(3, id, 1, ABSOLUTE)]);
        let start = journal.clock_time_get(id);
        journal.poll("until in 20 ms", &[clock(4, id, start + 20 * MS, ABSOLUTE)]);
        journal.note("the time came", journal.clock_time_get(id) >= start + 20 * MS);
        journal.poll("10 ms or 10 s", &[clock(5, id, 10 * MS, 0), clock(6, id, 10_000 * MS, 0)]);
        journal.poll("two of 0 ms", &[clock(7, id, 0, 0), clock(8, id, 0, 0)]);
    }
}

pub(crate) fn poll_descriptors(journal: &mut Journal, root: &Fd) {
    let file = journal.open(root, "file", BOTH, "file");
    let out = Fd::new(1, "fd1");
    journal.poll("read file", &[read(1, &file)]);
    journal.poll("write file", &[write(2, &file)]);
    journal.poll("write output", &[write(3, &out)]);
    journal.poll("file or 10 s", &[read(6, &file), clock(7, MONOTONIC, 10_000 * MS, 0)]);
    journal.fd_seek(&file, 0, 2);
    journal.poll("file at its end", &[read(8, &file)]);
    journal.poll("input", &[read(9, &Fd::new(0, "fd0"))]);
}

pub(crate) fn poll_errors(journal: &mut Journal, root: &Fd) {
    let file = journal.open(root, "file", BOTH, "file");
    let dir = journal.open(root, "dir", READ, "dir");
    journal.poll("nothing", &[]);
    journal.poll("bad descriptor", &[read(1, &Fd::none("none"))]);
    journal.poll("bad descriptor and file", &[read(1, &Fd::none("none")), read(2, &file)]);
    journal.poll("directory", &[read(1, &dir)]);
    journal.poll("process clock", &[clock(1, 2, 1, 0)]);
    journal.poll("unknown clock", &[clock(1, 9, 1, 0)]);
    journal.poll("unknown kind", &[ready(1, 3, &file)]);
}
