//! The laws of the store, each over every back-end with a fresh store.
//!
//! The tests of a law are in a module of their own; the list below runs them all and fails if a law has none.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod change;
mod fork;
mod fresh;
mod nodes;
mod order;
mod reading;
#[path = "../support/redis.rs"]
mod redis;
mod removal;
mod survival;
mod versions;

use fresh::Kind;

macro_rules! laws {
    ($($law:ident: $module:ident::$test:ident;)*) => {
        const TESTED: &[&str] = &[$(stringify!($law)),*];

        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() { super::$module::$test(super::Kind::Memory).await; })*
        }

        mod local {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() { super::$module::$test(super::Kind::Local).await; })*
        }

        mod one_redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() { super::$module::$test(super::Kind::Redis).await; })*
        }

        mod redis_cluster {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() { super::$module::$test(super::Kind::Cluster).await; })*
        }
    };
}

laws! {
    L1: survival::an_acknowledged_write_survives_a_kill;
    L1: survival::what_was_stored_is_there_after_a_close;
    L2: order::appends_give_a_dense_seq_from_one;
    L2: order::concurrent_appends_never_interleave_inside_a_batch;
    L2: order::a_stale_if_seq_is_refused;
    L2: order::keep_last_trims_in_the_same_write;
    L2: order::a_deleted_newest_seq_is_not_given_again;
    L2: order::a_reserved_seq_is_not_given;
    L3: reading::a_write_is_visible_to_the_next_read;
    L3: reading::a_snapshot_of_turns_does_not_change;
    L3: reading::the_epoch_tells_that_stored_turns_changed;
    L3: nodes::a_write_through_one_node_is_read_by_the_next_request_on_another;
    L3: nodes::nodes_that_write_at_once_lose_nothing;
    L3: nodes::a_root_that_nobody_listed_is_listed_by_the_next_write;
    L3: change::every_write_changes_version_and_change_counter;
    L3: change::without_a_write_version_and_change_counter_stay;
    L3: change::what_was_read_under_the_version_of_now_is_what_is_stored;
    L4: versions::the_same_append_again_is_the_first_answer_again;
    L4: versions::the_same_id_with_other_bytes_is_a_conflict;
    L4: fork::the_same_fork_again_is_the_first_answer_again;
    L4: fork::a_fork_onto_something_else_is_a_conflict;
    L5: reading::ranges_of_turns;
    L5: reading::windows_page_in_the_order_of_time;
    L5: reading::the_newest_turns_by_time_are_found_whatever_the_order_of_writing;
    L5: reading::threads_page_in_the_order_of_ids;
    L6: versions::a_put_merges_deeply_when_asked;
    L6: versions::if_version_refuses_a_lost_update;
    L6: versions::values_keep_their_bytes;
    L7: removal::hostile_ids_reach_nothing_of_others;
    L8: removal::forget_removes_a_user_and_nothing_else;
    L8: removal::forget_removes_a_collection_and_nothing_beside_it;
    L8: removal::documents_are_counted_by_the_name_of_their_collection;
    L8: removal::the_raw_files_hold_none_of_the_text;
    L8: fork::a_fork_outlives_its_parent;
    L8: fork::a_change_of_the_parent_does_not_reach_the_fork;
    L8: removal::a_sweep_removes_what_expired;
    L9: versions::a_batch_is_all_or_nothing;
    L9: versions::a_batch_reads_its_own_writes;
    L9: versions::a_batch_merges_into_many_documents;
    L9: versions::a_write_that_expects_a_document_is_refused_without_it;
    L9: versions::a_batch_over_several_users_is_all_or_nothing;
    L9: versions::what_can_never_be_right_is_refused;
    L10: survival::an_export_imports_into_an_empty_store;
    L10: survival::an_export_is_one_moment;
    L10: survival::a_large_user_is_exported_whole;
    L10: survival::what_no_back_end_could_count_is_not_imported;
    L3: survival::what_a_server_lost_is_told_by_nobody;
    L10: survival::exports_come_in_the_order_of_paths_whatever_the_ids;
    L10: survival::an_export_tells_what_was_given_and_is_gone;
    L10: survival::seqs_far_apart_are_imported;
}

#[test]
fn every_law_has_a_test() {
    for law in novelo_store::LAWS {
        assert!(TESTED.contains(&law), "{law} has no test");
    }
}
