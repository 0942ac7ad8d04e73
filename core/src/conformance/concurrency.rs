//! Several operations at once, as the tool calls of one turn are.

use futures_util::future::{join, join_all};

use super::capabilities::Need::{Execute, Timeout};
use super::case::{Case, cases};
use super::fault::{Verdict, holds, same, text};
use super::ground::{Ground, page_text};
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "at once: twenty commands each have their own output" [Execute] commands;
    "at once: twenty files are written and all are there" [] writes;
    "at once: twenty operations of every kind" [] mixed;
    "at once: edits of different files do not meet" [] edits;
    "at once: a file written twice is one of the two" [] one_file;
    "at once: a command that runs keeps no other operation waiting" [Execute, Timeout] not_waiting;
];

const MANY: usize = 20;

async fn every(tries: impl Iterator<Item = impl Future<Output = Verdict>>) -> Verdict {
    join_all(tries).await.into_iter().collect()
}

async fn commands(ground: &Ground<'_>) -> Verdict {
    every((0..MANY).map(|number| async move {
        let command = format!("for n in 1 2 3; do echo {number}-$n; done > out{number}; cat out{number}");
        let expected = format!("{number}-1\n{number}-2\n{number}-3\n");
        same("the output", &ground.output(&command).await?, &expected)
    }))
    .await
}

async fn writes(ground: &Ground<'_>) -> Verdict {
    every((0..MANY).map(|number| async move {
        let path = ground.path(format!("d/{number}"))?;
        ground.backend.write(WriteRequest::new(path, format!("content {number}"))).await??;
        Ok(())
    }))
    .await?;
    same("how many are there", &super::ls::list(ground, "d").await?.len(), &MANY)?;
    for number in 0..MANY {
        same("a file", &ground.get_text(format!("d/{number}")).await?, &format!("content {number}"))?;
    }
    Ok(())
}

async fn mixed(ground: &Ground<'_>) -> Verdict {
    ground.put("kept", "needle\n").await?;
    every((0..MANY).map(|number| async move {
        let backend = ground.backend;
        match number % 5 {
            0 => {
                let path = ground.path(format!("made{number}"))?;
                backend.write(WriteRequest::new(path, "x")).await??;
            }
            1 => same("read", &page_text(&ground.read("kept").await?)?, &"needle\n")?,
            2 => {
                let found = backend.grep(GrepRequest::new("needle", ground.dir.clone())).await??;
                same("grep", &found.matches.len(), &1)?;
            }
            3 => {
                let found = backend.glob(GlobRequest::new("kept", ground.dir.clone())).await??;
                same("glob", &found.files.len(), &1)?;
            }
            _ => same("download", &ground.get_text("kept").await?, &"needle\n")?,
        }
        Ok(())
    }))
    .await
}

async fn edits(ground: &Ground<'_>) -> Verdict {
    let names: Vec<String> = (0..MANY).map(|number| format!("{number}")).collect();
    ground.put_all(names.iter().map(|name| (name.clone().into_bytes(), b"old text".to_vec())).collect()).await?;
    every(names.iter().map(|name| async move {
        let request = EditRequest::new(ground.path(name)?, "old", format!("new {name}"));
        ground.backend.edit(request).await??;
        same("the file", &ground.get_text(name).await?, &format!("new {name} text"))
    }))
    .await
}

async fn one_file(ground: &Ground<'_>) -> Verdict {
    let contents: Vec<String> = ["a", "b"].iter().map(|letter| letter.repeat(100_000)).collect();
    let put = |content: &String| ground.put("file", content.clone());
    every(contents.iter().map(put)).await?;
    let got = ground.get_text("file").await?;
    let shown = (got.len(), got.chars().next());
    holds("one of the two contents, whole", contents.contains(&got), &shown)
}

async fn not_waiting(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    // The command ends only when the file is there, which the other operation makes.
    let command = "while ! [ -e go ]; do sleep 0.1; done; cat go";
    let running = ground.backend.execute(ground.request(command).with_timeout(std::time::Duration::from_secs(12)));
    let meanwhile = async {
        let response = ground.backend.read(ReadRequest::new(ground.path("a")?)).await??;
        same("read", &page_text(&response)?, &"x")?;
        ground.put("go", "gone").await
    };
    let (response, verdict) = join(running, meanwhile).await;
    verdict?;
    same("what the command saw", &text(&response?.output), &"gone")
}
