// CSV as RFC 4180 has it: to take one file apart into the columns that the server wants separately.

export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  let started = false;
  const endCell = (): void => {
    row.push(cell);
    cell = '';
    started = false;
  };
  const endRow = (): void => {
    endCell();
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') {
        cell += '"';
        i++;
      } else quoted = false;
    } else if (c === '"' && !started) {
      quoted = true;
      started = true;
    } else if (c === ',') endCell();
    else if (c === '\n') endRow();
    else if (c !== '\r' || text[i + 1] !== '\n') {
      cell += c;
      started = true;
    }
  }
  if (cell !== '' || row.length > 0) endRow();
  return rows;
}

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A CSV with these columns only, by name, in this order. */
export function pickColumns(rows: readonly string[][], names: readonly string[]): string {
  const header = rows[0] ?? [];
  const places = names.map((name) => header.indexOf(name));
  return rows.map((row) => `${places.map((p) => quote(row[p] ?? '')).join(',')}\n`).join('');
}
