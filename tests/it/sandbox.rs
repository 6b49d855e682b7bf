//! What the sandbox of commands holds back, asked of the supervisor itself, as the user of the tests and, where that is
//! root, as an ordinary user too. Each attack is harmless if it succeeds, and is shown to succeed without the sandbox.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cogtrix::tools::shell::{Keys, Limits, Namespaces, Network, Order, SUPERVISE};
use tempfile::TempDir;

use crate::shell::{STAYERS, alive, outside_of_temporary_folders, pids};
use crate::support::{can_confine, program, told};

/// Who may do the least.
const NOBODY: u32 = 65_534;

/// A project, a home with a key, and a data folder, that belong to whoever runs commands there.
struct Cage {
    root: TempDir,
    /// `None` is the user of the tests.
    user: Option<u32>,
    /// The way that is tried first.
    namespaces: Namespaces,
}

/// What a run printed and reported.
#[derive(Debug)]
struct Ran {
    printed: String,
    reports: Vec<String>,
}

impl Ran {
    fn has_namespaces(&self) -> bool {
        !self
            .reports
            .iter()
            .any(|report| report.starts_with(r#"{"lacks":"no namespaces"#))
    }

    fn reported(&self, what: &str) -> bool {
        self.reports.iter().any(|report| report.starts_with(what))
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns whether the program can be started by an ordinary user at all: a checkout, or where cages are, may lie in a
/// closed folder.
fn can_be_nobody() -> bool {
    let started = Command::new(program())
        .arg(SUPERVISE)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir(outside_of_temporary_folders())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    is_root() && started.is_ok()
}

/// A cage for each user and each way to namespaces; none, and a word about it, where the kernel cannot confine.
fn cages() -> Vec<Cage> {
    if !can_confine() {
        return Vec::new();
    }
    let mut users = vec![None];
    if can_be_nobody() {
        users.push(Some(NOBODY));
    } else {
        told("is skipped as another user");
    }
    let ways = users.into_iter().flat_map(|user| {
        let bubblewrap = has_bubblewrap(user).then_some(Namespaces::Bubblewrap);
        let ways = [Namespaces::Own].into_iter().chain(bubblewrap);
        ways.map(move |namespaces| Cage::new(user, namespaces))
    });
    ways.collect()
}

/// Returns whether bubblewrap can make namespaces for a user.
fn has_bubblewrap(user: Option<u32>) -> bool {
    let mut command = Command::new("bwrap");
    command.args(["--dev-bind", "/", "/", "--unshare-net", "true"]);
    if let Some(user) = user {
        command.uid(user).gid(user).current_dir("/");
    }
    let why = match command.output() {
        Ok(ran) if ran.status.success() => return true,
        Ok(ran) => String::from_utf8_lossy(&ran.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    told(&format!("is skipped with bubblewrap: {why}"));
    false
}

impl Cage {
    fn new(user: Option<u32>, namespaces: Namespaces) -> Self {
        let root = TempDir::new_in(outside_of_temporary_folders()).unwrap();
        let cage = Self {
            root,
            user,
            namespaces,
        };
        for folder in ["project/.git/hooks", "home/.ssh", "data"] {
            fs::create_dir_all(cage.path(folder)).unwrap();
        }
        cage.write("home/.ssh/id", "the key");
        cage.write("home/notes", "plain");
        cage.write("data/approvals", "rules");
        cage.write("project/.git/config", "[core]\n");
        cage.write("project/.git/hooks/pre-push", "old");
        cage
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let mut file = fs::File::create(self.path(path)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn order(&self, script: &str) -> Order {
        let below = |names: &[&str]| names.iter().map(|name| self.path(name)).collect();
        Order {
            is_confined: true,
            namespaces: self.namespaces,
            writable: below(&["project"]),
            kept: below(&["data", "data/workspace"]),
            hidden: below(&["home/.ssh", "home/.aws"]),
            protected: below(&[
                "project/.git/hooks",
                "project/.git/config",
                "project/.envrc",
            ]),
            aside: Some(self.path("data/changes")),
            running: Some(self.path("data/running")),
            environment: [
                ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"),
                ("HOME", self.path("home").to_str().unwrap()),
                ("LC_ALL", "C"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            command: ["sh", "-c", script].map(Into::into).into(),
            ..Order::default()
        }
    }

    /// Runs a script in the sandbox.
    fn run(&self, script: &str) -> Ran {
        self.follow(&self.order(script))
    }

    /// Runs a script without the sandbox: the attack itself is a good one.
    fn run_outside(&self, script: &str) -> Ran {
        self.follow(&Order {
            is_confined: false,
            protected: Vec::new(),
            ..self.order(script)
        })
    }

    fn begin(&self, order: &Order) -> Child {
        let mut command = Command::new(program());
        command
            .args(order.arguments(SUPERVISE))
            .current_dir(self.path("project"))
            .env_clear()
            .envs(order.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = self.user {
            give(&self.path(""), user);
            command.uid(user).gid(user);
        }
        command.spawn().unwrap()
    }

    fn follow(&self, order: &Order) -> Ran {
        let mut child = self.begin(order);
        // Open to the end: its end is the order to stop.
        let stdin = child.stdin.take();
        let mut printed = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut printed).unwrap();
        let mut reports = String::new();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_to_string(&mut reports).unwrap();
        child.wait().unwrap();
        drop(stdin);
        // Or no attack was tried.
        assert_ne!(reports, "", "the order was not followed: {printed}");
        Ran {
            printed,
            reports: reports.lines().map(str::to_owned).collect(),
        }
    }

    /// Files of the project.
    fn files(&self) -> Vec<fs::Metadata> {
        let entries = fs::read_dir(self.path("project")).unwrap();
        entries
            .map(|entry| entry.unwrap().metadata().unwrap())
            .collect()
    }
}

/// Gives a folder and all below to a user.
fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            give(&entry.path(), user);
        } else {
            std::os::unix::fs::lchown(entry.path(), Some(user), Some(user)).unwrap();
        }
    }
}

fn has_perl() -> bool {
    let found = Command::new("perl")
        .args(["-MIO::Socket::INET", "-e", "1"])
        .status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        told("is skipped: there is no perl");
    }
    is_there
}

#[test]
fn what_is_kept_in_a_writable_folder_is_closed_and_the_rest_of_it_is_open() {
    for cage in cages() {
        let order = |script: &str, keys| Order {
            writable: vec![cage.path("")],
            keys,
            ..cage.order(&format!("cd .. && {script}"))
        };
        for script in [
            "cat data/approvals home/.ssh/id",
            "echo x > data/approvals",
            "echo x > data/new",
            "echo x > home/.ssh/id",
            "rm -rf data home/.ssh",
            "mv data moved",
            "mv home moved",
            "mv home/.ssh moved",
            "ln data/approvals linked",
        ] {
            let ran = cage.follow(&order(script, Keys::Hidden));
            assert!(
                !ran.reports.contains(&r#"{"exited":0}"#.to_owned()),
                "{script}: {ran:?}"
            );
            assert!(!ran.printed.contains("the key") && !ran.printed.contains("rules"));
            assert_eq!(cage.read("data/approvals").as_deref(), Some("rules"));
            assert_eq!(cage.read("home/.ssh/id").as_deref(), Some("the key"));
        }
        let ran = cage.follow(&order("echo new > file && cat file", Keys::Hidden));
        assert!(ran.printed == "new\n" || !ran.has_namespaces(), "{ran:?}");
        let script = "cat home/.ssh/id; echo x > home/.ssh/id; mv home/.ssh moved";
        let ran = cage.follow(&order(script, Keys::Readable));
        assert!(ran.printed.starts_with("the key"), "{}", ran.printed);
        assert_eq!(cage.read("home/.ssh/id").as_deref(), Some("the key"));
    }
}

#[test]
fn neither_devices_nor_set_id_files_can_be_made() {
    let is_odd = |file: &fs::Metadata| {
        let kind = file.file_type();
        kind.is_block_device() || kind.is_char_device() || file.mode() & 0o6000 != 0
    };
    let script = "mknod char c 1 3; mknod block b 7 250
        cp /bin/true tool; chmod u+s tool; chmod g+s tool; chmod 4755 tool
        install -m 2755 /bin/true other; mkfifo pipe && chmod 700 tool && echo usual modes work";
    for cage in cages() {
        let ran = cage.run(script);
        assert!(ran.printed.ends_with("usual modes work\n"), "{ran:?}");
        assert_eq!(cage.files().iter().filter(|file| is_odd(file)).count(), 0);
        cage.run_outside("cp /bin/true tool2; chmod u+s tool2");
        assert!(
            cage.files().iter().any(is_odd) || !ran.has_namespaces(),
            "the attack is a good one"
        );
    }
}

#[test]
fn a_command_keeps_no_privileges_but_those_over_files() {
    let usual = if is_root() { 0xb } else { 0 };
    for cage in cages() {
        let ran = cage.run("cat /proc/self/status");
        let value = |name: &str| {
            let line = ran.printed.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim().to_owned()
        };
        let set = |name: &str| u64::from_str_radix(&value(name), 16).unwrap();
        let most = if cage.user.is_some() { 0 } else { usual };
        assert_eq!(set("CapEff:") & !most, 0, "{}", value("CapEff:"));
        assert_eq!(set("CapPrm:") & !most, 0);
        assert_eq!((set("CapInh:"), set("CapAmb:")), (0, 0));
        assert_eq!(value("NoNewPrivs:"), "1");
        assert_eq!(value("Seccomp:"), "2");
        let outside = cage.run_outside("cat /proc/self/status");
        assert!(outside.printed.contains("Seccomp:\t0") || !ran.has_namespaces());
    }
}

#[test]
fn no_command_leaves_its_namespaces_or_mounts_anything() {
    for cage in cages() {
        fs::create_dir(cage.path("project/there")).unwrap();
        for attack in [
            "unshare -Ur true",
            "unshare -m true",
            "unshare -n true",
            "mount -t tmpfs none there",
            "mount --bind /etc there",
            "umount .git/config",
        ] {
            let ran = cage.run(&format!("{attack} && echo succeeded"));
            assert!(!ran.printed.contains("succeeded"), "{attack}: {ran:?}");
        }
    }
}

/// System calls with arguments that do no harm, by their numbers on `x86_64` and `aarch64`.
const CALLS: [(&str, u32, u32, &str); 9] = [
    ("ptrace", 101, 117, "0, 0, 0, 0"),
    ("settimeofday", 164, 170, "0, 0"),
    ("keyctl", 250, 219, "0, -4, 0"),
    ("bpf", 321, 280, "-1, 0, 0"),
    ("io_uring_setup", 425, 425, "0, 0"),
    ("perf_event_open", 298, 241, "0, 0, 0, 0, 0"),
    ("process_vm_readv", 310, 270, "0, 0, 0, 0, 0, 0"),
    ("kexec_load", 246, 104, "0, -1, 0, 0"),
    ("unshare", 272, 97, "0"),
];

fn number(x86: u32, arm: u32) -> u32 {
    if cfg!(target_arch = "x86_64") {
        x86
    } else {
        arm
    }
}

#[test]
fn system_calls_that_lead_out_are_refused() {
    if !has_perl() {
        return;
    }
    let calls = CALLS.iter().map(|(name, x86, arm, arguments)| {
        let call = number(*x86, *arm);
        format!(
            "perl -e '$r = syscall({call}, {arguments}); print \"{name} \", $r < 0 ? $!+0 : 0, \"\\n\"'"
        )
    });
    let script = calls.collect::<Vec<_>>().join("\n");
    for cage in cages() {
        let ran = cage.run(&script);
        for (name, ..) in CALLS {
            let is_refused = ran.printed.lines().any(|line| line == format!("{name} 1"));
            assert!(is_refused, "{name}: {}", ran.printed);
        }
        let outside = cage.run_outside(&script);
        assert!(
            !ran.has_namespaces() || outside.printed.contains("ptrace 0\n"),
            "{outside:?}"
        );
    }
}

/// Limits and priorities of a process, without harm: `$p` is its id.
const OF_PROCESS: [(&str, u32, u32, &str); 7] = [
    ("prlimit64", 302, 261, "$p, 4, $x = pack('Q2', 0, 0), 0"),
    ("sched_setaffinity", 203, 122, "$p, 8, $x = pack('Q', ~0)"),
    ("sched_setscheduler", 144, 119, "$p, 3, $x = pack('l', 0)"),
    ("sched_setparam", 142, 118, "$p, $x = pack('l', 0)"),
    ("sched_setattr", 314, 274, "$p, $x = pack('L2Ql2Q3', 48), 0"),
    ("setpriority", 141, 140, "0, $p, 10"),
    ("ioprio_set", 251, 30, "1, $p, 0x4007"),
];

#[test]
fn no_process_gets_limits_or_priorities_of_a_command_but_its_own() {
    if !has_perl() {
        return;
    }
    for cage in cages() {
        let mut other = Command::new("sleep");
        other.arg("1000");
        if let Some(user) = cage.user {
            other.uid(user).gid(user);
        }
        let mut other = other.spawn().unwrap();
        let calls = OF_PROCESS.iter().map(|(name, x86, arm, arguments)| {
            let call = number(*x86, *arm);
            format!(
                "for $p ({}, 0) {{ $r = syscall({call}, {arguments}); print '{name} ', $r < 0 ? $!+0 : 0, \"\\n\" }}",
                other.id()
            )
        });
        // All processes of the user: an impossible class, which harms none.
        let of_user = format!(
            "syscall({}, 3, 0, 0xe000); print 'user ', $!+0, \"\\n\"",
            number(251, 30)
        );
        let calls = calls.chain([of_user]).collect::<Vec<_>>().join("\n");
        let script = format!("perl -e '{}'", calls.replace('\'', "'\\''"));
        let (inside, outside) = (cage.run(&script), cage.run_outside(&script));
        other.kill().unwrap();
        other.wait().unwrap();
        let told = |of_other: u32, of_user: u32| {
            let names = OF_PROCESS.iter().map(|(name, ..)| name);
            let lines = names.map(|name| format!("{name} {of_other}\n{name} 0\n"));
            lines.collect::<String>() + &format!("user {of_user}\n")
        };
        assert_eq!(inside.printed, told(1, 1));
        let is_good = outside.printed == told(0, 22);
        assert!(is_good || !inside.has_namespaces(), "{outside:?}");
    }
}

#[test]
fn a_command_has_no_open_files_but_its_own() {
    for cage in cages() {
        let script = "ls /proc/$$/fd";
        let (inside, outside) = (cage.run(script), cage.run_outside(script));
        assert_eq!(inside.printed, outside.printed);
    }
}

#[test]
fn when_a_call_ends_everything_ends_and_protected_files_are_put_back() {
    for cage in cages() {
        for namespaces in [cage.namespaces, Namespaces::Missing] {
            let script = format!(
                "trap 'echo asked; exit' TERM; echo evil > .envrc; {STAYERS} echo begun; wait"
            );
            let mut child = cage.begin(&Order {
                namespaces,
                ..cage.order(&script)
            });
            let mut printed = BufReader::new(child.stderr.take().unwrap()).lines();
            let mut lines = || printed.next().transpose().unwrap();
            let begun: Vec<String> = std::iter::from_fn(&mut lines).take(5).collect();
            // As when the time is over, the person ends it, or cogtrix is killed.
            drop(child.stdin.take());
            let last = lines();
            let mut reports = String::new();
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_to_string(&mut reports).unwrap();
            child.wait().unwrap();
            let pids = pids(begun.iter().map(String::as_str));
            assert_eq!((pids.len(), alive(&pids)), (4, vec![]), "{namespaces:?}");
            assert_eq!(last.as_deref(), Some("asked"), "{namespaces:?}");
            assert!(reports.contains(r#"{"put-back":["made""#), "{reports}");
            assert!(is_unharmed(&cage), "{namespaces:?}: {reports}");
        }
    }
}

/// Prints `reached` if somebody listens there.
fn knock(port: u16) -> String {
    format!(
        "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\", Timeout => 10) ? \"reached\" : \"closed\"'"
    )
}

const OWN_SERVER: &str = "perl -MIO::Socket::INET -e '
    $s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or die;
    $c = IO::Socket::INET->new(PeerAddr => \"127.0.0.1:\" . $s->sockport) or die;
    print \"served\"'";

#[test]
fn a_command_has_no_network_but_its_own_loopback() {
    if !has_perl() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for cage in cages() {
        for namespaces in [cage.namespaces, Namespaces::Missing] {
            let closed = Order {
                namespaces,
                ..cage.order(&knock(port))
            };
            assert_eq!(cage.follow(&closed).printed, "closed", "{namespaces:?}");
            let open = Order {
                network: Network::Host,
                ..closed
            };
            assert_eq!(cage.follow(&open).printed, "reached", "{namespaces:?}");
        }
        let ran = cage.run(OWN_SERVER);
        assert_eq!(ran.printed == "served", ran.has_namespaces(), "{ran:?}");
    }
}

#[test]
fn raw_sockets_and_those_of_packets_are_refused_with_the_network_too() {
    if !has_perl() {
        return;
    }
    let script = "perl -MSocket -e '
        print socket($a, 17, SOCK_RAW, 0) ? 1 : 0, socket($b, AF_INET, SOCK_RAW, 1) ? 1 : 0,
              socket($c, 40, SOCK_STREAM, 0) ? 1 : 0, socket($d, AF_INET, SOCK_DGRAM, 0) ? 1 : 0'";
    for cage in cages() {
        let order = Order {
            network: Network::Host,
            ..cage.order(script)
        };
        assert_eq!(cage.follow(&order).printed, "0001");
    }
}

/// What makes code run later, outside of the sandbox.
const ATTACK: &str = "echo evil > .git/hooks/post-commit; echo evil > .git/hooks/pre-push
    echo evil >> .git/config; echo evil > .envrc; echo evil > .cogtrix-made
    mv .git gone && mkdir -p .git/hooks && echo evil > .git/config && echo evil > .git/hooks/pre-push
    rm -rf .git/hooks; echo fine > .git/description; echo fine > file";

fn is_unharmed(cage: &Cage) -> bool {
    cage.read("project/.git/config").as_deref() == Some("[core]\n")
        && cage.read("project/.git/hooks/pre-push").as_deref() == Some("old")
        && cage.read("project/.git/hooks/post-commit").is_none()
        && cage.read("project/.envrc").is_none()
        && cage.read("project/.cogtrix-made").is_none()
}

#[test]
fn files_that_run_later_are_as_they_were() {
    for missing in [None, Some(Namespaces::Missing)] {
        for cage in cages() {
            let namespaces = missing.unwrap_or(cage.namespaces);
            let ran = cage.follow(&Order {
                namespaces,
                ..cage.order(ATTACK)
            });
            assert!(is_unharmed(&cage), "{namespaces:?}: {ran:?}");
            assert_eq!(cage.read("project/file").as_deref(), Some("fine\n"));
            assert!(ran.reported(r#"{"put-back":["made""#), "{ran:?}");
            let aside = fs::read_dir(cage.path("data/changes")).unwrap();
            let aside = aside.filter(|entry| entry.as_ref().unwrap().path().is_dir());
            assert_eq!(aside.count(), 1, "what was made is kept");
            cage.run_outside("echo evil > .git/hooks/post-commit");
            assert_eq!(
                cage.read("project/.git/hooks/post-commit").as_deref(),
                Some("evil\n"),
                "the attack is a good one"
            );
        }
    }
}

#[test]
fn what_one_command_made_and_had_taken_away_another_cannot_make_again() {
    for cage in cages() {
        let wait = "while sleep 0.05; do";
        let first = format!("echo evil > .envrc; echo made; {wait} [ -e go ] && exit; done");
        let mut first = cage.begin(&cage.order(&first));
        let said = |child: &mut Child| {
            let mut line = String::new();
            let stderr = child.stderr.as_mut().unwrap();
            BufReader::new(stderr).read_line(&mut line).unwrap();
            line
        };
        assert_eq!(said(&mut first), "made\n");
        // Here the file is covered, and the cover goes away with it.
        let second = format!(
            "echo x > .envrc; echo begun; {wait} [ -e .envrc ] || break; done; echo evil > .envrc && echo again"
        );
        let mut second = cage.begin(&cage.order(&second));
        let begun = said(&mut second);
        cage.write("project/go", "");
        first.wait().unwrap();
        let mut rest = String::new();
        let mut stderr = second.stderr.take().unwrap();
        stderr.read_to_string(&mut rest).unwrap();
        second.wait().unwrap();
        assert!(
            rest.ends_with("again\n"),
            "the attack is a good one: {begun}{rest}"
        );
        assert!(is_unharmed(&cage), "{begun}{rest}");
    }
}

#[test]
fn git_keeps_its_folder_and_may_use_the_rest_of_it() {
    for cage in cages() {
        let ran =
            cage.run("mv .git gone || mv .git/hooks gone2; echo ref > .git/HEAD && echo written");
        if ran.has_namespaces() {
            assert!(ran.printed.ends_with("written\n"), "{ran:?}");
            assert!(!cage.path("project/gone").exists());
        }
        assert!(is_unharmed(&cage));
    }
}

#[test]
fn no_link_leads_what_is_put_back_astray() {
    for cage in cages() {
        let order = Order {
            namespaces: Namespaces::Missing,
            ..cage.order("mv .git gone && ln -s ../home .git; ln -s ../home/notes .envrc")
        };
        let ran = cage.follow(&order);
        assert!(is_unharmed(&cage), "{ran:?}");
        assert_eq!(cage.read("home/notes").as_deref(), Some("plain"));
        assert_eq!(fs::read_dir(cage.path("home")).unwrap().count(), 2);
    }
}

#[test]
fn keys_and_sessions_cannot_be_read_and_all_else_can() {
    let read = "cat $HOME/.ssh/id; cat ../data/approvals; cat $HOME/notes; ls $HOME/.ssh; cp $HOME/.ssh/id . ; ln $HOME/.ssh/id linked";
    for cage in cages() {
        let ran = cage.run(read);
        assert!(!ran.printed.contains("the key"), "{ran:?}");
        assert!(!ran.printed.contains("rules"), "{ran:?}");
        assert!(ran.printed.contains("plain"), "{ran:?}");
        assert_eq!(cage.read("project/linked"), None);
        let with_keys = Order {
            keys: Keys::Readable,
            ..cage.order("cat $HOME/.ssh/id ../data/approvals; echo x > $HOME/.ssh/id")
        };
        let ran = cage.follow(&with_keys);
        assert!(ran.printed.contains("the key"), "{ran:?}");
        assert!(!ran.printed.contains("rules"), "{ran:?}");
        assert_eq!(cage.read("home/.ssh/id").as_deref(), Some("the key"));
        assert!(cage.run_outside(read).printed.contains("the key"));
    }
}

#[test]
fn the_environment_of_other_processes_cannot_be_read() {
    for cage in cages() {
        let mut other = Command::new("sleep");
        other.arg("1000").env("MARKER", "found");
        if let Some(user) = cage.user {
            other.uid(user).gid(user);
        }
        let mut other = other.spawn().unwrap();
        let script = format!("grep -c MARKER=found /proc/{}/environ", other.id());
        let (inside, outside) = (cage.run(&script), cage.run_outside(&script));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!inside.printed.starts_with('1'), "{inside:?}");
        assert!(
            !inside.has_namespaces() || outside.printed == "1\n",
            "{outside:?}"
        );
    }
}

#[test]
fn shared_memory_is_its_own_and_goes_with_it() {
    for cage in cages() {
        let script = "readlink /proc/self/ns/ipc";
        let (inside, outside) = (cage.run(script), cage.run_outside(script));
        assert!(inside.printed.starts_with("ipc:"), "{inside:?}");
        let is_own = inside.printed != outside.printed;
        assert_eq!(is_own, inside.has_namespaces(), "{inside:?} {outside:?}");
    }
}

#[test]
fn sockets_of_services_are_closed() {
    if !has_perl() {
        return;
    }
    let folder = TempDir::new_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("service");
    let _service = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let script = format!(
        "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => \"{}\") ? \"reached\" : \"closed\"'",
        path.display()
    );
    for cage in cages() {
        for network in [Network::Isolated, Network::Host] {
            let ran = cage.follow(&Order {
                network,
                ..cage.order(&script)
            });
            assert_eq!(ran.printed == "closed", ran.has_namespaces(), "{ran:?}");
        }
        assert_eq!(cage.run_outside(&script).printed, "reached");
    }
}

/// Prints `reached` or `closed`, for the socket at a path.
fn ask(path: &Path) -> String {
    // From its folder: the whole path may be too long for a socket.
    format!(
        "cd '{}' 2>/dev/null && perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => \"{}\") ? \"reached\" : \"closed\"' || echo closed",
        path.parent().unwrap().display(),
        path.file_name().unwrap().display(),
    )
}

#[test]
fn sockets_in_the_folders_of_keys_are_closed_whatever_their_names() {
    if !has_perl() {
        return;
    }
    let folder = TempDir::new_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for cage in cages() {
        let bound = folder.path().join("bound");
        let _agent = UnixListener::bind(&bound).unwrap();
        fs::set_permissions(&bound, fs::Permissions::from_mode(0o666)).unwrap();
        // As ssh does with the socket of a shared connection, so nobody finds it by the name it was bound to.
        let master = cage.path("home/.ssh/master");
        if fs::rename(&bound, &master).is_err() {
            told("is skipped: the temporary folder is on another file system");
            return;
        }
        let ran = cage.run(&ask(&master));
        let is_closed = ran.printed.trim() == "closed";
        assert_eq!(is_closed, ran.has_namespaces(), "{ran:?}");
        let ran = cage.follow(&Order {
            keys: Keys::Readable,
            ..cage.order(&ask(&master))
        });
        assert_eq!(ran.printed, "reached", "with keys: {ran:?}");
    }
}

#[test]
fn a_socket_that_was_bound_by_a_relative_path_is_closed() {
    if !has_perl() {
        return;
    }
    let folder = TempDir::new_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let server = "$s = IO::Socket::UNIX->new(Listen => 9, Local => \"service\") or die;
        chmod 0666, \"service\"; print \"ready\\n\"; close STDOUT; sleep 1000";
    let mut service = Command::new("perl")
        .args(["-MIO::Socket::UNIX", "-e", server])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    let mut stdout = service.stdout.take().unwrap();
    stdout.read_to_string(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    let script = ask(&folder.path().join("service"));
    let ran: Vec<(Ran, Ran, bool)> = cages()
        .iter()
        // Of a service of another user the working folder is not known.
        .map(|cage| {
            (
                cage.run(&script),
                cage.run_outside(&script),
                cage.user.is_none(),
            )
        })
        .collect();
    service.kill().unwrap();
    service.wait().unwrap();
    for (inside, outside, is_known) in ran {
        let is_held = is_known && inside.has_namespaces();
        assert!(!is_held || inside.printed == "closed", "{inside:?}");
        assert_eq!(outside.printed, "reached");
    }
}

#[test]
fn a_project_in_a_folder_that_may_be_written_stays_where_it_is() {
    for cage in cages() {
        fs::create_dir_all(cage.path("parent/p")).unwrap();
        cage.write("parent/p/file", "old");
        let script = "cd ../parent && mv p gone; mkdir p; echo evil > p/marker";
        let order = Order {
            writable: vec![cage.path("parent/p"), cage.path("parent")],
            protected: Vec::new(),
            ..cage.order(script)
        };
        let ran = cage.follow(&order);
        if ran.has_namespaces() {
            assert_eq!(
                cage.read("parent/p/file").as_deref(),
                Some("old"),
                "{ran:?}"
            );
            assert!(!cage.path("parent/gone").exists(), "{ran:?}");
        }
        fs::remove_dir_all(cage.path("parent/gone")).ok();
        cage.run_outside(script);
        assert!(
            cage.path("parent/gone").exists(),
            "the attack is a good one"
        );
    }
}

#[test]
fn a_command_that_uses_too_much_is_ended_and_the_reason_is_told() {
    if !has_perl() {
        return;
    }
    for cage in cages() {
        let limits = Limits {
            memory: 100 << 20,
            processes: 20,
            file_size: 1 << 20,
        };
        let limited = |script: &str| {
            cage.follow(&Order {
                limits,
                ..cage.order(script)
            })
        };
        let ran = limited("perl -e '$x = \"x\" x 200_000_000; sleep 1000'");
        let why = r#"{"exceeded":"used more than 100.0 MiB of memory"#;
        assert!(ran.reported(why), "{ran:?}");
        let ran = limited("for i in $(seq 40); do sleep 1000 & done; wait");
        assert!(
            ran.reported(r#"{"exceeded":"had more than 20 processes"#),
            "{ran:?}"
        );
        let ran = limited("head -c 5000000 /dev/zero > large; echo $?");
        assert_ne!(ran.printed.lines().next_back(), Some("0"), "{ran:?}");
        let size = fs::metadata(cage.path("project/large")).unwrap().len();
        assert_eq!(size, 1 << 20);
        cage.run("head -c 5000000 /dev/zero > large");
        let size = fs::metadata(cage.path("project/large")).unwrap().len();
        assert_eq!(size, 5_000_000, "without a limit");
    }
}

#[test]
fn processes_that_start_more_and_more_are_all_ended() {
    // Each starts two more, down to a depth at which it comes to an end by itself.
    let script = r"fork() { sh -c 'echo $$; exec sleep 20' & if [ $1 -gt 0 ]; then fork $(($1 - 1)) & fork $(($1 - 1)) & fi; wait; }
        fork 6";
    for cage in cages() {
        let limits = Limits {
            processes: 30,
            ..Limits::default()
        };
        let ran = cage.follow(&Order {
            limits,
            ..cage.order(script)
        });
        let why = r#"{"exceeded":"had more than 30 processes"#;
        assert!(ran.reported(why), "{ran:?}");
        let started = pids(ran.printed.lines());
        assert!(started.len() > 1, "{ran:?}");
        assert_eq!(alive(&started), [], "{ran:?}");
    }
}

#[test]
fn a_sandbox_in_a_sandbox_holds_what_it_can() {
    for cage in cages() {
        let inner = Order {
            namespaces: Namespaces::Own,
            ..cage.order("echo inner; cat $HOME/.ssh/id; echo x > file")
        };
        let variables = inner.variables();
        let words: Vec<String> = std::iter::once("env".to_owned())
            .chain(variables.map(|(name, value)| format!("{name}='{value}'")))
            .chain([program().display().to_string()])
            .chain(inner.arguments(SUPERVISE).iter().map(|word| {
                let word = word.to_str().unwrap();
                format!("'{word}'")
            }))
            .collect();
        // Its stdin must not end before it does.
        let ran = cage.run(&format!(
            "mkfifo open; sleep 1000 > open & {} < open",
            words.join(" ")
        ));
        assert!(ran.printed.contains("inner\n"), "{ran:?}");
        assert!(
            ran.printed
                .contains(r#"{"lacks":"no namespaces for this command: "#),
            "{ran:?}"
        );
        assert!(!ran.printed.contains("the key"));
        assert_eq!(cage.read("project/file").as_deref(), Some("x\n"));
    }
}

#[test]
fn a_yes_to_all_says_at_once_that_commands_are_asked_where_a_part_is_missing() {
    let config = "providers: {there: {type: openai, base_url: 'http://127.0.0.1:9/v1'}}
models: {default: it, it: {provider: there, model: scripted}}
";
    for cage in cages() {
        cage.write("project/test.yaml", config);
        // A sandbox in this sandbox has no namespaces.
        let ran = cage.run(&format!(
            "mkdir home; printf '/approve on\\n' |
            HOME=$PWD/home COGTRIX_DATA_DIR=$PWD/data {} -c test.yaml --tools all --lines",
            program().display()
        ));
        let asked = "Only commands still need approval, because part of their sandbox is missing";
        assert!(ran.printed.contains(asked), "{ran:?}");
        assert!(
            ran.printed.contains("not restricted: a network of its own"),
            "{ran:?}"
        );
    }
}
