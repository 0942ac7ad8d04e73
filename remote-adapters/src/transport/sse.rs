//! Server-sent events (WHATWG HTML, "Server-sent events"), parsed as they arrive.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Event type; `message` if the server specifies none.
    pub event: String,
    /// Data lines, joined.
    pub data: String,
}

/// Splits chunks of bytes into events. Skips comments and other fields.
#[derive(Debug, Default)]
pub struct EventReader {
    line: Vec<u8>,
    event: String,
    data: Option<String>,
    after_cr: bool,
}

/// Maximum line length. Providers send far smaller chunks.
const LINE_BYTES: usize = 16 << 20;

impl EventReader {
    /// Adds a chunk and returns the events that it completes; `None` if a line is longer than 16 MiB.
    pub fn push(&mut self, chunk: &[u8]) -> Option<Vec<Event>> {
        let mut events = Vec::new();
        for byte in chunk {
            let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match byte {
                // CR, LF and CR LF each end a line.
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_of_line()),
                _ if self.line.len() >= LINE_BYTES => return None,
                _ => self.line.push(*byte),
            }
        }
        Some(events)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let event = if event.is_empty() { "message".to_owned() } else { event };
            return self.data.take().map(|data| Event { event, data });
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("event", _) => self.event = value.to_owned(),
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", None) => self.data = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_do_not_depend_on_chunk_boundaries() {
        let stream =
            ": heartbeat\n\nevent: stdout\ndata: {\"a\":\ndata: \"é\"}\r\n\r\ndata:x\rid: 7\r\rdata: never ended";
        let expected = [
            Event { event: "stdout".to_owned(), data: "{\"a\":\n\"é\"}".to_owned() },
            Event { event: "message".to_owned(), data: "x".to_owned() },
        ];
        for size in 1..stream.len() {
            let mut reader = EventReader::default();
            let chunks = stream.as_bytes().chunks(size);
            let events: Vec<Event> = chunks.flat_map(|chunk| reader.push(chunk).expect("short lines")).collect();
            assert_eq!(events, expected, "in chunks of {size}");
        }
    }
}
