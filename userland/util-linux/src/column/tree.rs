//! Rows below the rows that they name as parents.

use tidebox_gnu::message::unicode_locale;

use super::options::Options;
use super::table::Table;

/// The columns that make a tree: of what is drawn, of the rows' names and of their parents' names.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) drawn: Option<Vec<u8>>,
    pub(super) id: Option<Vec<u8>>,
    pub(super) parent: Option<Vec<u8>>,
}

/// A row in its place: which one, and for each of its ancestors and itself whether it has a later sibling.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) row: usize,
    pub(super) levels: Vec<bool>,
}

/// The rows in the order of the tree, or `None` where none is asked for.
pub(super) fn places(table: &Table, options: &Options) -> Result<Option<Vec<Place>>, String> {
    let Asked { drawn, id, parent } = &options.tree;
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
    let (mut placed, mut seen) = (Vec::new(), vec![false; count]);
    let mut waiting: Vec<Place> =
        (0..count).rev().filter(|row| is_root(*row)).map(|row| Place { row, levels: Vec::new() }).collect();
    while let Some(place) = waiting.pop() {
        // Two rows of one name have their children once.
        if seen.get_mut(place.row).is_none_or(|seen| std::mem::replace(seen, true)) {
            continue;
        }
        let children = below(place.row);
        let last = children.len().saturating_sub(1);
        for (at, row) in children.into_iter().enumerate().rev() {
            waiting.push(Place { row, levels: [place.levels.as_slice(), &[at != last]].concat() });
        }
        placed.push(place);
    }
    Ok(Some(placed))
}

/// Puts the rows in that order and draws the lines in their column.
pub(super) fn draw(table: &mut Table, places: &[Place], options: &Options) -> Result<(), String> {
    let Some(drawn) = &options.tree.drawn else { return Ok(()) };
    let column = table.find(drawn)?;
    let (passing, middle, end) =
        if unicode_locale() { ("\u{2502} ", "\u{251c}\u{2500}", "\u{2514}\u{2500}") } else { ("| ", "|-", "`-") };
    let mut rows = Vec::with_capacity(places.len());
    for place in places {
        let mut row = table.rows.get(place.row).cloned().unwrap_or_default();
        if let (Some((own, above)), Some(cell)) = (place.levels.split_last(), row.get_mut(column)) {
            let mut lead: String = above.iter().map(|more| if *more { passing } else { "  " }).collect();
            lead.push_str(if *own { middle } else { end });
            cell.splice(0..0, lead.into_bytes());
        }
        rows.push(row);
    }
    table.rows = rows;
    Ok(())
}
