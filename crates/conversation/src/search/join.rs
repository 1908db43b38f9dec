//! Neighbouring passages of one document, joined into one.

use super::passage::FoundPassage;

/// Passages with the neighbours among them joined in the order of their document, best first: a joined one
/// stands where its best part stood.
pub(crate) fn join_neighbours(passages: &[FoundPassage]) -> Vec<FoundPassage> {
    let mut order: Vec<(usize, &FoundPassage)> = passages.iter().enumerate().collect();
    order.sort_by(|(a_rank, a), (b_rank, b)| (key(a), a_rank).cmp(&(key(b), b_rank)));
    let mut runs: Vec<(usize, FoundPassage, &FoundPassage)> = Vec::new();
    for (rank, passage) in order {
        match runs.last_mut() {
            Some((best, joined, last)) if follows(last, passage) => {
                append(joined, last, passage, rank < *best);
                (*best, *last) = (rank.min(*best), passage);
            }
            _ => runs.push((rank, passage.clone(), passage)),
        }
    }
    runs.sort_by_key(|(best, ..)| *best);
    runs.into_iter().map(|(_, joined, _)| joined).collect()
}

fn key(passage: &FoundPassage) -> (String, Option<&str>, Option<u64>) {
    (passage.collection.to_string(), passage.place.file.as_deref(), passage.place.part)
}

fn follows(last: &FoundPassage, next: &FoundPassage) -> bool {
    let parts = last.place.part.zip(next.place.part);
    let is_next = parts.is_some_and(|(last, next)| last + 1 == next);
    let (last_place, next_place) = (&last.place, &next.place);
    let is_there = last_place.file == next_place.file && last_place.page == next_place.page;
    is_next && is_there && last.collection == next.collection
}

fn append(joined: &mut FoundPassage, last: &FoundPassage, next: &FoundPassage, is_better: bool) {
    joined.text.push_str(&between(last, next));
    joined.text.push_str(&next.text);
    joined.place.line_end = next.place.line_end;
    if is_better {
        (joined.id, joined.seq, joined.score) = (next.id.clone(), next.seq, next.score);
        joined.why = next.why.clone();
    }
}

/// The blanks that stood between two passages.
fn between(last: &FoundPassage, next: &FoundPassage) -> String {
    let lines = last.place.line_end.zip(next.place.line).map_or(1, |(end, begin)| begin.saturating_sub(end));
    let is_wide = |c: Option<char>| c.is_some_and(|c| c >= WIDE_FROM);
    match lines {
        0 if is_wide(last.text.chars().next_back()) && is_wide(next.text.chars().next()) => String::new(),
        0 => " ".to_owned(),
        lines => "\n".repeat(usize::try_from(lines).unwrap_or(1).min(GAP_LINES_MAX)),
    }
}

/// Scripts that are written without spaces.
const WIDE_FROM: char = '\u{2e80}';
const GAP_LINES_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use novelo_engine::path::CollectionPath;
    use novelo_engine::recall::RecallSource;
    use novelo_engine::{Message, Turn};
    use serde_json::json;

    use super::*;

    fn passage(document: &str, file: Option<&str>, part: u64, line: u64, text: &str) -> FoundPassage {
        let value = json!({"text": text, "file": file, "line": line, "part": part});
        let message = Message::from_stored(value.to_string().into());
        let turn = Turn { seq: part, id: format!("{document}{part}").into(), create_time: 0.0, message };
        let collection = CollectionPath::new(&["users", "u", "documents", document, "passages"]).unwrap();
        FoundPassage::read(RecallSource::Documents, &collection, &turn, 1.0, None).unwrap()
    }

    #[track_caller]
    fn check(passages: &[FoundPassage], expected: &[(&str, &str, (u64, u64))]) {
        let joined = join_neighbours(passages);
        let lines = |it: &FoundPassage| (it.place.line.unwrap(), it.place.line_end.unwrap());
        let joined: Vec<_> = joined.iter().map(|it| (&*it.id, it.text.as_str(), lines(it))).collect();
        assert_eq!(joined, expected);
    }

    #[test]
    fn neighbours_are_joined_in_order_and_stand_where_the_best_stood() {
        let passages = [
            passage("a", None, 3, 5, "three\nlines"),
            passage("b", None, 2, 2, "elsewhere"),
            passage("a", None, 2, 2, "two"),
            passage("a", None, 5, 9, "five"),
            passage("a", None, 1, 1, "one"),
        ];
        let joined = ("a3", "one\ntwo\n\n\nthree\nlines", (1, 6));
        check(&passages, &[joined, ("b2", "elsewhere", (2, 2)), ("a5", "five", (9, 9))]);
    }

    #[test]
    fn files_are_not_mixed_and_a_line_that_was_cut_goes_on() {
        let of = |file, part, line, text| passage("r", Some(file), part, line, text);
        check(&[of("x", 1, 1, "one"), of("y", 2, 1, "two")], &[("r1", "one", (1, 1)), ("r2", "two", (1, 1))]);
        check(&[of("x", 1, 7, "one"), of("x", 2, 7, "two")], &[("r1", "one two", (7, 7))]);
        check(&[of("x", 1, 7, "你。"), of("x", 2, 7, "好")], &[("r1", "你。好", (7, 7))]);
    }
}
