// Which pages have all of the words, with the place of the first: titles count more than texts.
const root = document.body.dataset.root;
const input = document.getElementById('search');
const list = document.getElementById('found');

function find(words) {
  const scored = pages.map((page) => {
    const title = page.title.toLowerCase(), text = page.text.toLowerCase();
    if (!words.every((word) => title.includes(word) || text.includes(word))) return { score: 0, page };
    const score = words.reduce((sum, word) => sum + 20 * title.includes(word) + Math.min(10, text.split(word).length), 1);
    return { score, page, at: Math.max(0, text.indexOf(words[0])) };
  });
  return scored.filter((hit) => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 12);
}

function show(hit) {
  const item = document.createElement('li'), link = document.createElement('a'), text = document.createElement('p');
  link.href = root + hit.page.url;
  link.textContent = hit.page.title;
  text.textContent = '… ' + hit.page.text.slice(Math.max(0, hit.at - 60), hit.at + 120) + ' …';
  item.append(link, text);
  return item;
}

input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? find(words) : [];
  list.replaceChildren(...hits.map(show));
  if (words.length && !hits.length) list.append(Object.assign(document.createElement('li'), { textContent: 'no page has all of these words' }));
  list.hidden = !words.length;
});
// On a phone the list of pages is closed until somebody asks for it.
if (window.matchMedia('(max-width: 60rem)').matches) document.querySelector('nav details').open = false;
