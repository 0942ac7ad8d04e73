//! Message queues from JavaScript to futures. Messages contain no JavaScript values, so the futures are `Send` as on other hosts.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// Message queues of futures, by key.
pub(crate) struct Mailboxes<Key, T>(RefCell<BTreeMap<Key, Mailbox<T>>>);

struct Mailbox<T> {
    messages: VecDeque<T>,
    waker: Option<Waker>,
}

impl<Key: Ord + Copy, T> Mailboxes<Key, T> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(BTreeMap::new()))
    }

    pub(crate) fn open(&self, key: Key) {
        self.0.borrow_mut().insert(key, Mailbox { messages: VecDeque::new(), waker: None });
    }

    /// Removes a queue and its messages.
    pub(crate) fn close(&self, key: Key) {
        let closed = self.0.borrow_mut().remove(&key);
        drop(closed);
    }

    /// Adds a message and wakes the receiver. A message without a queue is dropped.
    pub(crate) fn put(&self, key: Key, message: T) {
        let waker = {
            let mut mailboxes = self.0.borrow_mut();
            let Some(mailbox) = mailboxes.get_mut(&key) else { return };
            mailbox.messages.push_back(message);
            mailbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Polls for the next message.
    pub(crate) fn poll(&self, key: Key, waker: &Waker) -> Poll<T> {
        let mut mailboxes = self.0.borrow_mut();
        let Some(mailbox) = mailboxes.get_mut(&key) else { return Poll::Pending };
        match mailbox.messages.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                mailbox.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

/// Waits for the next message in a thread-local table.
pub(crate) async fn next<Key: Ord + Copy + 'static, T: 'static>(
    mailboxes: &'static std::thread::LocalKey<Mailboxes<Key, T>>,
    key: Key,
) -> T {
    poll_fn(|cx| mailboxes.with(|mailboxes| mailboxes.poll(key, cx.waker()))).await
}
