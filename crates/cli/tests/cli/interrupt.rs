//! Ctrl-C at any time.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::{Folder, ran};

/// Presses Ctrl-C, once the program listens and some work was done.
pub(crate) fn press_ctrl_c(child: &Child) {
    const SIGINT_BIT: u64 = 1 << 1;
    let listens = || {
        // Where the system does not say, the pause below must do.
        let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else {
            return true;
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask & SIGINT_BIT != 0)
    };
    let started = Instant::now();
    while !listens() {
        assert!(started.elapsed() < Duration::from_mins(1), "the program never listens");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    send_interrupt(child);
}

fn send_interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Any of the lines takes longer than this from here to its end, and none longer to stop.
const SOON: Duration = Duration::from_secs(8);

/// Starts a line that takes long, presses Ctrl-C, and expects it to end.
fn interrupted(folder: &Folder, line: &str) {
    let child = folder.start(line);
    press_ctrl_c(&child);
    let pressed = Instant::now();
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, ran.stderr.lines().last()), (Some(130), Some("interrupted")), "{line}");
    assert!(pressed.elapsed() < SOON, "{line}: it took {:?}", pressed.elapsed());
}

#[test]
fn work_ends_and_leaves_nothing() {
    let folder = Folder::new();
    // Making and arranging, loading or computing, writing.
    interrupted(&folder, "generate graph500-22 --output g.el");
    interrupted(&folder, "run lcc --graph graph500-19 --output out.csv");
    interrupted(&folder, "generate updates --graph graph500-16 --updates-per-edge 1000 --output u");
    interrupted(&folder, "demo --graph graph500-21");
    interrupted(&folder, "load graph500-22 --into g.evg");
    interrupted(&folder, "bench update --graph graph500-18 --updates-per-edge 1000");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn the_second_one_kills() {
    let folder = Folder::new();
    let child = folder.start("run triangles --graph graph500-20");
    press_ctrl_c(&child);
    send_interrupt(&child);
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), "interrupted\n"));
}

#[test]
fn the_demo_still_verifies() {
    let folder = Folder::new();
    let mut child = folder.start("demo --graph graph500-9 --seconds 600");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while !line.starts_with("loaded by") {
        line.clear();
        assert!(out.read_line(&mut line).expect("it goes on") > 0, "the graph is loaded");
    }
    press_ctrl_c(&child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{rest}");
    assert!(rest.contains("on Ctrl-C") && rest.contains("\nverified: "), "{rest}");
}
