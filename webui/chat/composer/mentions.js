/** Files of the workspace that a message mentions: a few letters behind an `@`, and the path in their place. */
import {abilities} from '../../client/abilities.js';
import {client} from '../../client/client.js';
import {isCommand} from './slash.js';

const SHOWN = 8;
const MENTION = /(?:^|\s)@([^\s@]*)$/;

/** The letters behind the `@` before the cursor; null: nothing is mentioned there. @param {string} before */
export function mentionIn(before) {
  return isCommand(before) || !abilities.files ? null : MENTION.exec(before)?.[1] ?? null;
}

/**
 * What could stand in the place of a mention; nothing, where the server cannot be asked.
 * @param {string} before  the text up to the cursor
 * @param {AbortSignal} signal
 * @returns {Promise<import('./slash.js').Completion[]>}
 */
export async function mentionsOf(before, signal) {
  const query = mentionIn(before) ?? '';
  const from = before.length - query.length - 1;
  try {
    const {files} = await client.get(`/api/workspace/files?limit=${SHOWN}&q=${encodeURIComponent(query)}`, {signal});
    return files.map((/** @type {{path: string, isFolder: boolean}} */ {path, isFolder}) => ({
      // a folder stays a mention, so that one goes on into it
      insert: isFolder ? `@${path}` : `${/\s/.test(path) ? JSON.stringify(path) : path} `, from, label: path, detail: '',
    }));
  } catch {
    return [];
  }
}
