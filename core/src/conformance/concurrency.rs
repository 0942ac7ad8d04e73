//! Concurrent operations, like the tool calls of one model response.

use futures_util::future::{join, join_all};

use super::capabilities::Requirement::{Execute, Timeout};
use super::case::{Case, cases};
use super::context::{CaseContext, page_text};
use super::failure::{CaseResult, check, check_eq, text};
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "concurrency: twenty commands have separate outputs" [Execute] commands;
    "concurrency: twenty files are written and all exist" [] writes;
    "concurrency: twenty operations of every kind succeed" [] mixed;
    "concurrency: edits of different files do not interfere" [] edits;
    "concurrency: a file written twice has one of the contents" [] one_file;
    "concurrency: a running command does not block other operations" [Execute, Timeout] not_waiting;
];

const MANY: usize = 20;

async fn every(tries: impl Iterator<Item = impl Future<Output = CaseResult>>) -> CaseResult {
    join_all(tries).await.into_iter().collect()
}

async fn commands(context: &CaseContext<'_>) -> CaseResult {
    every((0..MANY).map(|number| async move {
        let command = format!("for n in 1 2 3; do echo {number}-$n; done > out{number}; cat out{number}");
        let expected = format!("{number}-1\n{number}-2\n{number}-3\n");
        check_eq("the output", &context.output(&command).await?, &expected)
    }))
    .await
}

async fn writes(context: &CaseContext<'_>) -> CaseResult {
    every((0..MANY).map(|number| async move {
        let path = context.path(format!("d/{number}"))?;
        context.backend.write(WriteRequest::new(path, format!("content {number}"))).await??;
        Ok(())
    }))
    .await?;
    check_eq("number of files", &super::ls::list(context, "d").await?.len(), &MANY)?;
    for number in 0..MANY {
        check_eq("a file", &context.get_text(format!("d/{number}")).await?, &format!("content {number}"))?;
    }
    Ok(())
}

async fn mixed(context: &CaseContext<'_>) -> CaseResult {
    context.put("kept", "needle\n").await?;
    every((0..MANY).map(|number| async move {
        let backend = context.backend;
        match number % 5 {
            0 => {
                let path = context.path(format!("made{number}"))?;
                backend.write(WriteRequest::new(path, "x")).await??;
            }
            1 => check_eq("read", &page_text(&context.read("kept").await?)?, &"needle\n")?,
            2 => {
                let found = backend.grep(GrepRequest::new("needle", context.dir.clone())).await??;
                check_eq("grep", &found.matches.len(), &1)?;
            }
            3 => {
                let found = backend.glob(GlobRequest::new("kept", context.dir.clone())).await??;
                check_eq("glob", &found.files.len(), &1)?;
            }
            _ => check_eq("download", &context.get_text("kept").await?, &"needle\n")?,
        }
        Ok(())
    }))
    .await
}

async fn edits(context: &CaseContext<'_>) -> CaseResult {
    let names: Vec<String> = (0..MANY).map(|number| format!("{number}")).collect();
    context.put_all(names.iter().map(|name| (name.clone().into_bytes(), b"old text".to_vec())).collect()).await?;
    every(names.iter().map(|name| async move {
        let request = EditRequest::new(context.path(name)?, "old", format!("new {name}"));
        context.backend.edit(request).await??;
        check_eq("the file", &context.get_text(name).await?, &format!("new {name} text"))
    }))
    .await
}

async fn one_file(context: &CaseContext<'_>) -> CaseResult {
    let contents: Vec<String> = ["a", "b"].iter().map(|letter| letter.repeat(100_000)).collect();
    let put = |content: &String| context.put("file", content.clone());
    every(contents.iter().map(put)).await?;
    let got = context.get_text("file").await?;
    let shown = (got.len(), got.chars().next());
    check("one of the two complete contents", contents.contains(&got), &shown)
}

async fn not_waiting(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    // The command ends only after the other operation has created the file.
    let command = "while ! [ -e go ]; do sleep 0.1; done; cat go";
    let running = context.backend.execute(context.request(command).with_timeout(std::time::Duration::from_secs(12)));
    let meanwhile = async {
        let response = context.backend.read(ReadRequest::new(context.path("a")?)).await??;
        check_eq("read", &page_text(&response)?, &"x")?;
        context.put("go", "data").await
    };
    let (response, verdict) = join(running, meanwhile).await;
    verdict?;
    check_eq("the output of the command", &text(&response?.output), &"data")
}
