/** Models, agents and hosts as entries of a form: translated descriptions of their settings, and suggested values. */
import {chatSetup} from '../models/setup.js';
import {hasText, locale, t} from '../base/i18n.js';
import {moduleList} from '../client/module-list.js';
import {toolList} from '../client/tool-list.js';
import {resolve, shapeOf, valuesSchema} from '../schema/shape.js';

/** @typedef {import('../schema/shape.js').Schema} Schema */
/** @typedef {import('./settings-model.js').SettingsDocument} SettingsDocument */
/** @typedef {import('./settings-model.js').Row} Row */

const KINDS = new Set(['models', 'providers', 'agents', 'hosts']);
/** Rows whose suggested values are requested from providers. */
const OF_PROVIDERS = new Set(['/models', '/agents']);
const PARTS = ['*', 'environment', 'module:*', 'folder:AGENTS.md', 'folder:CLAUDE.md', 'start:*', 'agent', 'date'];

/** @type {WeakMap<Schema, {of: string, part: Schema}>} */
const made = new WeakMap();

/** Models reported by the providers, once the user has focused such a row. @type {string[]} */
let listed = [];
/** The request for them, unless it failed. @type {Promise<void> | null} */
let listing = null;

/** Return true if a row of app.json contains models, agents or hosts by name. @param {SettingsDocument} document @param {Row} row */
export function isChatEntries(document, {pointer}) {
  return document.module === null && KINDS.has(pointer.slice(1));
}

/** Ask the providers for their models when the user is about to name one in this row, until all have answered. @param {Row} row */
export async function listModels({pointer}) {
  if (!OF_PROVIDERS.has(pointer)) return;
  listing ??= askProviders().then((isComplete) => { if (!isComplete) listing = null; });
  await listing;
}

/** Ask the providers for their models; resolve to false if something failed, and should be asked for again. */
async function askProviders() {
  try {
    await Promise.all([chatSetup.load(), toolList.load()]);
    const reachable = chatSetup.usable;
    const answers = await Promise.allSettled(reachable.map(({provider}) => chatSetup.modelsOf(provider)));
    listed = [...new Set(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.models : [])))];
    return chatSetup.isLoaded && answers.every(({status}) => status === 'fulfilled');
  } catch {
    return false; // the form works without suggestions
  }
}

/** Return the schema of such a row with descriptions and suggested values; the same object as long as these stay the same. @param {SettingsDocument} document @param {Row} row @returns {Schema} */
export function entriesPart(document, {part, pointer}) {
  const root = document.schema ?? {};
  const kind = pointer.slice(1);
  const picks = picksOf(kind);
  const of = JSON.stringify([locale(), picks]);
  const before = made.get(part);
  if (before?.of === of) return before.part;
  const {schema} = shapeOf(part, root);
  const entry = resolve(valuesSchema(schema) ?? {}, root);
  const properties = Object.fromEntries(Object.entries(entry.properties ?? {}).map(([name, each]) => [name, described(each, kind, name, picks[name] ?? [])]));
  const after = {...schema, additionalProperties: {...entry, properties}};
  made.set(part, {of, part: after});
  return after;
}

/** Return the suggested values of single settings; the user can enter others. @param {string} kind @returns {Record<string, string[]>} */
function picksOf(kind) {
  if (kind === 'models') return {model: listed};
  if (kind === 'providers') return {service: chatSetup.services.map(({service}) => service)};
  if (kind === 'hosts') return {modules: moduleList.modules.filter(({block}) => !block).map(({name}) => name)};
  const providers = chatSetup.usable;
  const named = providers.length === 1 ? listed.map((model) => `${providers[0].provider}:${model}`) : [];
  return {model: [...chatSetup.models.map(({name}) => name), ...named], tools: ['*', ...toolList.tools.map(({name}) => name)], system_parts: PARTS};
}

/** Return the schema of a setting with its translated name and description, followed by its key in app.json. @param {Schema} part @param {string} kind @param {string} name @param {string[]} picks @returns {Schema} */
function described(part, kind, name, picks) {
  const [label, text] = [`settings.name.${kind}.${name}`, `settings.${kind}.${name}`];
  const description = `${hasText(text) ? t(text) : part.description ?? ''} \`${name}\``;
  const told = {...part, description, ...(hasText(label) && {'x-label': t(label)})};
  if (!picks.length) return told;
  return part.items ? {...told, items: {...part.items, examples: picks}} : {...told, examples: picks};
}
