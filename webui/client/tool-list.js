/** The tools of the server, kept up to date for all views. */
import {inLocale, locale, onLocaleChange} from '../base/i18n.js';
import {Store} from '../base/store.js';
import {client} from './client.js';
import {translatedSchema} from './translation.js';

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
 * @property {string} [served_as]  what MCP clients get instead of a tool: `prompt`, or the URI of a resource
 * @property {{type: string, argument: string}} [resource]
 * @property {true} [completes]  the server completes its arguments while they are typed
 * @property {true} [has_view]  the chat shows the user a view of it
 * @property {{src: string, theme?: 'light' | 'dark'}[]} [icons]  its icons
 * @property {Record<string, 'subject' | 'command' | 'output' | 'exit_code' | 'path' | 'first_line' | 'last_line' | 'line_count' | 'content' | 'edits' | 'todos'>} [display]  the roles of arguments and data when they are shown to the user
 */

/**
 * @typedef {{tool: string, title: Record<string, string>, arguments: Record<string, unknown>}} Example
 * @typedef {{tools: Record<string, Record<string, import('./translation.js').Translation>>, modules: Record<string, Record<string, {title?: string | null, description?: string | null}>>, examples: Example[]}} ToolTexts  by language
 */

/** Return a tool with its texts translated. @param {Tool} tool @param {import('./translation.js').Translation | undefined} texts @returns {Tool} */
function translated(tool, texts) {
  if (!texts) return tool;
  return {...tool, description: texts.description ?? tool.description, input_schema: translatedSchema(tool.input_schema, texts)};
}

class ToolList extends Store {
  constructor() {
    super();
    /** @type {Tool[]} */
    this.tools = [];
    /** @type {unknown} */
    this.error = null;
    this.isLoaded = false;
    /** The tools with their original texts. @type {Tool[]} */
    this._given = [];
    /** @type {ToolTexts} */
    this.texts = {tools: {}, modules: {}, examples: []};
    onLocaleChange(() => this._translate());
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    for (const type of ['tools.changed', 'module.stateChanged', 'events.reset']) client.on(type, () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** Example calls that modules suggest to new users: the tool, a plain title, and the arguments. */
  get examples() {
    return this.texts.examples.flatMap(({tool: name, title, arguments: given}) => {
      const tool = this.find(name);
      return tool ? [{tool, title: inLocale(title) ?? name, args: given}] : [];
    });
  }

  /** Return a module's title and description in the user's language. @param {{name: string, title: string, description: string}} module */
  saidOf({name, title, description}) {
    const said = this.texts.modules[name]?.[locale()];
    return {title: said?.title ?? title, description: said?.description ?? description};
  }

  /** @param {string} name */
  find(name) {
    return this.tools.find((tool) => tool.name === name);
  }

  /** Load the list; requests that arrive meanwhile cause one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  async _loadAll() {
    while (this._isStale) {
      this._isStale = false;
      try {
        const [{tools}, texts] = await Promise.all([client.get('/api/tools'), this._texts()]);
        const isSaid = JSON.stringify(texts) === JSON.stringify(this.texts);
        this.texts = texts;
        this._take(tools, isSaid);
        this.error = null;
        this.isLoaded = true;
      } catch (error) {
        this.error = error;
      }
      this.notify();
    }
  }

  /** Load the translations of the tools; if that fails, the previous ones remain in use. @returns {Promise<ToolTexts>} */
  async _texts() {
    try {
      return await client.get('/api/tools/texts');
    } catch {
      return this.texts;
    }
  }

  /** Set the tools; unchanged ones stay the same object, which keeps their forms. @param {Tool[]} tools @param {boolean} isSaid  true if the texts did not change */
  _take(tools, isSaid) {
    const known = new Map(this._given.map((tool, at) => [tool.name, {tool, shown: this.tools[at]}]));
    const kept = tools.map((tool) => {
      const before = known.get(tool.name);
      const isKnown = before && isSaid && JSON.stringify(before.tool) === JSON.stringify(tool);
      return isKnown ? before : {tool, shown: translated(tool, this.texts.tools[tool.name]?.[locale()])};
    });
    this._given = kept.map(({tool}) => tool);
    this.tools = kept.map(({shown}) => shown);
  }

  /** Translate the tools into the current language. */
  _translate() {
    this._take(this._given, false);
    this.notify();
  }
}

/** The list shared by all views. */
export const toolList = new ToolList();
