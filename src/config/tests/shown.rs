//! What `config show` shows.

use super::*;

#[test]
fn every_key_is_shown_with_its_source_and_no_secret() {
    let machine = Machine::with(
        "home/.cogtrix.yaml",
        "providers:\n  x: {type: openai, api_key: sk-secret, base_url: 'http://u:pw@h/v1'}\nlock_wait: 3s\n",
    )
    .variable("COGTRIX_SESSION", "work");
    let config = machine.config();
    let entries: Vec<_> = config
        .entries()
        .map(|entry| {
            let source = entry.source.to_string();
            let source = source.rsplit('/').next().unwrap_or_default().to_owned();
            format!("{} = {} ({source})", entry.key, entry.value)
        })
        .collect();
    for expected in [
        "session = work ($COGTRIX_SESSION)",
        "providers.x.type = openai (.cogtrix.yaml:2:7)",
        "providers.x.api_key = ••• (.cogtrix.yaml:2:21)",
        "providers.x.base_url = http://•••@h/v1 (.cogtrix.yaml:2:41)",
        "lock_wait = 3s (.cogtrix.yaml:3:1)",
        "network.idle = 10min (default)",
        "system_prompt_file = \"\" (default)",
    ] {
        assert!(
            entries.iter().any(|entry| entry == expected),
            "{expected} is not in {entries:#?}"
        );
    }
    assert!(
        !entries
            .iter()
            .any(|entry| entry.starts_with("providers = "))
    );
    let everything = format!("{entries:?} {config:?}");
    assert!(!everything.contains("sk-secret"), "{everything}");
    assert!(config.entries().any(|entry| {
        entry.key == "data_dir"
            && entry.value
                == machine
                    .at("home/.local/share/cogtrix")
                    .display()
                    .to_string()
    }));
}
