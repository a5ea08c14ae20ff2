/** Prompts of modules: texts that the user picks, sees completely in the message box, and sends as a message. */
import {ApiError, client} from '../../client/client.js';
import {toolList} from '../../client/tool-list.js';
import {isCommand} from './slash-commands.js';

/** @typedef {import('../../client/tool-list.js').Tool} Tool */

/** True if a tool creates a prompt. @param {Tool | undefined} tool */
export const isPrompt = (tool) => tool?.served_as === 'prompt';

/**
 * Return the text of a prompt for the message box.
 * @param {string} tool @param {Record<string, unknown>} args
 * @returns {Promise<{text: string, leftOut: number}>} `leftOut`: the number of its parts that are not text
 * @throws {ApiError} what went wrong with the call
 */
export async function makePrompt(tool, args) {
  const {ok, content = [], error} = await client.call(tool, args);
  if (!ok) throw new ApiError(error ?? {});
  const texts = content.flatMap((/** @type {any} */ block) => (typeof block.text === 'string' ? [block.text] : []));
  const text = texts.join('\n\n').trim();
  // a text that looks like a call must be sent as a message and not run
  return {text: isCommand(text, toolList.tools) ? `${tool}:\n${text}` : text, leftOut: content.length - texts.length};
}
