/** Describes elements for models, and parses the descriptions that models use for elements. */
import {KINDS, text} from './strings.js';

/**
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{id: string, kind: string, label: string, placeholder: string, place: string, states: string[], value: string, use: number}} Described
 */

/** Match the part of a description that states the surroundings of its element. */
const PLACES = (/** @type {Language[]} */ (['en', 'zh'])).map((language) => new RegExp(`\\(${text(language, 'placeState', {place: '([^()]+?)'})}(?:, [^()]*)?\\)`));

/** @param {Described} element @param {Language} language @returns {{id: string, desc: string}} */
export function describe({id, kind, label, placeholder, place, states, value}, language) {
  const named = place ? [text(language, 'placeState', {place})] : [];
  named.push(...states.map((state) => text(language, `${state}State`)));
  if (value && !isNamed(kind, label, value)) named.push(text(language, 'valueState', {value}));
  const desc = nameIn({kind, label}, language)
    + (placeholder ? `(placeholder:${placeholder})` : '')
    + (named.length ? text(language, 'states', {states: named.join(', ')}) : '');
  return {id, desc};
}

/** Return kind and name of an element. @param {{kind: string, label: string}} name @param {Language} language */
export function nameIn({kind, label}, language) {
  return `${KINDS[language][kind] ?? KINDS[language].element}:${label}`;
}

/** @param {string} kind @param {string} label @param {string} value */
function isNamed(kind, label, value) {
  return kind === 'button' || label === value;
}

/**
 * Parse a description, which may be one of ours, or free text such as “search button”.
 * @param {string | undefined} description @returns {{kinds: string[], label: string, place: string}}
 */
export function wordsOf(description) {
  // the surroundings in one of our descriptions; the rest in the brackets is the current state
  const place = PLACES.map((begin) => begin.exec(description ?? '')?.[1]).find(Boolean) ?? '';
  return {...namesOf(description), place};
}

/** @param {string | undefined} description @returns {{kinds: string[], label: string}} */
function namesOf(description) {
  let label = (description ?? '').trim().replace(/\s*\((?:placeholder:)[^()]*\).*$/, '').trim();
  for (const kinds of Object.values(KINDS)) {
    for (const [kind, word] of Object.entries(kinds)) {
      const begin = label.slice(0, word.length).toLowerCase() === word && /^[:：]/.test(label.slice(word.length));
      if (begin) return {kinds: [kind], label: label.slice(word.length + 1).replace(/\s*\([^()]*\)$/, '').trim()};
    }
  }
  const found = Object.values(KINDS).flatMap((kinds) => Object.entries(kinds)).filter(([, word]) => isLast(label, word));
  for (const [, word] of found) label = label.slice(0, isLast(label, word) ? -word.length : undefined).trim();
  return {kinds: found.map(([kind]) => kind), label};
}

/** @param {string} label @param {string} word */
function isLast(label, word) {
  const lower = label.toLowerCase();
  if (!lower.endsWith(word)) return false;
  return /[\u4e00-\u9fff]/.test(word) || lower.length === word.length || /\s$/.test(lower.slice(0, -word.length));
}
