// The page of `melicit optimise --oracle browser` and `melicit serve --relay`: one question at a time, the answer goes back to the program that waits for it.

/** Counts of people: [group][true class][predicted class]; null where nobody knows. */
type Counts = (number | null)[][][];
interface Question {
  number: number;
  title: string;
  people: number;
  of_each_class?: boolean;
  classes: string[];
  groups?: string[];
  names?: [string, string];
  remark?: string;
  a: Counts;
  b: Counts;
}
type State = { ended: true } | { waiting: true } | Question;

const main = document.getElementById('main') as HTMLElement;
let shown: Question | null = null;

function element(name: string, text = '', ...children: Node[]): HTMLElement {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

const number = (n: number) => n.toLocaleString('en');

/** One side's cell of a row: how many, and a bar. Fewer mistakes stand out; of right decisions the numbers speak for themselves. */
function cell(own: number | null, other: number | null, most: number, mistake: boolean): HTMLElement {
  if (own === null || other === null) return element('td', 'not known');
  const bar = document.createElement('meter');
  bar.max = Math.max(most, 1);
  bar.value = own;
  bar.setAttribute('aria-hidden', 'true');
  const fewer = mistake && own < other;
  const td = element('td', fewer ? `${number(own)}, ${number(other - own)} fewer` : number(own), bar);
  if (fewer) td.className = 'fewer';
  return td;
}

/** A row for each kind of mistake that either side makes in a group; for each class that is recognised where no mistake is known. */
function table(q: Question, group: number): HTMLElement {
  const body = element('tbody');
  const sides = [q.a[group]!, q.b[group]!];
  const mistakes = sides.some((s) => s.some((row, i) => row.some((n, j) => i !== j && n !== null)));
  const most = Math.max(...sides.flatMap((s) => s.flatMap((row, i) => row.map((n, j) => ((i === j) === mistakes ? 0 : (n ?? 0))))));
  q.classes.forEach((truth, i) =>
    q.classes.forEach((said, j) => {
      const [a, b] = sides.map((s) => s[i]![j] ?? null);
      if ((i === j) === mistakes || (a === 0 && b === 0)) return;
      const head = element('th', i === j ? `${truth} recognised` : `${truth} taken for ${said}`);
      head.setAttribute('scope', 'row');
      body.append(element('tr', '', head, cell(a!, b!, most, mistakes), cell(b!, a!, most, mistakes)));
    }),
  );
  const sideNames = ['A', 'B'].map((side, i) => (q.names ? `${side} (${q.names[i]})` : side));
  const heads = [mistakes ? 'Mistake' : 'Right', ...sideNames].map((text) => {
    const th = element('th', text);
    th.setAttribute('scope', 'col');
    return th;
  });
  const caption = q.groups?.length ? [element('caption', q.groups[group]!)] : [];
  return element('table', '', ...caption, element('thead', '', element('tr', '', ...heads)), body);
}

async function answer(word: string): Promise<void> {
  const q = shown;
  if (q === null) return;
  shown = null;
  main.querySelectorAll('button').forEach((b) => (b.disabled = true));
  try {
    await fetch('answer', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ question: q.number, answer: word }),
    });
  } catch {
    // The question is fetched again below: it is still the same if the answer was lost.
  }
  await next();
}

function button(text: string, word: string, side = false): HTMLElement {
  const made = element('button', text);
  if (side) made.className = 'side';
  made.addEventListener('click', () => void answer(word));
  return made;
}

function show(q: Question): void {
  const buttons = element('div', '', button('I prefer A', 'A', true), button('I prefer B', 'B', true), button('About the same', '='), button("Can't say", '?'));
  buttons.className = 'answers';
  const out = element('p', `Out of ${number(q.people)} people${q.of_each_class ? ' of each class' : ''}:`);
  const undo = element('div', '', ...(q.number > 1 ? [button('Take back the last answer', 'undo')] : []), button('Stop here', 'stop'));
  undo.className = 'answers';
  const title = element('p', q.title);
  title.className = 'soft';
  const remark = q.remark ? [element('p', q.remark)] : [];
  main.replaceChildren(title, element('h1', 'Which would you rather have?'), ...remark, out, ...q.a.map((_, g) => table(q, g)), buttons, undo);
  shown = q;
}

function end(text: string): void {
  main.replaceChildren(element('h1', text), element('p', 'You can close this page.'));
}

async function next(): Promise<void> {
  for (let failed = 0; failed < 5; ) {
    try {
      const state = (await (await fetch('question')).json()) as State;
      failed = 0;
      if ('ended' in state) return end('That was all. Thank you.');
      if ('number' in state) return show(state);
    } catch {
      failed += 1;
    }
    await new Promise((done) => setTimeout(done, 150));
  }
  end('The program has ended. Your answers are kept.');
}

/** What the keys mean, by the key `?`. */
function explain(): void {
  const id = 'keys';
  const there = document.getElementById(id);
  if (there) return there.remove();
  const keys = element('p', "Keys: a or b is the one you would rather have, = about the same, s can't say, u takes the last answer back.");
  keys.id = id;
  keys.setAttribute('role', 'status');
  main.append(keys);
}

const KEYS: Record<string, string> = { a: 'A', b: 'B', '=': '=', s: '?', u: 'undo' };
document.addEventListener('keydown', (event) => {
  const word = KEYS[event.key];
  if (event.key === '?' && shown) explain();
  if (word !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey && (word !== 'undo' || (shown?.number ?? 0) > 1))
    void answer(word);
});
void next();
