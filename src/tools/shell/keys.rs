//! Where keys and passwords lie. Pure: a table of paths below the home folder.

use std::path::{Path, PathBuf};

/// Folders and files that commands may not read, relative to the home folder.
const HIDDEN: [&str; 62] = [
    // Keys and passwords of programs.
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings-security.xml",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".pulumi/credentials.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".config/rclone",
    ".config/op",
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
    ".local/share/fish/fish_history",
    // Browsers and mail: cookies and saved passwords.
    ".mozilla",
    ".config/mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    "snap/chromium",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
];

/// Returns the paths of keys below a home folder, and `more` of one's own, of which those with `~/` lie there too.
pub(super) fn hidden(home: Option<&Path>, more: &[String]) -> Vec<PathBuf> {
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
        .chain(own)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden_at_home_and_wherever_one_says() {
        let more = ["~/vault", "/srv/keys", "work/token"].map(str::to_owned);
        let hidden = hidden(Some(Path::new("/home/me")), &more);
        for path in [
            "/home/me/.ssh",
            "/home/me/.cargo/credentials.toml",
            "/home/me/vault",
            "/srv/keys",
            "/home/me/work/token",
        ] {
            assert!(hidden.contains(&PathBuf::from(path)), "{path}");
        }
    }
}
