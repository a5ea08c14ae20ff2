/** What a grant, an offer or a rule is about, in words. */
import {t} from '../../base/i18n.js';

/** @typedef {Record<string, any>} Patterns  by the kind of a criterion, or else by the name of an argument */

/** Kinds that a sentence of its own describes. */
const DESCRIBED = new Set(['tool', 'command', 'cwd', 'path', 'url', 'effects', 'on_host']);
const FOLDER = '/**';
const ANY_ARGUMENTS = ' *';

/** Describe the calls that a tool and patterns mean. @param {string} tool  `*`: any @param {Patterns} patterns @returns {string} */
export function callsText(tool, patterns) {
  const {command, cwd, path, url, on_host: host} = patterns;
  const isAny = tool === '*';
  const parts = [mainText(tool, patterns)];
  if (path !== undefined && (command !== undefined || url !== undefined)) parts.push(placeText(path));
  if (cwd !== undefined) parts.push(t('approval.calls.in', {folder: plain(cwd)}));
  if (url !== undefined && command !== undefined) parts.push(t('approval.calls.url', {tool: isAny ? t('approval.calls.anyTool') : tool, url: plain(url)}));
  // a rule may have it beside others, a grant alone
  if (patterns.effects !== undefined && (command ?? url ?? path) !== undefined) parts.push(`effects = ${patterns.effects}`);
  parts.push(...othersOf(patterns).map(([name, value]) => `${name} = ${typeof value === 'string' ? plain(value) : JSON.stringify(value)}`));
  if (host !== undefined) parts.push(t('approval.calls.host', {name: plain(host)}));
  return parts.join(t('approval.calls.comma'));
}

/** @param {string} tool @param {Patterns} patterns */
function mainText(tool, patterns) {
  const {command, path, url, effects} = patterns;
  const name = tool === '*' ? t('approval.calls.anyTool') : tool;
  if (command !== undefined) {
    const isOpen = command.endsWith(ANY_ARGUMENTS);
    return t(isOpen ? 'approval.calls.commandAny' : 'approval.calls.command', {command: plain(isOpen ? command.slice(0, -ANY_ARGUMENTS.length) : command)});
  }
  if (url !== undefined) return t('approval.calls.url', {tool: name, url: plain(url)});
  if (path !== undefined) return `${name}: ${placeText(path)}`;
  if (effects !== undefined) return t(tool === '*' ? `approval.calls.all.${effects}` : `approval.calls.of.${effects}`, {tool});
  return othersOf(patterns).length ? name : t('approval.calls.any', {tool: name});
}

/** @param {string} path */
function placeText(path) {
  return path.endsWith(FOLDER)
    ? t('approval.calls.folder', {path: plain(path.slice(0, -FOLDER.length))})
    : t('approval.calls.path', {path: plain(path)});
}

/** @param {Patterns} patterns */
function othersOf(patterns) {
  return Object.entries(patterns).filter(([name]) => !DESCRIBED.has(name));
}

/** Return a pattern without the brackets around characters that stand for themselves. @param {string} pattern */
function plain(pattern) {
  return String(pattern).replace(/\[([*?[])\]/g, '$1');
}
