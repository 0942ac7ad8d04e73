mod copy;
mod encode;
mod system;
mod text;
