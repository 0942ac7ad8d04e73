//! A sandbox on the machine that runs the suite shows nothing of it.

use super::capabilities::{HostProbe, Need};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same, text};
use super::ground::{Ground, quoted};
use crate::file::{ReadRequest, ReadResponse};
use crate::path::SandboxPath;
use crate::search::GrepRequest;

pub(super) const CASES: &[Case] = cases![
    "isolation: tools and transfers do not reach a file of the host" [Need::Host] file_tools;
    "isolation: commands do not reach a file of the host" [Need::Host, Need::Execute] commands;
    "isolation: a link does not lead to a file of the host" [Need::Host, Need::Execute, Need::Symlinks] links;
    "isolation: commands do not see the host's environment" [Need::Host, Need::Execute] environment;
];

fn probe<'a>(ground: &Ground<'a>) -> Verdict<&'a HostProbe> {
    ground.capabilities.host.as_ref().ok_or_else(|| Fault::new("a probe of the host", "none"))
}

fn shows(response: &ReadResponse, secret: &str) -> bool {
    format!("{:?}", response.content).contains(secret)
}

async fn file_tools(ground: &Ground<'_>) -> Verdict {
    let probe = probe(ground)?;
    for path in [probe.file.clone(), format!("/../../../..{}", probe.file), format!("/proc/self/root{}", probe.file)] {
        let path = SandboxPath::parse(path)?;
        if let Ok(response) = ground.backend.read(ReadRequest::new(path.clone())).await? {
            holds("read shows nothing of the host", !shows(&response, &probe.text), &path)?;
        }
        for got in ground.backend.download_files(vec![path.as_bytes().to_vec()]).await? {
            let content = got.result.as_deref().map(text).unwrap_or_default();
            holds("download shows nothing of the host", !content.contains(&probe.text), &path)?;
        }
        if let Ok(found) = ground.backend.grep(GrepRequest::new(probe.text.as_str(), path.clone())).await? {
            same("lines of the host", &found.matches.len(), &0)?;
        }
    }
    Ok(())
}

async fn commands(ground: &Ground<'_>) -> Verdict {
    let probe = probe(ground)?;
    let file = quoted(&probe.file);
    let command = format!("cat {file} /../../..{file} /proc/self/root{file} /proc/1/root{file} 2>&1");
    let output = text(&ground.sh(&command).await?.output);
    holds("output that shows nothing of the host", !output.contains(&probe.text), &output)
}

async fn links(ground: &Ground<'_>) -> Verdict {
    let probe = probe(ground)?;
    let file = quoted(&probe.file);
    let output = text(&ground.sh(&format!("ln -s {file} link; ln -s / root; cat link root{file} 2>&1")).await?.output);
    holds("output that shows nothing of the host", !output.contains(&probe.text), &output)?;
    let through = format!("root{}", probe.file);
    for got in ground.backend.download_files(vec![ground.full("link"), ground.full(&through)]).await? {
        let content = got.result.as_deref().map(text).unwrap_or_default();
        holds("a download that shows nothing of the host", !content.contains(&probe.text), &text(&got.path))?;
    }
    Ok(())
}

async fn environment(ground: &Ground<'_>) -> Verdict {
    let probe = probe(ground)?;
    let command = format!(
        "echo \"<${}>\"; env; set; cat /proc/self/environ /proc/$PPID/environ /proc/1/environ 2>/dev/null",
        probe.variable
    );
    let output = text(&ground.sh(&command).await?.output);
    holds("output that shows nothing of the host", !output.contains(&probe.value), &output)
}
