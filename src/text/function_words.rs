//! Words that carry no meaning of their own, in the languages that people chat in. Unit: a word, folded.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Articles, pronouns, prepositions, auxiliaries: any sentence may have them.
const FUNCTION: &str = "\
a about after all also am an and any are as at be because been before being but by can could d did do does doing don dont for \
from had has have having he her hers him his how i id if ill im in into is isnt it its ive just ll m me mine more most my myself no \
nor not of off on once only or other our ours out over own re s same she should so some such t than that thats the their theirs \
them then there these they this those through to too under until up us ve very was we were what when where which while who whom \
why will with would you your yours please remember keep mind note hi hello well now \
aber als am an auch auf aus bei bin bis bist da das dass dein deine dem den denn der des die dir doch du ein eine einem einen einer \
eines er es euch für hat hatte habe haben ich ihm ihn ihr ihre im in ist ja kann kein keine man mein meine meinem meinen meiner \
mich mir mit nach nicht noch nur ob oder ohne schon sein seine sich sie sind so über um und uns unser unsere vom von vor war was \
weil wenn wer wie wir wird wo zu zum zur bitte merk merke dir \
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня еще нет о из ему теперь \
когда даже ну ли если уже или быть был него до вас нибудь вам сам потом себя ничего ей может они тут где есть надо ней для мы \
тебя их чем была чего раз тоже себе под будет ж тогда кто этот того потому этого какой ним здесь этом мой моя мое мои моего моей \
моему моих моим твой наш наша это эта эти запомни пожалуйста \
al con de del el ella en es esta este esto ha han he la las le les lo los me mi mis más muy no nos nuestro o para pero por porque \
que se sin son su sus te tu un una unas unos y ya yo soy está recuerda por favor \
au aux avec c ce ces cet cette dans de des du elle en est et eux il ils j je l la le les leur leurs lui m ma mais me mes moi mon n \
ne nos notre nous on ou par pas pour qu que qui s sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y suis ai jai \
retiens \
va bu men mening menga u uning bilan uchun ham bir emas edi deb esa yoki lekin shu o biz bizning siz sizning eslab qol \
我 你 他 她 它 们 的 了 是 在 有 和 也 就 都 不 这 那 个 很 吗 呢 吧 啊 请 记 住";

/// Verbs and nouns that say how something is kept in mind, not what.
const WEAK: &str = "\
prefer prefers preferred like likes liked love loves live lives living work works working want wants name named called call \
use uses using need needs go goes going know get make user users said says say mentioned remind likes always never today tomorrow \
mag mögen liebe lieber wohne wohnt wohnen arbeite arbeitet heißt heisst heisse heiße name nutzer benutze möchte \
живу живет живёт люблю любит работаю работает зовут предпочитаю пользователь имя хочу \
vivo vive prefiero prefiere gusta trabajo trabaja llamo llama usuario nombre quiero \
habite vis préfère prefere aime travaille travail appelle utilisateur nom veux \
yashayman yashaydi yoqtiraman ishlayman ishlaydi ism ismi \
叫 喜 欢 住 用 户";

pub fn is_function_word(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> =
        LazyLock::new(|| FUNCTION.split_ascii_whitespace().collect());
    KNOWN.contains(word)
}

/// Whether a word that has a meaning is one that many sentences have.
pub(super) fn is_weak(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> =
        LazyLock::new(|| WEAK.split_ascii_whitespace().collect());
    KNOWN.contains(word)
}
