//! Where settings come from, and what is refused.

use std::time::Duration;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn gather(file: &str, env: &[(&str, &str)], flag: Option<&str>) -> anyhow::Result<RawSettings> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("novelo.toml");
    std::fs::write(&path, file).unwrap();
    let env = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    let raw = RawSettings::gather(Some(&path), env, &[("data", flag.map(str::to_owned))])?;
    raw.parse().map(|_| raw)
}

#[test]
fn flag_beats_env_beats_file_beats_default() {
    let file = "data = \"file\"\n[threads]\nturns_max = 7\n";
    let data = |file, env: &[_], flag| gather(file, env, flag).unwrap().parse().unwrap().data;
    assert_eq!(data("", &[], None), Path::new("./novelo-data"));
    assert_eq!(data(file, &[], None), Path::new("file"));
    assert_eq!(data(file, &[("NOVELO_DATA", "env")], None), Path::new("env"));
    let settings = gather(file, &[("NOVELO_DATA", "env")], Some("flag")).unwrap().parse().unwrap();
    assert_eq!((settings.data, settings.threads.turns_max), ("flag".into(), Some(7)));
}

#[test]
fn values_have_their_types() {
    let settings = Settings::default();
    assert_eq!((settings.threads.turns_max, settings.threads.ttl), (None, None));
    assert_eq!(settings.traces.ttl, Some(Duration::from_secs(604_800)));
    assert_eq!((settings.load.timeout, settings.redis.timeout), (Some(3 * SECOND), 2 * SECOND));
    assert_eq!((settings.forgets.file, settings.ask.database), (ForgetsFile::Beside, AskDatabase::Sample));
    assert_eq!(settings.models.rewrite.model.value, "gpt-4o-mini");
    let file = "store = \"redis\"\nlog.format = \"json\"\nforgets.file = \"none\"\nload.timeout_ms = 0\n";
    let settings = gather(file, &[], None).unwrap().parse().unwrap();
    assert_eq!((settings.store, settings.log.format), (StoreKind::Redis, LogFormat::Json));
    assert_eq!((settings.forgets.file, settings.load.timeout), (ForgetsFile::None, None));
}

/// The type takes the unit from there.
#[test]
fn a_setting_that_is_a_time_ends_in_its_unit() {
    let of_time = |setting: &&Setting| setting.about.starts_with("how long") || setting.about.starts_with("forget ");
    for setting in SETTINGS.iter().filter(of_time) {
        assert!(setting.key.ends_with("_ms") || setting.key.ends_with("_seconds"), "{}", setting.key);
    }
}

#[test]
fn a_list_is_an_array_or_has_commas() {
    let hosts = |file: &str| {
        let settings = gather(file, &[], None).unwrap().parse().unwrap();
        settings.http.hosts.each("a name", |text| text.parse::<u8>().ok())
    };
    assert_eq!(hosts("http.hosts = \"1, 2\"").unwrap(), [1, 2]);
    assert_eq!(hosts("http.hosts = [\"1\", \"2\"]").unwrap(), [1, 2]);
    assert_eq!(hosts("").unwrap(), [0; 0]);
    let error = hosts("http.hosts = \"1,x\"").unwrap_err().to_string();
    assert!(error.starts_with("http.hosts must hold a name") && error.contains("\"x\""), "{error}");
}

#[test]
fn what_is_secret_is_not_shown() {
    let file =
        "[models.answer]\nkey = \"s3cret\"\nurl = \"http://me:pw@h/v1\"\n[models.rewrite]\nurl = \"http://h/v1@x\"\n";
    let raw = gather(file, &[], None).unwrap();
    let shown = |key: &str| raw.rows().find(|(of, ..)| *of == key).map(|(_, value, _)| value.into_owned()).unwrap();
    assert_eq!(["models.answer.key", "models.answer.url"].map(shown), ["***", "***"]);
    assert_eq!(shown("models.rewrite.url"), "http://h/v1@x");
    assert_eq!(shown("models.rewrite.key"), "");
    let settings = format!("{:?}", raw.parse().unwrap());
    assert!(!settings.contains("s3cret") && !settings.contains("pw"), "{settings}");
}

#[test]
fn the_password_of_a_store_is_not_shown() {
    for (url, shown) in [
        ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"),
        ("redis://:hunter2@h:1/0", "redis://***@h:1/0"),
        ("rediss://me:hun/ter@2@a:1,b:2", "rediss://***@a:1,b:2"),
        ("me:hunter2@h", "***@h"),
    ] {
        assert_eq!(without_password(url), shown, "{url}");
    }
    let raw = gather("", &[("REDIS_URL", "redis://me:hunter2@h")], None).unwrap();
    let settings = raw.parse().unwrap();
    assert_eq!((settings.store, &**settings.redis.url), (StoreKind::Local, "redis://me:hunter2@h"));
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert!(raw.rows().all(|(_, value, _)| !value.contains("hunter2")));
    for wrong in ["http://me:hunter2@h", "me:hunter2@h"] {
        let error = gather("", &[("REDIS_URL", wrong)], None).unwrap_err().to_string();
        assert!(error.contains("redis://") && error.contains("REDIS_URL") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn a_node_is_reached_where_it_listens_or_where_it_is_said_to_be() {
    let check = |set: &str, listens: &str, url: Option<&str>| {
        let settings = gather("", &[("NOVELO_NODE_URL", set)], None).unwrap().parse().unwrap();
        assert_eq!(settings.node_url(listens.parse().unwrap()).as_deref(), url, "{set} {listens}");
    };
    check("", "10.0.0.7:7420", Some("http://10.0.0.7:7420"));
    check("", "[::1]:7420", Some("http://[::1]:7420"));
    check("", "0.0.0.0:7420", None);
    check("", "[::]:7420", None);
    check("https://a.example:1", "0.0.0.0:7420", Some("https://a.example:1"));
    for wrong in ["10.0.0.7:7420", "ftp://x", "http://", "http://x/v1", "http://me:pw@x"] {
        let error = gather("", &[("NOVELO_NODE_URL", wrong)], None).unwrap_err().to_string();
        assert!(error.starts_with("node.url must be") && !error.contains("pw"), "{error}");
    }
}

#[test]
fn mistakes_are_named() {
    let error = |file| gather(file, &[], None).unwrap_err().to_string();
    assert!(error("durabilty = \"full\"").ends_with("hint: did you mean durability?"));
    assert!(error("durability = \"some\"").contains("durability must be one of full, relaxed"));
    assert!(error("addr = 7").contains("addr must be an address"));
    assert!(error("= 3").contains("is not TOML"));
    for (file, expected) in [
        ("sample = \"yes\"", "sample must be true or false, not \"yes\" (from "),
        ("threads.ttl_seconds = \"\"", "threads.ttl_seconds must be a whole number, not \"\" (from "),
        ("redis.timeout_ms = -1", "redis.timeout_ms must be a whole number, not \"-1\" (from "),
        ("memory.short_term_window = 0", "memory.short_term_window must be at least 1, not \"0\" (from "),
        ("qdrant.url = \"x\"", "qdrant.url must begin with http:// or https://, not \"x\" (from "),
    ] {
        assert!(error(file).starts_with(expected), "{}", error(file));
    }
    let flags = [("durabilty", Some("full".to_owned()))];
    assert_eq!(Settings::gather(None, |_| None, &flags).unwrap_err().to_string(), "unknown setting durabilty");
    assert!(gather("", &[("NOVELO_HOT_BYTES", "x")], None).unwrap_err().to_string().contains("NOVELO_HOT_BYTES"));
}
