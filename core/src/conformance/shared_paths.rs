//! Commands, file tools and transfers share one path space.

use super::capabilities::Requirement::{Cwd, Execute, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, expect_error, page_text};
use super::failure::{CaseResult, check_eq, text};
use crate::error::FileErrorCode;
use crate::execute::ExecuteRequest;
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "paths: a file written by a tool is immediately visible to commands" [Execute] tool_to_command;
    "paths: a file written by a command is immediately visible to every tool" [Execute] command_to_tools;
    "paths: a file deleted by a command is immediately missing for every tool" [Execute] deleted_by_command;
    "paths: a file deleted by a tool is immediately missing for commands" [Execute] deleted_by_tool;
    "paths: a file renamed by a command has its new name for every tool" [Execute] renamed;
    "paths: commands in another directory see the same files" [Execute, Cwd] other_directory;
    "paths: two dots are the parent directory for tools and commands" [Execute] two_dots;
    "paths: two dots at the root are the root" [] root_is_its_own_parent;
    "paths: a link to a device is rejected and blocks neither tools nor searches" [Execute, Symlinks] devices;
    "paths: a link created by a command resolves in tools and transfers" [Execute, Symlinks] links;
];

async fn tool_to_command(context: &CaseContext<'_>) -> CaseResult {
    let path = context.path("d/a")?;
    context.backend.write(WriteRequest::new(path.clone(), "first\n")).await??;
    check_eq("after write", &context.output("cat d/a").await?, &"first\n")?;
    context.backend.edit(EditRequest::new(path, "first", "second")).await??;
    check_eq("after edit", &context.output("cat d/a").await?, &"second\n")
}

async fn command_to_tools(context: &CaseContext<'_>) -> CaseResult {
    context.output("mkdir -p d; echo needle > d/a; printf 'more\\n' >> d/a").await?;
    check_eq("read", &page_text(&context.read("d/a").await?)?, &"needle\nmore\n")?;
    check_eq("download", &context.get_text("d/a").await?, &"needle\nmore\n")?;
    let listed = super::ls::list(context, "d").await?;
    check_eq(
        "ls",
        &listed.iter().map(|entry| text(&entry.path)).collect::<Vec<_>>(),
        &vec![text(&context.full("d/a"))],
    )?;
    let found = context.backend.grep(GrepRequest::new("needle", context.dir.clone())).await??;
    check_eq("grep", &found.matches.len(), &1)?;
    let found = context.backend.glob(GlobRequest::new("d/*", context.dir.clone())).await??;
    check_eq("glob", &found.files.len(), &1)
}

async fn deleted_by_command(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "needle").await?;
    // Results of the earlier lookup must not be cached.
    check_eq("before", &context.get_text("d/a").await?, &"needle")?;
    context.output("rm d/a").await?;
    check_eq("download", &context.exists("d/a").await?, &false)?;
    let error = expect_error("read", context.backend.read(ReadRequest::new(context.path("d/a")?)).await)?;
    check_eq("read", &error.code, &FileErrorCode::FileNotFound)?;
    check_eq("ls", &super::ls::list(context, "d").await?.len(), &0)?;
    let found = context.backend.grep(GrepRequest::new("needle", context.dir.clone())).await??;
    check_eq("grep", &found.matches.len(), &0)
}

async fn deleted_by_tool(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    context.backend.delete(&context.path("d/a")?).await??;
    check_eq("a command", &context.output("ls d; test -e d/a || echo deleted").await?, &"deleted\n")
}

async fn renamed(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/old", "x").await?;
    check_eq("before", &context.get_text("d/old").await?, &"x")?;
    context.output("mv d/old d/new; mv d e").await?;
    check_eq("old and new", &(context.exists("d/old").await?, context.exists("e/new").await?), &(false, true))
}

async fn other_directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    let request = ExecuteRequest::new("cat a; echo made > b").with_cwd(context.path("d")?);
    check_eq("a relative path", &text(&context.backend.execute(request).await?.output), &"x")?;
    check_eq("the whole path", &context.get_text("d/b").await?, &"made\n")
}

async fn two_dots(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "d/b"], "x").await?;
    check_eq("a tool", &page_text(&context.read("d/../a").await?)?, &"x")?;
    check_eq("a command", &context.output("cat d/../a").await?, &"x")
}

async fn root_is_its_own_parent(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    let whole = context.full("a");
    let up = [b"/../../../..".as_slice(), &whole].concat();
    let response = context.backend.read(ReadRequest::new(SandboxPath::parse(up)?)).await??;
    check_eq("the file", &page_text(&response)?, &"x")
}

async fn devices(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "needle\n").await?;
    // An endless device and an empty one.
    context.output("ln -s /dev/zero d/endless; ln -s /dev/null d/nothing").await?;
    for name in ["d/endless", "d/nothing"] {
        let error = expect_error("read", context.backend.read(ReadRequest::new(context.path(name)?)).await)?;
        check_eq("the code", &error.code, &FileErrorCode::NotARegularFile)?;
        check_eq("download", &context.exists(name).await?, &false)?;
        let edit = EditRequest::new(context.path(name)?, "a", "b");
        expect_error("edit", context.backend.edit(edit).await)?;
    }
    let found = context.backend.grep(GrepRequest::new("needle", context.dir.clone())).await??;
    check_eq("grep", &found.matches.len(), &1)?;
    let found = context.backend.glob(GlobRequest::new("d/a", context.dir.clone())).await??;
    check_eq("glob", &found.files.len(), &1)
}

async fn links(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "first").await?;
    context.output("ln -s d link").await?;
    check_eq("read", &page_text(&context.read("link/a").await?)?, &"first")?;
    check_eq("download", &context.get_text("link/a").await?, &"first")?;
    context.put("link/b", "second").await?;
    check_eq("upload", &context.output("cat d/b").await?, &"second")
}
