//! Which server and model the settings mean.

use super::*;

fn settings(env: &[(&str, &str)]) -> Settings {
    let find = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let nowhere = tempfile::tempdir().unwrap();
    let file = nowhere.path().join("novelo.toml");
    std::fs::write(&file, "").unwrap();
    Settings::gather(Some(&file), find, &[]).unwrap()
}

/// Base, key and model of a job.
fn of(job: Job, env: &[(&str, &str)]) -> Option<(String, String, String)> {
    Provider::of(job, &settings(env)).unwrap().map(|provider| (provider.base, provider.key, provider.model))
}

#[track_caller]
fn check(job: Job, env: &[(&str, &str)], expected: Option<(&str, &str, &str)>) {
    let found = of(job, env);
    let found = found.as_ref().map(|(base, key, model)| (base.as_str(), key.as_str(), model.as_str()));
    assert_eq!(found, expected, "{job:?} {env:?}");
}

const URL: &str = "NOVELO_MODELS_ANSWER_URL";
const KEY: &str = "NOVELO_MODELS_ANSWER_KEY";
const MODEL: &str = "NOVELO_MODELS_ANSWER_MODEL";
const OTHERS: [Job; 3] = [Job::Rewrite, Job::Summary, Job::Narrate];

#[test]
fn addresses_are_taken_as_people_write_them() {
    for (url, expected) in [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("localhost:1234", "http://localhost:1234/v1"),
        ("HTTPS://example.org/", "https://example.org/v1"),
        ("https://example.org/v1///", "https://example.org/v1"),
        ("https://example.org/api/openai/", "https://example.org/api/openai"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        ("http://[::]:8080/v1", "http://[::1]:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("example.org", "http://example.org/v1"),
    ] {
        assert_eq!(base(url, false).as_deref(), Ok(expected), "{url}");
    }
    for (url, expected) in [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box", "http://box:11434/v1"),
        ("box:80", "http://box:80/v1"),
        ("https://box", "https://box/v1"),
        (":11500", "http://127.0.0.1:11500/v1"),
    ] {
        assert_eq!(base(url, true).as_deref(), Ok(expected), "OLLAMA_HOST {url}");
    }
}

#[test]
fn bad_addresses_name_the_setting_and_no_secret() {
    for url in
        ["ftp://x", "http://", "http://a b", "http://user:hunter2@x/v1", "http://x/v1?key=hunter2", "http://x:99999999"]
    {
        for job in [Job::Answer, Job::Summary] {
            let name = if job == Job::Answer { URL } else { "NOVELO_MODELS_SUMMARY_URL" };
            let error = Provider::of(job, &settings(&[(name, url)])).unwrap_err().to_string();
            assert!(error.starts_with(&format!("models.{}.url must", job.name())), "{error}");
            assert!(error.ends_with(&format!("(from {name})")) && !error.contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn without_an_address_a_key_means_openai_and_nothing_means_none() {
    for job in Job::ALL {
        check(job, &[], None);
        check(job, &[(URL, "none"), (KEY, "k")], None);
        check(job, &[("OPENAI_API_KEY", "k")], Some((OPENAI, "k", OPENAI_MODEL)));
    }
    check(Job::Answer, &[(KEY, "k"), (MODEL, "gpt-5")], Some((OPENAI, "k", "gpt-5")));
    check(Job::Rewrite, &[(KEY, "k"), (MODEL, "gpt-5")], Some((OPENAI, "k", OPENAI_MODEL)));
    check(Job::Summary, &[(KEY, "k"), (MODEL, "gpt-5")], Some((OPENAI, "k", "gpt-5")));
}

#[test]
fn a_job_takes_what_it_does_not_say_from_answer() {
    let env = [(URL, "http://a/v1"), (KEY, "k"), (MODEL, "m")];
    for job in OTHERS {
        check(job, &env, Some(("http://a/v1", "k", "m")));
        let name = |part: &str| format!("NOVELO_MODELS_{}_{part}", job.name().to_uppercase());
        let (url, key, model) = (name("URL"), name("KEY"), name("MODEL"));
        let with = |more: &[(&str, &str)], expected| check(job, &[&env, more].concat(), expected);
        with(&[(&url, "none")], None);
        with(&[(&model, "n"), (&key, "l")], Some(("http://a/v1", "l", "n")));
        with(&[(&url, "a")], Some(("http://a/v1", "k", "m")));
        with(&[(&url, "http://b")], Some(("http://b/v1", "", "")));
        with(&[(&url, OPENAI), (&key, "o")], Some((OPENAI, "o", OPENAI_MODEL)));
        check(job, &[(&url, "b"), (&model, "n")], Some(("http://b/v1", "", "n")));
    }
    let set = ("NOVELO_MODELS_REWRITE_MODEL", "gpt-4o-mini");
    check(Job::Rewrite, &[env.as_slice(), &[set]].concat(), Some(("http://a/v1", "k", "gpt-4o-mini")));
}

#[test]
fn a_key_of_openai_does_not_go_to_ollama() {
    let both = [("OLLAMA_HOST", "0.0.0.0"), ("OPENAI_API_KEY", "sk")];
    for job in Job::ALL {
        check(job, &both, Some(("http://127.0.0.1:11434/v1", "", "")));
    }
    check(
        Job::Answer,
        &[both.as_slice(), &[("OPENAI_BASE_URL", "http://proxy/v1")]].concat(),
        Some(("http://proxy/v1", "sk", "")),
    );
    check(Job::Answer, &[both.as_slice(), &[(KEY, "own")]].concat(), Some(("http://127.0.0.1:11434/v1", "own", "")));
    check(
        Job::Answer,
        &[both.as_slice(), &[("OPENAI_BASE_URL", "")]].concat(),
        Some(("http://127.0.0.1:11434/v1", "", "")),
    );
}

#[test]
fn the_setting_that_gives_the_address_is_named() {
    let named = |job, env: &[(&str, &str)]| Provider::of(job, &settings(env)).unwrap().unwrap().setting;
    assert_eq!(named(Job::Summary, &[(URL, "a")]), "models.answer.url");
    assert_eq!(named(Job::Summary, &[(URL, "a"), ("NOVELO_MODELS_SUMMARY_URL", "b")]), "models.summary.url");
}

#[test]
fn times_and_windows_have_an_end() {
    let huge = u64::MAX.to_string();
    let env = [(URL, "a"), ("NOVELO_MODELS_ANSWER_TIMEOUT_MS", &huge), ("NOVELO_MODELS_ANSWER_WINDOW_TOKENS", &huge)];
    let provider = Provider::of(Job::Answer, &settings(&env)).unwrap().unwrap();
    assert_eq!((provider.timeout, provider.window_tokens), (TIMEOUT_MAX, u32::MAX));
}
