//! Tree of rows, from columns with identifiers of rows and of their parents.

use tidebox_gnu::message::unicode_locale;

use super::options::Options;
use super::table::Table;

/// Columns of a tree: the drawn one, and those of the identifiers of rows and of their parents.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeColumns {
    pub(super) drawn: Option<Vec<u8>>,
    pub(super) id: Option<Vec<u8>>,
    pub(super) parent: Option<Vec<u8>>,
}

/// Position of a row. `levels` has an entry per ancestor and for the row: true if it has a later sibling.
#[derive(Clone, Debug)]
pub(super) struct TreeRow {
    pub(super) row: usize,
    pub(super) levels: Vec<bool>,
}

/// Returns the rows in the order of the tree, or `None` if no tree is selected.
pub(super) fn rows_in_order(table: &Table, options: &Options) -> Result<Option<Vec<TreeRow>>, String> {
    let TreeColumns { drawn, id, parent } = &options.tree;
    if drawn.is_none() && id.is_none() && parent.is_none() {
        return Ok(None);
    }
    let (Some(_), Some(id), Some(parent)) = (drawn, id, parent) else {
        let missing = if drawn.is_none() {
            "option --tree is required for tree formatting"
        } else {
            "options --tree-id and --tree-parent are required for tree formatting"
        };
        return Err(missing.to_owned());
    };
    let (id, parent) = (table.find(id)?, table.find(parent)?);
    let cell = |row: usize, column: usize| table.rows.get(row).and_then(|row| row.get(column)).map(Vec::as_slice);
    let count = table.rows.len();
    let is_root = |row: usize| {
        let wanted = cell(row, parent);
        wanted.is_none() || wanted == cell(row, id) || !(0..count).any(|other| cell(other, id) == wanted)
    };
    let below = |of: usize| -> Vec<usize> {
        (0..count).filter(|row| *row != of && !is_root(*row) && cell(*row, parent) == cell(of, id)).collect()
    };
    let (mut ordered, mut seen) = (Vec::new(), vec![false; count]);
    let mut waiting: Vec<TreeRow> =
        (0..count).rev().filter(|row| is_root(*row)).map(|row| TreeRow { row, levels: Vec::new() }).collect();
    while let Some(node) = waiting.pop() {
        // Rows with the same identifier share their children; list these once.
        if seen.get_mut(node.row).is_none_or(|seen| std::mem::replace(seen, true)) {
            continue;
        }
        let children = below(node.row);
        let last = children.len().saturating_sub(1);
        for (at, row) in children.into_iter().enumerate().rev() {
            waiting.push(TreeRow { row, levels: [node.levels.as_slice(), &[at != last]].concat() });
        }
        ordered.push(node);
    }
    Ok(Some(ordered))
}

/// Sorts the rows and draws the lines of the tree in its column.
pub(super) fn draw(table: &mut Table, order: &[TreeRow], options: &Options) -> Result<(), String> {
    let Some(drawn) = &options.tree.drawn else { return Ok(()) };
    let column = table.find(drawn)?;
    let (passing, middle, end) =
        if unicode_locale() { ("\u{2502} ", "\u{251c}\u{2500}", "\u{2514}\u{2500}") } else { ("| ", "|-", "`-") };
    let mut rows = Vec::with_capacity(order.len());
    for node in order {
        let mut row = table.rows.get(node.row).cloned().unwrap_or_default();
        if let (Some((own, above)), Some(cell)) = (node.levels.split_last(), row.get_mut(column)) {
            let mut lead: String = above.iter().map(|more| if *more { passing } else { "  " }).collect();
            lead.push_str(if *own { middle } else { end });
            cell.splice(0..0, lead.into_bytes());
        }
        rows.push(row);
    }
    table.rows = rows;
    Ok(())
}
