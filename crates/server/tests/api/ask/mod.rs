//! `/ask` on the real binary: conversations, what they keep and inherit, and whatever goes wrong beside them.

mod bounds;
mod broken;
mod canaries;
mod catalogues;
mod concurrent;
mod conversations;
mod follow_ups;
mod forgotten;
mod hostile;
mod init;
mod narrations;
mod own;
mod reasons;
