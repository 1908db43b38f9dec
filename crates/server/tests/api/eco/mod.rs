//! `/ask-eco` on the real binary: streams that break, clients that leave, what is answered again, and who
//! sees what.

mod cache;
mod contexts;
mod debug;
mod failing;
mod guests;
mod hostile;
mod many;
mod pages;
mod policies;
mod repeats;
mod resume;
mod stream;
mod tenant;
mod turns;
