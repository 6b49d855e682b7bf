//! Where keys and passwords lie. Pure: a table of paths below the home folder, and variables that move its folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::network::first_line;

/// Programs that are packaged as snaps, by name.
#[rustfmt::skip] // not one name a line
const SNAPS: &[&str] = &[
    "firefox", "chromium", "brave", "opera", "opera-gx", "vivaldi", "thunderbird", "mailspring",
    "signal-desktop", "discord", "slack", "telegram-desktop", "element-desktop", "teams-for-linux", "keepassxc",
    "bitwarden", "bw", "1password", "electrum", "bitcoin-core", "exodus", "gopass", "microsoft-edge", "opera-beta",
];

/// Folders and files that commands may not read: folders below the home folder, and what lies there. Of a program that
/// is packaged with a folder of its own, all of that.
#[rustfmt::skip]
const HIDDEN: [(&str, &[&str]); 7] = [
    ("", &[
        // Keys of machines, clouds and services.
        ".ssh", ".putty", ".gnupg", ".pki", ".age", ".aws", ".s3cfg", ".boto", ".azure", ".oci", ".databrickscfg",
        ".kaggle", ".sentryclirc", ".kube", ".docker", ".dockercfg", ".terraform.d/credentials.tfrc.json",
        ".terraformrc", ".tofurc", ".pulumi/credentials.json", ".vault-token", ".fly/config.yml", ".ngrok2",
        ".railway/config.json", ".vultr-cli.yaml", ".snowsql", ".rclone.conf", ".ollama/id_ed25519",
        ".huggingface/token", ".claude/.credentials.json", ".codex/auth.json", ".git-credentials", ".netrc",
        "_netrc", ".authinfo", ".authinfo.gpg", ".doppler", ".subversion/auth",
        // Registries of packages.
        ".npmrc", ".yarnrc.yml", ".pypirc", ".nuget/NuGet", ".ivy2/.credentials", ".cargo/credentials",
        ".cargo/credentials.toml", ".gem/credentials", ".composer/auth.json", ".gradle/gradle.properties",
        ".m2/settings.xml", ".m2/settings-security.xml",
        // Data bases; what was typed at a prompt holds passwords.
        ".pgpass", ".my.cnf", ".mylogin.cnf", ".bash_history", ".zsh_history", ".python_history", ".psql_history",
        ".mysql_history", ".rediscli_history", ".node_repl_history", ".Xauthority", ".vnc",
        // Passwords.
        ".password-store", ".op", ".lastpass", ".gnome2/keyrings", ".kde/share/apps/kwallet",
        ".kde4/share/apps/kwallet",
        // Wallets.
        ".bitcoin", ".litecoin", ".dogecoin", ".electrum", ".ethereum", ".monero", ".bitmonero", "Monero",
        ".sparrow", ".walletwasabi", ".zcash", ".foundry/keystores",
        // Browsers, mail and messengers: cookies and saved passwords.
        ".mozilla", ".librewolf", ".zen", ".waterfox", ".floorp", ".tor-browser", ".mullvad-browser",
        ".mullvad/mullvadbrowser", ".thunderbird", ".msmtprc", ".mbsyncrc", ".fetchmailrc", ".offlineimaprc",
        ".muttrc", ".mutt", ".seamonkey", ".icecat", ".claws-mail", ".purple", ".irssi", ".weechat",
    ]),
    (".config", &[
        "cogtrix", "gcloud", "doctl", "hcloud", "heroku", "netlify", "scw", "linode-cli", "ngrok", ".wrangler",
        "containers/auth.json", "helm/registry", "configstore/firebase-tools.json", "git/credentials", "gh", "hub",
        "glab-cli", "tea", "github-copilot", "pip/pip.conf", "pypoetry/auth.toml", "composer/auth.json", "solana",
        "stripe", "rclone", "sops", "age", "wireguard", "filezilla", "doppler", "openvpn", "remmina", "Postman",
        // Passwords and wallets.
        "op", "1Password", "Bitwarden", "Bitwarden CLI", "keepassxc", "Enpass", "gopass", "Exodus", "atomic",
        "feather", "Ledger Live", "@trezor", "rbw",
        // Browsers.
        "mozilla", "librewolf", "zen", "waterfox", "floorp", "google-chrome", "google-chrome-beta",
        "google-chrome-unstable", "chromium", "ungoogled-chromium", "BraveSoftware", "microsoft-edge",
        "microsoft-edge-beta", "microsoft-edge-dev", "vivaldi", "vivaldi-snapshot", "opera", "opera-beta",
        "opera-developer", "opera-gx", "yandex-browser", "thorium", "falkon", "midori", "iridium", "naver-whale",
        "helium", "chromium-browser", "google-chrome-for-testing", "microsoft-edge-canary",
        // Mail and messengers.
        "thunderbird", "evolution", "geary", "mutt", "neomutt", "aerc", "himalaya", "Mailspring", "protonmail",
        "Signal", "Signal Beta", "discord", "discordcanary", "discordptb", "vesktop", "Slack", "Element",
        "Element-Nightly",
        "teams-for-linux", "Wire", "Session", "Caprine", "Ferdium", "hexchat", "weechat",
    ]),
    (".local/share", &[
        "keyrings", "kwalletd", "gopass", "gem/credentials", "uv/credentials", "com.vercel.cli",
        "fish/fish_history", "atuin/key", "torbrowser", "epiphany", "falkon", "qutebrowser", "evolution", "geary",
        "TelegramDesktop", "DBeaverData", "dino", "fluffychat", "weechat", "remmina", "pki",
    ]),
    (".cache", &["huggingface/token", "rbw"]),
    (".var/app", &[
        "org.mozilla.firefox", "io.gitlab.librewolf-community", "app.zen_browser.zen", "io.github.zen_browser.zen",
        "net.waterfox.waterfox", "one.ablaze.floorp", "net.mullvad.MullvadBrowser",
        "org.torproject.torbrowser-launcher", "com.google.Chrome", "com.google.ChromeDev", "org.chromium.Chromium",
        "io.github.ungoogled_software.ungoogled_chromium", "com.brave.Browser", "com.microsoft.Edge",
        "com.microsoft.EdgeDev", "com.vivaldi.Vivaldi", "com.opera.Opera", "com.opera.opera-gx", "ru.yandex.Browser",
        "org.gnome.Epiphany", "org.kde.falkon", "org.qutebrowser.qutebrowser", "org.mozilla.Thunderbird",
        "org.mozilla.thunderbird", "eu.betterbird.Betterbird", "org.gnome.Evolution", "org.gnome.Geary",
        "com.getmailspring.Mailspring", "org.signal.Signal", "com.discordapp.Discord",
        "com.discordapp.DiscordCanary", "dev.vencord.Vesktop", "com.slack.Slack", "org.telegram.desktop",
        "im.riot.Riot", "com.github.IsmaelMartinez.teams_for_linux", "org.ferdium.Ferdium", "im.dino.Dino",
        "im.fluffychat.Fluffychat", "org.electrum.electrum", "org.bitcoincore.bitcoin-qt", "org.getmonero.Monero",
        "org.featherwallet.Feather", "io.exodus.Exodus", "com.ledger.Live", "com.sparrowwallet.Sparrow",
        "org.keepassxc.KeePassXC", "com.bitwarden.desktop", "com.onepassword.OnePassword", "me.proton.Pass",
        "me.proton.Mail",
    ]),
    ("snap", SNAPS),
    (".snap/data", SNAPS),
];

/// Variables that name another place for a folder of the home folder, or for a file in it.
const MOVED: [(&str, &str); 19] = [
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
    ("COMPOSER_HOME", ".composer"),
    ("PASSWORD_STORE_DIR", ".password-store"),
    // Files.
    ("KUBECONFIG", ".kube"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("PGPASSFILE", ".pgpass"),
    ("RCLONE_CONFIG", ".config/rclone"),
    ("SOPS_AGE_KEY_FILE", ".config/sops"),
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
        usual_paths().filter_map(move |path| {
            let rest = path.strip_prefix(usual).ok()?;
            Some(folder.components().chain(rest.components()).collect())
        })
    });
    let below = |path: &str| home.map(|home| home.join(path));
    let own = more
        .iter()
        .filter_map(|path| match path.strip_prefix("~/") {
            Some(rest) => below(rest),
            None if path.starts_with('/') => Some(PathBuf::from(path)),
            None => below(path),
        });
    let usual = home.into_iter();
    let usual = usual.flat_map(|home| usual_paths().map(|path| home.join(path)));
    usual.chain(moved).chain(own).collect()
}

/// Returns what is hidden, from the home folder.
fn usual_paths() -> impl Iterator<Item = PathBuf> {
    let folders = HIDDEN.iter();
    folders.flat_map(|(folder, names)| names.iter().map(move |name| Path::new(folder).join(name)))
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
            ("KUBECONFIG", "/opt/kube.yaml"),
            ("PASSWORD_STORE_DIR", "/opt/pass"),
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
            "/home/me/.config/chromium-browser",
            "/home/me/.subversion/auth",
            "/home/me/snap/microsoft-edge",
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
            "/opt/kube.yaml",
            "/opt/pass",
            "/home/me/.mullvad-browser",
            "/home/me/.config/1Password",
            "/home/me/.config/Exodus",
            "/home/me/.config/Ledger Live",
            "/home/me/.config/hcloud",
            "/home/me/.config/heroku",
            "/home/me/.gnome2/keyrings",
            "/home/me/.monero",
            "/home/me/.var/app/io.gitlab.librewolf-community",
            "/home/me/.var/app/app.zen_browser.zen",
            "/home/me/.var/app/org.mozilla.Thunderbird",
            "/home/me/.var/app/org.signal.Signal",
            "/home/me/.var/app/com.discordapp.Discord",
            "/home/me/.var/app/im.riot.Riot",
            "/home/me/.var/app/org.electrum.electrum",
            "/home/me/.var/app/org.keepassxc.KeePassXC",
            "/home/me/.var/app/com.bitwarden.desktop",
            "/home/me/snap/thunderbird",
            "/home/me/snap/signal-desktop",
            "/home/me/snap/telegram-desktop",
            "/home/me/.snap/data/bitwarden",
        ] {
            assert!(hidden.contains(&PathBuf::from(path)), "{path}");
        }
    }
}
