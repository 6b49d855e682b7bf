//! What programs say when they miss the network. Unit: the output of one command. Pure.

use std::net::IpAddr;

/// Words of common programs, in lower case. A refused connection is none of them: that is what a server on this machine
/// says that is not started.
const SIGNS: [&str; 22] = [
    // curl, git, wget
    "could not resolve host",
    "unable to resolve host",
    "couldn't resolve host",
    // libc and whoever prints its errors: ssh, ping, apt, nc
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "name resolution failed",
    "nodename nor servname provided",
    "no address associated with hostname",
    "network is unreachable",
    "network unreachable",
    // Rust and cargo
    "failed to lookup address information",
    "spurious network error",
    "download of config.json failed",
    // Go
    "dial tcp: lookup",
    "connect: network is unreachable",
    // Python and pip
    "failed to establish a new connection",
    "getaddrinfo failed",
    // Node and npm
    "getaddrinfo eai_again",
    "getaddrinfo enotfound",
    // Java
    "java.net.unknownhostexception",
    // Where sockets are refused as a whole
    "socket: operation not permitted",
];

/// Programs that reach other machines with a key as a rule.
const WITH_KEYS: [&str; 4] = ["ssh", "scp", "sftp", "rsync"];

/// Subcommands of git that do.
const GIT_WITH_KEYS: [&str; 4] = ["push", "fetch", "pull", "clone"];

/// Options of git before the subcommand whose value is the next word.
const GIT_VALUES: [&str; 2] = ["-C", "-c"];

/// Returns whether a command line reaches another machine with a key as a rule, so that the network alone is of no use
/// to it. A guess from its words: the call is judged as any other.
pub(super) fn wants_keys(line: &str) -> bool {
    line.split([';', '|', '&', '\n', '(', ')', '{', '}'])
        .any(|command| {
            let words = command.split_whitespace();
            let mut words = words.skip_while(|word| word.contains('='));
            match words.next() {
                Some("git") => {
                    let mut is_value = false;
                    let mut words = words.skip_while(|word| {
                        let is_skipped = is_value || word.starts_with('-');
                        is_value = !is_value && GIT_VALUES.contains(word);
                        is_skipped
                    });
                    let subcommand = words.next().unwrap_or_default();
                    // What is to be had by an address of the web is open to everybody more often than not.
                    let is_open = subcommand == "clone" && words.any(|word| word.contains("http"));
                    GIT_WITH_KEYS.contains(&subcommand) && !is_open
                }
                Some(program) => WITH_KEYS.contains(&program),
                None => false,
            }
        })
}

/// Returns whether a command line may end well though a part of it failed: in a pipe, in `a; b`, `a || true`, `b $(a)`.
pub(super) fn may_hide_failure(line: &str) -> bool {
    // Neither `a && b` nor `2>&1` hides anything.
    let line = line.trim_end().replace("&&", "").replace(">&", "");
    line.contains(['|', ';', '&', '\n', '`', '('])
}

/// Characters of a line that are quoted.
const QUOTED_MAX: usize = 160;

/// Returns the first line that says so.
pub(super) fn sign_of_need(output: &str) -> Option<String> {
    first_line(output, |_, small| {
        SIGNS.iter().any(|sign| small.contains(sign)) || is_elsewhere(small)
    })
}

/// Returns the beginning of the first line that is looked for, by itself and in small letters.
pub(super) fn first_line(output: &str, is_sign: impl Fn(&str, &str) -> bool) -> Option<String> {
    let mut lines = output.lines();
    let line = lines.find(|line| is_sign(line, &line.to_lowercase()))?;
    Some(line.trim().chars().take(QUOTED_MAX).collect())
}

/// Returns whether a server on this machine refused: one outside of the sandbox cannot be reached from within.
pub(super) fn was_refused(output: &str) -> bool {
    let signs = [
        "connection refused",
        "econnrefused",
        "failed to connect to ",
    ];
    first_line(output, |_, small| signs.iter().any(|it| small.contains(it))).is_some()
}

/// Returns whether curl, or what is made with it, could not connect to another machine by its address.
fn is_elsewhere(line: &str) -> bool {
    let host = line.split_once("failed to connect to ");
    let host = host.and_then(|(_, rest)| rest.split_whitespace().next());
    host.is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        address.map_or(host != "localhost", |it| !it.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_without_a_network_is_known() {
        for line in [
            "curl: (6) Could not resolve host: example.com",
            "curl: (7) Failed to connect to 203.0.113.1 port 80 after 0 ms: Couldn't connect to server",
            "fatal: unable to access 'https://example.com/x/': Could not resolve host: example.com",
            "wget: unable to resolve host address 'example.com'",
            "PHP: Couldn't resolve host name",
            "ssh: Could not resolve hostname example.com: Temporary failure in name resolution",
            "W: Failed to fetch http://x/InRelease  Temporary failure resolving 'x'",
            "ping: example.com: Name or service not known",
            "ssh: connect to host 203.0.113.1 port 22: Network is unreachable",
            "gpg: keyserver receive failed: Network unreachable",
            "psql: error: could not translate host name \"x\": name resolution failed",
            "ssh: Could not resolve hostname x: nodename nor servname provided, or not known",
            "ping: x: No address associated with hostname",
            "error: failed to lookup address information: Temporary failure",
            "warning: spurious network error (3 tries remaining): [6] Couldn't resolve",
            "error: download of config.json failed",
            "go: x@v1: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: i/o timeout",
            "dial tcp 203.0.113.1:443: connect: network is unreachable",
            "NewConnectionError('<...>: Failed to establish a new connection: [Errno -3]",
            "socket.gaierror: [Errno 11001] getaddrinfo failed",
            "npm error request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
            "Error: getaddrinfo ENOTFOUND example.com",
            "Caused by: java.net.UnknownHostException: repo.maven.apache.org",
            "nc: socket: Operation not permitted",
        ] {
            let found = sign_of_need(&format!("before\n  {line}\nafter\n"));
            let expected: String = line.chars().take(QUOTED_MAX).collect();
            assert_eq!(found, Some(expected), "{line}");
        }
        for sign in SIGNS {
            assert_eq!(sign, sign.to_lowercase());
        }
    }

    #[test]
    fn commands_that_reach_others_with_a_key_are_known() {
        for (line, expected) in [
            ("git push", true),
            ("git -C sub -c a.b=c --no-pager fetch origin", true),
            ("cd x && git pull --rebase", true),
            ("GIT_TRACE=1 git clone git@host:x", true),
            ("git clone https://example.com/x", false),
            ("ssh host ls", true),
            ("tar c . | ssh host tar x", true),
            ("rsync -a . host:x", true),
            ("(scp a host:b)", true),
            ("git log push", false),
            ("git -C push log", false),
            ("curl https://example.com/ssh", false),
            ("cargo fetch", false),
            ("", false),
        ] {
            assert_eq!(wants_keys(line), expected, "{line}");
        }
    }

    #[test]
    fn what_ends_well_though_a_part_of_it_failed_is_known() {
        for line in [
            "curl x | wc",
            "curl x|wc",
            "curl x|&tee log",
            "curl x; ls",
            "curl x || true",
            "if curl x\nthen ls\nfi",
            "echo $(curl x)",
            "echo `curl x`",
            "diff <(curl x) y",
            "curl x & wait",
        ] {
            assert!(may_hide_failure(line), "{line}");
        }
        for line in [
            "curl x",
            "cat log\n",
            "grep -c 'resolve host' log",
            "cd x && cargo test 2>&1",
        ] {
            assert!(!may_hide_failure(line), "{line}");
        }
    }

    #[test]
    fn other_failures_are_no_sign_of_it() {
        for output in [
            "",
            "error[E0308]: mismatched types",
            "connect to 127.0.0.1 port 8080 failed: Connection refused",
            "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
            "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server",
            "bash: curl: command not found",
            "HTTP/1.1 404 Not Found",
            "cat: x: Permission denied",
        ] {
            assert_eq!(sign_of_need(output), None, "{output}");
        }
    }
}
