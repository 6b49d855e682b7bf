//! Words that name a secret, what it belongs to, or what is done with it, in the languages people write in. Unit: a
//! word.

use Label::{
    Access, Account, Answer, Card, Code, Cookie, Door, Id, Key, Licence, Login, Otp, Password, Phrase, Pin, Plain, Recovery, Seed, Token, Wifi,
};

/// What a word names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Label {
    #[default]
    Plain,
    Password,
    Login,
    Key,
    Licence,
    Token,
    Cookie,
    Pin,
    Code,
    Otp,
    Recovery,
    Seed,
    Phrase,
    Answer,
    Door,
    Wifi,
    Card,
    Account,
    Id,
    /// What is done with a secret: `unlock`, `type`.
    Access,
}

/// Characters that an inflected word has more than its stem.
const MAX_ENDING: usize = 7;

/// Words that people misspell.
const MISSPELT: &[&str] = &[
    "password", "passwort", "passcode", "passphrase", "kennwort", "contraseña", "пароль", "credentials", "recovery",
];

/// Returns what a word, in small letters, names.
pub(super) fn label(word: &str) -> Label {
    let is_short = word.len() < 2 || word.len() > 64;
    if is_short {
        return Plain;
    }
    if let Some(label) = named(word) {
        return label;
    }
    if word.is_ascii() && word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return end(word);
    }
    let last = word.rsplit(['_', '-', '.']).find(|part| !part.is_empty() && part.len() < word.len());
    last.and_then(named).unwrap_or_else(|| end(word))
}

fn named(word: &str) -> Option<Label> {
    if !may_begin(word) {
        return None;
    }
    whole(word).or_else(|| stem(word))
}

fn end(word: &str) -> Label {
    let end = if word.len() > 5 { ENDS.iter().find(|(end, _)| word.ends_with(end)) } else { None };
    end.map_or_else(|| if is_misspelt(word) { Password } else { Plain }, |(_, label)| *label)
}

/// The first three bytes of names, as bits: most words begin with none of them.
const BEGINNINGS: [u64; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < WHOLE.len() + STEMS.len() {
        let name = if i < WHOLE.len() { WHOLE[i].0 } else { STEMS[i - WHOLE.len()].0 };
        let bit = beginning(name.as_bytes());
        bits[bit / 64] |= 1 << (bit % 64);
        i += 1;
    }
    bits
};

const fn beginning(word: &[u8]) -> usize {
    let third = if word.len() > 2 { word[2] as usize } else { 0 };
    (word[0] as usize * 961 + word[1] as usize * 31 + third) % 4096
}

fn may_begin(word: &str) -> bool {
    if word.len() < 2 {
        return false;
    }
    let bit = beginning(word.as_bytes());
    BEGINNINGS[bit / 64] >> (bit % 64) & 1 == 1
}

/// Returns the length of the name that a text of a script without blanks begins with.
pub(super) fn unspaced(text: &str) -> Option<(usize, Label)> {
    let named = UNSPACED.iter().rfind(|(name, _)| text.starts_with(name));
    named.map(|(name, label)| (name.len(), *label))
}

fn whole(word: &str) -> Option<Label> {
    let index = WHOLE.binary_search_by(|(it, _)| (*it).cmp(word)).ok()?;
    Some(WHOLE[index].1)
}

/// The longest stem, which stands behind all others that the word begins with.
fn stem(word: &str) -> Option<Label> {
    let end = STEMS.partition_point(|(it, _)| *it <= word);
    let first = word.as_bytes().first();
    let before = STEMS[..end].iter().rev().take_while(|(it, _)| it.as_bytes().first() == first);
    before
        .take(48)
        .find(|(it, _)| word.starts_with(it) && word.len() <= it.len() + 2 * MAX_ENDING)
        .map(|(_, label)| *label)
}

/// `passwrod`: a letter or two too many, too few, wrong, or in the wrong order.
fn is_misspelt(word: &str) -> bool {
    let first = word.as_bytes().first();
    if !MISSPELT.iter().any(|it| it.as_bytes().first() == first) {
        return false;
    }
    let first = word.chars().next();
    let length = word.chars().count();
    (6..=14).contains(&length)
        && word.chars().all(char::is_alphabetic)
        && MISSPELT.iter().any(|it| {
            let of_label = it.chars().count();
            let max = if of_label >= 8 { 2 } else { 1 };
            it.chars().next() == first
                && length.abs_diff(of_label) <= max
                && unlike(word, it) <= max
                && strsim::osa_distance(word, it) <= max
        })
}

/// Letters that one word has beyond those of the other, at least: as many changes lie between them, or more.
fn unlike(one: &str, other: &str) -> usize {
    let mut counts = [0_i8; 32];
    let bucket = |c: char| (u32::from(c) % 32) as usize;
    one.chars().for_each(|c| counts[bucket(c)] += 1);
    other.chars().for_each(|c| counts[bucket(c)] -= 1);
    let beyond = |sign: i8| -> usize {
        let counts = counts.iter().map(|count| count * sign).filter(|count| *count > 0);
        counts.map(|count| usize::from(count.unsigned_abs())).sum()
    };
    beyond(1).max(beyond(-1))
}

/// Whole words. Sorted.
const WHOLE: &[(&str, Label)] = &[
    ("2fa", Otp), ("abre", Access), ("acceso", Login), ("account", Account), ("accounts", Account), ("acct", Account), ("admin", Login),
    ("amex", Card), ("api", Key), ("apre", Access), ("aws", Key), ("banco", Account), ("bank", Account), ("banka", Account),
    ("bic", Account), ("bram", Door), ("bsn", Id), ("bypass", Recovery), ("caja", Door), ("card", Card), ("cards", Card), ("carta", Card),
    ("carte", Card), ("cd-key", Licence), ("clave", Password), ("claves", Password), ("clé", Key), ("clés", Key), ("cod", Code),
    ("code", Code), ("codes", Code), ("combo", Code), ("compte", Account), ("conta", Account), ("conto", Account), ("cpf", Id),
    ("cred", Login), ("credit", Card), ("creds", Login), ("curp", Id), ("dial", Access), ("digits", Code), ("dni", Id), ("enter", Access),
    ("exp", Card), ("fiscale", Id), ("gate", Door), ("gir", Access), ("github", Key), ("gpg", Key), ("guest", Wifi), ("guests", Wifi),
    ("hasla", Password), ("jwt", Token), ("kart", Card), ("karta", Card), ("karty", Card), ("kasa", Door), ("key", Key), ("keys", Key),
    ("kod", Code), ("kodi", Code), ("kody", Code), ("konto", Account), ("ledger", Seed), ("lock", Door), ("locks", Door), ("log", Access),
    ("log-in", Login), ("logs", Access), ("mdp", Password), ("medicaid", Id), ("medicare", Id), ("mfa", Otp), ("mtan", Otp), ("nhs", Id), ("nie", Id), ("nif", Id), ("nino", Id),
    ("note", Access), ("open", Access), ("opens", Access), ("otp", Otp), ("otps", Otp), ("ouvre", Access), ("pass", Password),
    ("passe", Password), ("passes", Password), ("passw", Password), ("pat", Token), ("pet", Answer), ("pgp", Key), ("pin", Pin),
    ("pini", Pin), ("pinim", Pin), ("pins", Pin), ("porta", Door), ("porte", Door), ("pps", Id), ("ppsn", Id), ("product", Licence), ("psk", Wifi), ("psw", Password),
    ("pw", Password), ("pwd", Password), ("pwds", Password), ("pws", Password), ("rdp", Access), ("recover", Recovery), ("rede", Wifi),
    ("rg", Id), ("root", Login), ("safe", Door), ("save", Access), ("scratch", Recovery), ("secret", Token), ("secrets", Token),
    ("security", Answer), ("seed", Seed), ("seeds", Seed), ("session", Cookie), ("sid", Cookie), ("sifre", Password), ("sign", Access),
    ("sign-in", Login), ("signs", Access), ("sms", Otp), ("social", Id), ("ssh", Key), ("ssn", Id), ("sudo", Access), ("swift", Account),
    ("tan", Otp), ("tans", Otp), ("tax", Id), ("tippe", Access), ("tor", Door), ("type", Access), ("types", Access), ("tür", Door),
    ("unlocks", Access), ("user", Login), ("users", Login), ("usr", Login), ("vault", Door), ("verifica", Otp), ("visa", Card), ("vpn", Access), ("wpa", Wifi),
    ("zip", Access), ("вход", Access), ("инн", Id), ("карт", Card), ("карта", Card), ("карте", Card), ("карту", Card), ("карты", Card),
    ("код", Code), ("кода", Code), ("кодом", Code), ("коду", Code), ("коды", Code), ("пин", Pin), ("пина", Pin), ("сид", Seed),
    ("смс", Otp), ("счет", Account), ("счета", Account), ("счёт", Account),
];

/// Words that may have an ending. Sorted.
const STEMS: &[(&str, Label)] = &[
    ("2-step", Otp), ("aadhaar", Id), ("abrir", Access), ("abro", Access), ("accesskey", Key), ("accnt", Account), ("activation", Licence),
    ("aktivierung", Licence), ("alarm", Door), ("alarme", Door), ("allarme", Door), ("anahtar", Key), ("anmeld", Login), ("answer", Answer),
    ("antwort", Answer), ("apikey", Key), ("aprire", Access), ("archive", Access), ("aufmach", Access), ("ausweis", Id),
    ("authenticator", Otp), ("authorization", Token), ("authy", Otp), ("açıl", Access), ("açıyor", Access), ("backup", Recovery),
    ("banque", Account), ("bearer", Token), ("benutzer", Login), ("bestätig", Otp), ("bip-39", Seed), ("bip39", Seed),
    ("bitlocker", Access), ("brama", Door), ("bramy", Door), ("briefcase", Door), ("building", Door), ("cadenas", Door), ("cancello", Door),
    ("candado", Door), ("cartão", Card), ("cassaforte", Door), ("cdkey", Licence), ("cevap", Answer), ("chave", Key), ("chiave", Key),
    ("code's", Code), ("codeword", Answer), ("codice", Code), ("codici", Code), ("codigo", Code), ("codul", Code), ("coffre", Door),
    ("cofre", Door), ("combinación", Code), ("combinaison", Code), ("combination", Code), ("combinazione", Code), ("combinação", Code),
    ("confirm", Otp), ("confirmation", Otp), ("contrasen", Password), ("contraseñ", Password), ("cookie", Cookie), ("credential", Login),
    ("csrf", Cookie), ("cuenta", Account), ("cvc", Pin), ("cvv", Pin), ("código", Code), ("cüzdan", Seed), ("darvoza", Door),
    ("debit", Card), ("decrypt", Access), ("digicode", Door), ("domanda", Answer), ("domofon", Door), ("door", Door), ("doorcode", Door),
    ("doors", Door), ("doğrulama", Otp), ("driver's", Id), ("drzwi", Door), ("déverrouill", Access), ("eingeb", Access), ("einmal", Otp),
    ("eintippen", Access), ("emergency", Recovery), ("encrypt", Access), ("entered", Access), ("entering", Access), ("enters", Access),
    ("entrance", Door), ("entriegel", Access), ("entsperr", Access), ("eshik", Door), ("eslab", Access), ("expiry", Card),
    ("foydalanuvchi", Login), ("frase", Seed), ("freebox", Wifi), ("fritzbox", Wifi), ("garage", Door), ("geheimfrage", Answer),
    ("geheimnis", Token), ("geheimzahl", Pin), ("giriş", Login), ("hamyon", Seed), ("haslo", Password), ("hasło", Password),
    ("hatırla", Access), ("haustier", Answer), ("haustür", Door), ("hesap", Account), ("heslo", Password), ("hisob", Account),
    ("hotspot", Wifi), ("iban", Account), ("identidad", Id), ("identifiant", Login), ("identifiants", Login), ("identit", Id),
    ("identity", Id), ("insurance", Id), ("intercom", Door), ("javob", Answer), ("jeton", Token), ("jsessionid", Cookie), ("jshshir", Id),
    ("kalit", Key), ("kapı", Door), ("karcie", Card), ("kartam", Card), ("karte", Card), ("kartım", Card), ("kasan", Door),
    ("kennsatz", Phrase), ("kennwort", Password), ("kenwort", Password), ("key's", Key), ("key-safe", Door), ("keybox", Door),
    ("keyed", Access), ("keypad", Door), ("kilit", Door), ("kimlik", Id), ("kirish", Access), ("klucz", Key), ("kode", Code),
    ("kodu", Code), ("kombination", Code), ("kontonummer", Account), ("kreditkarte", Card), ("kullanıcı", Login), ("kurtarma", Recovery),
    ("kłódk", Door), ("licence", Licence), ("licencia", Licence), ("licencj", Licence), ("license", Licence), ("licenza", Licence),
    ("licença", Licence), ("lisans", Licence), ("litsenz", Licence), ("livebox", Wifi), ("lizenz", Licence), ("llave", Key),
    ("lockbox", Door), ("locker", Door), ("logged", Access), ("logging", Access), ("login", Login), ("logins", Login), ("logon", Login),
    ("losungswort", Password), ("luks", Access), ("lösenord", Password), ("maiden", Answer), ("mascota", Answer), ("mastercard", Card),
    ("memorable", Answer), ("merk", Access), ("metamask", Seed), ("mnemonic", Seed), ("monedero", Seed), ("motdepasse", Password),
    ("mädchenname", Answer), ("national", Id), ("network", Wifi), ("netzwerk", Wifi), ("nickname", Answer), ("notfall", Recovery),
    ("notier", Access), ("nutzername", Login), ("ochad", Access), ("ochil", Access), ("ochish", Access), ("odpowied", Answer),
    ("odzysk", Recovery), ("one-time", Otp), ("onetime", Otp), ("openai", Key), ("opened", Access), ("opening", Access), ("otwier", Access),
    ("ouvrir", Access), ("padlock", Door), ("palavra-passe", Password), ("parol", Password), ("pasaporte", Id), ("pasport", Id),
    ("pass-phrase", Phrase), ("passcode", Password), ("passeport", Id), ("passfras", Phrase), ("passord", Password), ("passphase", Phrase),
    ("passphras", Phrase), ("passport", Id), ("passsatz", Phrase), ("passwd", Password), ("password", Password), ("passwords", Password),
    ("passwort", Password), ("passwort's", Password), ("passwör", Password), ("paswort", Password), ("personalausweis", Id), ("pesel", Id),
    ("pet's", Answer), ("phpsessid", Cookie), ("phrase", Seed), ("phrases", Seed), ("pin'i", Pin), ("pin-code", Pin), ("pin-kod", Pin),
    ("pincode", Pin), ("pinfl", Id), ("pinkod", Pin), ("pinni", Pin), ("pinnummer", Pin), ("portail", Door), ("portefeuille", Seed),
    ("portfel", Seed), ("portone", Door), ("portão", Door), ("pregunta", Answer), ("prompt", Access), ("psswd", Password), ("puerta", Door),
    ("pword", Password), ("pytani", Answer), ("question", Answer), ("qulf", Door), ("recovery", Recovery), ("recuerda", Access),
    ("recuperacion", Recovery), ("recuperación", Recovery), ("recuperação", Recovery), ("recupero", Recovery), ("reisepass", Id),
    ("remember", Access), ("rescue", Recovery), ("resposta", Answer), ("respuesta", Answer), ("ripristino", Recovery), ("risposta", Answer),
    ("roteador", Wifi), ("router", Wifi), ("routeur", Wifi), ("routing", Account), ("récup", Recovery), ("récupération", Recovery),
    ("réponse", Answer), ("réseau", Wifi), ("salasana", Password), ("savol", Answer), ("schloss", Door), ("schluessel", Key),
    ("schlüssel", Key), ("secretkey", Key), ("seed-phrase", Seed), ("seedphrase", Seed), ("seedwords", Seed), ("sejf", Door),
    ("semilla", Seed), ("senha", Password), ("serial", Licence), ("seriennummer", Licence), ("sessid", Cookie), ("sessionid", Cookie),
    ("seyf", Door), ("sicherheits", Answer), ("sifrem", Password), ("sifresi", Password), ("signed", Access), ("signin", Login),
    ("signing", Token), ("soru", Answer), ("ssh'd", Access), ("ssid", Wifi), ("steuer-id", Id), ("steuerid", Id), ("stripe", Key),
    ("suitcase", Door), ("szyfr", Code), ("tarjeta", Card), ("tarmoq", Wifi), ("tasdiq", Otp), ("tckn", Id), ("texted", Otp),
    ("tiklash", Recovery), ("token", Token), ("totp", Otp), ("tresor", Door), ("trezor", Seed), ("two-factor", Otp), ("typed", Access),
    ("typing", Access), ("türcode", Door), ("unlock", Access), ("username", Login), ("usuario", Login), ("utente", Login),
    ("utilisateur", Login), ("użytkownik", Login), ("verificación", Otp), ("verification", Otp), ("verificação", Otp),
    ("verifizierung", Otp), ("verify", Otp), ("vérification", Otp), ("wachtwoord", Password), ("wallet", Seed), ("webhook", Token),
    ("weryfikac", Otp), ("wi-fi", Wifi), ("wiederherstellung", Recovery), ("wifi", Wifi), ("wlan", Wifi), ("wpa2", Wifi), ("wpa3", Wifi),
    ("wpis", Access), ("xsrf", Cookie), ("yedek", Recovery), ("zapasow", Recovery), ("zaxira", Recovery), ("ziffern", Code),
    ("zugangscode", Code), ("zugangsdaten", Login), ("zugangswort", Password), ("zweifaktor", Otp), ("öffne", Access), ("şifre", Password),
    ("активац", Licence), ("банк", Account), ("вай-фай", Wifi), ("вайфай", Wifi), ("введ", Access), ("вводи", Access), ("войти", Access),
    ("вопрос", Answer), ("ворот", Door), ("восстановл", Recovery), ("гараж", Door), ("двери", Door), ("дверь", Door), ("девич", Answer),
    ("домофон", Door), ("замка", Door), ("замок", Door), ("запомни", Access), ("картой", Card), ("ключ", Key), ("кодов", Answer),
    ("комбинац", Code), ("кошел", Seed), ("куки", Cookie), ("лиценз", Licence), ("логин", Login), ("набира", Access), ("одноразов", Otp),
    ("ответ", Answer), ("откры", Access), ("открыв", Access), ("парол", Password), ("парольн", Phrase), ("паспорт", Id),
    ("пассфраз", Phrase), ("пин-код", Pin), ("пинкод", Pin), ("пином", Pin), ("подтвержд", Otp), ("подъезд", Door), ("пользовател", Login),
    ("резервн", Recovery), ("роутер", Wifi), ("сейф", Door), ("секрет", Token), ("сид-фраз", Seed), ("сидфраз", Seed), ("смски", Otp),
    ("снилс", Id), ("токен", Token), ("фраз", Seed), ("юзер", Login),
];

/// Ends of words that are joined from others. Sorted.
const ENDS: &[(&str, Label)] = &[
    ("code", Code), ("kennwort", Password), ("key", Key), ("kod", Code), ("pass", Password), ("passwd", Password), ("password", Password),
    ("passwort", Password), ("pin", Pin), ("schlüssel", Key), ("secret", Token), ("sessid", Cookie), ("sessionid", Cookie),
    ("token", Token), ("şifresi", Password), ("ключ", Key), ("код", Code), ("пароль", Password),
];

/// Words of scripts without blanks. Sorted.
const UNSPACED: &[(&str, Label)] = &[
    ("カード", Card), ("キー", Key), ("コード", Code), ("トークン", Token), ("ドア", Door), ("ニーモニック", Seed), ("バックアップ", Recovery), ("パスワード", Password),
    ("マイナンバー", Id), ("リカバリ", Recovery), ("ルーター", Wifi), ("ログイン", Login), ("令牌", Token), ("会话", Cookie), ("保险柜", Door), ("保险箱", Door),
    ("信用卡", Card), ("入力", Access), ("助记词", Seed), ("卡号", Card), ("口令", Password), ("口座", Account), ("备份", Recovery), ("备用", Recovery),
    ("安全问题", Answer), ("密保", Answer), ("密码", Password), ("密碼", Password), ("密钥", Key), ("序列号", Licence), ("恢复", Recovery), ("打开", Access),
    ("护照", Id), ("无线", Wifi), ("暗証番号", Pin), ("校验码", Otp), ("注册码", Licence), ("用户名", Login), ("番号", Code), ("登录", Login), ("码", Code),
    ("秘密の質問", Answer), ("秘钥", Key), ("答案", Answer), ("認証", Otp), ("认证码", Otp), ("账号", Account), ("账户", Login), ("身份证", Id), ("输入", Access),
    ("金庫", Door), ("银行卡", Card), ("開け", Access), ("门禁", Door), ("门锁", Door), ("驗證碼", Otp), ("验证码", Otp), ("비밀번호", Password),
    ("암호", Password),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_never_nearer_than_their_letters(word in "\\PC{0,14}", wrong in "[a-zñь]{0,3}", at in 0..9_usize, n in 0..9_usize) {
            for it in MISSPELT {
                let mut near: Vec<char> = it.chars().collect();
                let at = at.min(near.len());
                near.splice(at..near.len().min(at + n % 3), wrong.chars());
                for word in [word.clone(), near.into_iter().collect()] {
                    prop_assert!(unlike(&word, it) <= strsim::osa_distance(&word, it), "{} {}", word, it);
                }
            }
        }
    }
}
