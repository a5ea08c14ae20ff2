/** Prompts of modules: texts that a person picks, sees whole in the message box, and says themselves. */
import {ApiError, client} from '../../client/client.js';
import {isCommand} from './slash.js';

/** @typedef {import('../../client/tool-list.js').Tool} Tool */

/** Whether a tool makes a prompt. @param {Tool | undefined} tool */
export const isPrompt = (tool) => tool?.served_as === 'prompt';

/**
 * The text of a prompt, as it goes into the message box.
 * @param {string} tool @param {Record<string, unknown>} args
 * @returns {Promise<{text: string, leftOut: number}>} `leftOut`: how many of its parts are no text
 * @throws {ApiError} what went wrong with the call
 */
export async function makePrompt(tool, args) {
  const {ok, content = [], error} = await client.call(tool, args);
  if (!ok) throw new ApiError(error ?? {});
  const texts = content.flatMap((/** @type {any} */ block) => (typeof block.text === 'string' ? [block.text] : []));
  const text = texts.join('\n\n').trim();
  // a text that begins like a call is said, and calls nothing
  return {text: isCommand(text) ? `${tool}:\n${text}` : text, leftOut: content.length - texts.length};
}
