'use strict';
const input = document.getElementById('find');
const found = document.getElementById('found');
const articles = [...document.querySelectorAll('article')];
const texts = articles.map((article) => article.textContent.toLowerCase());
const marks = window.CSS && CSS.highlights && window.Highlight ? new Highlight() : null;
if (marks) CSS.highlights.set('found', marks);
function mark(article, words) {
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        marks.add(range);
      }
    }
  }
}
function find() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  if (marks) marks.clear();
  articles.forEach((article, index) => {
    const fits = words.every((word) => texts[index].includes(word));
    article.hidden = !fits;
    if (!fits || !words.length) return;
    count += 1;
    for (const details of article.querySelectorAll('details')) details.open = words.some((word) => details.textContent.toLowerCase().includes(word));
    if (marks) mark(article, words);
  });
  found.textContent = words.length ? count + (count === 1 ? ' message' : ' messages') : '';
}
input.addEventListener('input', find);
document.getElementById('search').hidden = false;
const asked = new URLSearchParams(location.hash.slice(1)).get('find');
if (asked) {
  input.value = asked;
  find();
}
