/**
 * What this client may use of the server: the page may use all of it. A client that shows the same components and may use
 * less has a file of its own for this one, so that nothing is asked for, or offered, that it would be refused.
 */
export const abilities = {
  /** A person's own calls of tools, written as `/tool …`. */
  commands: true,
  /** Names of the workspace's files. */
  files: true,
  /** Models, keys of providers, and what a model is told. */
  setup: true,
};
