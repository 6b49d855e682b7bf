//! Passwords that are given to a command: `mysql -pVALUE`, `sshpass -p VALUE`, `curl -u user:VALUE`. Unit: a line.
//! Pure.

use std::ops::Range;

use super::{Class, Found};

/// Programs, the option behind which they take a password, and how.
const PROGRAMS: &[(&str, &str, Form)] = &[
    ("mysql", "-p", Form::Tight),
    ("mysqldump", "-p", Form::Tight),
    ("mysqladmin", "-p", Form::Tight),
    ("mariadb", "-p", Form::Tight),
    ("sshpass", "-p", Form::Any),
    ("http", "-a", Form::Login),
    ("https", "-a", Form::Login),
    ("xh", "-a", Form::Login),
    ("curl", "-u", Form::Login),
    ("wget", "-u", Form::Login),
    ("lftp", "-u", Form::Login),
    ("smbclient", "-U", Form::Login),
    ("rpcclient", "-U", Form::Login),
    ("redis-cli", "-a", Form::Any),
    ("mongosh", "-p", Form::Any),
    ("mongo", "-p", Form::Any),
    ("mongodump", "-p", Form::Any),
    ("docker", "-p", Form::Word),
    ("podman", "-p", Form::Word),
    ("az", "-p", Form::Word),
    ("sqlcmd", "-P", Form::Any),
    ("zip", "-P", Form::Any),
    ("unzip", "-P", Form::Any),
    ("7z", "-p", Form::Tight),
    ("unrar", "-p", Form::Tight),
    ("rar", "-p", Form::Tight),
    ("ldapsearch", "-w", Form::Any),
    ("ldapadd", "-w", Form::Any),
    ("ldapwhoami", "-w", Form::Any),
    ("snmpwalk", "-A", Form::Any),
    ("impacket-psexec", "-p", Form::Any),
    ("cqlsh", "-p", Form::Any),
    ("influx", "-p", Form::Any),
    ("mosquitto_pub", "-P", Form::Any),
    ("mosquitto_sub", "-P", Form::Any),
    ("ipmitool", "-P", Form::Any),
    ("kinit", "-p", Form::Any),
    ("openssl", "-k", Form::Any),
];

/// Options that are no password, as people write them with one dash.
const OTHERS: [&str; 4] = ["-port", "-pipe", "-protocol", "-plugin-dir"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Without a blank; with one it is the name of a database.
    Tight,
    Any,
    /// Behind a blank, and no number: a port.
    Word,
    /// `user:password`, `user%password`, `user,password`.
    Login,
}

pub(super) fn passwords(text: &str) -> Vec<Found> {
    let passwords = text.lines().flat_map(|line| {
        let of_option = password(text, line);
        of_option
            .into_iter()
            .chain(of_share(text, line))
            .chain(of_shell(text, line))
    });
    let class = Class::Password;
    passwords.map(|place| Found { place, class }).collect()
}

fn password(text: &str, line: &str) -> Option<Range<usize>> {
    // Without an option; most lines have none.
    if !line.contains('-') {
        return None;
    }
    let mut words = line.split_whitespace();
    let program = words.find_map(|word| {
        let program = word.trim_matches(|c: char| !c.is_alphanumeric());
        let program = program.rsplit('/').next().unwrap_or_default();
        PROGRAMS.iter().find(|(name, ..)| *name == program)
    });
    let (_, option, form) = program?;
    while let Some(word) = words.next() {
        if OTHERS.contains(&word.split('=').next().unwrap_or_default()) {
            continue;
        }
        let Some(value) = word.strip_prefix(option) else {
            continue;
        };
        let value = match (value, form) {
            ("", Form::Tight) => return None,
            ("", _) => words.next()?,
            (_, Form::Word) => continue,
            (value, _) => value,
        };
        let value = value.trim_matches(['"', '\'', '`']);
        let value = match form {
            Form::Word if value.contains(':') || value.bytes().all(|b| b.is_ascii_digit()) => {
                return None;
            }
            Form::Tight | Form::Any | Form::Word => value,
            Form::Login => value.split_once([':', '%', ','])?.1,
        };
        let start = value.as_ptr().addr() - text.as_ptr().addr();
        return (value.len() >= 3 && !value.starts_with(['$', '<']))
            .then(|| start..start + value.len());
    }
    None
}

/// `net use Z: \\host\share /user:bob VALUE`.
fn of_share(text: &str, line: &str) -> Option<Range<usize>> {
    if !line.contains(':') {
        return None;
    }
    let (_, rest) = line
        .split_once("net use ")
        .or_else(|| line.split_once("cmdkey "))?;
    let mut words = rest
        .split_whitespace()
        .skip_while(|word| !word.to_lowercase().starts_with("/user:"));
    words.next()?;
    let value = words
        .next()
        .filter(|value| !value.starts_with('/') || value.starts_with("/pass:"))?;
    let value = value.strip_prefix("/pass:").unwrap_or(value);
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    Some(start..start + value.len()).filter(|place| place.len() >= 3)
}

/// `echo VALUE | sudo -S`, `pass:VALUE` of openssl, `/p:VALUE` of a remote desktop.
fn of_shell(text: &str, line: &str) -> Option<Range<usize>> {
    if !line.contains(['|', ':']) {
        return None;
    }
    let piped = || {
        let (before, _) = line.split_once("| sudo -S").or_else(|| {
            line.find("--password-stdin")
                .and_then(|_| line.split_once(" | "))
        })?;
        before
            .rsplit_once("echo ")
            .map(|(_, value)| value.trim().trim_matches(['"', '\'']))
    };
    let given = || {
        let is_given =
            line.contains("openssl ") || line.contains("xfreerdp") || line.contains("mstsc");
        let sign = ["pass:", "/p:"].into_iter().filter(|_| is_given);
        sign.filter_map(|sign| line.split_once(sign))
            .find_map(|(_, value)| value.split_whitespace().next())
    };
    let value = piped().or_else(given)?;
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    (value.len() >= 3 && !value.starts_with('$')).then(|| start..start + value.len())
}
