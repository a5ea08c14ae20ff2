/**
 * Values that are best shown as a table: lists of objects.
 *
 * @typedef {{columns: string[], rows: Record<string, any>[]}} Table
 */

const COLUMNS = 24; // with more columns, a tree is easier to read

/**
 * Return a value as a table, or null if it is not one.
 * @param {unknown} value
 * @returns {Table | null}
 */
export function tableOf(value) {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) return null;
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))];
  return columns.length > 0 && columns.length <= COLUMNS ? {columns, rows: value} : null;
}

/**
 * Return the only table in an object such as `{matches: [{…}], isCut: false}`, and the object's other fields.
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
 * Return the rows sorted by one column: numbers by size, the rest as text, empty cells last.
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

/** Return the text of a cell. @param {unknown} cell */
export function cellText(cell) {
  if (cell === undefined || cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** Return the table as tab-separated lines, as spreadsheets accept them. @param {Table} table */
export function asTabs({columns, rows}) {
  const clean = (/** @type {unknown} */ cell) => cellText(cell).replaceAll(/[\t\r\n]+/g, ' ');
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((line) => line.map(clean).join('\t')).join('\n');
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
