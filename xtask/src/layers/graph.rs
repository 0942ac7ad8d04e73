//! The dependency graph as `cargo metadata` prints it, without dependencies of tests.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    /// Absent for an ordinary dependency, else `dev` or `build`.
    kind: Option<String>,
}

/// Package names and the edges between them. Two versions of one package are one node here.
#[derive(Debug)]
pub(super) struct Graph {
    members: BTreeSet<String>,
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let metadata: Metadata =
            serde_json::from_slice(json).context("`cargo metadata` printed something unexpected")?;
        let names: BTreeMap<&str, &str> =
            metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let name_of = |id: &str| {
            names
                .get(id)
                .map(|name| (*name).to_owned())
                .with_context(|| format!("`cargo metadata` describes no package {id}"))
        };
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in &metadata.resolve.nodes {
            let to = edges.entry(name_of(&node.id)?).or_default();
            for edge in &node.deps {
                if edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev")) {
                    to.insert(name_of(&edge.pkg)?);
                }
            }
        }
        let members = metadata.workspace_members.iter().map(|id| name_of(id)).collect::<Result<_>>()?;
        Ok(Self { members, edges })
    }

    /// The packages of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(String::as_str)
    }

    pub(super) fn is_member(&self, package: &str) -> bool {
        self.members.contains(package)
    }

    /// Returns the direct dependencies of a package, without those of tests.
    pub(super) fn dependencies(&self, package: &str) -> impl Iterator<Item = &str> {
        self.edges.get(package).into_iter().flatten().map(String::as_str)
    }

    /// Returns one path from `package` to each other reachable package that `wanted` names.
    pub(super) fn paths_to(&self, package: &str, wanted: fn(&str) -> bool) -> Vec<Vec<&str>> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<Vec<&str>> = self.dependencies(package).map(|name| vec![name]).collect();
        while let Some(path) = open.pop() {
            let Some(&last) = path.last() else { continue };
            if !seen.insert(last) {
                continue;
            }
            if wanted(last) {
                found.push(path);
                continue;
            }
            for next in self.dependencies(last) {
                let mut longer = path.clone();
                longer.push(next);
                open.push(longer);
            }
        }
        found.sort();
        found
    }
}
