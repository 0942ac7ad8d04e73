//! Isolation of a sandbox from the host that runs the suite.

use super::capabilities::{HostProbe, Requirement};
use super::case::{Case, cases};
use super::context::{CaseContext, quoted};
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::file::{ReadRequest, ReadResponse};
use crate::path::SandboxPath;
use crate::search::GrepRequest;

pub(super) const CASES: &[Case] = cases![
    "isolation: file tools and transfers cannot read a host file" [Requirement::Host] file_tools;
    "isolation: commands cannot read a host file" [Requirement::Host, Requirement::Execute] commands;
    "isolation: a symbolic link cannot reach a host file" [Requirement::Host, Requirement::Execute, Requirement::Symlinks] links;
    "isolation: commands cannot see the host environment" [Requirement::Host, Requirement::Execute] environment;
];

fn probe<'a>(context: &CaseContext<'a>) -> CaseResult<&'a HostProbe> {
    context.capabilities.host.as_ref().ok_or_else(|| CaseFailure::new("a probe of the host", "none"))
}

fn shows(response: &ReadResponse, secret: &str) -> bool {
    format!("{:?}", response.content).contains(secret)
}

async fn file_tools(context: &CaseContext<'_>) -> CaseResult {
    let probe = probe(context)?;
    for path in [probe.file.clone(), format!("/../../../..{}", probe.file), format!("/proc/self/root{}", probe.file)] {
        let path = SandboxPath::parse(path)?;
        if let Ok(response) = context.backend.read(ReadRequest::new(path.clone())).await? {
            check("read shows nothing of the host", !shows(&response, &probe.text), &path)?;
        }
        for got in context.backend.download_files(vec![path.as_bytes().to_vec()]).await? {
            let content = got.result.as_deref().map(text).unwrap_or_default();
            check("download shows nothing of the host", !content.contains(&probe.text), &path)?;
        }
        if let Ok(found) = context.backend.grep(GrepRequest::new(probe.text.as_str(), path.clone())).await? {
            check_eq("lines of the host", &found.matches.len(), &0)?;
        }
    }
    Ok(())
}

async fn commands(context: &CaseContext<'_>) -> CaseResult {
    let probe = probe(context)?;
    let file = quoted(&probe.file);
    let command = format!("cat {file} /../../..{file} /proc/self/root{file} /proc/1/root{file} 2>&1");
    let output = text(&context.run(&command).await?.output);
    check("output that shows nothing of the host", !output.contains(&probe.text), &output)
}

async fn links(context: &CaseContext<'_>) -> CaseResult {
    let probe = probe(context)?;
    let file = quoted(&probe.file);
    let output =
        text(&context.run(&format!("ln -s {file} link; ln -s / root; cat link root{file} 2>&1")).await?.output);
    check("output that shows nothing of the host", !output.contains(&probe.text), &output)?;
    let through = format!("root{}", probe.file);
    for got in context.backend.download_files(vec![context.full("link"), context.full(&through)]).await? {
        let content = got.result.as_deref().map(text).unwrap_or_default();
        check("a download that shows nothing of the host", !content.contains(&probe.text), &text(&got.path))?;
    }
    Ok(())
}

async fn environment(context: &CaseContext<'_>) -> CaseResult {
    let probe = probe(context)?;
    let command = format!(
        "echo \"<${}>\"; env; set; cat /proc/self/environ /proc/$PPID/environ /proc/1/environ 2>/dev/null",
        probe.variable
    );
    let output = text(&context.run(&command).await?.output);
    check("output that shows nothing of the host", !output.contains(&probe.value), &output)
}
