//! Commands, tools and transfers see one path space.

use super::capabilities::Need::{Cwd, Execute, Symlinks};
use super::case::{Case, cases};
use super::fault::{Verdict, same, text};
use super::ground::{Ground, page_text, refused};
use crate::error::FileErrorCode;
use crate::execute::ExecuteRequest;
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "paths: what a tool writes, a command reads at once" [Execute] tool_to_command;
    "paths: what a command writes, every tool sees at once" [Execute] command_to_tools;
    "paths: what a command deletes is gone at once for every tool" [Execute] deleted_by_command;
    "paths: what a tool deletes is gone at once for commands" [Execute] deleted_by_tool;
    "paths: what a command renames has its new name for every tool" [Execute] renamed;
    "paths: a command in another directory means the same files" [Execute, Cwd] other_directory;
    "paths: two dots lead up, for tools as for commands" [Execute] two_dots;
    "paths: two dots at the root stay there" [] root_is_its_own_parent;
    "paths: a device behind a link is refused, and holds up neither tools nor searches" [Execute, Symlinks] devices;
    "paths: a link made by a command leads tools and transfers to the same file" [Execute, Symlinks] links;
];

async fn tool_to_command(ground: &Ground<'_>) -> Verdict {
    let path = ground.path("d/a")?;
    ground.backend.write(WriteRequest::new(path.clone(), "first\n")).await??;
    same("after write", &ground.output("cat d/a").await?, &"first\n")?;
    ground.backend.edit(EditRequest::new(path, "first", "second")).await??;
    same("after edit", &ground.output("cat d/a").await?, &"second\n")
}

async fn command_to_tools(ground: &Ground<'_>) -> Verdict {
    ground.output("mkdir -p d; echo needle > d/a; printf 'more\\n' >> d/a").await?;
    same("read", &page_text(&ground.read("d/a").await?)?, &"needle\nmore\n")?;
    same("download", &ground.get_text("d/a").await?, &"needle\nmore\n")?;
    let listed = super::ls::list(ground, "d").await?;
    same("ls", &listed.iter().map(|entry| text(&entry.path)).collect::<Vec<_>>(), &vec![text(&ground.full("d/a"))])?;
    let found = ground.backend.grep(GrepRequest::new("needle", ground.dir.clone())).await??;
    same("grep", &found.matches.len(), &1)?;
    let found = ground.backend.glob(GlobRequest::new("d/*", ground.dir.clone())).await??;
    same("glob", &found.files.len(), &1)
}

async fn deleted_by_command(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "needle").await?;
    // Who was asked once must not answer from memory.
    same("before", &ground.get_text("d/a").await?, &"needle")?;
    ground.output("rm d/a").await?;
    same("download", &ground.is_there("d/a").await?, &false)?;
    let error = refused("read", ground.backend.read(ReadRequest::new(ground.path("d/a")?)).await)?;
    same("read", &error.code, &FileErrorCode::FileNotFound)?;
    same("ls", &super::ls::list(ground, "d").await?.len(), &0)?;
    let found = ground.backend.grep(GrepRequest::new("needle", ground.dir.clone())).await??;
    same("grep", &found.matches.len(), &0)
}

async fn deleted_by_tool(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    ground.backend.delete(&ground.path("d/a")?).await??;
    same("a command", &ground.output("ls d; test -e d/a || echo gone").await?, &"gone\n")
}

async fn renamed(ground: &Ground<'_>) -> Verdict {
    ground.put("d/old", "x").await?;
    same("before", &ground.get_text("d/old").await?, &"x")?;
    ground.output("mv d/old d/new; mv d e").await?;
    same("old and new", &(ground.is_there("d/old").await?, ground.is_there("e/new").await?), &(false, true))
}

async fn other_directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    let request = ExecuteRequest::new("cat a; echo made > b").with_cwd(ground.path("d")?);
    same("a relative path", &text(&ground.backend.execute(request).await?.output), &"x")?;
    same("the whole path", &ground.get_text("d/b").await?, &"made\n")
}

async fn two_dots(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "d/b"], "x").await?;
    same("a tool", &page_text(&ground.read("d/../a").await?)?, &"x")?;
    same("a command", &ground.output("cat d/../a").await?, &"x")
}

async fn root_is_its_own_parent(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    let whole = ground.full("a");
    let up = [b"/../../../..".as_slice(), &whole].concat();
    let response = ground.backend.read(ReadRequest::new(SandboxPath::parse(up)?)).await??;
    same("the file", &page_text(&response)?, &"x")
}

async fn devices(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "needle\n").await?;
    // What never ends, and what is nothing.
    ground.output("ln -s /dev/zero d/endless; ln -s /dev/null d/nothing").await?;
    for name in ["d/endless", "d/nothing"] {
        let error = refused("read", ground.backend.read(ReadRequest::new(ground.path(name)?)).await)?;
        same("the code", &error.code, &FileErrorCode::NotARegularFile)?;
        same("download", &ground.is_there(name).await?, &false)?;
        let edit = EditRequest::new(ground.path(name)?, "a", "b");
        refused("edit", ground.backend.edit(edit).await)?;
    }
    let found = ground.backend.grep(GrepRequest::new("needle", ground.dir.clone())).await??;
    same("grep", &found.matches.len(), &1)?;
    let found = ground.backend.glob(GlobRequest::new("d/a", ground.dir.clone())).await??;
    same("glob", &found.files.len(), &1)
}

async fn links(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "first").await?;
    ground.output("ln -s d link").await?;
    same("read", &page_text(&ground.read("link/a").await?)?, &"first")?;
    same("download", &ground.get_text("link/a").await?, &"first")?;
    ground.put("link/b", "second").await?;
    same("upload", &ground.output("cat d/b").await?, &"second")
}
