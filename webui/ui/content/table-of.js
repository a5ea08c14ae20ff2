/**
 * Values that read best as a table: lists of objects.
 *
 * @typedef {{columns: string[], rows: Record<string, any>[]}} Table
 */

const COLUMNS = 24; // a table with more is easier to read as a tree

/**
 * The table that a value is; null when it is none.
 * @param {unknown} value
 * @returns {Table | null}
 */
export function tableOf(value) {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) return null;
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))];
  return columns.length > 0 && columns.length <= COLUMNS ? {columns, rows: value} : null;
}

/**
 * The one table inside of an object, and what stands beside it: `{matches: [{…}], isCut: false}`.
 * @param {unknown} value
 * @returns {{name: string, table: Table, rest: Record<string, any>} | null}
 */
export function tableIn(value) {
  if (!isObject(value)) return null;
  const found = Object.entries(value).map(([name, part]) => ({name, table: tableOf(part)})).filter(({table}) => table);
  if (found.length !== 1) return null;
  const [{name, table}] = found;
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  return Object.values(rest).some((part) => isObject(part) || Array.isArray(part)) ? null : {name, table: /** @type {Table} */ (table), rest};
}

/**
 * The rows in the order of one column; numbers by size, the rest as text, empty ones last.
 * @param {Record<string, any>[]} rows
 * @param {string} column
 * @param {boolean} isDescending
 */
export function sortedRows(rows, column, isDescending) {
  const collator = new Intl.Collator(undefined, {numeric: true});
  const isEmpty = (/** @type {any} */ cell) => cell === undefined || cell === null || cell === '';
  return [...rows].sort((one, other) => {
    const [left, right] = [one[column], other[column]];
    if (isEmpty(left) || isEmpty(right)) return Number(isEmpty(left)) - Number(isEmpty(right));
    const order = typeof left === 'number' && typeof right === 'number' ? left - right : collator.compare(cellText(left), cellText(right));
    return isDescending ? -order : order;
  });
}

/** A cell in words. @param {unknown} cell */
export function cellText(cell) {
  if (cell === undefined || cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** Lines with tabs between, as spreadsheets take them. @param {Table} table */
export function asTabs({columns, rows}) {
  const clean = (/** @type {unknown} */ cell) => cellText(cell).replaceAll(/[\t\r\n]+/g, ' ');
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((line) => line.map(clean).join('\t')).join('\n');
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
