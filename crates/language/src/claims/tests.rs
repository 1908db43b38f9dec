use proptest::prelude::*;

use super::*;

fn why(earlier: &str, later: &str) -> Option<Replacement> {
    replaces(&read(later), &read(earlier), None).filter(|_| may_replace(later))
}

#[track_caller]
fn check(earlier: &str, later: &str, expected: Option<(&str, Attribute)>) {
    let found = why(earlier, later);
    let told = found.as_ref().map(|found| (found.subject.as_str(), found.attribute));
    assert_eq!(told, expected, "{earlier} → {later}: {found:?}");
}

#[test]
fn a_change_replaces_what_was_so() {
    let home = Some(("user", Attribute::Home));
    for (earlier, later) in [
        ("I live in Rome.", "Last week I moved to Oslo."),
        ("I live in Rome.", "I live in Oslo now."),
        ("Moro em Manaus.", "Eu me mudei para Belém."),
        ("Я живу в Риге.", "Мы переехали в Минск."),
        ("I live in Rome.", "Moro em Belém agora."),
        ("Moro em Manaus.", "Теперь я живу в Риге."),
    ] {
        check(earlier, later, home);
    }
    check("My sister lives in Rome.", "Minha irmã se mudou para Belém.", Some(("sister", Attribute::Home)));
    check("I play chess.", "I no longer play chess.", Some(("user", Attribute::Activity)));
    check("I am married to Otto.", "Otto and I got divorced.", Some(("user", Attribute::Relationship)));
    check("Favourite band: Ride", "Favourite band: Lush", Some(("user", Attribute::Favourite)));
    check("My rent is 500 euros.", "My rent is 600 euros.", Some(("user", Attribute::Own)));
}

#[test]
fn what_only_looks_like_a_change_replaces_nothing() {
    for (earlier, later) in [
        ("I live in Rome.", "I live in Trastevere."),
        ("I live in Rome.", "I moved to the kitchen."),
        ("I live in Rome.", "I moved to Linux."),
        ("I live in Rome.", "She moved to Oslo."),
        ("I live in Rome.", "\"I moved to Oslo\", says the song."),
        ("I live in Rome.", "I moved to Oslo in 1999."),
        ("I live in Rome.", "I also live in Oslo now."),
        ("My cat is called Tom.", "My new cat is called Kit."),
        ("My favourite team is Ajax.", "My favourite team is winning."),
        ("I drink tea.", "I stopped drinking."),
        ("I have my father's watch.", "My father died."),
        ("I have a meeting with Tom.", "Tom died."),
        ("Kate keeps a boat.", "Kate does not keep a boat."),
    ] {
        check(earlier, later, None);
    }
}

#[test]
fn a_year_is_no_story_in_that_year() {
    let (earlier, later) = (read("I live in Rome."), read("I moved to Oslo in 2026."));
    assert!(replaces(&later, &earlier, Some(2026)).is_some());
    assert!(replaces(&later, &earlier, Some(2031)).is_none());
}

#[test]
fn a_replacement_explains_itself() {
    let found = why("I live in Rome.", "I moved to Oslo.").unwrap();
    assert_eq!(found.reason, "“Rome” became “Oslo”, as “moved to” says");
    let found = why("Я курю.", "Я бросил курить.").unwrap();
    assert!(found.reason.ends_with("ended, as “бросил” says"), "{}", found.reason);
}

#[test]
fn what_ended_can_begin_again() {
    check("I am no longer vegan.", "I no longer drink tea.", None);
    check("Paul and I broke up.", "I am married to Paul.", Some(("user", Attribute::Relationship)));
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "(I|my|moved|to|now|Ana|não|больше|не|é|:|,|\\.|\"|’| |\n|[\\PC]){0,40}") {
        for claim in read(&text) {
            prop_assert!(!claim.subject.is_empty());
            prop_assert!(claim.replaces(&claim, None).is_none(), "{claim:?} replaces itself");
        }
    }
}
