use super::super::options::ROWS;
use super::*;

fn covers(prefix: &str, command: &str) -> bool {
    super::covers(prefix, command, Further::OptionsAndOperands)
}

fn prefix(command: &str) -> Option<String> {
    super::prefix(command, Further::OptionsAndOperands)
}

fn name(row: &Row) -> String {
    format!("{} {}", row.program, row.subcommand)
        .trim()
        .to_owned()
}

/// A command that the row covers as it stands.
fn least(row: &Row) -> String {
    let needed = row.needs.first().map(|option| format!(" {option}"));
    format!("{}{}", name(row), needed.unwrap_or_default())
}

fn listed(row: &Row) -> impl Iterator<Item = &'static str> {
    row.options
        .iter()
        .flat_map(|some| some.split_ascii_whitespace())
        .filter(|option| *option != "-#")
}

#[test]
fn every_listed_option_is_covered_in_each_of_its_forms() {
    for row in ROWS {
        for option in listed(row) {
            let forms = match option.strip_suffix(':') {
                None => vec![option.to_owned()],
                Some(name) if name.starts_with("--") => {
                    vec![format!("{name} 5"), format!("{name}=5")]
                }
                Some(name) => vec![format!("{name} 5")],
            };
            for form in forms {
                let command = format!("{} {form}", least(row));
                assert!(covers(&name(row), &command), "{command}");
            }
        }
    }
}

#[test]
fn options_that_no_row_lists_ask_and_so_do_abbreviations() {
    for row in ROWS {
        for option in ["--no-such-option", "--no-such=x", "-\u{e9}", "-_"] {
            let command = format!("{} {option}", least(row));
            assert!(!covers(&name(row), &command), "{command}");
        }
        for option in listed(row).filter(|option| option.len() > 6) {
            let short = &option[..option.len() - 2];
            if !listed(row).any(|it| it.trim_end_matches(':') == short) && option.starts_with("--")
            {
                let command = format!("{} {short}", least(row));
                assert!(!covers(&name(row), &command), "{command}");
            }
        }
    }
}

#[test]
fn a_row_stands_for_one_program_and_none_is_there_twice() {
    for row in ROWS {
        let same = |other: &&Row| name(other) == name(row);
        assert_eq!(ROWS.iter().filter(same).count(), 1, "{}", name(row));
        assert_eq!(
            options::has_subcommands(row.program),
            !row.subcommand.is_empty(),
            "{}",
            name(row)
        );
    }
}

/// What each program may be told that writes, runs something, or sends or loads from elsewhere.
#[test]
fn options_that_write_run_or_send_elsewhere_ask() {
    for (prefix, dangerous) in DANGEROUS {
        for behind in dangerous.split(" | ") {
            let command = format!("{prefix} {behind}");
            assert!(!covers(prefix, &command), "{command}");
            let offered = self::prefix(&command);
            assert_ne!(offered.as_deref(), Some(*prefix), "{command}");
        }
    }
}

#[rustfmt::skip]
const DANGEROUS: &[(&str, &str)] = &[
    ("git log", "--output=x | --output x | --outp=x | -p --output=x | '--output=x' | \"--output=x\" | --out'put=x' | \\--output=x \
        | --ext-diff | --textconv | --show-signature | -Oorder"),
    ("git diff", "--output=x | --outpu x | --ext-diff | --ext-d | --textconv | --no-index a b | -Oorder | * | -- x --cached=* *"),
    ("git show", "--output=x | --ext-diff | --textconv"),
    ("git grep", "-O x | -Ovi x | -nO x | --open-files-in-pager x | --open-files=vi x | --open x | --ext-grep x | -f x y | --no-index x"),
    ("git blame", "--contents x y | -S x y"),
    ("git cat-file", "--textconv x | --filters x | --batch"),
    ("git fetch", "--upload-pack=x | --upload-pack x | --upload-p x | https://example.com/x | ssh://h/x | git@host:x | ../x | /tmp/x \
        | ext::sh | --recurse-submodules | -o x | origin +main"),
    ("git pull", "--upload-pack=x | https://example.com/x | -s x | --strategy=x | --recurse-submodules | --rebas"),
    ("git push", "--receive-pack=x | --receive-pack x | --exec=x | --exec x | --repo=x | https://example.com/x | git@host:x | ../x \
        | -o x | --push-option=x | --force | -f | --mirror | --delete origin x | origin :main | origin +main | --signed | -nf"),
    ("git commit", "-F x | --file=x | -t x | --template=x | -S | -Skey | --gpg-sign | -e | --edit | -c HEAD | -C HEAD"),
    ("git merge", "-s x | --strategy=x | -X ours | -S | -F x | --edit"),
    ("git archive", "-o x HEAD | --output=x HEAD | --remote=x HEAD | --exec=x HEAD | HEAD"),
    ("git format-patch", "-o x HEAD~1 | --output-directory=x HEAD~1 | HEAD~1"),
    ("git clone", "https://example.com/x | --upload-pack=x y | -c core.sshCommand=x y | --template=x y"),
    ("git branch", "-D x | -d x | -f x | --edit-description | -u x | -m x y"),
    ("git tag", "-d x | -s x | -u key x | -F x y"),
    ("git reset", "--hard | --keep"),
    ("git add", "-e | -p | -i | --edit | --chmod=+x x | --pathspec-from-file=x"),
    ("git rm", "-f x | --pathspec-from-file=x"),
    ("git remote", "add x https://example.com | set-url origin x"),
    ("git reflog", "expire --all"),
    ("git checkout", "-f x | -B x | -p | --recurse-submodules x"),
    ("git ls-files", "-X x | --exclude-from=x"),
    ("git stash", "drop | clear"),
    ("git worktree", "add x"),
    ("git", "-c alias.x=!sh x | --config-env=core.pager=X log | --exec-path=x log | -C x log | --git-dir=x log | --work-tree=x log \
        | --git-dir x log | -p log | --paginate log | config x y | push --receive-pack=x | log --output=x | frob x"),
    ("sort", "-o x y | -ox y | -no x y | -nox y | --output=x | --output x | --outp x | --compress-program=x | --compress-program x \
        | --comp=x | -T x | -Tx | --temporary-directory=x | --files0-from=x | --random-source=x | * | x -o x"),
    ("rg", "--pre x y | --pre=x y | --pre-glob x y | --hostname-bin=x y | -z x | -nz x | --search-zip x | -f x y | --file=x y | --ignore-file=x y \
        | foo * | -g *.rs foo"),
    ("grep", "-f x y | --file=x y | -D read x"),
    ("find", ". -exec sh | . -execdir sh | . -ok sh | . -okdir sh | . -delete | . -fprint x | . -fprint0 x | . -fprintf x y | . -fls x \
        | . -name x -delete | -files0-from x | . -name *.rs"),
    ("uniq", "a b | -c a b | -- a b | a* | a -c b | - b | a ''"),
    ("tree", "-o x | -ox | -ao x | -Lo 1 x | -Po x y | -aPo x y | -L1o y | -R -L 1 | --output x | --fromfile x | *"),
    ("date", "-s x | -sx | --set=x | --set x | --se=x | 010203042026 | -u 01020304 | '01020304' | -f x | --file=x | -r x"),
    ("file", "-C | -m x y | -bC | --compile | --magic-file=x y | --comp | -f x | --files-from=x | -z x | -S x"),
    ("diff", "-l a b | --paginate a b | --to-file=a b | --from-file=a b | -D X a b | --ifdef=X a b | -X x a b"),
    ("wc", "--files0-from=x | --files0-from x"),
    ("du", "--files0-from=x | -X x | --exclude-from=x"),
    ("tail", "-f x | -F x | --follow x"),
    ("jq", "-f x | --from-file x | -L x . | -rf x | --rawfile a b . | --slurpfile a b ."),
    ("pytest", "-c x | -cx | -p x | -px | -vp x | --rootdir=x | --rootdir x | --override-ini=x=y | -o x=y | --basetemp=x | --basetemp x \
        | --junitxml=x | --junit-xml=x | --pdb | --pdbcls=x:y | --pastebin=all | --log-file=x | --debug | --cov-report=html:x \
        | --cov-config=x | -W error::x.Y | --confcutdir=x | --cache-clear | @x | --import-mode=x"),
    ("eslint", "--rulesdir x y | --resolve-plugins-relative-to x y | -c x y | --config x y | --fix y | -o x y | --output-file=x y \
        | --plugin x y | --parser x y | -f x y | --format=./x y | --format x y | --cache y | --cache-location=x y | --init | *"),
    ("prettier", "--plugin=x y | --plugin x y | --write y | -w y | --config x y | --config=x y | --plugin-search-dir=x y | --parser=./x y \
        | --cache --cache-location=x y | --ignore-path x y | -cw y"),
    ("ruff check", "--config x | --config=x | --fix | --fix-only | --unsafe-fixes | --output-file=x | -o x | --add-noqa | --cache-dir=x | -w | @x"),
    ("ruff format", "x.py | --config=x --check | --cache-dir=x --check | -- --check"),
    ("black", "x.py | --config=x --check y | -c x | --workers=2 y | -- --check x.py | -l 80 x.py"),
    ("rustfmt", "x.rs | --emit files x.rs | --config-path=x --check y.rs | --config x=y --check y.rs | --print-config default x"),
    ("mypy", "--config-file=x y | --config-file x y | --python-executable=x y | --python-executable x y | --cache-dir=x y | --junit-xml=x y \
        | --html-report x y | --install-types | --shadow-file a b c | --custom-typeshed-dir=x y | @x | --config-f=x y | --any-exprs-report x y"),
    ("tsc", "--outDir x | --outFile x | -outDir x | --OUTDIR x | --build | -b | -p x | --project x | --declarationDir x | --rootDir x \
        | --tsBuildInfoFile x | --generateTrace x | --init | -w | --plugins x | @x"),
    ("ctest", "-S x | -SX | -D Experimental | --build-and-test a b | -T Submit | -M Nightly | -O x | --output-log x | --output-junit x | -A x \
        | -VS x | --test-dir x | --script x"),
    ("cargo test", "--config x | --config=net.offline=false | -Z x | -Zunstable | --target-dir x | --target-dir=x | --manifest-path=x \
        | --manifest-path x | -C x | --artifact-dir=x | --out-dir=x | --target x.json | --timings | -- --logfile x | -- --logfile=x | -- -Z x \
        | -q -- --nocapture --logf x | --lockfile-path=x"),
    ("cargo build", "--config x | -Z x | --target-dir x | --manifest-path x | --artifact-dir x | --out-dir x | --target x.json | x"),
    ("cargo clippy", "--fix | --config x | -- -C linker=x | -- -o x | -- --emit=link=x | -- @x"),
    ("cargo fmt", "-- --config-path x | -- --emit files | --manifest-path=x | -- x.rs"),
    ("cargo doc", "--open | --target-dir=x | --config x"),
    ("cargo bench", "--config x | -- --save-baseline x"),
    ("cargo install", "x | --git https://example.com/x | --path x | --root x"),
    ("cargo publish", "--registry x | --token x"),
    ("go test", "-toolexec x ./... | -toolexec=x | --toolexec=x | -exec x | -exec=x | -overlay x | -o x | -modfile=x | -vettool=x | -c -o x \
        | -coverprofile=x | -cpuprofile x | -outputdir x | -trace x | -ldflags=x | -gcflags x | -C x | -mod=mod | -fuzz x | -args -x | -vet=x"),
    ("go build", "-o x | -toolexec x | -overlay=x | -modfile x | -ldflags x | -C x"),
    ("go vet", "-vettool x | -vettool=x | -toolexec x"),
    ("go run", "x"),
    ("make test", "-f x | -fx | --file=x | --makefile=x | -C x | --directory=x | -I x | --eval=x | '--eval=$(shell x)' | -E x | CC=x | 'CC=x' \
        | SHELL=x | -k SHELL=x | deploy | --eva=x | -kf x"),
    ("just test", "-f x | --justfile x | --justfile=x | --set a b | --shell x | -d x | a=b | deploy | --working-directory x"),
    ("npm test", "--prefix x | --prefix=x | --script-shell=x | --script-shell x | --node-options=x | --node-options x | --userconfig=x \
        | --globalconfig=x | --registry=x | -C x | --pref=x | -- --outputFile=x | -- '$(x)' | -- 'a;b' | --cache=x"),
    ("npm install", "x | --registry=x | --prefix=x | -g | https://example.com/x.tgz | --script-shell=x"),
    ("npm publish", "--registry=x | x"),
    ("yarn test", "--cwd x | --use-yarnrc x | 'a;b'"),
    ("pip install", "x | --index-url x | --index-url=x | -i x | --extra-index-url x | --target x | -t x | --config-settings x | -e x | -r x \
        | --python x | --prefix x | -c x | --find-links x | ."),
    ("pip list", "--path x | --log x | --python=x | --index-url=x"),
    ("gradle test", "-I x | -Ix | --init-script x | --init-script=x | -Dx=y | -Px=y | -D x=y | -P x=y | -p x | --project-dir=x | -b x | -g x \
        | --gradle-user-home=x | --include-build x | --scan | -c x | deploy | -qI x | --project-cache-dir x | --write-locks"),
    ("mvn test", "-f x | --file x | -s x | --settings x | -gs x | -Dx=y | -D x=y | -t x | -l x | --log-file x | deploy | -Px | -DargLine=x"),
    ("dotnet test", "-o x | --output x | -p:x=y | /p:x=y | --settings x | --logger x | --results-dir x | --collect x | @x | x.csproj"),
    ("gh pr", "merge 1 | close 1 | create"),
    ("gh api", "x | -X DELETE x"),
    ("jj log", "--config x=y | --config-toml=x | -R x | --tool x | --config-file=x"),
    ("hg log", "--config x=y | --cwd x | -R x | --pager x"),
    // Of what nobody knows anything about, a person's own rule covers operands alone.
    ("./run.sh", "--fast | -x | *"),
];

#[test]
fn everyday_commands_are_covered_by_the_prefix_that_is_offered_for_them() {
    for (command, expected) in [
        ("cargo test --workspace foo -- --nocapture", "cargo test"),
        (
            "cargo test --lib policy:: -- --test-threads=1 --exact",
            "cargo test",
        ),
        ("cargo clippy --all-targets -- -D warnings", "cargo clippy"),
        ("cargo build --release -j 2", "cargo build"),
        ("cargo fmt --check", "cargo fmt"),
        ("git diff --stat HEAD~3", "git diff"),
        ("git log --oneline -20", "git log"),
        ("git log -p -n5 --since='2 weeks ago' -- src", "git log"),
        ("git show HEAD:src/lib.rs", "git show"),
        ("git status -sb", "git status"),
        ("git status -uno", "git status"),
        (
            "git commit -am 'a message; with (signs) | in it'",
            "git commit",
        ),
        ("git add -A src", "git add"),
        ("git push -u origin feature/x", "git push"),
        ("git grep -n foo -- src", "git grep"),
        ("ls -la src", "ls"),
        ("ls *.rs", "ls"),
        ("rg -n foo src", "rg"),
        ("rg -n 'fn (a|b)' -g '*.rs' -A3 src", "rg"),
        ("rg -tr foo", "rg"),
        ("grep -rn x .", "grep"),
        ("grep -rnE \"a|b\" --include='*.rs' src", "grep"),
        ("find . -name '*.rs' -type f -mtime -7", "find"),
        ("pytest -q tests/x.py::y -k z", "pytest"),
        ("pytest -ra -x --maxfail=1", "pytest"),
        ("npm test", "npm test"),
        ("npm test -- src/a.test.js", "npm test"),
        ("head -20 x", "head"),
        ("tail -n 5 x", "tail"),
        ("sort -rn x", "sort"),
        ("sort -k2,2 -t, x", "sort"),
        ("uniq -c x", "uniq"),
        ("date +%s", "date"),
        ("jq -r '.a | keys[]' x.json", "jq"),
        ("tree -L 2 src", "tree"),
        ("go test ./... -run TestX -v", "go test"),
        ("make test -j4", "make test"),
        ("make check", "make check"),
        ("just lint", "just lint"),
        ("black --check src", "black"),
        ("tsc --noEmit", "tsc"),
        ("eslint src --ext .ts", "eslint"),
        ("ctest -j4 --output-on-failure", "ctest"),
        ("echo done", "echo"),
        ("mvn -q test", ""),
        ("mvn test -q -DskipTests", "mvn test"),
    ] {
        let found = prefix(command).unwrap_or_default();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn words_that_the_rule_itself_names_are_covered() {
    for (rule, command, expected) in [
        ("git log --output=x", "git log --output=x", true),
        ("git log --output=x", "git log --output=x --oneline", true),
        ("git log --output=x", "git log --output=y", false),
        ("git -C sub status", "git -C sub status", true),
        ("git -C sub status", "git -C sub status -s", false),
        ("git", "git log --oneline", true),
        ("git", "git config a b", false),
        ("ruff", "ruff check src", true),
        ("./run.sh", "./run.sh all", true),
        ("python manage.py test", "python manage.py test app", true),
        ("git push fork", "git push fork main", true),
        ("git 'log'", "git log", false),
        ("a | b", "a | b", false),
        ("", "ls", false),
    ] {
        assert_eq!(covers(rule, command), expected, "{rule}: {command}");
    }
}

#[test]
fn outside_of_the_sandbox_a_rule_covers_no_operand_that_it_does_not_name() {
    for (rule, command, expected) in [
        ("git push", "git push", true),
        ("git push", "git push -u --tags", true),
        // A bare repository that lies there is pushed to, and its hooks run.
        ("git push", "git push evil", false),
        ("git push", "git push -- evil", false),
        ("git push", "git push origin", false),
        ("git push origin", "git push origin", true),
        ("git push origin", "git push origin main", false),
        ("git push origin main", "git push origin main -q", true),
        ("git fetch", "git fetch --depth 5", true),
        ("git pull", "git pull evil main", false),
        ("cargo test", "cargo test --workspace", true),
        ("cargo test", "cargo test name", false),
        ("cargo test", "cargo test -- --nocapture", true),
        ("echo one", "echo one", true),
        ("echo", "echo one", false),
        ("./deploy.sh", "./deploy.sh", true),
        ("./deploy.sh", "./deploy.sh all", false),
        ("git push", "git push --receive-pack=x", false),
    ] {
        let found = super::covers(rule, command, Further::Options);
        assert_eq!(found, expected, "{rule}: {command}");
    }
}

#[test]
fn outside_of_the_sandbox_the_words_of_the_whole_command_are_offered() {
    for (command, expected) in [
        ("git push -u", Some("git push")),
        ("git push  origin main ", Some("git push  origin main")),
        ("git commit -m 'a b'", Some("git commit")),
        ("git add 'a b'", Some("git add 'a b'")),
        ("git push ../x", None),
        ("git push ev*", None),
        ("curl x", None),
        ("ls | sh", None),
    ] {
        let found = super::prefix(command, Further::Options);
        assert_eq!(found.as_deref(), expected, "{command}");
        if let Some(prefix) = found {
            assert!(
                super::covers(&prefix, command, Further::Options),
                "{prefix}"
            );
        }
    }
}

#[test]
fn a_line_is_split_as_a_shell_splits_it() {
    for (line, expected) in [
        ("a  'b c' \"d e\"", Some(vec!["a", "b c", "d e"])),
        (
            r#"a\ b "c\"d\n" 'e\f'"#,
            Some(vec!["a b", "c\"d\\n", "e\\f"]),
        ),
        ("a ''", Some(vec!["a", ""])),
        ("'a;b|c'", Some(vec!["a;b|c"])),
        ("a 'b", None),
        ("a \"b", None),
        ("a \\", None),
        ("a \"$b\"", None),
        ("a \"`b`\"", None),
        ("a; b", None),
        ("a\nb", None),
    ] {
        let found = words(line).map(|words| {
            let texts = words.into_iter().map(|word| word.text);
            texts.collect::<Vec<_>>()
        });
        let expected = expected.map(|texts| texts.into_iter().map(str::to_owned).collect());
        assert_eq!(found, expected, "{line}");
    }
}
