/** Mentions of workspace files in a message: a few letters after an `@` are completed to a path. */
import {abilities} from '../../client/abilities.js';
import {client} from '../../client/client.js';
import {toolList} from '../../client/tool-list.js';
import {isCommand} from './slash-commands.js';

const SHOWN = 8;
const MENTION = /(?:^|\s)@([^\s@]*)$/;

/** Return the letters after the `@` before the cursor; null if there is no mention. @param {string} before */
export function mentionIn(before) {
  return isCommand(before, toolList.tools) || !abilities.files ? null : MENTION.exec(before)?.[1] ?? null;
}

/**
 * Return completions of a mention; none if the server cannot be reached.
 * @param {string} before  the text up to the cursor
 * @param {AbortSignal} signal
 * @returns {Promise<import('./slash-commands.js').Completion[]>}
 */
export async function mentionsOf(before, signal) {
  const query = mentionIn(before) ?? '';
  const from = before.length - query.length - 1;
  try {
    const {files} = await client.get(`/api/workspace/files?limit=${SHOWN}&q=${encodeURIComponent(query)}`, {signal});
    return files.map((/** @type {{path: string, isFolder: boolean}} */ {path, isFolder}) => ({
      // a folder stays a mention, so that the user can continue into it
      insert: isFolder ? `@${path}` : `${/\s/.test(path) ? JSON.stringify(path) : path} `, from, label: path, detail: '',
    }));
  } catch {
    return [];
  }
}
