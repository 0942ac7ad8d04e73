//! Host files, variables and directories are not visible in the sandbox.

use std::fs;

use crate::run::{PLANTED, exec};

#[test]
fn host_files_and_variables_are_invisible() {
    let ran = exec("cat /etc/passwd; env; ls -a /");
    let all = ran.stdout() + &ran.stderr();
    assert!(!all.contains(PLANTED.0) && !all.contains(PLANTED.1), "{all}");
    for line in fs::read_to_string("/etc/passwd").unwrap_or_default().lines() {
        assert!(!all.contains(line), "a line of the host's /etc/passwd is inside: {line}");
    }
}

#[test]
fn the_environment_has_only_documented_variables() {
    let ran = exec("env");
    let documented = ["PATH", "HOME", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "TERM"];
    let of_the_shell = ["OLDPWD", "SHLVL", "_"];
    for line in ran.stdout().lines() {
        let name = line.split('=').next().unwrap_or_default();
        assert!(documented.contains(&name) || of_the_shell.contains(&name), "{line}");
    }
    for name in documented {
        assert!(ran.stdout().contains(&format!("{name}=")), "{name}");
    }
    assert!(ran.stdout().contains("HOME=/workspace\n"), "{}", ran.stdout());
}

#[test]
fn the_root_has_only_sandbox_directories() {
    let ran = exec("ls /");
    let names: Vec<String> = ran.stdout().lines().map(str::to_owned).collect();
    let expected = "bin dev etc home lib media mnt opt proc root run sbin srv sys tmp usr var workspace";
    assert_eq!(names.join(" "), expected);
    let empty =
        exec("ls -A /home /opt /mnt /srv /media /run/lock /var/log /var/tmp /dev/shm | grep -v '^/\\|^$'; ls /root");
    assert_eq!(empty.stdout(), "", "the host's files are not visible");
    assert!(empty.stderr().contains("Permission denied"), "{}", empty.stderr());
}

#[test]
fn climbing_out_of_the_root_stays_in_the_root() {
    let ran = exec("cd ../../../../..; pwd; ls ../.. | tail -1");
    assert_eq!(ran.stdout(), "/\nworkspace\n");
}

#[test]
fn the_working_directory_of_the_host_is_invisible() {
    let ran = exec("pwd; ls -A");
    assert_eq!(ran.stdout(), "/workspace\n");
}

#[test]
fn two_runs_share_nothing() {
    assert_eq!(exec("echo mine >/workspace/a; echo mine >/tmp/a").code, Some(0));
    assert_ne!(exec("cat /workspace/a /tmp/a").code, Some(0));
}

#[test]
fn system_programs_cannot_be_replaced() {
    let ran = exec("echo evil >/bin/true; rm -f /bin/true; true; echo $?");
    assert!(ran.stdout().ends_with("0\n"), "{ran:?}");
    assert!(!ran.stderr.is_empty());
}
