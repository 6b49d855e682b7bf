//! Made-up text: words as unequally frequent as those of a language.

const VOCABULARY: u64 = 30_000;

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A word; the smaller its number, the more often it comes, about as in a language.
    fn word(&mut self) -> String {
        // Each power of two below the vocabulary is as likely as the next, which is Zipf's law.
        let most = 1 << (4 + self.below(12));
        let mut n = self.below(VOCABULARY.min(most));
        let mut word = String::new();
        for letters in [&b"bdfgklmnprstvz"[..], b"aeiou"].iter().cycle().take(8) {
            let count = letters.len() as u64;
            word.push(char::from(letters[usize::try_from(n % count).unwrap_or(0)]));
            n /= count;
        }
        word
    }

    /// Returns about so many words.
    pub(crate) fn text(&mut self, words: u64) -> String {
        let count = words / 2 + self.below(words);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}
