//! Memory and disk of a sandbox, as its own `free` and `df` report them.

use tidebox_core::{ExecuteRequest, SandboxPath};

use crate::registry::SandboxRecord;

/// Resources of a sandbox, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processors: u64,
    pub(crate) memory_total: u64,
    pub(crate) memory_used: u64,
    pub(crate) memory_cache: u64,
    pub(crate) disk_total: u64,
    pub(crate) disk_used: u64,
}

/// Returns the resources that a sandbox uses now.
///
/// # Errors
/// The message of a failed command.
pub(crate) async fn usage(sandbox: &SandboxRecord) -> Result<Usage, String> {
    let command = "nproc && df -B1 --output=size,used / && free -b";
    let request = ExecuteRequest::new(command).with_cwd(SandboxPath::root());
    let response = sandbox.sandbox.execute(request).await.map_err(|error| error.to_string())?;
    let text = response.stdout_text();
    parse(&text).ok_or_else(|| format!("the sandbox does not report its resources: {}", response.stderr_text().trim()))
}

fn parse(text: &str) -> Option<Usage> {
    let mut lines = text.lines();
    let processors = lines.next()?.trim().parse().ok()?;
    let disk = numbers(lines.nth(1)?);
    let memory = numbers(lines.find_map(|line| line.strip_prefix("Mem:"))?);
    // Columns of `free`: total, used, free, shared, buff/cache, available.
    Some(Usage {
        processors,
        memory_total: *memory.first()?,
        memory_used: *memory.get(1)?,
        memory_cache: *memory.get(4)?,
        disk_total: *disk.first()?,
        disk_used: *disk.get(1)?,
    })
}

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_the_tools_is_parsed() {
        let text = "1\n 1B-blocks Used\n 536870912 4096\n       total used free shared buff/cache available\n\
                    Mem:   100 20 70 0 10 80\nSwap:    0 0 0\n";
        let expected = Usage {
            processors: 1,
            memory_total: 100,
            memory_used: 20,
            memory_cache: 10,
            disk_total: 536_870_912,
            disk_used: 4096,
        };
        assert_eq!(parse(text), Some(expected));
        assert_eq!(parse("1\n"), None);
    }
}
