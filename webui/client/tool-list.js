/** The tools of the server, kept up to date for whoever shows them. */
import {Store} from '../base/store.js';
import {client} from './client.js';

/** @typedef {'read' | 'write' | 'egress' | 'execute' | 'dangerous' | 'session'} Effect */
/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} module
 * @property {string} description
 * @property {import('../schema/shape.js').Schema} input_schema
 * @property {import('../schema/shape.js').Schema} [output_schema]
 * @property {Effect[]} effects
 * @property {{readOnlyHint?: boolean, destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean}} annotations
 * @property {number} timeout_ms
 * @property {{type: string, argument: string}} [resource]
 * @property {Record<string, 'subject' | 'command' | 'output' | 'exit_code' | 'path' | 'first_line' | 'last_line' | 'line_count' | 'content' | 'edits' | 'todos'>} [display]  what arguments and data are to a person
 */

class ToolList extends Store {
  constructor() {
    super();
    /** @type {Tool[]} */
    this.tools = [];
    /** @type {unknown} */
    this.error = null;
    this.isLoaded = false;
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    for (const type of ['tools.changed', 'module.stateChanged', 'events.reset']) client.on(type, () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** @param {string} name */
  find(name) {
    return this.tools.find((tool) => tool.name === name);
  }

  /** Load the list; while it loads, further requests are one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  async _loadAll() {
    while (this._isStale) {
      this._isStale = false;
      try {
        const {tools} = await client.get('/api/tools');
        this._take(tools);
        this.error = null;
        this.isLoaded = true;
      } catch (error) {
        this.error = error;
      }
      this.notify();
    }
  }

  /** A tool that did not change stays the same object, so that its form is not made anew. @param {Tool[]} tools */
  _take(tools) {
    const known = new Map(this.tools.map((tool) => [tool.name, tool]));
    this.tools = tools.map((tool) => {
      const before = known.get(tool.name);
      return before && JSON.stringify(before) === JSON.stringify(tool) ? before : tool;
    });
  }
}

/** The list that all views share. */
export const toolList = new ToolList();
