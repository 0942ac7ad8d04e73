//! `getline` in its six forms.

use super::{Location, Machine, Outcome, fatal};
use crate::code::Origins;
use crate::compile::slot;
use crate::input::ReadError;
use crate::stream::Kind;
use crate::value::Value;

impl Machine {
    pub(super) fn getline(&mut self, from: Origins, placed: bool) -> Outcome<()> {
        let result =
            if from == Origins::Main { self.getline_main(placed)? } else { self.getline_stream(from, placed)? };
        self.push(Value::Number(result));
        Ok(())
    }

    fn getline_main(&mut self, placed: bool) -> Outcome<f64> {
        let spot = if placed { self.spots.pop() } else { None };
        let Some(spot) = spot else {
            return Ok(if self.next_main_record(false)? { 1.0 } else { 0.0 });
        };
        match self.next_main_text()? {
            Some(text) => {
                self.write_spot(&spot, Value::input(&text))?;
                Ok(1.0)
            }
            None => Ok(0.0),
        }
    }

    fn getline_stream(&mut self, from: Origins, placed: bool) -> Outcome<f64> {
        let spot = if placed { self.spots.pop() } else { None };
        let name = self.pop_text();
        let kind = match from {
            Origins::Pipe => Kind::PipeFrom,
            Origins::TwoWay => Kind::TwoWay,
            _ => Kind::Read,
        };
        if name.is_empty() {
            let sign = match from {
                Origins::Pipe => "|",
                Origins::TwoWay => "|&",
                _ => "<",
            };
            return fatal(format!("expression for `{sign}' redirection has null string value"));
        }
        if self.options.sandbox {
            return fatal("redirection not allowed in sandbox mode");
        }
        let stream = match self.streams.open(kind, name.bytes()) {
            Ok(stream) => stream,
            Err(error) => {
                self.set_error(error.text());
                return Ok(-1.0);
            }
        };
        self.read_stream(stream, spot)
    }

    fn read_stream(&mut self, stream: usize, spot: Option<Location>) -> Outcome<f64> {
        let mut record = Vec::new();
        let mut terminator = std::mem::take(&mut self.terminator);
        let found = self.streams.read(stream, &self.settings.ending, &mut record, &mut terminator);
        let outcome = match found {
            Ok(true) => {
                self.note_terminator(&terminator);
                self.take_record(record, spot).map(|()| 1.0)
            }
            Ok(false) => Ok(0.0),
            Err(ReadError::Read(error)) => {
                self.set_error(error.text());
                Ok(-1.0)
            }
            Err(ReadError::Pattern(error)) => fatal(error),
        };
        self.terminator = terminator;
        outcome
    }

    fn take_record(&mut self, record: Vec<u8>, spot: Option<Location>) -> Outcome<()> {
        match spot {
            Some(spot) => self.write_spot(&spot, Value::input(&record)),
            None => {
                *self.record.renew() = record;
                Ok(())
            }
        }
    }

    /// Stores the record terminator in `RT`.
    pub(super) fn note_terminator(&mut self, terminator: &[u8]) {
        let place = &mut self.globals[slot("RT") as usize];
        match place {
            Value::Text(text) if text.bytes() == terminator => {}
            _ => *place = Value::text(terminator),
        }
    }
}
