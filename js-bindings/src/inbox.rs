//! What JavaScript tells futures of this side, in order. JavaScript speaks by numbers, so the futures know no value of it and
//! can be sent like those of every other host.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// Messages for some futures, each of which listens at a place.
pub(crate) struct Inboxes<Place, T>(RefCell<BTreeMap<Place, Inbox<T>>>);

struct Inbox<T> {
    messages: VecDeque<T>,
    waker: Option<Waker>,
}

impl<Place: Ord + Copy, T> Inboxes<Place, T> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(BTreeMap::new()))
    }

    pub(crate) fn open(&self, place: Place) {
        self.0.borrow_mut().insert(place, Inbox { messages: VecDeque::new(), waker: None });
    }

    /// Forgets what nobody will read.
    pub(crate) fn close(&self, place: Place) {
        let closed = self.0.borrow_mut().remove(&place);
        drop(closed);
    }

    /// Puts a message in and wakes who listens. What comes too late is dropped.
    pub(crate) fn put(&self, place: Place, message: T) {
        let waker = {
            let mut inboxes = self.0.borrow_mut();
            let Some(inbox) = inboxes.get_mut(&place) else { return };
            inbox.messages.push_back(message);
            inbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next message, or a wake-up when there is one.
    pub(crate) fn poll(&self, place: Place, waker: &Waker) -> Poll<T> {
        let mut inboxes = self.0.borrow_mut();
        let Some(inbox) = inboxes.get_mut(&place) else { return Poll::Pending };
        match inbox.messages.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                inbox.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

/// Waits for the next message at a place of a table that is a thread's own.
pub(crate) async fn next<Place: Ord + Copy + 'static, T: 'static>(
    inboxes: &'static std::thread::LocalKey<Inboxes<Place, T>>,
    place: Place,
) -> T {
    poll_fn(|cx| inboxes.with(|inboxes| inboxes.poll(place, cx.waker()))).await
}
