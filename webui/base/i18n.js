/** Texts, numbers and dates in the user's language. Each feature folder defines its texts in `strings.js`. */
import {strings} from './all-strings.js';

/** @typedef {import('./all-strings.js').Locale} Locale */
/** @typedef {Record<string, string | number>} Values */
/** @typedef {import('./all-strings.js').Text} Text */

const KEY = 'agentcore.locale';
/** @type {Locale[]} */
export const LOCALES = ['en', 'zh'];

/** A set, because an `EventTarget` searches all of its handlers to remove one, and a long chat has thousands. @type {Set<() => void>} */
const handlers = new Set();
/** @type {Locale} */
let current = chosenLocale();
/** The language that was asked for last, whose texts may still be loading. */
let latest = current;
document.documentElement.lang = current;

/** Return the language of the page. @returns {Locale} */
export function locale() {
  return current;
}

/** True if the user chose a language in this browser. */
export function hasChosenLocale() {
  return localStorage.getItem(KEY) !== null;
}

/** Change the language of this document only, while it is open, once its texts are loaded. @param {Locale} wanted */
export async function showLocale(wanted) {
  latest = wanted;
  await loadTexts(wanted);
  if (wanted === latest) use(wanted);
}

/** Change the language of the page and store the choice in this browser. @param {Locale} wanted */
export async function setLocale(wanted) {
  localStorage.setItem(KEY, wanted);
  await showLocale(wanted);
}

/**
 * Return the text of a key with each `{name}` replaced by its value; texts with plural forms use the one for `n`.
 * @param {string} key  `folder.key`
 * @param {Values} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = find(key, current) ?? find(key, 'en');
  if (text === undefined) {
    console.error(`no text for ${key}`);
    return key;
  }
  const form = typeof text === 'string' ? text : pluralForm(text, Number(values.n));
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? formatNumber(value) : value;
  });
}

/** True if a key has a text; for keys that are built from values, such as error types. @param {string} key */
export function hasText(key) {
  return find(key, 'en') !== undefined;
}

/** Return the text in the page's language, else the English one, else the first, of those that a server or a module provides. @param {Record<string, string>} texts @returns {string | undefined} */
export function inLocale(texts) {
  return texts[current] ?? texts.en ?? Object.values(texts)[0];
}

/** Format a list of names: “a, b and c”. @param {string[]} names */
export function formatList(names) {
  return formatter(Intl.ListFormat).format(names);
}

/** Format a number. @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function formatNumber(value, options) {
  return formatter(Intl.NumberFormat, options).format(value);
}

/**
 * Format a point in time: only the time if it is today, else with the date.
 * @param {number | string | Date} moment  milliseconds since 1970, or anything that `Date` accepts
 * @param {{seconds?: boolean, full?: boolean}} [options]  `full`: always with the date
 */
export function formatTime(moment, {seconds = true, full = false} = {}) {
  const date = new Date(moment);
  const isToday = date.toDateString() === new Date().toDateString();
  return formatter(Intl.DateTimeFormat, {
    ...(full || !isToday ? {year: 'numeric', month: 'short', day: 'numeric'} : {}),
    hour: '2-digit', minute: '2-digit', ...(seconds ? {second: '2-digit'} : {}),
  }).format(date);
}

/** Format a day: today, yesterday, the weekday within the last week, else the date. @param {number | string | Date} moment */
export function formatDay(moment) {
  const [date, now] = [new Date(moment), new Date()];
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days <= 1) return capitalised(formatter(Intl.RelativeTimeFormat, {numeric: 'auto'}).format(-Math.max(0, days), 'day'));
  if (days < 7) return formatter(Intl.DateTimeFormat, {weekday: 'long'}).format(date);
  const year = date.getFullYear() === now.getFullYear() ? {} : {year: 'numeric'};
  return formatter(Intl.DateTimeFormat, {month: 'long', day: 'numeric', ...year}).format(date);
}

/** @param {string} text */
const capitalised = (text) => text.charAt(0).toLocaleUpperCase(current) + text.slice(1);

/** Format a duration. @param {number} ms */
export function formatDuration(ms) {
  if (ms < 1000) return formatNumber(ms, {style: 'unit', unit: 'millisecond', maximumFractionDigits: ms < 10 ? 1 : 0});
  if (ms < 60_000) return formatNumber(ms / 1000, {style: 'unit', unit: 'second', maximumFractionDigits: ms < 10_000 ? 1 : 0});
  const minutes = formatNumber(Math.floor(ms / 60_000), {style: 'unit', unit: 'minute'});
  return `${minutes} ${formatNumber(Math.floor((ms % 60_000) / 1000), {style: 'unit', unit: 'second'})}`;
}

/** Format a data size, in powers of 1024. @param {number} bytes */
export function formatBytes(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${formatNumber(bytes / 1024 ** step, {maximumFractionDigits: step ? 1 : 0})} ${units[step]}`;
}

/** Call `handler` when the language changes. @param {() => void} handler @returns {() => void} the unsubscribe function */
export function onLocaleChange(handler) {
  handlers.add(handler);
  return () => void handlers.delete(handler);
}

/**
 * Return a component class that renders again when the language changes.
 * @template {new (...args: any[]) => import('lit').LitElement} T
 * @param {T} Base
 * @returns {T}
 */
export function Localized(Base) {
  return class extends Base {
    connectedCallback() {
      super.connectedCallback();
      this._endLocale = onLocaleChange(() => this.requestUpdate());
    }

    disconnectedCallback() {
      this._endLocale?.();
      super.disconnectedCallback();
    }
  };
}

/** @param {string} key @param {Locale} language @returns {Text | undefined} */
function find(key, language) {
  const dot = key.indexOf('.');
  return strings[language][key.slice(0, dot)]?.[key.slice(dot + 1)];
}

/** Load the texts of a language, unless they are there. If they cannot be loaded, English ones stand in. @param {Locale} language */
async function loadTexts(language) {
  if (language !== 'zh') return;
  try {
    const {chinese} = await import('./all-strings.zh.js');
    Object.assign(strings.zh, chinese);
  } catch (error) {
    reportError(error);
  }
}

/** @param {Partial<Record<Intl.LDMLPluralRule, string>>} forms @param {number} n */
function pluralForm(forms, n) {
  return forms[formatter(Intl.PluralRules).select(n)] ?? forms.other ?? '';
}

/** @type {Map<string, any>} */
const formatters = new Map();

/**
 * Return a cached formatter: formatters are expensive to create, and lists format thousands of values.
 * @template T
 * @param {new (locale: string, options?: any) => T} Kind
 * @param {object} [options]
 * @returns {T}
 */
function formatter(Kind, options) {
  const key = `${Kind.name} ${current} ${options ? JSON.stringify(options) : ''}`;
  if (!formatters.has(key)) formatters.set(key, new Kind(current, options));
  return formatters.get(key);
}

/** @param {Locale} wanted */
function use(wanted) {
  if (wanted === current) return;
  current = wanted;
  document.documentElement.lang = wanted;
  for (const handler of [...handlers]) {
    try {
      handler();
    } catch (error) {
      reportError(error); // an error in one module's handler must not prevent the others
    }
  }
}

/** @returns {Locale} */
function chosenLocale() {
  const chosen = localStorage.getItem(KEY) ?? navigator.language;
  return LOCALES.find((known) => chosen.toLowerCase().startsWith(known)) ?? 'en';
}

window.addEventListener('storage', (event) => { if (event.key === KEY) void showLocale(chosenLocale()); });

await loadTexts(current);
