//! Secrets that are known by how they look: keys of services, private keys, logins in addresses, and long
//! strings that no person would write.

use std::ops::Range;

use super::{Class, Found};

/// What keys of services begin with, and characters after it at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 8),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("rk_test_", 8),
    ("whsec_", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 10),
    ("glrt-", 10),
    ("gldt-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 20),
    ("GOCSPX-", 16),
    ("ya29.", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxe.", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("hf_", 16),
    ("npm_", 20),
    ("pypi-", 20),
    ("SG.", 20),
    ("dop_v1_", 16),
    ("shpat_", 16),
    ("shpss_", 16),
    ("dckr_pat_", 16),
    ("hvs.", 16),
    ("lin_api_", 16),
    ("ntn_", 16),
    ("dapi", 32),
    ("gsk_", 16),
    ("xai-", 16),
    ("ATATT3", 16),
    ("sq0atp-", 16),
    ("sq0csp-", 16),
    ("PMAK-", 16),
    ("AGE-SECRET-KEY-", 16),
    ("EAACEdEose0cBA", 8),
    ("key-", 32),
    ("rubygems_", 16),
    ("r8_", 20),
    ("pplx-", 16),
    ("nvapi-", 16),
    ("tskey-", 12),
];

/// Bytes of the shortest key: most words are shorter.
const SHORTEST: usize = {
    let (mut shortest, mut i) = (LONG, 0);
    while i < PREFIXES.len() {
        let length = PREFIXES[i].0.len() + PREFIXES[i].1;
        if length < shortest {
            shortest = length;
        }
        i += 1;
    }
    shortest
};

/// Characters of a string that may be random.
const LONG: usize = 24;

/// Of one that holds `/`, as base64 does and paths do.
const LONG_WITH_SLASHES: usize = 32;

/// Bytes of an address, and of a key, that are read.
const LONGEST_ADDRESS: usize = 400;
const LONGEST_KEY: usize = 300;

/// Characters of the secret key of a cloud.
const CLOUD_KEY: usize = 40;

/// A whole word with one of these in it holds no key without a name: base64 does not have them.
fn may_be_in_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-+/.~".contains(c)
}

/// What is a secret by its looks, but for private keys, which may be long.
pub(super) fn found(text: &str) -> Vec<Found> {
    let with = |class| move |place| Found { place, class };
    let keys = keys(text).into_iter().map(with(Class::ApiKey));
    let logins = logins(text).into_iter().map(with(Class::ConnectionString));
    let seeds = seeds(text).into_iter().map(with(Class::OneTimeCode));
    keys.chain(logins).chain(seeds).collect()
}

/// Keys of services, and long strings that look random.
fn keys(text: &str) -> Vec<Range<usize>> {
    let mut keys = Vec::new();
    let (mut bears, mut is_header) = (false, false);
    for run in runs(text, may_be_in_key) {
        let word = &text[run.clone()];
        let is_bearer = |word: &str| {
            let bearers = ["bearer", "basic", "token"];
            bearers
                .iter()
                .any(|bearer| word.eq_ignore_ascii_case(bearer))
        };
        let is_borne = std::mem::replace(&mut bears, is_bearer(word));
        if word.len() < SHORTEST && !is_borne && !is_header {
            continue;
        }
        if is_digest(text, &run) {
            continue;
        }
        let is_whole = is_token(word)
            || is_random_base64(word)
            || is_seed(word)
            || is_of_bot(text, &run)
            || (is_borne && (is_credential(word) || is_header && word.len() >= 6));
        if !is_bearer(word) {
            is_header = word.eq_ignore_ascii_case("authorization");
        }
        if is_whole {
            keys.push(run.start..padded(text, run.start + word.trim_end_matches('.').len()));
            continue;
        }
        for part in runs(word, |c| !"/.~".contains(c)) {
            let piece = &word[part.clone()];
            if begins_as_key(&word[part.start..]) {
                let end = word.trim_end_matches('.').len();
                keys.push(run.start + part.start..run.start + end);
                break;
            }
            if piece.len() >= LONG && is_random(piece) {
                let end = padded(text, run.start + part.end);
                keys.push(run.start + part.start..end);
            }
        }
    }
    keys
}

/// A checksum, a public key or an image, which look as keys do: `sha256-…`, `h1:…`, `ssh-ed25519 AAAA…`; a mangled
/// name.
fn is_digest(text: &str, run: &Range<usize>) -> bool {
    const BEFORE: [&str; 9] = [
        "h1:",
        "SHA256:",
        "sha256:",
        "sha512:",
        "md5:",
        "MD5:",
        "sha384:",
        "base64,",
        "fingerprint ",
    ];
    let word = &text[run.clone()];
    BEFORE
        .iter()
        .any(|before| text[..run.start].ends_with(before))
        || [
            "sha256-",
            "sha384-",
            "sha512-",
            "sha1-",
            "_ZN",
            "AAAAB3Nza",
            "AAAAC3Nza",
            "AAAAE2Vj",
        ]
        .iter()
        .any(|begin| word.starts_with(begin))
}

/// Stretches of characters of a kind.
fn runs(text: &str, is_in: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices() {
        match (is_in(c), from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                runs.push(start..at);
                from = None;
            }
            _ => {}
        }
    }
    runs.extend(from.map(|start| start..text.len()));
    runs
}

/// The end, with the `=` that base64 is filled up with.
fn padded(text: &str, end: usize) -> usize {
    let padding = text[end..].len() - text[end..].trim_start_matches('=').len();
    end + if padding <= 2 { padding } else { 0 }
}

fn begins_as_key(word: &str) -> bool {
    PREFIXES.iter().any(|(prefix, min)| {
        let Some(rest) = word.strip_prefix(prefix) else {
            return false;
        };
        let rest = &rest[..rest.floor_char_boundary(LONGEST_KEY.min(rest.len()))];
        let rest = rest.split(['/', '~']).next().unwrap_or_default();
        let longest = rest.split(['-', '_']).map(str::len).max().unwrap_or(0);
        let has_digit = rest.contains(|c: char| c.is_ascii_digit());
        rest.len() >= *min && (has_digit || longest >= 16)
    })
}

/// `header.payload.signature`.
fn is_token(word: &str) -> bool {
    word.starts_with("eyJ") && word.len() >= 30 && word.trim_end_matches('.').contains('.')
}

/// What may stand after `Bearer`.
fn is_credential(word: &str) -> bool {
    word.len() >= 16 && word.contains(|c: char| c.is_ascii_digit())
}

/// The secret of one-time passwords: capitals and the digits 2 to 7, at a length that whole bytes have.
fn is_seed(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_in = |b: u8| b.is_ascii_uppercase() || (b'2'..=b'7').contains(&b);
    [16, 24, 26, 32, 40, 52, 56, 64].contains(&word.len())
        && word.bytes().all(is_in)
        && digits >= 2
        && digits * 2 < word.len()
}

/// The same in groups of four, as apps show it: `jbsw y3dp ehpk 3pxp`.
fn seeds(text: &str) -> Vec<Range<usize>> {
    let is_group = |word: &str| {
        word.len() == 4
            && (word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b))
                || word
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || (b'2'..=b'7').contains(&b)))
    };
    let mut seeds = Vec::new();
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return seeds;
    }
    let mut row: Vec<&str> = Vec::new();
    let mut end_row = |row: &mut Vec<&str>| {
        let has_digit = |word: &&&str| {
            word.bytes().any(|b| b.is_ascii_digit())
                && word.bytes().any(|b| b.is_ascii_alphabetic())
        };
        if let ([first, ..], [.., last]) = (&row[..], &row[..])
            && row.len() >= 4
            && row.iter().filter(has_digit).count() * 3 >= row.len()
        {
            let at = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
            seeds.push(at(first)..at(last) + last.len());
        }
        row.clear();
    };
    for word in text.split([' ', '-', '\n', '\t']) {
        let word = word.trim_matches(['"', '\'', '`', '.', ',', '(', ')', ':']);
        if is_group(word) {
            row.push(word);
        } else {
            end_row(&mut row);
        }
    }
    end_row(&mut row);
    seeds
}

/// `123456789:AA…`, the key of a bot of a messenger.
fn is_of_bot(text: &str, run: &Range<usize>) -> bool {
    let Some(before) = text[..run.start].strip_suffix(':') else {
        return false;
    };
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (8..=11).contains(&digits)
        && (30..=50).contains(&run.len())
        && text[run.clone()].starts_with("AA")
}

fn is_random_base64(word: &str) -> bool {
    word.contains('/')
        && word.len() >= LONG_WITH_SLASHES
        && !word.starts_with('/')
        && !word.contains(['.', '_', '-', '~'])
        && is_random(word)
        || word.len() == CLOUD_KEY
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"/+".contains(&b))
            && changes_at(word, 18)
}

/// Small letters, capitals and digits, with a change from one kind to another at almost every third place, from capital
/// to small letter not counted: a name in any style changes at every fifth, a hash has one case.
fn is_random(word: &str) -> bool {
    changes_at(word, 30)
}

/// Whether so many of a hundred places are changes.
fn changes_at(word: &str, share: usize) -> bool {
    let kind = |c: char| match c {
        'a'..='z' => 1,
        'A'..='Z' => 2,
        '0'..='9' => 3,
        _ => 0,
    };
    let kinds: Vec<u8> = word.chars().map(kind).collect();
    let count = |kind: u8| -> usize { kinds.iter().map(|it| usize::from(*it == kind)).sum() };
    let changes = kinds
        .windows(2)
        .filter(|pair| pair[0] != pair[1] && !pair.contains(&0) && pair != &[2, 1]);
    count(1) >= 2 && count(2) >= 2 && count(3) >= 1 && changes.count() * 100 >= kinds.len() * share
}

/// PEM blocks of private keys; one that is cut off goes to the end.
pub(super) fn private_keys(text: &str) -> Vec<Found> {
    const END: &str = "-----";
    let mut keys = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let title = text[start..].lines().next().unwrap_or_default();
        from = start + "-----BEGIN ".len();
        if !title.contains("PRIVATE KEY") {
            continue;
        }
        let end = text[from..].find("-----END ").and_then(|at| {
            let after = from + at + "-----END ".len();
            text[after..].find(END).map(|at| after + at + END.len())
        });
        from = end.unwrap_or(text.len());
        keys.push(Found {
            place: start..from,
            class: Class::PrivateKey,
        });
    }
    keys
}

/// Values of the header that keeps a browser signed in.
fn cookies(text: &str) -> Vec<Range<usize>> {
    const PLAIN: [&str; 8] = [
        "path", "domain", "expires", "max-age", "samesite", "lang", "theme", "consent",
    ];
    let mut cookies = Vec::new();
    for line in text.lines() {
        let Some(at) = line.find("ookie: ").or_else(|| line.find("OOKIE: ")) else {
            continue;
        };
        for pair in line[at + "ookie: ".len()..].split(';') {
            let Some((name, value)) = pair.trim().split_once('=') else {
                continue;
            };
            let value = value.trim_end_matches(['"', '\'', '`']);
            let is_plain =
                PLAIN.contains(&name.to_ascii_lowercase().as_str()) || name.contains(' ');
            if !is_plain && value.len() >= 8 && !value.contains(' ') {
                let start = value.as_ptr().addr() - text.as_ptr().addr();
                cookies.push(start..start + value.len());
            }
        }
    }
    cookies
}

/// Values of the query of an address whose names say that they are keys.
fn queries(text: &str) -> Vec<Range<usize>> {
    const NAMES: [&str; 22] = [
        "sig",
        "signature",
        "key",
        "token",
        "appid",
        "apikey",
        "secret",
        "auth",
        "password",
        "passwd",
        "pwd",
        "pass",
        "session",
        "sid",
        "credential",
        "jwt",
        "otp",
        "invite",
        "ticket",
        "hash_key",
        "passcode",
        "code",
    ];
    let starts = text.match_indices(['?', '&', ';']).filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let name =
            &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c))?];
        let value = rest[name.len()..].strip_prefix('=')?;
        let small = name.to_ascii_lowercase();
        let end = value
            .find(|c: char| c.is_whitespace() || "&\"'<>`#;)]}".contains(c))
            .unwrap_or(value.len());
        let is_long = end
            >= if small == "code" || small.ends_with("key") {
                12
            } else {
                6
            };
        let start = at + 1 + name.len() + 1;
        (is_long
            && NAMES.iter().any(|end| small.ends_with(end))
            && !value.starts_with(['$', '{', '<']))
        .then(|| start..start + end)
    });
    starts.collect()
}

/// `user:password` in `scheme://user:password@host`, and after `-u`; the path of a hook, which is its key.
fn logins(text: &str) -> Vec<Range<usize>> {
    // One sign that each form has is found sooner than the form, and most texts do not have it.
    let with = |sign: char| if text.contains(sign) { text } else { "" };
    let addresses = with(':').match_indices("://").filter_map(|(at, sign)| {
        let start = at + sign.len();
        let is_end = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
        let upto = text.floor_char_boundary((start + LONGEST_ADDRESS).min(text.len()));
        let length = text[start..upto].find(is_end).unwrap_or(upto - start);
        let whole = &text[start..start + length];
        in_address(whole).map(|login| start + login.start..start + login.end)
    });
    let mut logins: Vec<Range<usize>> = addresses.collect();
    logins.extend(queries(with('=')));
    logins.extend(cookies(with(':')));
    logins.extend(
        ["sqlplus ", "sqlldr ", "expdp "]
            .iter()
            .filter_map(|program| {
                let start = with('/').find(program)? + program.len();
                let login = text[start..].split_whitespace().next()?;
                let (user, rest) = login.split_once('/')?;
                let password = rest.split('@').next()?;
                let start = start + user.len() + 1;
                (password.len() >= 3 && !password.starts_with(['/', '$']))
                    .then(|| start..start + password.len())
            }),
    );
    // `jdbc:oracle:thin:scott/tiger@//host`
    logins.extend(with(':').match_indices(":thin:").filter_map(|(at, sign)| {
        let start = at + sign.len();
        let login = &text[start..start + text[start..].find('@')?];
        (login.contains('/') && !login.contains(char::is_whitespace))
            .then(|| start..start + login.len())
    }));
    for option in [" -u ", " --user ", " --user=", " -U "] {
        logins.extend(with('-').match_indices(option).filter_map(|(at, option)| {
            let start = at + option.len();
            let start = start + usize::from(text[start..].starts_with(['"', '\'']));
            let length = text[start..].find(|c: char| c.is_whitespace() || "\"'".contains(c));
            let login = &text[start..start + length.unwrap_or(text.len() - start)];
            let (_, password) = login.split_once(':')?;
            (password.len() >= 3 && !password.contains("//")).then(|| start..start + login.len())
        }));
    }
    logins
}

fn in_address(address: &str) -> Option<Range<usize>> {
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(path) = ["hooks.slack.com/services/", "discord.com/api/webhooks/"]
        .iter()
        .find_map(|hook| address.strip_prefix(hook))
    {
        return Some(address.len() - path.len()..address.len());
    }
    // A password may hold any sign; a port is a number.
    let after_name = host.split_once(':').map(|(_, after)| after);
    let is_port = after_name
        .is_none_or(|after| !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit()));
    let part = if is_port { host } else { address };
    let login = &part[..part.rfind('@')?];
    if is_example(login) {
        return None;
    }
    // A token may stand alone.
    let has = |is: fn(&char) -> bool| login.chars().any(|c| is(&c));
    let is_token = login.len() >= 12
        && !login.contains('.')
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic);
    (login.contains(':') || is_token).then_some(0..login.len())
}

/// Returns whether a login names what it would hold: `user:password`, `${USER}:${PASSWORD}`, `app:<password>`.
fn is_example(login: &str) -> bool {
    let Some((user, password)) = login.split_once(':') else {
        return false;
    };
    matches!(user, "user" | "username") && matches!(password, "pass" | "password")
        || password.starts_with("${") && password.ends_with('}')
        || password.starts_with('<') && password.ends_with('>')
}
