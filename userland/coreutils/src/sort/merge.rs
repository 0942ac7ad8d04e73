//! Merge of sorted files.

use std::cmp::Ordering;

use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

use super::compare::{Mark, Rules};
use super::lines::Sink;

/// A file with its next line.
struct Source {
    input: Input,
    /// Index of the file. Equal lines of earlier files come first.
    index: usize,
    line: Vec<u8>,
    mark: Mark,
}

impl Source {
    /// Advances to the next line; false at the end.
    fn advance(&mut self, end: u8, rules: &Rules) -> Result<bool, Errno> {
        if !self.input.line(end, &mut self.line)? {
            return Ok(false);
        }
        if self.line.last() == Some(&end) {
            self.line.pop();
        }
        self.mark = rules.mark(&self.line);
        Ok(true)
    }

    fn compare(&self, other: &Self, rules: &Rules) -> Ordering {
        let order = rules.compare((&self.line, self.mark), (&other.line, other.mark));
        order.then(self.index.cmp(&other.index))
    }
}

/// Merges the inputs. The error names the input that could not be read.
pub(super) fn merge(inputs: Vec<Input>, sink: &mut Sink<'_>, rules: &Rules) -> Result<(), (usize, Errno)> {
    let end = sink.end;
    // The sources are in reverse order of their next lines.
    let mut sources: Vec<Source> = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.into_iter().enumerate() {
        let mut source = Source { input, index, line: Vec::new(), mark: Mark::default() };
        if source.advance(end, rules).map_err(|errno| (index, errno))? {
            insert(&mut sources, source, rules);
        }
    }
    let mut written: Option<(Vec<u8>, Mark)> = None;
    while let Some(mut source) = sources.pop() {
        let again = match &written {
            Some((line, mark)) if rules.unique => {
                rules.compare((line, *mark), (&source.line, source.mark)) == Ordering::Equal
            }
            _ => false,
        };
        if !again {
            sink.line(&source.line);
            if rules.unique {
                let (mut kept, _) = written.take().unwrap_or_default();
                kept.clone_from(&source.line);
                written = Some((kept, source.mark));
            }
        }
        if sink.out.failure().is_some() {
            break;
        }
        if source.advance(end, rules).map_err(|errno| (source.index, errno))? {
            insert(&mut sources, source, rules);
        }
    }
    Ok(())
}

fn insert(sources: &mut Vec<Source>, source: Source, rules: &Rules) {
    let at = sources.partition_point(|other| other.compare(&source, rules) == Ordering::Greater);
    sources.insert(at, source);
}
