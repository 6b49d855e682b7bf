//! Words about secrets, in the languages people write to a terminal in: names, verbs, and talk that holds no value.

/// Ends of names whose values are passwords …
pub(super) const PASSWORDS: &[&str] = &[
    "password", "passwords", "passwd", "passcode", "pwd", "parol", "paroli", "parolingiz", "парол", "паролим", "пароль",
    "пароли", "пароля", "passwort", "passwörter", "kennwort", "contraseña", "contrasena", "contraseñas", "senha", "mdp",
    "motdepasse", "passw", "passord", "wachtwoord",
];

/// … and phrases.
pub(super) const PHRASES: &[&str] = &[
    "passphrase", "passphrases", "mnemonic", "seedphrase", "пассфраза", "passsatz",
];

/// Make a `phrase` or `words` secret ones.
pub(super) const BEFORE_PHRASE: &[&str] = &[
    "pass", "seed", "recovery", "backup", "secret", "mnemonic", "wallet", "key",
];

/// Ends of names of keys, which are words of talk as well.
pub(super) const KEYS: &[&str] = &[
    "token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "secretaccesskey", "accountkey",
    "sharedaccesskey", "clave", "connectionstring", "signingkey",
];

/// Make a `key` or a `code` a secret one.
pub(super) const BEFORE_KEY: &[&str] = &[
    "api", "access", "secret", "private", "auth", "licence", "license", "signing", "encryption", "account", "master",
    "wifi", "product",
];

pub(super) const BEFORE_SEED: &[&str] = &[
    "totp", "otp", "2fa", "mfa", "authenticator", "hotp",
];

/// Make `codes` ones that are used once.
pub(super) const RECOVERY: &[&str] = &[
    "recovery", "backup", "2fa", "mfa", "scratch", "otp", "emergency", "rescue", "bypass",
];

/// Make a `code` one that opens something.
pub(super) const BEFORE_CODE: &[&str] = &[
    "door", "doors", "alarm", "safe", "gate", "access", "entry", "entrance", "garage", "lock", "lockbox", "locker",
    "building", "unlock", "security", "verification", "sms", "keypad", "vault", "padlock", "house", "apartment", "flat",
    "office", "elevator", "lift", "bike", "suitcase", "activation", "pin", "intercom", "login", "secret", "cvv",
];

/// What a `code for the …` opens.
pub(super) const WAYS_IN: &[&str] = &[
    "door", "alarm", "safe", "gate", "garage", "lock", "lockbox", "locker", "building", "keypad", "vault", "padlock",
    "house", "apartment", "flat", "entrance", "intercom", "suitcase", "tür", "safes", "alarmanlage", "puerta", "alarma",
    "porte", "alarme", "двери", "сейфа", "домофона", "подъезда",
];

/// Names of such codes in one word.
pub(super) const PLACED_CODES: &[&str] = &[
    "türcode", "zugangscode", "alarmcode", "sicherheitscode", "doorcode", "gatecode", "safecode",
];

pub(super) const LOGINS: &[&str] = &[
    "login", "logins", "credentials", "creds", "logon", "signin", "zugangsdaten", "логин", "credenciales",
    "identifiants", "userpass",
];

/// Names in scripts without blanks.
pub(super) const UNSPACED: &[&str] = &[
    "密码", "密碼", "口令", "暗号", "密钥", "パスワード", "비밀번호", "암호", "验证码",
];

/// What is said of them that is no value.
pub(super) const UNSPACED_TALK: &[&str] = &[
    "什么", "甚麼", "多少", "错", "不", "正确", "对的", "必", "空", "由", "用", "怎", "哪", "否", "过期", "加密", "安全", "强", "弱", "太", "很",
    "一个", "一种", "需要", "存", "在", "我们", "谁", "明文", "随机", "何", "間違", "ない", "重要",
];

/// Between a name and its value.
pub(super) const VERBS: &[&str] = &[
    "is set to", "is changed to", "was changed to", "should be", "will be", "must be", "has to be", "set to",
    "changed to", "reset to", "is", "was", "are", "it's", "bu", "esa", "ist", "lautet", "war", "es", "era", "son",
    "est", "é", "это", "будет", "эса",
];

/// After a verb, before a value.
pub(super) const ADVERBS: &[&str] = &[
    "still", "now", "actually", "currently", "again", "just", "simply", "really", "probably", "also", "apparently",
    "definitely", "only", "set", "noch", "immer", "jetzt", "nun", "aktuell", "ahora", "todavía", "sigue", "toujours",
    "maintenant", "encore", "сейчас", "теперь", "ещё", "hali", "ham", "hozir", "endi", "literally",
];

/// `changed the password to …`
pub(super) const CHANGES: &[&str] = &[
    "set", "change", "changed", "reset", "update", "updated", "make", "made", "rotate", "rotated", "switch", "switched",
    "setting", "use", "using", "changing", "cambia",
];

/// Before what a name opens.
pub(super) const LEADS: &[&str] = &[
    "for", "to", "of", "on", "at", "in", "from", "we", "i", "you", "that", "here", "für", "vom", "von", "zum", "im",
    "de", "del", "para", "du", "pour", "des", "au", "от", "для", "к", "на", "uchun", "y", "and", "до", "within",
];

/// Make another thing of a name: a `token limit` is no token.
pub(super) const NEIGHBOURS: &[&str] = &[
    "policy", "policies", "manager", "managers", "limit", "limits", "budget", "count", "counts", "length", "usage",
];

/// Of languages without `is`.
pub(super) const FAR_VERBLESS: &[&str] = &[
    "от", "для", "к", "uchun",
];

/// Words that hold sentences together: no value begins with them.
pub(super) const FUNCTION: &[&str] = &[
    "not", "no", "in", "on", "at", "of", "to", "too", "so", "very", "that", "this", "these", "what", "which", "who",
    "when", "where", "why", "how", "if", "as", "by", "for", "from", "with", "without", "and", "or", "but", "because",
    "than", "then", "until", "while", "after", "before", "between", "under", "over", "into", "about", "i", "we", "you",
    "he", "she", "it", "they", "its", "his", "her", "their", "there", "here", "must", "should", "can", "could", "may",
    "might", "will", "would", "has", "have", "had", "be", "been", "being", "is", "are", "was", "were", "do", "does",
    "did", "don't", "doesn't", "isn't", "never", "always", "only", "already", "also", "still", "now", "again", "yet",
    "just", "going", "gonna", "getting", "kept", "see", "ask", "at least", "more", "less", "some", "something",
    "anything", "nothing", "everything", "whatever", "each", "every", "any", "all", "both", "either", "least", "even",
    "almost", "probably", "maybe", "quite", "pretty", "really", "kind", "sort", "up", "out", "off", "down", "through",
    "via", "per", "nicht", "kein", "keine", "zu", "sehr", "im", "auf", "mit", "von", "für", "und", "oder", "noch",
    "wird", "wurde", "en", "con", "muy", "y", "por", "para", "demasiado", "pas", "trop", "très", "dans", "sur", "avec",
    "et", "pour", "не", "в", "на", "с", "слишком", "очень", "и", "для", "juda", "emas", "va", "uchun", "yo'q", "kerak",
    "esimda", "hali", "bilan",
];

pub(super) const ARTICLES: &[&str] = &[
    "a", "an", "the", "my", "our", "your", "der", "die", "das", "ein", "eine", "mein", "el", "la", "un", "una", "los",
    "las", "le", "les", "une", "mon", "meine", "one", "another",
];

/// What passwords are said to be.
pub(super) const STATES: &[&str] = &[
    "wrong", "right", "correct", "incorrect", "invalid", "valid", "missing", "empty", "blank", "required", "optional",
    "mandatory", "expired", "expiring", "needed", "necessary", "stored", "saved", "set", "sent", "passed", "hashed",
    "salted", "encrypted", "hidden", "masked", "weak", "strong", "stronger", "weaker", "long", "longer", "short",
    "shorter", "safe", "secure", "insecure", "unsafe", "same", "different", "new", "old", "changed", "reset", "rotated",
    "forgotten", "lost", "found", "default", "unknown", "known", "string", "str", "null", "none", "nil", "true",
    "false", "undefined", "yes", "ok", "okay", "fine", "good", "bad", "great", "terrible", "awful", "stupid", "easy",
    "hard", "difficult", "simple", "complex", "complicated", "important", "public", "private", "secret", "shared",
    "leaked", "exposed", "compromised", "visible", "logged", "cached", "printed", "checked", "validated", "verified",
    "accepted", "rejected", "refused", "denied", "locked", "unlocked", "broken", "stale", "plain", "plaintext", "text",
    "case", "sensitive", "there", "gone", "done", "ready", "working", "failing", "unchanged", "updated", "generated",
    "random", "unique", "reused", "guessable", "written", "typed", "entered", "given", "asked", "used", "unused",
    "supported", "enough", "annoying", "confusing", "ugly", "slow", "strict", "boring", "useless", "redacted",
    "pending", "here", "string?", "bytes", "falsch", "richtig", "abgelaufen", "vergessen", "schwach", "stark", "sicher",
    "unsicher", "gespeichert", "geheim", "leer", "lang", "kurz", "incorrecta", "correcta", "débil", "fuerte", "segura",
    "mala", "larga", "corta", "incorrect", "faux", "faible", "fort", "sûr", "expiré", "неверный", "неправильный",
    "правильный", "слабый", "сильный", "устарел", "простой", "длинный", "забыт", "noto'g'ri", "xato", "oddiy",
    "kuchsiz", "uzun", "qisqa",
];

/// After an article, of what is said of passwords.
pub(super) const COMMON: &[&str] = &[
    "main", "real", "big", "only", "last", "first", "same", "next", "weakest", "whole", "usual", "problem", "thing",
    "bit", "huge", "single", "security", "common", "actual", "very", "best", "worst", "wrong", "right", "kind", "good",
    "random",
];

/// Things that are named beside passwords, and ways to sign in.
pub(super) const NOUNS: &[&str] = &[
    "problem", "problems", "issue", "thing", "risk", "field", "string", "hash", "policy", "reason", "pain", "question",
    "part", "joke", "way", "email", "mail", "password", "passwords", "username", "user", "google", "github", "gitlab",
    "oauth", "sso", "apple", "facebook", "phone", "pass", "signup", "register", "logout", "login", "name", "birthday",
    "saml",
];

/// Join clauses …
pub(super) const JOINING: &[&str] = &[
    "and", "but", "because", "so", "und", "aber", "y", "pero", "et", "mais", "и", "va",
];

/// … that begin with these.
pub(super) const STARTS: &[&str] = &[
    "the", "my", "our", "your", "i", "we", "it", "user", "username", "login", "please", "then", "use", "that", "this",
    "you", "don't", "always", "never", "remember", "he", "she", "they", "its", "i'm", "we're", "it's", "i'll", "for",
    "der", "die", "das", "ich", "wir", "el", "la", "mi", "le", "mon", "я", "мы", "мой", "men", "mening", "pin", "can",
    "is", "not", "email",
];
