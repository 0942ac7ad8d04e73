//! Calls without files: arguments, environment, clocks, polling, randomness and sockets.

use super::{Fd, Journal};
use crate::sys::{self, Record};
use crate::text;

impl Journal {
    pub(crate) fn args(&self) {
        let (errno, count, size) = sys::args_sizes_get();
        self.line("args_sizes_get()", errno, format_args!("{count} {size}"));
        let (errno, list) = sys::args_get();
        self.line("args_get()", errno, quoted(&list));
    }

    pub(crate) fn environ(&self) {
        let (errno, count, size) = sys::environ_sizes_get();
        self.line("environ_sizes_get()", errno, format_args!("{count} {size}"));
        let (errno, list) = sys::environ_get();
        self.line("environ_get()", errno, quoted(&list));
    }

    pub(crate) fn clock_res_get(&self, id: u32) {
        let (errno, resolution) = sys::clock_res_get(id);
        let sane = resolution > 0 && resolution <= 1_000_000_000;
        self.line(format_args!("clock_res_get({id})"), errno, format_args!("between 1 ns and 1 s: {sane}"));
    }

    pub(crate) fn clock_time_get(&self, id: u32) -> u64 {
        let (errno, time) = sys::clock_time_get(id);
        self.line(format_args!("clock_time_get({id})"), errno, "");
        time
    }

    /// Waits for `subscriptions`, named `what` in the line; the events are written in the order of their user data.
    pub(crate) fn poll(&self, what: &str, subscriptions: &[Record<48>]) {
        let (errno, mut events) = sys::poll_oneoff(subscriptions);
        events.sort_by_key(|event| event.u64(0));
        let events: Vec<String> = events.iter().map(event_text).collect();
        self.line(format_args!("poll_oneoff({what})"), errno, format_args!("[{}]", events.join(", ")));
    }

    pub(crate) fn proc_raise(&self, signal: u32) {
        self.done(format_args!("proc_raise({signal})"), sys::proc_raise(signal));
    }

    pub(crate) fn random_get(&self, len: usize) -> Vec<u8> {
        let mut buffer = vec![0; len];
        self.done(format_args!("random_get({len})"), sys::random_get(&mut buffer));
        buffer
    }

    pub(crate) fn sched_yield(&self) {
        self.done("sched_yield()", sys::sched_yield());
    }

    /// All four socket calls on one descriptor.
    pub(crate) fn sockets(&self, fd: &Fd) {
        self.done(format_args!("sock_accept({})", fd.name), sys::sock_accept(fd.number));
        self.done(format_args!("sock_recv({})", fd.name), sys::sock_recv(fd.number, &mut [0; 4]));
        self.done(format_args!("sock_send({})", fd.name), sys::sock_send(fd.number, b"data"));
        self.done(format_args!("sock_shutdown({})", fd.name), sys::sock_shutdown(fd.number, 1));
    }
}

fn quoted(list: &[Vec<u8>]) -> String {
    let list: Vec<String> = list.iter().map(|item| text::bytes(item)).collect();
    list.join(" ")
}

fn event_text(event: &Record<32>) -> String {
    let kind = ["clock", "read", "write"].get(usize::from(event.u8(10))).copied().unwrap_or("bad-type");
    let hangup = if event.u16(24) & 1 == 1 { " hangup" } else { "" };
    format!("{} {kind} {}{hangup}", event.u64(0), text::errno(event.u16(8)))
}
