//! What "always" covers behind a program's name: one row for each program and subcommand.
//!
//! An option stands in its row when it only shows, selects or checks something. What writes, runs something, sends or
//! loads from elsewhere is left out, and so is what nobody looked at: both ask again. A colon marks an option that
//! takes a value; `-#` is a number, as in `head -20`. Abbreviations are not listed, so they ask.

/// What one program, or one of its subcommands, may be given unasked.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) program: &'static str,
    /// Empty for a program whose name alone tells what it does.
    pub(super) subcommand: &'static str,
    pub(super) style: Style,
    /// Separated by blanks.
    pub(super) options: &'static [&'static str],
    pub(super) operands: Operands,
    /// Options behind `--` that go to another program; `None`: only operands stand there.
    pub(super) passed_on: Option<&'static [&'static str]>,
    /// Options of which one must be there, else the program writes.
    pub(super) needs: &'static [&'static str],
}

/// How a program reads what begins with one dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Letters that may be joined, with a value behind them: `-rn`, `-ofile`.
    Letters,
    /// A word: `-name`.
    Words,
}

/// Which words that are no options may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    Any,
    /// Any, and patterns that may become file names with a dash in front: no option of the program does harm.
    Patterns,
    /// Any but `@file`, from which some programs read options.
    Paths,
    None,
    /// One: a second one is written to.
    One,
    /// `+%s`: without the plus, `date` sets the clock.
    Format,
    /// Words without anything that a shell or a file of rules would take up.
    Plain,
    /// A remote by its name, then branches; an address would send elsewhere.
    Remote,
}

impl Row {
    const fn of(program: &'static str, subcommand: &'static str) -> Self {
        Self {
            program,
            subcommand,
            style: Style::Letters,
            options: &[],
            operands: Operands::None,
            passed_on: None,
            needs: &[],
        }
    }

    const fn with(self, options: &'static [&'static str], operands: Operands) -> Self {
        Self {
            options,
            operands,
            ..self
        }
    }

    const fn words(self) -> Self {
        Self {
            style: Style::Words,
            ..self
        }
    }

    const fn passing_on(self, options: &'static [&'static str]) -> Self {
        Self {
            passed_on: Some(options),
            ..self
        }
    }

    const fn needing(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }
}

/// The row of a program and its subcommand.
pub(super) fn row(program: &str, subcommand: &str) -> Option<&'static Row> {
    ROWS.iter()
        .find(|row| row.program == program && row.subcommand == subcommand)
}

/// Returns whether the second word of a program says what it does.
pub(super) fn has_subcommands(program: &str) -> bool {
    WITH_SUBCOMMANDS.contains(&program)
}

/// Programs whose second word says what they do. A subcommand without a row is covered as it stands, with nothing
/// behind it.
#[rustfmt::skip]
const WITH_SUBCOMMANDS: [&str; 20] = [
    "cargo", "rustup", "go", "dotnet", "gradle", "mvn", "make", "just", "git", "jj", "hg", "gh", "npm", "pnpm", "yarn", "pip",
    "uv", "poetry", "brew", "ruff",
];

/// Second words that run any other command, or make a setting that names one.
#[rustfmt::skip]
pub(super) const RUNNING: [&str; 14] = [
    "exec", "x", "dlx", "run", "config", "alias", "submodule", "bisect", "rebase", "filter-branch", "difftool", "mergetool",
    "shell", "extension",
];

const GIT_DIFF: &str = "-p -u --patch -s --no-patch -U: --unified: --raw --patch-with-raw --stat --numstat --shortstat \
    --dirstat --summary --patch-with-stat -z --name-only --name-status --color --no-color --color-words --word-diff \
    --word-diff-regex: --color-moved --no-renames --check --full-index --binary --abbrev -M --find-renames -C --find-copies \
    -B -D --diff-filter: -S: -G: --pickaxe-all --pickaxe-regex -R --relative --no-relative -a --text -b -w \
    --ignore-space-change --ignore-all-space --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --minimal \
    --patience --histogram --diff-algorithm: --inter-hunk-context: -W --function-context --exit-code --quiet --no-prefix \
    --no-ext-diff --no-textconv --submodule --src-prefix: --dst-prefix: --compact-summary --cc -c -m";
const GIT_LOG: &str = "-# -n: --max-count: --skip: --since: --after: --until: --before: --author: --committer: --grep: --all-match \
    --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges \
    --first-parent --all --branches --tags --remotes --graph --oneline --pretty --format: --abbrev-commit --no-abbrev-commit \
    --decorate --no-decorate --date: --reverse --date-order --topo-order --author-date-order --follow --left-right \
    --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --full-history --ancestry-path -L: \
    --source --no-walk --notes --no-notes --relative-date --parents --children -g --walk-reflogs";
const CARGO: &str =
    "-q --quiet -v --verbose --color: --message-format: --locked --offline --frozen -h --help";
const CARGO_BUILD: &str = "--workspace --all -p: --package: --exclude: --lib --bins --bin: --tests --test: --examples --example: \
    --benches --bench: --all-targets -F: --features: --all-features --no-default-features -r --release --profile: -j: --jobs: \
    --keep-going --ignore-rust-version";
const LIBTEST: &str = "--nocapture --no-capture --test-threads: --skip: --exact --ignored --include-ignored --list --show-output \
    -q --quiet --color: --format:";
const GO_BUILD: &str = "-v -x -n -race -a -p: -tags: -trimpath -mod=vendor -mod=readonly";
const DOTNET: &str =
    "-c: --configuration: -f: --framework: -v: --verbosity: --no-restore --no-build --nologo";
const NODE: &str = "-s --silent --offline --prefer-offline --no-audit --no-fund --ignore-scripts --no-progress --frozen-lockfile";
const GRADLE: &str = "-q --quiet -i --info -s --stacktrace --offline --console: --no-daemon --continue --parallel --rerun-tasks \
    --dry-run -m -x: --exclude-task:";
const MAVEN: &str = "-q --quiet -B --batch-mode -o --offline -e --errors -X --debug -DskipTests -ntp --no-transfer-progress \
    -pl: --projects: -am --also-make -fae --fail-at-end -T: --threads:";
const MAKE: &str = "-j --jobs -# -k --keep-going -s --silent --quiet -B --always-make -w --print-directory --no-print-directory \
    --output-sync -O";
const HG: &str = "-v --verbose -q --quiet -r: --rev: -p --patch --stat -g --git -l: --limit: -b: --branch: -G --graph";
const JJ: &str = "-r: --revisions: -n: --limit: -p --patch -s --summary --stat --git --no-graph --color: --no-pager \
    --ignore-working-copy --types --name-only --from: --to:";

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    // Programs that show or check something.
    Row::of("ls", "").with(&["-a -A -b -B -c -C -d -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U \
        -v -w: -x -X -Z -1 --all --almost-all --author --escape --block-size: --color --directory --classify --file-type --format: \
        --full-time --group-directories-first --no-group --human-readable --si --dereference --hide: --indicator-style: --inode \
        --ignore: --kibibytes --literal --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: \
        --width: --zero --help --version"], Operands::Patterns),
    Row::of("cat", "").with(&["-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank \
        --show-tabs --show-nonprinting --help --version"], Operands::Patterns),
    Row::of("head", "").with(&["-# -n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated --help --version"],
        Operands::Patterns),
    Row::of("tail", "").with(&["-# -n: -c: -q -v -z -r --lines: --bytes: --quiet --silent --verbose --zero-terminated --help --version"],
        Operands::Patterns),
    Row::of("wc", "").with(&["-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total: --help --version"], Operands::Patterns),
    Row::of("grep", "").with(&["-# -a -A: -b -B: -c -C: -d: -e: -E -F -G -h -H -i -I -l -L -m: -n -o -P -q -r -R -s -T -v -w -x -y -z -Z \
        --after-context: --before-context: --context: --basic-regexp --byte-offset --color --colour --count --exclude: --exclude-dir: \
        --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case --no-ignore-case --include: \
        --initial-tab --invert-match --line-number --line-regexp --max-count: --no-filename --no-messages --null --null-data \
        --only-matching --perl-regexp --quiet --silent --recursive --dereference-recursive --regexp: --text --with-filename \
        --word-regexp --binary-files: --group-separator: --no-group-separator --label: --line-buffered --help --version"], Operands::Patterns),
    Row::of("rg", "").with(&["-. -0 -a -A: -b -B: -c -C: -e: -F -g: -h -H -i -I -j: -l -L -m: -M: -n -N -o -p -P -q -r: -s -S -t: -T: -u -U -v -V -w -x \
        -d: --after-context: --before-context: --context: --binary --block-buffered --byte-offset --case-sensitive --color: --colors: \
        --column --no-config --count --count-matches --crlf --dfa-size-limit: --engine: --encoding: -E: --field-context-separator: \
        --field-match-separator: --files --files-with-matches --files-without-match --fixed-strings --follow --glob: \
        --glob-case-insensitive --heading --no-heading --help --hidden --iglob: --ignore-case --include-zero --invert-match --json \
        --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: \
        --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-filename --no-ignore --no-ignore-dot --no-ignore-global \
        --no-ignore-parent --no-ignore-vcs --no-messages --null --null-data --one-file-system --only-matching --passthru --path-separator: \
        --pcre2 --pretty --quiet --regex-size-limit: --regexp: --replace: --smart-case --sort: --sortr: --stats --stop-on-nonmatch --text \
        --threads: --trim --type: --type-list --type-not: --unrestricted --version --vimgrep --with-filename --word-regexp"], Operands::Any),
    Row::of("find", "").with(&["-H -L -P -a -amin: -and -anewer: -atime: -cmin: -cnewer: -ctime: -daystart -depth -empty -executable -false \
        -follow -fstype: -gid: -group: -ilname: -iname: -inum: -ipath: -iregex: -links: -lname: -ls -maxdepth: -mindepth: -mmin: -mount \
        -mtime: -name: -newer: -nogroup -not -nouser -o -or -path: -perm: -print -print0 -printf: -prune -quit -readable -regex: \
        -regextype: -samefile: -size: -true -type: -uid: -user: -wholename: -writable -xdev -xtype:"], Operands::Any).words(),
    Row::of("pwd", "").with(&["-L -P"], Operands::Patterns),
    Row::of("echo", "").with(&["-n -e -E"], Operands::Patterns),
    Row::of("printf", "").with(&[], Operands::Patterns),
    // Behind a letter that takes a value it reads more letters: `-Lo 1 FILE` writes.
    Row::of("tree", "").with(&["-a -d -f -i -l -x -L: -P: -I: -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v -C -n -A -S -J -X --noreport \
        --dirsfirst --filesfirst --gitignore --matchdirs --ignore-case --prune --filelimit: --du --si --inodes --device --sort: --charset: \
        --timefmt: --help --version"], Operands::Any).words(),
    Row::of("du", "").with(&["-0 -a -A -b -B: -c -d: -D -h -H -k -l -L -m -P -s -S -t: -x --null --all --apparent-size --block-size: --total \
        --max-depth: --dereference --human-readable --inodes --si --summarize --separate-dirs --threshold: --time --time-style: \
        --exclude: --one-file-system --help --version"], Operands::Patterns),
    Row::of("df", "").with(&["-a -B: -h -H -i -k -l -P -t: -T -x: --all --block-size: --human-readable --si --inodes --local --output \
        --portability --total --type: --print-type --exclude-type: --help --version"], Operands::Patterns),
    Row::of("stat", "").with(&["-L -f -c: -t -x -s --dereference --file-system --format: --printf: --terse --help --version"], Operands::Patterns),
    Row::of("file", "").with(&["-b -i -I -L -h -k -r -N -0 --brief --mime --mime-type --mime-encoding --extension --keep-going --raw \
        --no-pad --dereference --no-dereference --help --version"], Operands::Any),
    Row::of("diff", "").with(&["-# -a -b -B -c -C: -d -e -E -H -i -I: -n -N -p -q -r -s -t -T -u -U: -w -W: -x: -y -Z --normal --brief \
        --report-identical-files --context --unified --ed --rcs --side-by-side --width: --left-column --suppress-common-lines \
        --show-c-function --show-function-line: --label: --expand-tabs --recursive --no-dereference --new-file --unidirectional-new-file \
        --ignore-file-name-case --exclude: --starting-file: --ignore-case --ignore-tab-expansion --ignore-trailing-space \
        --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --minimal \
        --speed-large-files --color --palette: --tabsize: --help --version"], Operands::Any),
    Row::of("cmp", "").with(&["-b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent --help --version"],
        Operands::Patterns),
    Row::of("sort", "").with(&["-b -c -C -d -f -g -h -i -k: -m -M -n -r -R -s -S: -t: -u -V -z --ignore-leading-blanks --check \
        --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --key: --merge --month-sort \
        --numeric-sort --random-sort --reverse --stable --buffer-size: --field-separator: --parallel: --unique --version-sort \
        --zero-terminated --sort: --batch-size: --debug --help --version"], Operands::Any),
    Row::of("uniq", "").with(&["-c -d -D -f: -i -s: -u -w: -z --count --repeated --all-repeated --group --skip-fields: --ignore-case \
        --skip-chars: --unique --check-chars: --zero-terminated --help --version"], Operands::One),
    Row::of("cut", "").with(&["-b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --complement --only-delimited \
        --output-delimiter: --zero-terminated --help --version"], Operands::Patterns),
    Row::of("tr", "").with(&["-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 --help --version"], Operands::Patterns),
    Row::of("date", "").with(&["-d: -u -R -I --date: --utc --universal --rfc-email --rfc-3339: --iso-8601 --help --version"], Operands::Format),
    Row::of("which", "").with(&["-a -s --all"], Operands::Patterns),
    Row::of("jq", "").with(&["-a -c -C -e -h -j -M -n -r -R -s -S --arg: --argjson: --args --ascii-output --color-output --compact-output \
        --exit-status --indent: --join-output --jsonargs --monochrome-output --null-input --raw-input --raw-output --raw-output0 --seq --slurp \
        --sort-keys --stream --tab --help --version"], Operands::Patterns),
    Row::of("seq", "").with(&["-# -f: -s: -w --format: --separator: --equal-width --help --version"], Operands::Any),
    Row::of("pytest", "").with(&["-h -k: -l -m: -n: -q -r: -s -v -x --co --collect-only --color: --deselect: --disable-warnings --durations: \
        --durations-min: --exitfirst --failed-first --ff --full-trace --ignore: --ignore-glob: --last-failed --lf --lfnf: --maxfail: --new-first \
        --nf --no-header --no-summary --quiet --runxfail --setup-plan --setup-show --show-capture: --showlocals --stepwise --sw \
        --strict-config --strict-markers --tb: --verbose --verbosity: --version --capture: --cov --no-cov --fixtures --markers"], Operands::Paths),
    Row::of("tsc", "").with(&["--noEmit --noEmitOnError --pretty --strict --skipLibCheck --listFiles --listFilesOnly --explainFiles --diagnostics \
        --extendedDiagnostics --traceResolution --noUnusedLocals --noUnusedParameters --noImplicitAny --showConfig --help -h --version -v"],
        Operands::Paths).words(),
    Row::of("eslint", "").with(&["-h -v --ext: --quiet --max-warnings: --color --no-color --no-eslintrc --no-ignore --no-inline-config \
        --ignore-pattern: --rule: --report-unused-disable-directives --no-error-on-unmatched-pattern --pass-on-no-patterns \
        --format=stylish --format=json --format=html --fix-dry-run --stdin --stdin-filename: --debug --help --version"],
        Operands::Any),
    Row::of("prettier", "").with(&["-c -l -h -v --check --list-different --no-color --ignore-unknown -u --no-config --no-editorconfig \
        --no-error-on-unmatched-pattern --log-level: --loglevel: --tab-width: --use-tabs --print-width: --single-quote --no-semi \
        --trailing-comma: --stdin-filepath: --file-info: --support-info --help --version"], Operands::Any),
    Row::of("mypy", "").with(&["-h -v -V -p: -m: -c: --package: --module: --strict --ignore-missing-imports --show-error-codes --hide-error-codes \
        --show-error-context --show-column-numbers --show-error-end --pretty --no-pretty --no-color-output --no-error-summary --no-incremental \
        --disallow-untyped-defs --disallow-incomplete-defs --check-untyped-defs --warn-unused-ignores --warn-return-any \
        --warn-redundant-casts --warn-unreachable --namespace-packages --explicit-package-bases --follow-imports: --python-version: \
        --platform: --exclude: --disable-error-code: --enable-error-code: --verbose --help --version"], Operands::Paths),
    Row::of("black", "").with(&["-q -v -l: -t: -S -C --check --diff --color --no-color --fast --safe --quiet --verbose --line-length: \
        --target-version: --skip-string-normalization --include: --exclude: --extend-exclude: --help --version"], Operands::Any)
        .needing(&["--check", "--diff", "--version", "--help"]),
    Row::of("rustfmt", "").with(&["-l -v -q -h -V --check --edition: --files-with-diff --quiet --verbose --color: --help --version"], Operands::Any)
        .needing(&["--check", "--version", "--help"]),
    Row::of("ctest", "").with(&["-N -V -VV -Q -R: -E: -L: -LE: -j: -C: -I: -U -F --show-only --verbose --extra-verbose --output-on-failure \
        --stop-on-failure --progress --quiet --tests-regex: --exclude-regex: --label-regex: --label-exclude: --parallel: --build-config: \
        --timeout: --rerun-failed --repeat: --schedule-random --no-tests: --print-labels --help --version"], Operands::None),

    // Builds and tests.
    Row::of("cargo", "test").with(&[CARGO, CARGO_BUILD, "--doc --no-run --no-fail-fast"], Operands::Any).passing_on(&[LIBTEST]),
    Row::of("cargo", "bench").with(&[CARGO, CARGO_BUILD, "--no-run --no-fail-fast"], Operands::Any).passing_on(&["--test --list --exact"]),
    Row::of("cargo", "build").with(&[CARGO, CARGO_BUILD], Operands::None),
    Row::of("cargo", "check").with(&[CARGO, CARGO_BUILD], Operands::None),
    Row::of("cargo", "clippy").with(&[CARGO, CARGO_BUILD, "--no-deps"], Operands::None)
        .passing_on(&["-A: -W: -D: -F: --allow: --warn: --deny: --forbid: --no-deps"]),
    Row::of("cargo", "fmt").with(&[CARGO, "--check --all -p: --package:"], Operands::None).passing_on(&["--check -l"]),
    Row::of("cargo", "doc").with(&[CARGO, CARGO_BUILD, "--no-deps --document-private-items"], Operands::None),
    Row::of("cargo", "tree").with(&[CARGO, "-e: --edges: -i: --invert: -d --duplicates --depth: --prefix: -p: --package: --workspace --all -F: \
        --features: --all-features --no-default-features --charset: --no-dedupe"], Operands::None),
    Row::of("cargo", "metadata").with(&[CARGO, "--no-deps --format-version: -F: --features: --all-features --no-default-features"], Operands::None),
    Row::of("cargo", "clean").with(&[CARGO, "-p: --package: -r --release --profile: --doc -n --dry-run"], Operands::None),
    Row::of("go", "test").with(&[GO_BUILD, "-run: -skip: -count: -short -timeout: -cover -bench: -benchmem -benchtime: -failfast -parallel: \
        -cpu: -json -list: -shuffle: -covermode:"], Operands::Any).words(),
    Row::of("go", "build").with(&[GO_BUILD], Operands::Any).words(),
    Row::of("go", "vet").with(&["-v -x -n -tags: -json"], Operands::Any).words(),
    Row::of("go", "list").with(&["-m -f: -json -deps -test -e -tags: -versions -u"], Operands::Any).words(),
    Row::of("go", "doc").with(&["-all -c -cmd -short -src -u"], Operands::Any).words(),
    Row::of("dotnet", "test").with(&[DOTNET, "--filter: -t --list-tests"], Operands::None).words(),
    Row::of("dotnet", "build").with(&[DOTNET, "--no-incremental"], Operands::None).words(),
    Row::of("gradle", "test").with(&[GRADLE, "--tests:"], Operands::None),
    Row::of("gradle", "build").with(&[GRADLE], Operands::None),
    Row::of("gradle", "check").with(&[GRADLE], Operands::None),
    Row::of("mvn", "test").with(&[MAVEN], Operands::None).words(),
    Row::of("mvn", "compile").with(&[MAVEN], Operands::None).words(),
    Row::of("mvn", "verify").with(&[MAVEN], Operands::None).words(),
    Row::of("mvn", "package").with(&[MAVEN], Operands::None).words(),
    Row::of("make", "test").with(&[MAKE], Operands::None),
    Row::of("make", "check").with(&[MAKE], Operands::None),
    Row::of("make", "build").with(&[MAKE], Operands::None),
    Row::of("make", "all").with(&[MAKE], Operands::None),
    Row::of("make", "lint").with(&[MAKE], Operands::None),
    Row::of("npm", "test").with(&[NODE], Operands::Plain).passing_on(&[]),
    Row::of("npm", "ci").with(&[NODE], Operands::None),
    Row::of("npm", "install").with(&[NODE], Operands::None),
    Row::of("npm", "ls").with(&["-a --all --depth: --json --long --parseable --omit:"], Operands::Plain),
    Row::of("pnpm", "test").with(&[NODE], Operands::Plain).passing_on(&[]),
    Row::of("pnpm", "install").with(&[NODE], Operands::None),
    Row::of("yarn", "test").with(&[NODE], Operands::Plain).passing_on(&[]),
    Row::of("yarn", "install").with(&[NODE], Operands::None),
    Row::of("pip", "list").with(&["-o --outdated -u --uptodate -l --local --format: --not-required"], Operands::None),
    Row::of("pip", "show").with(&["-f --files -v --verbose"], Operands::Plain),
    Row::of("uv", "sync").with(&["-q --quiet --frozen --locked --offline --all-extras --extra: --dev --no-dev --group:"], Operands::None),
    Row::of("ruff", "check").with(&["-q -v -s -e --no-fix --diff --no-cache --select: --ignore: --extend-select: --extend-ignore: \
        --line-length: --target-version: --output-format: --statistics --show-files --show-settings --preview --exclude: --extend-exclude: \
        --respect-gitignore --force-exclude --exit-zero --exit-non-zero-on-fix --quiet --verbose --silent --help"], Operands::Paths),
    Row::of("ruff", "format").with(&["-q -v --check --diff --no-cache --line-length: --target-version: --preview --exclude: --quiet --verbose \
        --help"], Operands::Paths).needing(&["--check", "--diff", "--help"]),

    // Versions of the project.
    Row::of("git", "status").with(&["-s -b -v -u -uno -uall -unormal -z --short --branch --long --porcelain --show-stash --verbose --untracked-files --ignored \
        --ignore-submodules --column --no-column --ahead-behind --no-ahead-behind --renames --no-renames"], Operands::Any),
    Row::of("git", "log").with(&[GIT_LOG, GIT_DIFF], Operands::Any),
    Row::of("git", "show").with(&[GIT_LOG, GIT_DIFF], Operands::Any),
    Row::of("git", "diff").with(&["--cached --staged --merge-base --base --ours --theirs", GIT_DIFF], Operands::Any),
    Row::of("git", "reflog").with(&[GIT_LOG], Operands::None),
    Row::of("git", "shortlog").with(&["-n -s -e -c --numbered --summary --email --since: --until: --no-merges --all"], Operands::Any),
    Row::of("git", "blame").with(&["-L: -l -t -s -e -f -n -w -M -C -p -c --root --porcelain --line-porcelain --show-name --show-number --show-email \
        --date: --since: --color-lines --color-by-age --abbrev --score-debug"], Operands::Any),
    Row::of("git", "grep").with(&["-# -a -i -I -w -v -h -H -E -G -F -P -n -l -L -c -o -q -p -W -z -A: -B: -C: -e: -m: --cached --untracked --text \
        --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number \
        --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color --no-color --break --heading \
        --show-function --context: --after-context: --before-context: --function-context --max-depth: --max-count: --and --or --not \
        --all-match --quiet"], Operands::Any),
    Row::of("git", "ls-files").with(&["-c -d -m -o -i -s -u -k -t -v -z -x: --cached --deleted --modified --others --ignored --stage --unmerged \
        --killed --exclude: --exclude-standard --full-name --abbrev --eol --error-unmatch"], Operands::Any),
    Row::of("git", "ls-tree").with(&["-d -r -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev --object-only --format:"],
        Operands::Any),
    Row::of("git", "rev-parse").with(&["--verify --short --abbrev-ref --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir \
        --is-inside-work-tree --is-bare-repository --all --branches --tags --remotes --symbolic --symbolic-full-name -q --quiet"], Operands::Any),
    Row::of("git", "rev-list").with(&[GIT_LOG, "--count --objects"], Operands::Any),
    Row::of("git", "describe").with(&["--all --tags --contains --abbrev --exact-match --long --always --dirty --match: --exclude: --first-parent"],
        Operands::Any),
    Row::of("git", "cat-file").with(&["-t -s -e -p --batch-check"], Operands::Any),
    Row::of("git", "merge-base").with(&["-a --all --octopus --independent --is-ancestor --fork-point"], Operands::Any),
    Row::of("git", "branch").with(&["-a -r -v -l -i -q --all --remotes --list --verbose --show-current --merged --no-merged --contains --no-contains \
        --points-at: --sort: --format: --color --no-color --column --no-column --ignore-case"], Operands::Any),
    Row::of("git", "tag").with(&["-l -n -i --list --contains --no-contains --merged --no-merged --points-at: --sort: --format: --color --column \
        --ignore-case"], Operands::Any),
    Row::of("git", "remote").with(&["-v --verbose"], Operands::None),
    Row::of("git", "add").with(&["-A -n -u -v -N --all --no-all --update --dry-run --verbose --intent-to-add --ignore-errors --ignore-removal \
        --refresh"], Operands::Any),
    Row::of("git", "mv").with(&["-k -n -v --dry-run --verbose"], Operands::Any),
    Row::of("git", "rm").with(&["-r -n -q --cached --dry-run --ignore-unmatch --quiet"], Operands::Any),
    Row::of("git", "commit").with(&["-a -m: -q -s -v -n -o -i -u --all --message: --quiet --signoff --verbose --no-verify --amend --no-edit --allow-empty \
        --dry-run --short --porcelain --long --author: --date: --fixup: --squash: --trailer: --only --include --no-gpg-sign --no-status \
        --cleanup:"], Operands::Any),
    Row::of("git", "checkout").with(&["-b: -q -d -t --quiet --detach --track --no-track --ours --theirs --progress --no-progress"], Operands::Any),
    Row::of("git", "switch").with(&["-c: -q -d -t --create: --quiet --detach --track --no-track --guess --no-guess"], Operands::Any),
    Row::of("git", "restore").with(&["-s: -S -W -q --source: --staged --worktree --quiet --ours --theirs"], Operands::Any),
    Row::of("git", "reset").with(&["-q --quiet --soft --mixed"], Operands::Any),
    Row::of("git", "merge").with(&["-m: -q -v -n --ff --no-ff --ff-only --no-edit --squash --no-commit --commit --abort --continue --quiet --verbose \
        --stat --no-stat"], Operands::Any),
    Row::of("git", "fetch").with(&["-a -p -q -t -v --all --prune --quiet --tags --no-tags --verbose --depth: --deepen: --unshallow --dry-run --progress \
        --no-recurse-submodules"], Operands::Remote),
    Row::of("git", "pull").with(&["-p -q -v --prune --quiet --verbose --rebase --no-rebase --ff --ff-only --no-ff --no-edit --tags --no-tags --progress \
        --autostash --no-autostash --no-recurse-submodules"], Operands::Remote),
    Row::of("git", "push").with(&["-n -q -u -v --dry-run --quiet --set-upstream --tags --follow-tags --verbose --progress --porcelain --atomic"],
        Operands::Remote),
    Row::of("jj", "log").with(&[JJ], Operands::Any),
    Row::of("jj", "diff").with(&[JJ], Operands::Any),
    Row::of("jj", "show").with(&[JJ], Operands::Any),
    Row::of("jj", "status").with(&[JJ], Operands::Any),
    Row::of("hg", "log").with(&[HG], Operands::Any),
    Row::of("hg", "diff").with(&[HG], Operands::Any),
    Row::of("hg", "status").with(&["-v --verbose -q --quiet -A --all -m --modified -a --added -r --removed -u --unknown"], Operands::Any),
];
