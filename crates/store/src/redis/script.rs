//! The scripts that run in Redis, each with the functions they share before it.

use super::client::Script;

macro_rules! script {
    ($name:ident, $file:literal) => {
        pub(super) static $name: Script =
            Script::new(concat!(include_str!("scripts/record.lua"), include_str!(concat!("scripts/", $file))));
    };
}

/// The fastest script: it uses none of the shared functions, so it does not define them.
pub(super) static APPEND: Script = Script::new(include_str!("scripts/append.lua"));
script!(WRITE, "write.lua");
script!(TURNS, "turns.lua");
script!(SCAN, "scan.lua");
script!(NEWEST, "newest.lua");
script!(COUNT, "count.lua");
script!(THREADS, "threads.lua");
script!(BELOW, "below.lua");
script!(FORGET, "forget.lua");
script!(SWEEP, "sweep.lua");
script!(CHECK, "check.lua");
pub(super) static LIST: Script = Script::new(include_str!("scripts/list.lua"));
