//! The scenarios, each a sequence of calls in a tree created by the host.
//!
//! The tree: `file`, `empty`, `big` (10,000 bytes), `dir/inner`, `dir/sub/deep`, `hollow/`, and the links
//! `link -> file`, `dirlink -> dir`, `dangling -> nowhere`, `loop -> loop`, `chain -> link`.

mod create;
mod data;
mod descriptor;
mod directory;
mod odd;
mod open;
mod process;
mod rename;
mod time;

use crate::journal::{BOTH, Fd, Journal};
use crate::sys;
use crate::text;

/// Runs calls in the tree below a preopened directory.
pub(crate) type Scenario = fn(&mut Journal, &Fd);

pub(crate) const SCENARIOS: &[(&str, Scenario)] = &[
    ("args_and_environ", process::args_and_environ),
    ("clocks", process::clocks),
    ("random_bytes", process::random_bytes),
    ("yield_and_raise", process::yield_and_raise),
    ("poll_clocks", process::poll_clocks),
    ("poll_descriptors", process::poll_descriptors),
    ("poll_errors", process::poll_errors),
    ("open_file", open::file),
    ("open_missing", open::missing),
    ("open_dir", open::dir),
    ("open_link", open::link),
    ("open_dirlink", open::dirlink),
    ("open_dangling", open::dangling),
    ("open_loop", open::looping),
    ("open_fdflags", open::fdflags),
    ("open_without_rights", open::without_rights),
    ("open_from_other_directories", open::from_other_directories),
    ("odd_open", odd::open),
    ("odd_open_create", odd::open_create),
    ("odd_open_directory", odd::open_directory),
    ("odd_stat", odd::stat),
    ("odd_stat_nofollow", odd::stat_nofollow),
    ("odd_set_times", odd::set_times),
    ("odd_set_times_nofollow", odd::set_times_nofollow),
    ("odd_readlink", odd::readlink),
    ("odd_mkdir", odd::mkdir),
    ("odd_rmdir", odd::rmdir),
    ("odd_unlink", odd::unlink),
    ("odd_symlink", odd::symlink),
    ("odd_symlink_target", odd::symlink_target),
    ("odd_link_from", odd::link_from),
    ("odd_link_to", odd::link_to),
    ("odd_rename_from", odd::rename_from),
    ("odd_rename_file_to", odd::rename_file_to),
    ("odd_rename_dir_to", odd::rename_dir_to),
    ("read_and_seek", data::read_and_seek),
    ("read_vectors", data::read_vectors),
    ("write_vectors", data::write_vectors),
    ("write_and_overwrite", data::write_and_overwrite),
    ("write_past_the_end", data::write_past_the_end),
    ("append", data::append),
    ("wrong_mode", data::wrong_mode),
    ("sizes", data::sizes),
    ("huge_offsets", data::huge_offsets),
    ("allocate_and_advise", data::allocate_and_advise),
    ("shared_contents", data::shared_contents),
    ("open_after_unlink", data::open_after_unlink),
    ("blocks", data::blocks),
    ("directories", create::directories),
    ("unlink", create::unlink),
    ("hard_links", create::hard_links),
    ("symlinks", create::symlinks),
    ("link_chains", create::link_chains),
    ("rename_files", rename::files),
    ("rename_directories", rename::directories),
    ("rename_into_itself", rename::into_itself),
    ("rename_links", rename::links),
    ("rename_hard_links", rename::hard_links),
    ("rename_between_directories", rename::between_directories),
    ("readdir", directory::readdir),
    ("readdir_pages", directory::pages),
    ("readdir_cut_entries", directory::cut_entries),
    ("readdir_after_changes", directory::after_changes),
    ("readdir_many", directory::many),
    ("removed_directory", directory::removed),
    ("set_times", time::set_times),
    ("set_times_on_links", time::on_links),
    ("times_move_on", time::move_on),
    ("preopens", descriptor::preopens),
    ("standard_streams", descriptor::standard_streams),
    ("standard_input", descriptor::standard_input),
    ("closed_descriptor", descriptor::closed),
    ("descriptor_out_of_range", descriptor::out_of_range),
    ("file_as_directory", descriptor::file_as_directory),
    ("directory_as_file", descriptor::directory_as_file),
    ("flags", descriptor::flags),
    ("rights", descriptor::rights),
    ("renumber", descriptor::renumber),
    ("renumber_errors", descriptor::renumber_errors),
    ("close_preopen", descriptor::close_preopen),
    ("sockets", descriptor::sockets),
];

/// Makes faulty call `number`; a host may trap instead of returning an error.
pub(crate) fn fault(journal: &mut Journal, root: &Fd, number: usize) -> Option<()> {
    let (name, call) = sys::fault::all().nth(number)?;
    let file = journal.open(root, "file", BOTH, "file");
    let errno = call(root.number, file.number);
    journal.note(format_args!("fault in {name}"), text::errno(errno));
    Some(())
}
