//! Keys, settings and usage.

use crate::arg;
use crate::support::{Home, Ran, json, user};

#[test]
fn keys_are_made_listed_and_revoked() {
    let home = Home::new();
    let secret = home.done(&["key", "create", "--admin"]);
    assert!(secret.starts_with("nvl_") && secret.ends_with('\n'), "{secret}");
    let made = home.run(&["key", "create", "--user", "ada", "--json"]).json();
    assert_eq!((&made["user"], &made["admin"]), (&json!("ada"), &json!(false)));
    let list = home.done(&["key", "list"]);
    assert!(list.lines().count() == 2 && list.contains("  admin\n") && list.contains("  user     ada\n"), "{list}");

    let server = home.serve();
    let ada = server.with("authorization", &format!("Bearer {}", made["key"].as_str().unwrap()));
    ada.get(&user("ada", "/data")).ok();
    assert_eq!(home.done(&["key", "revoke", made["id"].as_str().unwrap()]), "revoked\n");
    ada.get(&user("ada", "/data")).refused(401, "unauthorized");
    home.run(&["key", "revoke", "nobody"]).failed(&["there is no such key"]);
    for (kind, name) in [("guest", "site"), ("service", "shop backend")] {
        let made = home.run(&["key", "create", &format!("--{kind}"), "--name", name, "--json"]).json();
        assert_eq!((&made["kind"], &made["user"], &made["admin"]), (&json!(kind), &json!(null), &json!(false)));
        let list = home.done(&["key", "list"]);
        assert!(list.contains(&format!("  {kind:<7}  ({name})\n")), "{list}");
    }
    for wrong in [
        &["key", "create"][..],
        &["key", "create", "--admin", "--user", "x"],
        &["key", "create", "--guest", "--service"],
        &["key", "create", "--name", "x"],
    ] {
        assert_eq!(home.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn config_says_what_is_in_force_and_where_it_comes_from() {
    let home = Home::new();
    let file = home.write("novelo.toml", "hot_bytes = 1000\ndurability = \"relaxed\"\n[threads]\nturns_max = 9\n");
    let mut command = home.command(&["config", "--data", "elsewhere"]);
    let ran = Ran::of(command.env("NOVELO_HOT_BYTES", "2000"));
    let row = |key: &str| {
        ran.out
            .lines()
            .find(|line| line.split_whitespace().next() == Some(key))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    assert_eq!(row("data"), ["data", "elsewhere", "flag"]);
    assert_eq!(row("hot_bytes"), ["hot_bytes", "2000", "NOVELO_HOT_BYTES"]);
    assert_eq!(row("threads.turns_max"), ["threads.turns_max", "9", "novelo.toml"]);
    assert_eq!(row("addr"), ["addr", "127.0.0.1:7420", "default"]);
    let json = home.run(&["config", "--json", "--config", arg(&file)]).json();
    assert_eq!(json["durability"], json!({"value": "relaxed", "from": arg(&file)}));

    home.write("novelo.toml", "durabilty = \"full\"\n");
    home.run(&["config"]).failed(&["unknown setting durabilty", "hint: did you mean durability?"]);
    home.run(&["serve"]).failed(&["unknown setting durabilty"]);
    home.write("novelo.toml", "durability = \"some\"\n");
    home.run(&["config"]).failed(&["durability must be one of full, relaxed", "novelo.toml"]);
    home.run(&["config", "--config", "nowhere.toml"]).failed(&["cannot read nowhere.toml"]);
}

#[test]
fn wrong_usage_ends_with_two_and_help_with_zero() {
    let home = Home::new();
    for wrong in [
        &[][..],
        &["dance"],
        &["thread"],
        &["thread", "show", "u"],
        &["serve", "--port", "1"],
        &["thread", "fork", "u", "t", "x", "f"],
    ] {
        let ran = home.run(wrong);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{wrong:?}");
    }
    let help = home.done(&["--help"]);
    for command in ["serve", "explain", "thread", "forget", "backup", "restore", "key", "config", "doctor", "bench"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is not in {help}");
    }
    assert_eq!(home.done(&["--version"]), format!("novelo {}\n", env!("CARGO_PKG_VERSION")));
    home.run(&["thread", "list", "u"]).failed(&["there is no data directory", "hint: name it with --data"]);
    assert!(!home.data().exists(), "a look does not create anything");
}
