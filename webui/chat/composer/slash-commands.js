/**
 * The user's own tool calls, written in the chat: `/read_file notes.md`, `/grep pattern=TODO glob="*.py"`, `/edit {"path": …}`.
 *
 * @typedef {import('../../client/tool-list.js').Tool} Tool
 * @typedef {{tool: string, args: Record<string, unknown>}} Command
 * @typedef {import('../../client/skill-list.js').Skill} Skill
 * @typedef {{insert: string, from: number, label: string, detail: string, isRequired?: boolean, isPrompt?: boolean, isSkill?: boolean}} Completion
 *   `insert` replaces the text from `from` to the cursor.
 */
import {abilities} from '../../client/abilities.js';
import {match, search} from '../../base/fuzzy.js';
import {shapeOf} from '../../schema/shape.js';

const SHOWN = 8;
const NAME = /^\/([\w-]*)$/;
const PIECE = /([\w.-]+)=("(?:[^"\\]|\\.)*"|\S*)|"(?:[^"\\]|\\.)*"|\S+/gy;

/** True if a text is a tool call: its first word names a tool. Any other text that begins with a slash is a message. @param {string} text @param {readonly Tool[]} tools */
export function isCommand(text, tools) {
  const name = /^\/([\w-]+)(?=\s|$)/.exec(text)?.[1];
  return abilities.commands && name !== undefined && tools.some((one) => one.name === name);
}

/** True if a text may become a tool call: the name of a tool is being written, or what follows it. @param {string} text @param {readonly Tool[]} tools */
export const mayBeCommand = (text, tools) => abilities.commands && (NAME.test(text) || isCommand(text, tools));

/** True if a text is the beginning of a name of a tool, prompt or skill. @param {string} text */
export const isNameBegun = (text) => abilities.commands && NAME.test(text);

/** True if a text is a message that uses a skill. @param {string} text @param {readonly Tool[]} tools @param {readonly Skill[]} skills */
export function usesSkill(text, tools, skills) {
  const name = /^\/(\S+)/.exec(text)?.[1];
  return abilities.commands && skills.some((one) => one.name === name) && !tools.some((one) => one.name === name);
}

/**
 * Parse a tool call.
 * @param {string} text @param {readonly Tool[]} tools
 * @returns {{command: Command} | {problem: string, values: Record<string, string>}} `problem`: key of a text
 */
export function parseCommand(text, tools) {
  const [, name = '', rest = ''] = /^\/([\w-]*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  const tool = tools.find((one) => one.name === name);
  if (!tool) return {problem: 'chat.unknownTool', values: {name: name || text.trim()}};
  if (rest.startsWith('{')) return fromJson(name, rest);
  return fromPieces(tool, rest);
}

/** @param {string} name @param {string} text */
function fromJson(name, text) {
  try {
    return {command: {tool: name, args: JSON.parse(text)}};
  } catch (error) {
    return {problem: 'chat.badJson', values: {reason: error instanceof Error ? error.message : String(error)}};
  }
}

/** @param {Tool} tool @param {string} text */
function fromPieces(tool, text) {
  const properties = tool.input_schema.properties ?? {};
  /** @type {Record<string, unknown>} */
  const args = {};
  for (const piece of text.matchAll(new RegExp(PIECE.source, 'g'))) {
    const name = piece[1] !== undefined && Object.hasOwn(properties, piece[1]) ? piece[1] : firstFree(tool, args);
    if (!name) return {problem: 'chat.tooManyArguments', values: {text: piece[0], names: Object.keys(properties).join(', ') || '–'}};
    args[name] = valueOf(piece[1] === name ? piece[2] : piece[0], properties[name], tool);
  }
  return {command: {tool: tool.name, args}};
}

/** Return the argument for a value without a name: the next required one, in their order, else the next other one. @param {Tool} tool @param {Record<string, unknown>} args */
function firstFree({input_schema: schema}, args) {
  const required = schema.required ?? [];
  const names = [...required, ...Object.keys(schema.properties ?? {}).filter((name) => !required.includes(name))];
  return names.find((name) => !Object.hasOwn(args, name));
}

/** Convert a value as its schema requires: to text where text is possible, else from JSON. @param {string} written @param {import('../../schema/shape.js').Schema} part @param {Tool} tool */
function valueOf(written, part, tool) {
  const {kind, schema} = shapeOf(part, tool.input_schema);
  const isText = ['text', 'choice', 'date', 'file'].includes(kind) && schema.type !== 'integer' && schema.type !== 'number';
  const bare = unquoted(written);
  if (isText) return bare;
  try {
    return JSON.parse(bare);
  } catch {
    return kind === 'list' || kind === 'many' ? bare.split(',') : bare; // the server reports what is wrong with it
  }
}

/** @param {string} text */
function unquoted(text) {
  if (!/^".*"$/s.test(text) || text.length < 2) return text;
  try {
    return JSON.parse(text.replaceAll('\n', '\\n'));
  } catch {
    return text.slice(1, -1);
  }
}

/**
 * Return completions at the cursor: names of tools, prompts and skills, then argument names and their values.
 * @param {string} text  up to the cursor
 * @param {readonly Tool[]} tools
 * @param {readonly Skill[]} skills
 * @returns {Completion[]}
 */
export function completionsOf(text, tools, skills) {
  const name = NAME.exec(text);
  if (name) return nameCompletions(name[1], tools, skills);
  const [, toolName = ''] = /^\/([\w-]+)\s/.exec(text) ?? [];
  const tool = tools.find((one) => one.name === toolName);
  if (!tool || /^\/[\w-]+\s+\{/.test(text) || (text.match(/"/g) ?? []).length % 2) return [];
  const word = /\S*$/.exec(text)?.[0] ?? '';
  return word.includes('=') ? valueCompletions(tool, word, text.length) : argumentCompletions(tool, text, word);
}

/** Of a tool and a skill with the same name, the tool is offered, because its calls come first. @param {string} query @param {readonly Tool[]} tools @param {readonly Skill[]} skills @returns {Completion[]} */
function nameCompletions(query, tools, skills) {
  const names = new Set(tools.map(({name}) => name));
  const named = [
    ...tools.map(({name, description, served_as: form}) => ({name, description, isPrompt: form === 'prompt', isSkill: false})),
    ...skills.filter(({name}) => !names.has(name)).map(({name, description}) => ({name, description, isPrompt: false, isSkill: true})),
  ];
  return search(query, named, ({name}) => [name]).slice(0, SHOWN)
    .map(({thing: {name, description, isPrompt, isSkill}}) => ({insert: `/${name} `, from: 0, label: name, detail: firstLine(description), isPrompt, isSkill}));
}

/** @param {Tool} tool @param {string} text @param {string} word @returns {Completion[]} */
function argumentCompletions({input_schema: schema}, text, word) {
  const required = new Set(schema.required ?? []);
  const free = Object.keys(schema.properties ?? {}).filter((name) => !new RegExp(`\\s${name.replaceAll(/[.$]/g, '\\$&')}=`).test(text) && match(word, name));
  const ordered = [...free.filter((name) => required.has(name)), ...free.filter((name) => !required.has(name))];
  return ordered.slice(0, SHOWN).map((name) => ({
    insert: `${name}=`, from: text.length - word.length, label: name, isRequired: required.has(name),
    detail: firstLine(shapeOf(schema.properties[name], schema).schema.description ?? ''),
  }));
}

/** @param {Tool} tool @param {string} word @param {number} end @returns {Completion[]} */
function valueCompletions({input_schema: schema}, word, end) {
  const at = word.indexOf('=');
  const part = schema.properties?.[word.slice(0, at)];
  if (!part) return [];
  const {kind, choices} = shapeOf(part, schema);
  const values = kind === 'boolean' ? [true, false] : choices;
  const begun = word.slice(at + 1);
  return values.map(String).filter((value) => value.startsWith(begun) && value !== begun).slice(0, SHOWN)
    .map((value) => ({insert: `${written(value)} `, from: end - begun.length, label: value, detail: ''}));
}

/** Return a value as it is written in a call: quoted if necessary. @param {string} value */
export const written = (value) => (/[\s"\\]/.test(value) ? JSON.stringify(value) : value);

/** @param {string} text */
const firstLine = (text) => text.split('\n', 1)[0];
