//! Words about secrets, in the languages people write to a terminal in: names, verbs, and talk that holds no value.

use super::Class;

/// Ends of names whose values are passwords …
pub(super) const PASSWORDS: &[&str] = &[
    "password", "passwords", "passwd", "passcode", "pwd", "parol", "paroli", "parolingiz", "парол", "паролим", "пароль",
    "пароли", "пароля", "passwort", "passwörter", "kennwort", "contraseña", "contrasena", "contraseñas", "senha", "mdp",
    "motdepasse", "passw", "passord", "wachtwoord", "lösenord", "hasło", "heslo", "salasana", "passwords", "paswoord",
    "парола", "паролем", "паролю", "паролей", "parolni", "parolimni", "parolingni", "parole", "parola", "şifre", "şifrem",
    "clave", "zugangspasswort", "пасс", "senhas",
];

/// Names that people misspell.
pub(super) const FUZZY: &[&str] = &[
    "password", "passcode", "passphrase", "passwort", "kennwort", "contraseña", "пароль", "credentials",
];

/// Words that only look like misspelt ones.
pub(super) const REAL_WORDS: &[&str] = &[
    "passport", "passports", "passage", "passages", "passing", "passive", "passenger", "passes", "passed", "patrol", "parrot",
    "password", "paradise", "parole", "passover", "keyword", "kennwort", "pastor", "passersby", "massword", "парол",
    "король", "пастор", "passports", "postcode", "postcodes", "pascode", "parcel", "credential", "passable", "patroness",
    "passionate", "passion", "passions", "paraphrase", "pasture", "pastures", "packard", "пароход", "процесс",
];

/// Make a `code` one that is used once …
pub(super) const ONE_TIME: &[&str] = &[
    "guard", "otp", "totp", "sms", "verification", "onetime", "authenticator", "authentication", "confirmation", "2fa", "mfa",
    "einmal", "bestätigungs", "verificación", "verificacion", "vérification", "подтверждения", "смс", "одноразовый",
    "одноразовый", "tasdiqlash", "auth", "twofactor", "factor", "login", "signin", "texted",
];

/// … and names of it in one word.
pub(super) const ONE_TIME_NAMES: &[&str] = &[
    "otp", "otps", "tan", "einmalcode", "bestätigungscode", "verifizierungscode", "einmalpasswort", "smscode", "smstan",
    "verificationcode", "authcode", "pushtan",
];

/// Names of what keeps a browser signed in.
pub(super) const COOKIES: &[&str] = &[
    "cookie", "cookies", "sid", "phpsessid", "jsessionid", "aspsessionid", "connect.sid", "csrftoken", "xsrftoken", "куки",
    "sessionid", "csrf", "xsrf",
];

/// Numbers that a state gives to a person …
pub(super) const IDS: &[&str] = &[
    "ssn", "ssns", "nin", "nino", "dni", "nie", "nif", "curp", "cpf", "aadhaar", "aadhar", "pesel", "bsn", "pinfl", "jshshir",
    "жшшир", "пинфл", "инн", "снилс", "паспорт", "паспорта", "паспортные", "passport", "passports", "reisepass", "reisepassnummer", "passnummer",
    "personalausweis", "personalausweisnummer", "ausweisnummer", "steuerid", "steueridentifikationsnummer", "steuernummer",
    "sozialversicherungsnummer", "pasaporte", "passeport", "pasport", "pasportim", "nir", "personnummer", "cédula", "cedula",
    "driverslicense", "licence", "licenseno", "nhs", "ausweis", "personalnummer", "itin", "ahv", "rijbewijs", "codicefiscale",
];

/// … and words that say that they are numbers.
pub(super) const NUMBERS: &[&str] = &[
    "number", "no", "num", "nr", "nummer", "número", "numero", "numéro", "номер", "raqami", "raqam", "id",
];

/// … and phrases.
pub(super) const PHRASES: &[&str] = &[
    "passphrase", "passphrases", "mnemonic", "mnemonics", "seedphrase", "пассфраза", "passsatz", "сидфраза", "сидфразу",
    "seedwords", "recoveryphrase", "wiederherstellungsphrase", "mnemotechnique",
];

/// Make a `phrase` or `words` secret ones.
pub(super) const BEFORE_PHRASE: &[&str] = &[
    "pass", "seed", "recovery", "backup", "secret", "mnemonic", "wallet", "key", "сид", "мнемоническая", "резервная",
    "mnemonischer", "twelve", "mnemonische",
];

/// Ends of names of keys, which are words of talk as well.
pub(super) const KEYS: &[&str] = &[
    "secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "secretaccesskey", "accountkey",
    "sharedaccesskey", "connectionstring", "signingkey", "apischlüssel", "schlüssel", "webhook", "webhooksecret", "ключ",
    "licensekey", "hmac", "kalit", "kaliti",
];

/// … and of what is shown instead of a password.
pub(super) const TOKENS: &[&str] = &[
    "token", "jwt", "bearer", "токен", "токена", "jeton",
];

/// Make a `key` or a `code` a secret one.
pub(super) const BEFORE_KEY: &[&str] = &[
    "api", "access", "secret", "private", "auth", "licence", "license", "signing", "encryption", "account", "master",
    "wifi", "product", "stripe", "openai", "aws", "service", "deploy", "ssh", "storage", "azure", "github", "сервиса", "client",
    "anthropic", "google", "sendgrid", "twilio", "webhook", "admin", "prod", "production", "staging", "security",
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
pub(super) const UNSPACED: &[(&str, Class)] = &[
    ("密码", Class::Password), ("密碼", Class::Password), ("口令", Class::Password), ("暗号", Class::Password),
    ("パスワード", Class::Password), ("비밀번호", Class::Password), ("암호", Class::Password), ("密钥", Class::ApiKey),
    ("秘钥", Class::ApiKey), ("密鑰", Class::ApiKey), ("令牌", Class::Token), ("验证码", Class::OneTimeCode),
    ("驗證碼", Class::OneTimeCode), ("校验码", Class::OneTimeCode), ("动态码", Class::OneTimeCode), ("身份证号", Class::NationalId),
    ("身份证号码", Class::NationalId), ("身份证", Class::NationalId), ("护照号", Class::NationalId), ("护照号码", Class::NationalId),
    ("卡号", Class::Card), ("银行卡号", Class::Card), ("银行卡", Class::Card), ("信用卡", Class::Card), ("账号", Class::Account),
    ("密保问题的答案", Class::Password), ("安全问题的答案", Class::Password), ("密保答案", Class::Password),
    ("助记词", Class::RecoveryPhrase), ("恢复码", Class::RecoveryCode), ("门禁", Class::AccessCode), ("门锁", Class::AccessCode), ("保险箱", Class::AccessCode), ("保险柜", Class::AccessCode), ("开门", Class::AccessCode),
    ("取款", Class::Pin), ("解锁", Class::Pin), ("门禁码", Class::AccessCode), ("密码锁", Class::AccessCode),
    ("PIN码", Class::Pin), ("pin码", Class::Pin), ("密匙", Class::ApiKey), ("통행코드", Class::AccessCode),
];

/// Between such a name and its value.
pub(super) const UNSPACED_JOINTS: &[&str] = &[
    "就是", "应该是", "还是", "现在是", "它是", "是：", "是:", "是", "为", "為", "改成了", "改成", "改为", "设为", "设成", "设置为", "叫", "は",
    "：", ":", "=", "는", "은",
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
    "est", "c'est", "c’est", "é", "это", "будет", "эса", "is still", "was still", "is now", "=", "equals", "reads", "goes", "sería", "sera", "wäre", "ja", "war", "heißt", "heisst", "—",
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
    "for", "to", "of", "on", "at", "in", "from", "we", "i", "you", "that", "here", "am", "an", "beim", "für", "vom", "von", "zum", "im",
    "de", "del", "para", "du", "pour", "des", "au", "от", "для", "к", "на", "uchun", "y", "and", "до", "within",
];

/// Make another thing of a name: a `token limit` is no token.
pub(super) const NEIGHBOURS: &[&str] = &[
    "hash", "hashes", "field", "reset", "hint", "hints", "rules", "rotation", "strength", "validation", "screen", "generator", "store", "vault", "prompt",
    "form", "input", "page", "menejeri", "менеджер", "table", "column", "bucket", "endpoint", "expiry", "refresh", "renewal", "banner", "policy", "policies", "manager", "managers", "limit", "limits", "budget", "count", "counts", "length", "usage",
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
    "did", "mir", "dir", "ihm", "uns", "euch", "sich", "ich", "wir", "don't", "doesn't", "isn't", "never", "always", "only", "already", "also", "still", "now", "again", "yet",
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
    "pending", "here", "string?", "bool", "int", "void", "result", "option", "boolean", "integer", "obligatorio", "obligatoria", "requerido",
    "requerida", "obligatoire", "erforderlich", "required,", "обязательно", "обязателен", "nouveau", "nueva", "neu", "late", "over", "inherit", "raise",
    "string,", "varchar", "varchar,", "nil,", "unset", "rejected", "out", "blank", "today", "tomorrow", "yesterday", "soon", "majburiy", "again", "bytes", "falsch", "richtig", "abgelaufen", "vergessen", "schwach", "stark", "sicher",
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

/// What a sentence begins with that only says the value of what was named before it.
pub(super) const ANSWERS: &[&str] = &[
    "i think it's", "i think it is", "pretty sure it's", "i believe it's", "it should be", "it is still", "it's still", "it is now",
    "it's now", "it will be", "it is", "it's", "it’s", "its", "that's", "that’s", "that is", "this is",
    "they are", "they're", "those are", "these are",
    "here it is", "here it comes", "here you go", "here goes", "here they are", "here", "should be", "use", "try", "type", "enter",
    "just use", "just type", "just enter", "you can use", "namely", "so it's", "mine is", "mine's", "ours is", "the answer is",
    "i set it to", "i changed it to", "i made it", "we set it to", "we changed it to", "we use", "i use", "i picked", "i chose",
    "i went with", "set it to", "change it to", "write down", "note it down", "note this", "copy this", "paste this", "try this",
    "es ist", "das ist", "sie ist", "er ist", "es lautet", "er lautet", "sie lautet", "lautet", "hier ist es", "hier", "und zwar", "nimm", "ist", "is", "est", "war", "bu esa", "esa", "heißt", "ich glaube", "i guess", "probably", "er heißt",
    "это", "он", "оно", "вот он", "вот", "такой", "такая", "он такой", "сейчас", "теперь", "будет", "введи", "используй", "запиши",
    "es", "aquí está", "aqui esta", "aquí tienes", "la puse", "usa", "endi", "энди", "hozir", "now", "jetzt", "ahora", "maintenant", "ora", "nun", "ab jetzt", "现在是", "c'est", "c’est", "voici", "le voici", "la voici", "il est", "elle est",
    "utilise", "bu", "mana", "u", "shu", "mana u", "u hozir",
];

/// Words before a name in a sentence that has nothing to tell.
pub(super) const NOT_TOLD: &[&str] = &[
    "forgot", "forget", "forgotten", "lost", "lose", "recover", "remembered", "can't", "cannot", "hate", "without", "wrong", "broken", "vergessen",
    "olvidé", "oublié", "забыл", "забыла", "unutdim", "no", "never", "don't", "ask", "asks", "asked", "prompt", "prompts", "validate",
    "field", "implement", "hash", "hashes", "reset", "require", "requires", "need", "needs",
];

/// Ways to say what one signs in with, and after which word the value stands.
pub(super) const SIGN_IN: &[&str] = &[
    "log", "login", "logged", "sign", "signin", "signed", "unlock", "unlocked", "unlocks", "authenticate", "ssh", "connect", "auth",
    "logging", "signing", "einloggen", "anmelden",
];

/// Names of a user.
pub(super) const USERS: &[&str] = &[
    "user", "username", "login", "usr", "account", "email", "benutzer", "benutzername", "nutzer", "usuario", "utilisateur",
    "identifiant", "логин", "пользователь", "юзер", "foydalanuvchi", "u", "uid", "id", "userid", "admin", "用户名", "nutzername",
];

/// Make a number one that counts something.
pub(super) const UNITS: &[&str] = &[
    "%", "percent", "mm", "meter", "zimmer", "zuschauer", "zuschauern", "train", "yen", "euro", "dollar", "pounds", "rub", "sum", "so'm", "руб", "рублей", "kronor", "pts", "points", "pages", "ms", "s", "sec", "secs", "second", "seconds", "minute", "minutes", "min", "mins", "hour", "hours", "day", "days",
    "week", "weeks", "month", "months", "year", "years", "user", "users", "attempt", "attempts", "time", "times", "char", "chars",
    "character", "characters", "digit", "digits", "bytes", "byte", "kb", "mb", "gb", "bits", "bit", "lines", "line", "files", "tests",
    "words", "requests", "tokens", "dollars", "euros", "eur", "usd", "people", "rows", "items", "of", "or", "px", "km", "m", "cm", "kg",
    "tage", "stunden", "minuten", "sekunden", "zeichen", "stellen", "días", "minutos", "caracteres", "jours", "caractères", "минут",
    "секунд", "дней", "символов", "цифр", "kun", "soat", "daqiqa", "entries", "accounts", "passwords", "pins", "codes", "ways",
];

/// Make another thing of a `code` behind them.
pub(super) const NOT_CODES: &[&str] = &[
    "error", "status", "exit", "zip", "postal", "post", "area", "country", "discount", "promo", "coupon", "source", "dress", "building",
    "qr", "bar", "color", "colour", "airport", "morse", "return", "http", "response", "currency", "voucher", "gift", "machine", "byte",
    "fehler", "código", "penal", "civil", "product", "reason", "review", "legacy", "language", "dialing",
];

/// Before numbers of places and versions.
pub(super) const COUNTED: &[&str] = &[
    "at", "room", "floor", "platform", "apartment", "apt", "suite", "house", "flat", "unit", "page", "line", "version", "android", "ios",
    "section", "chapter", "step", "level", "port", "um", "year", "in", "since", "until", "by", "after", "before", "from", "of", "about",
    "around", "ticket", "issue", "pr", "bug", "order", "error", "exit", "status", "windows", "raum", "zimmer", "haus", "nummer", "bus",
    "train", "gate", "every", "over", "under", "than", "only", "some", "nearly", "almost", "zip", "postal", "plz", "kv", "дом", "кв",
    "комната", "las", "habitación", "salle", "chambre", "part", "model", "no", "fax", "tel", "phone", "call", "extension", "ext",
    "batch", "lot", "flight", "rfc", "iso", "cve",
];

/// Words that wallets do not have.
pub(super) const NOT_IN_SEED: &[&str] = &[
    "the", "and", "for", "with", "are", "was", "but", "not", "has", "had", "from", "been", "were", "would", "than", "them", "its", "our",
    "his", "her", "she", "him", "did", "does", "got", "how", "who", "why", "which", "could", "should", "still", "now", "just", "also",
    "only", "those", "these", "while", "until", "though", "please", "after", "like", "want", "need", "make", "made", "let", "use",
    "using", "used", "see", "said", "says", "very", "too", "out", "off", "per", "via", "und", "der", "die", "das", "ist", "ein", "eine",
    "que", "los", "las", "una", "les", "des", "est", "pas", "pour", "avec", "para", "con", "por", "think", "know", "because", "their",
    "going", "yes", "thanks", "doesn", "don", "can't", "isn", "being", "having", "my",
];

/// Of a security question.
pub(super) const QUESTIONS: &[&str] = &[
    "security question", "secret question", "security answer", "secret answer", "recovery question", "challenge question", "memorable word",
    "memorable place", "pregunta de seguridad", "pregunta secreta", "question secrète", "question de sécurité", "секретный вопрос",
    "контрольный вопрос", "секретного вопроса", "секретному вопросу", "кодовое слово", "maxfiy savol", "nom de jeune fille",
    "mother's maiden", "sicherheitsantwort", "geheimfrage", "password hint answer", "respuesta secreta", "respuesta de seguridad",
    "réponse secrète", "mot secret", "palabra secreta", "code word", "codewort", "kennfrage", "maxfiy so'z",
];

/// Behind which an answer stands.
pub(super) const ANSWER_VERBS: &[&str] = &[
    "is", "was", "it's", "that's", "answer", "answered", "put", "said", "wrote", "used", "use", "ist", "war", "lautet", "es", "era", "fue", "est",
    "c'est", "était", "это", "ответ", "ответил", "ответила", "javob", "javobi", "ismi", "puse", "puis", "mis", "gave", "entered", "typed", "set",
    "picked", "chose", "respondí", "répondu", "reply", "sein", "antwort", "beantwortet", "называется", "зовут", "—", "–", "deb", "to",
];

/// Before a name, make another thing of it: a `gestionnaire de mots de passe` is none.
pub(super) const MANAGERS: &[&str] = &[
    "gestionnaire", "gestor", "менеджер", "manager", "administrador", "field", "campo", "champ", "поле", "feld", "fn", "def", "func", "public",
];

/// Ways to sign in that are no secret.
pub(super) const PROVIDERS: &[&str] = &[
    "account", "accounts", "google", "github", "gitlab", "apple", "facebook", "sso", "saml", "oauth", "email", "mail", "phone", "number", "fingerprint", "face",
    "passkey", "passkeys", "key", "keys", "yubikey", "link", "code", "password", "passwords", "credentials", "okta", "twitter", "microsoft", "a", "an",
    "the", "my", "your", "our", "his", "her", "their", "username", "user", "token", "ssh", "certificate", "certificates", "wallet", "id", "app",
    "biometrics", "workspace", "organization", "admin", "root", "sudo", "agent", "forwarding", "browser", "device", "problem", "problems", "issues",
    "error", "errors", "success", "different", "same", "another", "any",
];

pub(super) const WIFI: &[&str] = &[
    "wifi", "wlan", "ssid", "network", "netzwerk", "hotspot", "router", "box", "вайфай", "вайфая", "wpa", "wpa2", "wpa3", "réseau", "livebox", "freebox",
    "fritzbox", "вайфаю", "wi", "fi",
];

/// Of what is bought.
pub(super) const PRICES: &[&str] = &[
    "cost", "costs", "price", "fee", "paid", "pay", "kostet", "preis", "cuesta", "precio", "coûte", "prix", "стоит", "цена", "narxi", "built", "km", "since",
];

/// Who answers a question says so.
pub(super) const TOLD: &[&str] = &[
    "angegeben", "eingetragen", "hinterlegt", "gewählt", "antwort", "javob", "ответ", "answer", "answered", "put", "reply", "replied", "respuesta", "réponse", "gave",
    "entered", "typed", "wrote", "puse", "respondí", "mis", "ответил", "ответила", "указал", "указала", "yozganman", "yozdim",
];

/// Of a security question, where security is spoken of.
pub(super) const WEAK_QUESTIONS: &[&str] = &[
    "first pet", "first teacher", "first school", "first car", "first job", "first street", "childhood friend", "childhood nickname", "favourite teacher",
    "favorite teacher", "i grew up", "i was born", "best man", "honeymoon", "mother maiden", "mothers maiden", "father's middle name",
];

/// Before what one signs in with.
pub(super) const INTRODUCES: &[&str] = &[
    "is", "it's", "its", "pwd's", "password's", "still", "with", "using", "then", "type", "typing", "types", "typed", "give", "it", "takes", "take", "wants", "want", "so", "one",
    "was", "being", "plus", "uses", "use", "usual", "entering", "enter", "ist", "mit", "dann", "es", "con", "est", "avec", "это", "теперь", "endi", "now",
    "usually", "always", "remains", "became", "puis", "luego", "потом", "keyin", "lautet", "zwar", "c'est",
];

/// Things that have a number.
pub(super) const NUMBERED: &[&str] = &[
    "postgres", "postgresql", "firefox", "chrome", "windows", "ubuntu", "debian", "fedora", "node", "python", "angular", "react", "swift", "kotlin", "office", "covid",
    "section", "chapter", "figure", "table", "phase", "sprint", "version", "release", "branch", "build", "ticket", "feature", "issue", "level", "server", "host",
    "worker", "client", "user", "users", "tests", "step", "option", "layer", "module", "group", "class", "model", "series", "player", "track", "cluster", "staging",
    "prod", "production", "master", "replica", "shard", "machine", "laptop", "device", "printer", "router", "email", "proxy", "gateway", "account", "admin", "iphone",
    "android", "samsung", "galaxy", "pixel", "oauth", "bcrypt", "scrypt", "argon", "blake", "keccak", "ripemd", "version", "schema", "config", "question", "answer",
    "example", "sample", "option", "variant", "draft", "final", "january", "february", "march", "april", "august", "september", "october", "november", "december",
    "room", "raum", "windows", "exchange", "outlook", "http", "https", "ipsec", "openvpn", "wireguard", "fritzbox", "mysql", "redis", "mongodb", "sqlite", "gmail",
];
