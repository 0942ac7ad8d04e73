//! The line discipline by its keys, and terminals through system calls.

mod calls;
mod discipline;
