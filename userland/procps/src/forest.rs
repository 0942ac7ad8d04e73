//! Process trees.

use crate::process::Process;

/// Indentation style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Two blanks for each level.
    Blanks,
    /// Lines that lead to the parent.
    Lines,
}

/// Orders processes below their parents, with the prefix of each name.
pub(crate) fn sort_as_tree(processes: Vec<Process>, style: Style) -> Vec<(String, Process)> {
    let known: Vec<(u32, u32)> = processes.iter().map(|process| (process.pid, process.parent)).collect();
    // A process without a visible parent, or that is its own parent, is a root.
    let is_root = |(pid, parent): (u32, u32)| pid == parent || !known.iter().any(|(other, _)| *other == parent);
    let children = |of: u32| -> Vec<usize> {
        let below = |(at, pair): (usize, &(u32, u32))| (pair.1 == of && !is_root(*pair)).then_some(at);
        known.iter().enumerate().filter_map(below).collect()
    };
    let roots = known.iter().enumerate().filter(|(_, pair)| is_root(**pair)).map(|(at, _)| at);
    // Pending entries, the next one last: index, level, and whether ancestors have further children.
    let mut waiting: Vec<(usize, Vec<bool>)> = roots.rev().map(|at| (at, Vec::new())).collect();
    let mut order = Vec::new();
    while let Some((at, levels)) = waiting.pop() {
        let below = children(known.get(at).map_or(0, |(pid, _)| *pid));
        let last = below.len().saturating_sub(1);
        for (place, child) in below.into_iter().enumerate().rev() {
            waiting.push((child, [levels.as_slice(), &[place != last]].concat()));
        }
        order.push((at, prefix(&levels, style)));
    }
    let mut processes: Vec<Option<Process>> = processes.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(at, lead)| Some((lead, processes.get_mut(at)?.take()?))).collect()
}

fn prefix(levels: &[bool], style: Style) -> String {
    let Some((_, above)) = levels.split_last() else {
        return String::new();
    };
    match style {
        Style::Blanks => "  ".repeat(levels.len()),
        Style::Lines => {
            let mut lead: String = above.iter().map(|more| if *more { " |  " } else { "    " }).collect();
            lead.push_str(" \\_ ");
            lead
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, sort_as_tree};
    use crate::process::Process;

    fn process(pid: u32, parent: u32) -> Process {
        Process { pid, parent, ..Process::default() }
    }

    #[test]
    fn children_follow_their_parents_in_order() {
        let all = vec![process(1, 0), process(2, 1), process(3, 1), process(4, 2), process(9, 7)];
        let seen: Vec<(u32, String)> =
            sort_as_tree(all, Style::Lines).into_iter().map(|(lead, process)| (process.pid, lead)).collect();
        let wanted = [(1, ""), (2, " \\_ "), (4, " |   \\_ "), (3, " \\_ "), (9, "")];
        assert_eq!(seen, wanted.map(|(pid, lead)| (pid, lead.to_owned())));
    }

    #[test]
    fn a_process_that_is_its_own_parent_is_listed_once() {
        let seen = sort_as_tree(vec![process(1, 1), process(2, 1)], Style::Blanks);
        assert_eq!(seen.iter().map(|(lead, process)| (process.pid, lead.len())).collect::<Vec<_>>(), [(1, 0), (2, 2)]);
    }
}
