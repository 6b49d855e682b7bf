//! Where keys and passwords lie. Pure: a table of paths below the home folder, and variables that move its folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::network::first_line;

/// Folders and files that commands may not read, relative to the home folder.
const HIDDEN: [&str; 123] = [
    // Keys and passwords of programs.
    ".ssh",
    ".ollama/id_ed25519",
    ".gnupg",
    ".aws",
    ".s3cfg",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".oci",
    ".databrickscfg",
    ".kaggle",
    ".sentryclirc",
    ".kube",
    ".docker",
    ".dockercfg",
    ".config/containers/auth.json",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".msmtprc",
    ".mbsyncrc",
    ".fetchmailrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/github-copilot",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".config/composer/auth.json",
    ".nuget/NuGet",
    ".ivy2/.credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".pulumi/credentials.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".config/rclone",
    ".config/op",
    ".config/Bitwarden",
    ".config/stripe",
    ".config/wireguard",
    ".bitcoin",
    ".config/sops",
    ".config/age",
    ".config/cogtrix",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/keepassxc",
    ".Xauthority",
    // What was typed at a prompt holds passwords.
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    ".local/share/atuin/key",
    // Browsers, mail and messengers: cookies and saved passwords.
    ".mozilla",
    ".config/mozilla",
    ".librewolf",
    ".zen",
    ".thunderbird",
    ".config/Signal",
    ".config/discord",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/microsoft-edge-beta",
    ".config/microsoft-edge-dev",
    ".config/vivaldi",
    ".config/vivaldi-snapshot",
    ".config/opera",
    ".config/opera-beta",
    ".config/opera-developer",
    ".config/yandex-browser",
    ".config/thorium",
    ".config/falkon",
    ".local/share/epiphany",
    ".local/share/falkon",
    ".local/share/qutebrowser",
    ".waterfox",
    ".floorp",
    ".tor-browser",
    "snap/firefox",
    "snap/chromium",
    "snap/brave",
    "snap/opera",
    ".config/Slack",
    ".config/Element",
    ".local/share/TelegramDesktop",
    ".electrum",
    ".ethereum",
    ".fly",
    ".config/netlify",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.brave.Browser",
    ".var/app/com.microsoft.Edge",
    ".var/app/com.vivaldi.Vivaldi",
    ".var/app/com.opera.Opera",
    ".var/app/org.gnome.Epiphany",
    ".var/app/org.telegram.desktop",
    ".var/app/com.slack.Slack",
];

/// Variables that name another place for a folder of the home folder.
const MOVED: [(&str, &str); 12] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CARGO_HOME", ".cargo"),
    ("GNUPGHOME", ".gnupg"),
    ("GH_CONFIG_DIR", ".config/gh"),
    ("CLOUDSDK_CONFIG", ".config/gcloud"),
    ("AZURE_CONFIG_DIR", ".azure"),
    ("DOCKER_CONFIG", ".docker"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CODEX_HOME", ".codex"),
];

/// Returns the paths of keys below a home folder, those below folders that variables name, and `more` of one's own, of
/// which those with `~/` lie in the home folder too.
pub(super) fn hidden(
    home: Option<&Path>,
    variables: &BTreeMap<String, String>,
    more: &[String],
) -> Vec<PathBuf> {
    let moved = MOVED.iter().filter_map(|(name, usual)| {
        let folder = Path::new(variables.get(*name)?);
        folder.is_absolute().then_some((folder, usual))
    });
    let moved = moved.flat_map(|(folder, usual)| {
        let below = HIDDEN.iter().map(Path::new);
        let below = below.filter_map(move |path| path.strip_prefix(usual).ok());
        below.map(move |path| folder.components().chain(path.components()).collect())
    });
    let below = |path: &str| home.map(|home| home.join(path));
    let own = more
        .iter()
        .filter_map(|path| match path.strip_prefix("~/") {
            Some(rest) => below(rest),
            None if path.starts_with('/') => Some(PathBuf::from(path)),
            None => below(path),
        });
    HIDDEN
        .iter()
        .filter_map(|path| below(path))
        .chain(moved)
        .chain(own)
        .collect()
}

/// Returns the first line that says that a hidden path could not be read.
pub(super) fn sign_of_need(output: &str, hidden: &[PathBuf]) -> Option<String> {
    first_line(output, |line, small| {
        let is_denied = small.contains("permission denied") || small.contains("eacces");
        let mut hidden = hidden.iter().filter_map(|path| path.to_str());
        is_denied && hidden.any(|path| line.contains(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden_at_home_and_wherever_one_says() {
        let more = ["~/vault", "/srv/keys", "work/token"].map(str::to_owned);
        let variables = [
            ("CARGO_HOME", "/opt/cargo"),
            ("XDG_CONFIG_HOME", "/opt/config"),
            ("GNUPGHOME", "/opt/gnupg"),
            ("DOCKER_CONFIG", "relative"),
            ("CODEX_HOME", "/opt/codex"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let hidden = hidden(Some(Path::new("/home/me")), &variables.into(), &more);
        assert!(hidden.iter().all(|path| path.is_absolute()));
        for path in [
            "/home/me/.ssh",
            "/home/me/.cargo/credentials.toml",
            "/home/me/vault",
            "/srv/keys",
            "/home/me/work/token",
            "/opt/cargo/credentials.toml",
            "/opt/config/gh",
            "/opt/config/gcloud",
            "/opt/config/cogtrix",
            "/opt/gnupg",
            "/opt/codex/auth.json",
            "/home/me/.librewolf",
            "/home/me/.zen",
            "/home/me/.config/google-chrome-unstable",
            "/home/me/.var/app/com.brave.Browser",
            "/home/me/.var/app/com.microsoft.Edge",
            "/home/me/snap/brave",
            "/home/me/.local/share/epiphany",
            "/home/me/.var/app/com.vivaldi.Vivaldi",
            "/home/me/.local/share/TelegramDesktop",
            "/home/me/.claude/.credentials.json",
            "/home/me/.config/github-copilot",
            "/home/me/.m2/settings.xml",
            "/home/me/.gradle/gradle.properties",
            "/home/me/.s3cfg",
            "/home/me/.dockercfg",
            "/home/me/.python_history",
            "/home/me/.psql_history",
            "/home/me/.mysql_history",
            "/home/me/.config/pip/pip.conf",
            "/home/me/.ollama/id_ed25519",
            "/home/me/.msmtprc",
            "/home/me/.mbsyncrc",
            "/home/me/.fetchmailrc",
            "/home/me/.kaggle",
            "/home/me/.databrickscfg",
            "/home/me/.sentryclirc",
            "/home/me/.bitcoin",
            "/home/me/.nuget/NuGet",
            "/home/me/.ivy2/.credentials",
            "/home/me/.local/share/atuin/key",
            "/opt/config/Bitwarden",
            "/opt/config/Signal",
            "/opt/config/discord",
            "/opt/config/wireguard",
            "/opt/config/stripe",
            "/opt/config/composer/auth.json",
        ] {
            assert!(hidden.contains(&PathBuf::from(path)), "{path}");
        }
    }
}
