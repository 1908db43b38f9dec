//! What other users of the machine may read, and what this one can read without writing.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::support::{Home, Ran, Server, files};
use crate::{HEALTHY, documents_of, fill, stopped};

#[test]
fn data_and_backups_are_private() {
    let server = Server::start();
    fill(&server);
    let backup = server.home.path("backup.jsonl");
    server.home.done(&["backup", backup.to_str().unwrap()]);
    let data = server.home.data();
    assert_eq!(mode(&data), 0o700);
    for file in files(&data).iter().chain([&backup]) {
        assert_eq!(mode(file) & 0o077, 0, "{} is readable by others", file.display());
    }
    stopped(server);
}

/// A user who may read a directory, and not write to it, checks it and takes a backup of it.
#[test]
fn doctor_and_backup_read_a_directory_that_they_cannot_write() {
    let server = Server::start();
    fill(&server);
    let home = stopped(server);
    let expected = home.path("expected.jsonl");
    home.done(&["backup", expected.to_str().unwrap()]);
    set_modes(&home.path(""), 0o555, 0o444);
    let before: Vec<_> =
        files(&home.data()).iter().map(|file| (file.clone(), file.metadata().unwrap().len())).collect();

    let ran = as_reader(&home, &["doctor"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), HEALTHY), "{ran:?}");
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let backup = place.path().join("backup.jsonl");
    let ran = as_reader(&home, &["backup", backup.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(documents_of(&backup), documents_of(&expected));
    let after: Vec<_> = files(&home.data()).iter().map(|file| (file.clone(), file.metadata().unwrap().len())).collect();
    assert_eq!(after, before);
    let ran = as_reader(&home, &["forget", "ana", "--yes"]);
    assert_ne!(ran.code, Some(0), "a command that writes is refused: {ran:?}");
    set_modes(&home.path(""), 0o700, 0o600);
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

/// Sets the modes of all directories and files below one.
fn set_modes(dir: &Path, dirs: u32, files: u32) {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(dirs | 0o200)).unwrap();
    for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => set_modes(&path, dirs, files),
            false => std::fs::set_permissions(path, std::fs::Permissions::from_mode(files)).unwrap(),
        }
    }
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(dirs)).unwrap();
}

/// Runs a command as a user without rights: another one, if this one may do anything.
fn as_reader(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    if home.path("").metadata().unwrap().uid() != 0 {
        return Ran::of(&mut command);
    }
    let mut other = Command::new("setpriv");
    other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
    other.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        other.current_dir(dir);
    }
    Ran::of(&mut other)
}
