/**
 * The server features that this client may use: the page may use all of them. A client that reuses the same components with fewer
 * permissions replaces this file with its own, so that it does not request or offer what the server would refuse.
 */
export const abilities = {
  /** The user's own tool calls, written as `/tool …`. */
  commands: true,
  /** File names of the workspace. */
  files: true,
  /** Models, provider keys, and the system prompt. */
  setup: true,
};
