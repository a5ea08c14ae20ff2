/** Selects options of lists, check boxes and radio buttons. */
import {attribute, holds, its, rootOf, tidy} from './native-properties.js';
import {assertUsable, nameOf, press} from './click.js';
import {isChecked} from './context.js';
import {isTextField, kindOf, secretOf} from './kinds.js';
import {labelOf, textOf} from './labels.js';
import {isDisabled, isShown} from './layout.js';
import {turn, until} from './chunked-work.js';
import {Refusal, done} from './reply.js';

/** The time limit for a list to open, and for a choice to take effect. */
const OPEN_MS = 2000;
/** The maximum number of options named in a reply. */
const NAMED = 12;

/**
 * Choose an option by its text or value.
 * @param {Element} element @param {string} value @param {string} [allowed]  the kind of secret that the user has allowed
 * @returns {Promise<import('./reply.js').Reply>}
 */
export async function choose(element, value, allowed) {
  const label = nameOf(element);
  assertUsable(element, label);
  const secret = secretOf(element, label);
  if (secret && secret !== allowed) throw new Refusal('secret', {kind: secret, label, origin: globalThis.origin});
  if (element instanceof HTMLSelectElement) return chooseNative(element, value, label);
  if (kindOf(element) === 'radio') return check(element, 'true');
  return chooseCustom(element, value, label);
}

/** @param {HTMLSelectElement} list @param {string} value @param {string} label */
async function chooseNative(list, value, label) {
  const options = [...list.options];
  const wanted = list.multiple ? value.split('\n').filter(Boolean) : [value];
  const chosen = wanted.map((each) => optionFor(options, each, (option) => option.value, (option) => tidy(option.label || option.text)));
  const missing = chosen.indexOf(null);
  if (missing >= 0) throw new Refusal('noOption', {label, value: tidy(wanted[missing], 60), options: named(options.map((option) => tidy(option.text)))});
  if (chosen.some((option) => option && its(option).matches(':disabled'))) throw new Refusal('optionDisabled', {label, value: tidy(value, 60)});
  list.focus({preventScroll: true});
  for (const option of options) if (list.multiple) option.selected = chosen.includes(option);
  if (!list.multiple && chosen[0]) list.selectedIndex = chosen[0].index;
  list.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  list.dispatchEvent(new Event('change', {bubbles: true}));
  await turn();
  const isTaken = chosen.every((option) => option?.selected);
  if (!isTaken) throw new Refusal('notTaken', {label});
  const texts = chosen.map((option) => tidy(option?.text, 60)).join(', ');
  return secretOf(list, label) ? done('selectedSecret', {label}) : done('selected', {label, value: texts});
}

/**
 * Return the option that matches, by its name before its value. Exact matches win over a single option whose name contains the text.
 * @template T @param {T[]} options @param {string} wanted
 * @param {(option: T) => string} valueOf @param {(option: T) => string} nameOfOption @returns {T | null}
 */
function optionFor(options, wanted, valueOf, nameOfOption) {
  const text = tidy(wanted).toLowerCase();
  // people and models see names, and a value may be the name of another option
  const same = options.find((option) => nameOfOption(option) === tidy(wanted)) ?? options.find((option) => valueOf(option) === wanted)
    ?? options.find((option) => nameOfOption(option).toLowerCase() === text);
  if (same || !text) return same ?? null;
  const near = options.filter((option) => nameOfOption(option).toLowerCase().includes(text));
  return near.length === 1 ? near[0] : null;
}

/** @param {string[]} names */
function named(names) {
  const shown = names.filter(Boolean).slice(0, NAMED).map((name) => tidy(name, 40));
  return shown.join(', ') + (names.length > NAMED ? ', …' : '');
}

/** Open a custom list of the page and click the option. @param {Element} element @param {string} value @param {string} label */
async function chooseCustom(element, value, label) {
  const before = new Set(optionsFor(element));
  if (attribute(element, 'aria-expanded') !== 'true' && kindOf(element) !== 'option') await press(element, label);
  const find = () => optionFor(optionsFor(element, before), value, (option) => attribute(option, 'data-value') || attribute(option, 'value'), (option) => labelOf(option) || textOf(option));
  await until(() => find() !== null, OPEN_MS);
  // some lists open only when something is typed
  if (!optionsFor(element, before).length && isTextField(element) && !element.readOnly) {
    element.value = value;
    element.dispatchEvent(new InputEvent('input', {bubbles: true, composed: true, inputType: 'insertText', data: value}));
    await until(() => find() !== null, OPEN_MS);
  }
  const option = find();
  if (!option) {
    const names = optionsFor(element, before).map((each) => labelOf(each) || textOf(each));
    throw new Refusal(names.length ? 'noOption' : 'noList', {label, value: tidy(value, 60), options: named(names)});
  }
  if (isDisabled(option)) throw new Refusal('optionDisabled', {label, value: tidy(value, 60)});
  const text = labelOf(option) || textOf(option);
  await press(option, text);
  return done('selected', {label, value: tidy(text, 60)});
}

/**
 * Return the options of a list: those that it references or contains, or else those that newly appeared.
 * @param {Element} list @param {Set<Element>} [before]  the options shown before
 * @returns {Element[]}
 */
function optionsFor(list, before) {
  const root = rootOf(list) ?? document;
  const ids = `${attribute(list, 'aria-controls')} ${attribute(list, 'aria-owns')}`.split(/\s+/).filter(Boolean);
  const boxes = ids.map((id) => its(root).getElementById(id) ?? its(document).getElementById(id)).filter((box) => box !== null);
  const named = boxes.flatMap((box) => [...its(box).querySelectorAll('[role=option]')]);
  const own = named.length ? named : slotted(list).filter((option) => holds(list, option));
  const shown = (own.length ? own : slotted(list)).filter((option) => isShown(option, option.getBoundingClientRect()));
  const fresh = before ? shown.filter((option) => !before.has(option)) : shown;
  return own.length || !fresh.length ? shown : fresh;
}

/** Return the options in the document and in the shadow roots around a list. @param {Element} list @returns {Element[]} */
function slotted(list) {
  const found = new Set(its(document).querySelectorAll('[role=option]'));
  for (let root = rootOf(list); root instanceof ShadowRoot; root = rootOf(root.host)) {
    for (const option of [...root.querySelectorAll('[role=option]'), ...its(root.host).querySelectorAll('[role=option]')]) found.add(option);
  }
  return [...found];
}

const NO = /^(?:false|0|no|off|否|不|取消|unchecked)$/i;

/**
 * Check the element, or uncheck it if the value is `false`.
 * @param {Element} element @param {string} value @returns {Promise<import('./reply.js').Reply>}
 */
export async function check(element, value) {
  const label = nameOf(element);
  const box = element instanceof HTMLLabelElement && element.control ? element.control : element;
  const kind = kindOf(box);
  if (!kind || !['checkbox', 'radio', 'switch', 'button', 'option'].includes(kind)) throw new Refusal('notCheckable', {label});
  const state = () => isChecked(box) || attribute(box, 'aria-pressed') === 'true' || attribute(box, 'aria-selected') === 'true';
  const wanted = !NO.test(value.trim());
  const key = wanted ? 'checked' : 'unchecked';
  assertUsable(box, label);
  if (state() === wanted) return done(`${key}Already`, {label});
  if (!wanted && box instanceof HTMLInputElement && box.type === 'radio') throw new Refusal('radioStays', {label});
  await press(box, label);
  if (!(await until(() => state() === wanted, OPEN_MS))) throw new Refusal('notTaken', {label});
  return done(key, {label});
}
